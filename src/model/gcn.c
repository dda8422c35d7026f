#include "model/gcn.h"

#include <string.h>

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

void npi_gcn_hidden_forward(real *hidden, const npi_adj *adj, const real *p, int ldp, int h, int threads)
{
    const npi_kernels *kernels = npi_kernels_best();
#pragma omp parallel for num_threads(threads) schedule(dynamic, CHUNK)
    for (int32_t i = 0; i < adj->a.rows; i++)
        hidden_row(hidden + (size_t)i * (size_t)h, adj, i, p, ldp, h, kernels);
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

void npi_gcn_hidden_backward(npi_gcn_target to, real *dhidden, const npi_adj *adj, const real *hidden, int h,
                             int threads)
{
    const npi_kernels *kernels = npi_kernels_best();
    npi_activate_backward(dhidden, hidden, (int64_t)adj->a.rows * h, NPGNN_RELU, threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, CHUNK)
    for (int32_t i = 0; i < adj->a.rows; i++)
        target_row(to, adj, i, dhidden, h, kernels);
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

void npi_gcn_pool_forward(real *pooled, real *hidden, real *colsum, const npi_adj *adj, const real *p, int ldp, int h,
                          real *scratch, int threads)
{
    const npi_kernels *kernels = npi_kernels_best();
    int64_t n = adj->a.rows;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int part = 0; part < PARTS; part++) {
        real *sum = scratch + (size_t)part * (size_t)h;
        memset(sum, 0, (size_t)h * sizeof *sum);
        for (int32_t i = (int32_t)(part * n / PARTS); i < (part + 1) * n / PARTS; i++) {
            real *row = hidden + (size_t)i * (size_t)h;
            hidden_row(row, adj, i, p, ldp, h, kernels);
            colsum[i] = npi_adj_column_sum(adj, i);
            for (int c = 0; c < h; c++)
                sum[c] += colsum[i] * row[c];
        }
    }
    for (int c = 0; c < h; c++) {
        pooled[c] = 0;
        for (int part = 0; part < PARTS; part++)
            pooled[c] += scratch[(size_t)part * (size_t)h + (size_t)c];
        pooled[c] /= (real)n;
    }
}

void npi_gcn_pool_backward(npi_gcn_target to, real *dhidden, const real *dpooled, const real *colsum,
                           const npi_adj *adj, const real *hidden, int h, int threads)
{
    const npi_kernels *kernels = npi_kernels_best();
    int32_t n = adj->a.rows;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int32_t i = 0; i < n; i++) {
            size_t first = (size_t)i * (size_t)h;
            real weight = colsum[i] / (real)n;
            for (int c = 0; c < h; c++)
                dhidden[first + (size_t)c] = hidden[first + (size_t)c] > 0 ? weight * dpooled[c] : 0;
        }
#pragma omp for schedule(dynamic, CHUNK)
        for (int32_t i = 0; i < n; i++)
            target_row(to, adj, i, dhidden, h, kernels);
    }
}
