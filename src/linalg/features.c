/* Products with the features: X W and Xᵀ dY, sparse or dense. */
#include "linalg/dense.h"
#include "linalg/kernels.h"

#include <string.h>

/* Y (rows, w) = or += A B, one row at a time, each by one thread */
static void csr_mul(real *y, const npi_csr *a, const real *b, int ldb, int w, int add, int threads)
{
    const npi_kernels *kernels = npi_kernels_best();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 128)
    for (int32_t i = 0; i < a->rows; i++) {
        real *row = y + (size_t)i * (size_t)w;
        if (!add)
            memset(row, 0, (size_t)w * sizeof *row);
        kernels->gather(row, a->col, a->val, a->ptr[i], a->ptr[i + 1], b, w, ldb);
    }
}

void npi_features_mul(real *y, const npi_features *x, const real *w, int ldw, int width, int threads)
{
    if (x->dense)
        npi_gemm_rows(y, width, x->dense, x->f, w, ldw, 0, x->n, width, x->f, 0, threads);
    else
        csr_mul(y, &x->x, w, ldw, width, 0, threads);
}

#define COLUMN_BLOCK 64 /* feature columns, that is rows of dW, that one call to BLAS takes */

void npi_features_mul_t(real *dw, const npi_features *x, const real *dy, int width, int threads)
{
    if (!x->dense) {
        csr_mul(dw, x->xt, dy, width, width, 1, threads);
        return;
    }
    int saved = npi_blas_begin(threads);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int32_t first = 0; first < x->f; first += COLUMN_BLOCK) {
        int columns = x->f - first < COLUMN_BLOCK ? x->f - first : COLUMN_BLOCK;
        npi_gemm(dw + (size_t)first * (size_t)width, width, x->dense + first, x->f, 1, dy, width, 0, columns, width,
                 x->n, 1, 1);
    }
    npi_blas_end(saved);
}
