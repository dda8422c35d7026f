#include "model/refine.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

/* ---- embeddings of one length ---- */

void npi_rescale_forward(real *v, real *length, const real *u, int64_t n, int k, double radius, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int c = 0; c < k; c++)
            square += (double)u[i * k + c] * (double)u[i * k + c];
        length[i] = (real)sqrt(square);
        real factor = length[i] > 0 ? (real)radius / length[i] : 0;
        for (int c = 0; c < k; c++)
            v[i * k + c] = factor * u[i * k + c];
    }
}

void npi_rescale_backward(real *du, const real *dv, const real *v, const real *length, int64_t n, int k, double radius,
                          int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double along = 0;
        for (int c = 0; c < k; c++)
            along += (double)v[i * k + c] * (double)dv[i * k + c];
        real inverse = length[i] > 0 ? 1 / length[i] : 0;
        real pull = (real)(along / radius);
        for (int c = 0; c < k; c++)
            du[i * k + c] = inverse * ((real)radius * dv[i * k + c] - pull * v[i * k + c]);
    }
}

/* ---- embeddings that use their neighbours' ---- */

int npi_neighbours_new(npi_neighbours *out, const npi_csr *graph, const npgnn_env *env, npgnn_error *err)
{
    npi_neighbours made = {.adj = {.a = *graph}};
    made.adj.scale = npi_alloc(env, (size_t)graph->rows, sizeof *made.adj.scale, err);
    made.cold = npi_alloc(env, (size_t)graph->rows, 1, err);
    if (!made.adj.scale || !made.cold) {
        npi_neighbours_free(env, &made);
        return NPGNN_E_MEMORY;
    }
    *out = made;
    return 0;
}

void npi_neighbours_free(const npgnn_env *env, npi_neighbours *neighbours)
{
    npi_free(env, neighbours->adj.scale);
    npi_free(env, neighbours->cold);
    memset(neighbours, 0, sizeof *neighbours);
}

void npi_neighbours_draw(npi_neighbours *neighbours, double share, uint64_t seed, uint32_t draw, int threads)
{
    const npi_csr *a = &neighbours->adj.a;
    unsigned char *cold = neighbours->cold;
    npi_rng rng = npi_rng_make(seed, NPI_RNG_COLD, draw);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int32_t i = 0; i < a->rows; i++)
        cold[i] = share > 0 && npi_rng_uniform_at(&rng, (uint64_t)i) < share;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int32_t i = 0; i < a->rows; i++) {
        double degree = 1;
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
            degree += cold[a->col[p]] ? 0 : (a->val ? (double)a->val[p] : 1);
        neighbours->adj.scale[i] = cold[i] ? 0 : (real)(1 / sqrt(degree));
    }
}

void npi_neighbours_mul(real *y, const npi_neighbours *neighbours, const real *x, int k, int threads)
{
    npi_adj_mul(y, k, &neighbours->adj, x, k, k, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int32_t i = 0; i < neighbours->adj.a.rows; i++)
        if (neighbours->cold[i])
            memcpy(y + (size_t)i * (size_t)k, x + (size_t)i * (size_t)k, (size_t)k * sizeof *y);
}
