/* The rows of the leading eigenvectors of the normalised adjacency, by subspace iteration (docs/understand/math.md, eq. (15d)). Only the
 * space that they span matters, so no eigenvector is ever separated from the others. */
#include "evidence/regions.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "linalg/adj.h"
#include "linalg/dense.h"

enum {
    WIDEST = 64,         /* dimensions of the space */
    NODES_PER_WIDTH = 4, /* at least: a small graph has fewer regions */
    ROUNDS = 6,          /* of products, with an orthonormal basis after each */
    PRODUCTS = 4,        /* in a round */
};
#define RIDGE 1e-6 /* of the mean square of a column: keeps a basis that has lost a dimension finite */

typedef struct iteration {
    npi_adj adj;
    int width;
    real *at, *next; /* (n, width) */
    real *gram;      /* (width, width) */
    real *scratch;
    const npgnn_env *env;
} iteration;

static int32_t count_linked(const npi_csr *a)
{
    int32_t linked = 0;
    for (int32_t i = 0; i < a->rows; i++)
        linked += a->ptr[i + 1] > a->ptr[i];
    return linked;
}

static int width_of(int32_t linked)
{
    int32_t width = linked / NODES_PER_WIDTH;
    return width < 1 ? 1 : width > WIDEST ? WIDEST : width;
}

/* The degrees are padded with their mean: otherwise the leading eigenvectors are those of small parts that hang by a thread. */
static void fill_scale(npi_adj *adj, int32_t linked)
{
    const npi_csr *a = &adj->a;
    for (int32_t i = 0; i < a->rows; i++) {
        double degree = (double)(a->ptr[i + 1] - a->ptr[i]);
        adj->scale[i] = degree > 0 ? (real)(1 / sqrt(degree + (double)a->ptr[a->rows] / linked)) : 0;
    }
}

static void draw_sign_rows(const void *arg, int64_t first, int64_t last)
{
    const iteration *it = arg;
    const npi_csr *a = &it->adj.a;
    npi_rng rng = npi_rng_make(0, NPI_RNG_SPECTRAL, 1);
    for (int64_t i = first; i < last; i++) {
        int linked = a->ptr[i + 1] > a->ptr[i];
        for (int c = 0; c < it->width; c++) {
            size_t cell = (size_t)i * (size_t)it->width + (size_t)c;
            it->at[cell] = !linked ? 0 : npi_rng_uniform_at(&rng, (uint64_t)i * WIDEST + (uint64_t)c) < 0.5 ? -1 : 1;
        }
    }
}

static void draw_signs(const iteration *it)
{
    npi_parallel(it->env->threads, it->adj.a.rows, 0, draw_sign_rows, it);
}

static void swap(iteration *it)
{
    real *other = it->at;
    it->at = it->next;
    it->next = other;
}

static void multiply(iteration *it)
{
    npi_adj_mul(it->next, it->width, &it->adj, it->at, it->width, it->width, it->env->threads);
    swap(it);
}

/* gram = L Lᵀ becomes the inverse of Lᵀ; where nothing is left of the space (a graph of a few links can undo what it starts
 * with), zeros, and so will be the rows. */
static void invert_root(real *gram, int k)
{
    double l[WIDEST][WIDEST] = {{0}}, inverse[WIDEST][WIDEST] = {{0}}, trace = 0;
    for (int i = 0; i < k; i++)
        trace += (double)gram[i * k + i];
    if (trace == 0)
        return;
    for (int i = 0; i < k; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = (double)gram[i * k + j] + (i == j ? RIDGE * trace / k : 0);
            for (int c = 0; c < j; c++)
                sum -= l[i][c] * l[j][c];
            l[i][j] = i > j ? sum / l[j][j] : sqrt(fmax(sum, RIDGE * trace / k));
        }
    }
    for (int j = 0; j < k; j++) {
        inverse[j][j] = 1 / l[j][j];
        for (int i = j + 1; i < k; i++) {
            double sum = 0;
            for (int c = j; c < i; c++)
                sum += l[i][c] * inverse[c][j];
            inverse[i][j] = -sum / l[i][i];
        }
    }
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
            gram[i * k + j] = (real)inverse[j][i];
}

