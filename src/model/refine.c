/* What may follow the decoder (docs/understand/math.md, (13), (14), (B13), (B14)), for embeddings U (n, k):
 *
 *     v_i = radius u_i / |u_i|                                           rescaling to one length
 *     du_i = (radius dv_i - v_i (v_i · dv_i) / radius) / |u_i|
 *
 *     U <- Â_k U,   dU <- Â_k dU                                         averaging over known links
 *
 * Â_k is the normalised adjacency of the known links. In training, nodes drawn as cold are treated as new: their links
 * are ignored, and their rows are copied. */
#include "model/refine.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"

/* ---- rescaling to one length ---- */

typedef struct forward_loop {
    real *v, *length;
    const real *u;
    int k;
    double radius;
} forward_loop;

static void forward_rows(const void *arg, int64_t first, int64_t last)
{
    const forward_loop *l = arg;
    for (int64_t i = first; i < last; i++) {
        const real *u = l->u + i * l->k;
        real *v = l->v + i * l->k;
        double square = 0;
        for (int c = 0; c < l->k; c++)
            square += (double)u[c] * (double)u[c];
        l->length[i] = (real)sqrt(square);
        real factor = l->length[i] > 0 ? (real)l->radius / l->length[i] : 0;
        for (int c = 0; c < l->k; c++)
            v[c] = factor * u[c];
    }
}

void npi_rescale_forward(real *v, real *length, const real *u, int64_t n, int k, double radius, int threads)
{
    forward_loop loop = {v, length, u, k, radius};
    npi_parallel(threads, n, 0, forward_rows, &loop);
}

typedef struct backward_loop {
    real *du;
    const real *dv, *v, *length;
    int k;
    double radius;
} backward_loop;

static void backward_rows(const void *arg, int64_t first, int64_t last)
{
    const backward_loop *l = arg;
    for (int64_t i = first; i < last; i++) {
        const real *dv = l->dv + i * l->k, *v = l->v + i * l->k;
        real *du = l->du + i * l->k;
        double along = 0; /* v_i · dv_i: moving u_i along itself does not change v_i */
        for (int c = 0; c < l->k; c++)
            along += (double)v[c] * (double)dv[c];
        real inverse = l->length[i] > 0 ? 1 / l->length[i] : 0;
        real pull = (real)(along / l->radius);
        for (int c = 0; c < l->k; c++)
            du[c] = inverse * ((real)l->radius * dv[c] - pull * v[c]);
    }
}

void npi_rescale_backward(real *du, const real *dv, const real *v, const real *length, int64_t n, int k, double radius,
                          int threads)
{
    backward_loop loop = {du, dv, v, length, k, radius};
    npi_parallel(threads, n, 0, backward_rows, &loop);
}

/* ---- averaging over known links ---- */

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

typedef struct cold_loop {
    unsigned char *cold;
    double share;
    npi_rng rng;
} cold_loop;

static void draw_cold(const void *arg, int64_t first, int64_t last)
{
    const cold_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        l->cold[i] = l->share > 0 && npi_rng_uniform_at(&l->rng, (uint64_t)i) < l->share;
}

static void scale_rows(const void *arg, int64_t first, int64_t last)
{
    const npi_neighbours *neighbours = arg;
    const npi_csr *a = &neighbours->adj.a;
    const unsigned char *cold = neighbours->cold;
    for (int64_t i = first; i < last; i++) {
        /* scale_i = 1 / sqrt(1 + sum of the weights of i's links to nodes that are not cold) */
        double degree = 1;
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
            degree += cold[a->col[p]] ? 0 : (a->val ? (double)a->val[p] : 1);
        neighbours->adj.scale[i] = cold[i] ? 0 : (real)(1 / sqrt(degree));
    }
}

void npi_neighbours_draw(npi_neighbours *neighbours, double share, uint64_t seed, uint32_t draw, int threads)
{
    cold_loop loop = {neighbours->cold, share, npi_rng_make(seed, NPI_RNG_COLD, draw)};
    npi_parallel(threads, neighbours->adj.a.rows, 0, draw_cold, &loop);
    npi_parallel(threads, neighbours->adj.a.rows, 0, scale_rows, neighbours);
}

typedef struct copy_loop {
    real *y;
    const real *x;
    const unsigned char *cold;
    int k;
} copy_loop;

static void copy_cold(const void *arg, int64_t first, int64_t last)
{
    const copy_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        if (l->cold[i])
            memcpy(l->y + i * l->k, l->x + i * l->k, (size_t)l->k * sizeof *l->y);
}

void npi_neighbours_mul(real *y, const npi_neighbours *neighbours, const real *x, int k, int threads)
{
    copy_loop loop = {y, x, neighbours->cold, k};
    /* Y = Â_k X; a scale of 0 leaves the cold nodes out of every sum, and their own rows 0 */
    npi_adj_mul(y, k, &neighbours->adj, x, k, k, threads);
    npi_parallel(threads, neighbours->adj.a.rows, 0, copy_cold, &loop);
}
