#include "model/gcn.h"

#include <string.h>

#include "linalg/dense.h"
#include "linalg/elementwise.h"

void npi_gcn_hidden_forward(real *hidden, const npi_adj *adj, const real *p, int ldp, int h, int threads)
{
    npi_adj_mul(hidden, h, adj, p, ldp, h, threads);
    npi_activate(hidden, (int64_t)adj->a.rows * h, NPGNN_RELU, threads);
}

void npi_gcn_hidden_backward(real *dp, int lddp, real *dhidden, const npi_adj *adj, const real *hidden, int h,
                             int threads)
{
    npi_activate_backward(dhidden, hidden, (int64_t)adj->a.rows * h, NPGNN_RELU, threads);
    npi_adj_mul(dp, lddp, adj, dhidden, h, h, threads);
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

void npi_gcn_pool_forward(real *pooled, const real *colsum, const real *hidden, int64_t n, int h, real *scratch,
                          int threads)
{
    memset(pooled, 0, (size_t)h * sizeof *pooled);
    npi_gemm_tall(pooled, h, colsum, 1, hidden, h, n, 1, h, scratch, threads);
    for (int c = 0; c < h; c++)
        pooled[c] /= (real)n;
}

void npi_gcn_pool_backward(real *dhidden, const real *dpooled, const real *colsum, int64_t n, int h, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        real weight = colsum[i] / (real)n;
        for (int c = 0; c < h; c++)
            dhidden[i * h + c] = weight * dpooled[c];
    }
}