static void orthonormalize(iteration *it)
{
    int k = it->width;
    memset(it->gram, 0, (size_t)(k * k) * sizeof *it->gram);
    npi_gemm_tall(it->gram, k, it->at, k, it->at, k, it->adj.a.rows, k, k, it->scratch, it->env->threads);
    invert_root(it->gram, k);
    npi_gemm_rows(it->next, k, it->at, k, it->gram, k, 0, it->adj.a.rows, k, k, 0, it->env->threads);
    swap(it);
}

static void normalize_range(const void *arg, int64_t first, int64_t last)
{
    const iteration *it = arg;
    for (int64_t i = first; i < last; i++) {
        real *row = it->at + (size_t)i * (size_t)it->width;
        double square = 0;
        for (int c = 0; c < it->width; c++)
            square += (double)row[c] * (double)row[c];
        for (int c = 0; c < it->width && square > 0; c++)
            row[c] = (real)((double)row[c] / sqrt(square));
    }
}

static void normalize_rows(const iteration *it)
{
    npi_parallel(it->env->threads, it->adj.a.rows, 0, normalize_range, it);
}

static int iterate(iteration *it, npgnn_error *err)
{
    draw_signs(it);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PRODUCTS; i++) {
            if (npi_env_stopped(it->env))
                return npi_fail(err, NPGNN_E_CANCELLED, "cancelled while the regions of the graph were sought");
            multiply(it);
        }
        orthonormalize(it);
    }
    multiply(it); /* once more: the larger its eigenvalue, the more a direction counts */
    normalize_rows(it);
    return 0;
}

int npi_regions_new(npi_regions *out, const npi_csr *a, const npgnn_env *env, npgnn_error *err)
{
    int code = npi_blas_open(env, err);
    if (code)
        return code;
    int32_t linked = count_linked(a);
    iteration it = {.adj.a = *a, .width = width_of(linked), .env = env};
    size_t n = (size_t)a->rows, k = (size_t)it.width;
    it.adj.a.val = NULL;
    it.adj.scale = npi_alloc(env, n, sizeof *it.adj.scale, err);
    it.at = npi_alloc(env, n * k, sizeof *it.at, err);
    it.next = npi_alloc(env, n * k, sizeof *it.next, err);
    it.gram = npi_alloc(env, k * k, sizeof *it.gram, err);
    it.scratch = npi_alloc(env, npi_gemm_tall_scratch(a->rows, it.width, it.width), sizeof *it.scratch, err);
    code = it.adj.scale && it.at && it.next && it.gram && it.scratch ? 0 : NPGNN_E_MEMORY;
    if (!code && linked > 0) {
        fill_scale(&it.adj, linked);
        code = iterate(&it, err);
    }
    npi_free(env, it.adj.scale);
    npi_free(env, it.next);
    npi_free(env, it.gram);
    npi_free(env, it.scratch);
    *out = (npi_regions){it.at, it.width};
    if (code)
        npi_regions_free(env, out);
    return code;
}

void npi_regions_free(const npgnn_env *env, npi_regions *regions)
{
    npi_free(env, regions->row);
    memset(regions, 0, sizeof *regions);
}

double npi_regions_pair(const npi_regions *regions, npgnn_pair pair)
{
    size_t k = (size_t)regions->width;
    const real *u = regions->row + (size_t)pair.u * k, *v = regions->row + (size_t)pair.v * k;
    double sum = 0;
    for (size_t c = 0; c < k; c++)
        sum += (double)u[c] * (double)v[c];
    return sum;
}

void npi_regions_rows(real *value, const npi_regions *regions, const int32_t *nodes, int count, int32_t n, real *picked)
{
    int k = regions->width;
    for (int r = 0; r < count; r++)
        memcpy(picked + (size_t)r * (size_t)k, regions->row + (size_t)nodes[r] * (size_t)k, (size_t)k * sizeof *picked);
    npi_gemm(value, n, picked, k, 0, regions->row, k, 1, count, n, k, 1, 0);
}
