#include "model/gcn.h"

#include <string.h>

#include "base/parallel.h"
#include "linalg/dense.h"
#include "linalg/elementwise.h"
#include "model/options.h"

#define CHUNK 256 /* rows of Â P that a thread takes at a time: degrees differ */

static void hidden_row(real *hidden, const npi_adj *adj, int32_t i, const real *p, int ldp, int h,
                       const npi_kernels *kernels)
{
    npi_adj_row(hidden, adj, i, p, ldp, h, kernels);
    for (int c = 0; c < h; c++)
        hidden[c] = hidden[c] > 0 ? hidden[c] : 0;
}

typedef struct hidden_loop {
    real *hidden;
    const npi_adj *adj;
    const real *p;
    int ldp, h;
    const npi_kernels *kernels;
    real *colsum, *scratch; /* of npi_gcn_pool_forward */
} hidden_loop;

static void hidden_rows(const void *arg, int64_t first, int64_t last)
{
    const hidden_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        hidden_row(l->hidden + i * l->h, l->adj, (int32_t)i, l->p, l->ldp, l->h, l->kernels);
}

void npi_gcn_hidden_forward(real *hidden, const npi_adj *adj, const real *p, int ldp, int h, int threads)
{
    hidden_loop loop = {hidden, adj, p, ldp, h, npi_kernels_best(), NULL, NULL};
    npi_parallel(threads, adj->a.rows, CHUNK, hidden_rows, &loop);
}

/* Row i of Â dH to where it belongs. */
static void target_row(npi_gcn_target to, const npi_adj *adj, int32_t i, const real *dhidden, int h,
                       const npi_kernels *kernels)
{
    real sum[NPI_MAX_WIDTH];
    real *row = to.dp + (size_t)(to.rows ? to.rows[i] : i) * (size_t)to.ldp;
    npi_adj_row(to.add ? sum : row, adj, i, dhidden, h, h, kernels);
    for (int c = 0; to.add && c < h; c++)
        row[c] += sum[c];
}

typedef struct target_loop {
    npi_gcn_target to;
    const npi_adj *adj;
    const real *dhidden;
    int h;
    const npi_kernels *kernels;
} target_loop;

static void target_rows(const void *arg, int64_t first, int64_t last)
{
    const target_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        target_row(l->to, l->adj, (int32_t)i, l->dhidden, l->h, l->kernels);
}

void npi_gcn_hidden_backward(npi_gcn_target to, real *dhidden, const npi_adj *adj, const real *hidden, int h,
                             int threads)
{
    target_loop loop = {to, adj, dhidden, h, npi_kernels_best()};
    npi_activate_backward(dhidden, hidden, (int64_t)adj->a.rows * h, NPGNN_RELU, threads);
    npi_parallel(threads, adj->a.rows, CHUNK, target_rows, &loop);
}

void npi_gcn_heads_forward(real *r, real *m, const npi_adj *adj, const real *hidden, const real *wr, int h, int w,
                           npgnn_activation act, int threads)
{
    int32_t n = adj->a.rows;
    npi_gemm_rows(m, w, hidden, h, wr, w, 0, n, w, h, 0, threads);
    npi_adj_mul(r, w, adj, m, w, w, threads);
    npi_activate(r, (int64_t)n * w, act, threads);
}

void npi_gcn_heads_backward(real *dhidden, real *dwr, real *dr, real *m, const npi_adj *adj, const real *r,
                            const real *hidden, const real *wr, int h, int w, npgnn_activation act, real *scratch,
                            int threads)
{
    int32_t n = adj->a.rows;
    npi_activate_backward(dr, r, (int64_t)n * w, act, threads);
    npi_adj_mul(m, w, adj, dr, w, w, threads);
    npi_gemm_tall(dwr, w, hidden, h, m, w, n, h, w, scratch, threads);
    npi_gemm_rows(dhidden, h, m, w, wr, w, 1, n, h, w, 0, threads);
}

/* The sum over rows is cut into this many parts, whatever the number of threads, which are added in order. */
#define PARTS 64

size_t npi_gcn_pool_scratch(int h)
{
    return PARTS * (size_t)h;
}

static void pool_parts(const void *arg, int64_t first, int64_t last)
{
    const hidden_loop *l = arg;
    int64_t n = l->adj->a.rows;
    for (int64_t part = first; part < last; part++) {
        real *sum = l->scratch + part * l->h;
        memset(sum, 0, (size_t)l->h * sizeof *sum);
        for (int32_t i = (int32_t)(part * n / PARTS); i < (part + 1) * n / PARTS; i++) {
            real *row = l->hidden + (size_t)i * (size_t)l->h;
            hidden_row(row, l->adj, i, l->p, l->ldp, l->h, l->kernels);
            l->colsum[i] = npi_adj_column_sum(l->adj, i);
            for (int c = 0; c < l->h; c++)
                sum[c] += l->colsum[i] * row[c];
        }
    }
}

void npi_gcn_pool_forward(real *pooled, real *hidden, real *colsum, const npi_adj *adj, const real *p, int ldp, int h,
                          real *scratch, int threads)
{
    hidden_loop loop = {hidden, adj, p, ldp, h, npi_kernels_best(), colsum, scratch};
    int64_t n = adj->a.rows;
    npi_parallel(threads, PARTS, 1, pool_parts, &loop);
    for (int c = 0; c < h; c++) {
        pooled[c] = 0;
        for (int part = 0; part < PARTS; part++)
            pooled[c] += scratch[(size_t)part * (size_t)h + (size_t)c];
        pooled[c] /= (real)n;
    }
}

typedef struct unpool_loop {
    real *dhidden;
    const real *dpooled, *colsum, *hidden;
    int32_t n;
    int h;
} unpool_loop;

static void unpool_rows(const void *arg, int64_t first, int64_t last)
{
    const unpool_loop *l = arg;
    for (int64_t i = first; i < last; i++) {
        real *dhidden = l->dhidden + i * l->h, weight = l->colsum[i] / (real)l->n;
        const real *hidden = l->hidden + i * l->h;
        for (int c = 0; c < l->h; c++)
            dhidden[c] = hidden[c] > 0 ? weight * l->dpooled[c] : 0;
    }
}

void npi_gcn_pool_backward(npi_gcn_target to, real *dhidden, const real *dpooled, const real *colsum,
                           const npi_adj *adj, const real *hidden, int h, int threads)
{
    unpool_loop unpool = {dhidden, dpooled, colsum, hidden, adj->a.rows, h};
    target_loop target = {to, adj, dhidden, h, npi_kernels_best()};
    npi_parallel(threads, adj->a.rows, 0, unpool_rows, &unpool);
    npi_parallel(threads, adj->a.rows, CHUNK, target_rows, &target);
}
