#include "linalg/adj.h"

#include <math.h>
#include <string.h>

#define MANY_ROWS 16384 /* from here on threads are worth waking for a number a row */

void npi_adj_normalize(npi_adj *adj, int threads)
{
    const npi_csr *a = &adj->a;
#pragma omp parallel for num_threads(threads) schedule(static) if (a->rows >= MANY_ROWS)
    for (int32_t i = 0; i < a->rows; i++) {
        double degree = 1;
        if (!a->val)
            degree += (double)(a->ptr[i + 1] - a->ptr[i]);
        else
            for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
                degree += (double)a->val[p];
        adj->scale[i] = (real)(1 / sqrt(degree));
    }
}

/* y_i = s_i (s_i p_i + Σ_j w_ij s_j p_j) */
void npi_adj_row(real *y, const npi_adj *adj, int32_t i, const real *p, int ldp, int w, const npi_kernels *kernels)
{
    const npi_csr *a = &adj->a;
    const real *own = p + (size_t)i * (size_t)ldp;
    real scale = adj->scale[i];
    for (int c = 0; c < w; c++)
        y[c] = scale * own[c];
    kernels->gather_scaled(y, a->col, a->val, a->ptr[i], a->ptr[i + 1], adj->scale, p, w, ldp);
    for (int c = 0; c < w; c++)
        y[c] *= scale;
}

void npi_adj_mul(real *y, int ldy, const npi_adj *adj, const real *p, int ldp, int w, int threads)
{
    const npi_kernels *kernels = npi_kernels_best();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256)
    for (int32_t i = 0; i < adj->a.rows; i++)
        npi_adj_row(y + (size_t)i * (size_t)ldy, adj, i, p, ldp, w, kernels);
}

real npi_adj_column_sum(const npi_adj *adj, int32_t i)
{
    const npi_csr *a = &adj->a;
    double sum = (double)adj->scale[i];
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
        sum += (double)adj->scale[a->col[p]] * (a->val ? (double)a->val[p] : 1);
    return (real)((double)adj->scale[i] * sum);
}
