/* The two products with the feature matrix X (n, f), sparse or dense:
 *
 *   forward    Y (n, w)  = X W
 *   backward   dW (f, w) += Xᵀ dY
 */
#include "features/features.h"

#include "base/parallel.h"
#include "linalg/dense.h"
#include "linalg/kernels.h"

#include <string.h>

typedef struct mul_loop {
    real *y;
    const npi_csr *a;
    const real *b;
    int ldb, w;
    const npi_kernels *kernels;
} mul_loop;

static void mul_rows(const void *arg, int64_t first, int64_t last)
{
    const mul_loop *l = arg;
    const npi_csr *a = l->a;
    for (int64_t i = first; i < last; i++) {
        real *row = l->y + i * l->w;
        memset(row, 0, (size_t)l->w * sizeof *row);
        l->kernels->gather(row, a->col, a->val, a->ptr[i], a->ptr[i + 1], l->b, l->w, l->ldb);
    }
}

/* Y (rows, w) = A B with a sparse A and row stride ldb of B. Each row of Y is summed by one thread. */
static void csr_mul(real *y, const npi_csr *a, const real *b, int ldb, int w, int threads)
{
    mul_loop loop = {y, a, b, ldb, w, npi_kernels_best()};
    npi_parallel(threads, a->rows, 128, mul_rows, &loop);
}

/* Y = X W */
void npi_features_mul(real *y, const npi_features *x, const real *w, int ldw, int width, int threads)
{
    if (x->dense)
        npi_gemm_rows(y, width, x->dense, x->f, w, ldw, 0, x->n, width, x->f, 0, threads);
    else
        csr_mul(y, &x->x, w, ldw, width, threads);
}

/* ---- Xᵀ dY ---- */

#define COLUMNS 256     /* rows of Xᵀ, that is of dW, that a thread takes at a time */
#define BAND_ROWS 4096  /* minimum number of rows in a band of dY, which should fit into the cache */
#define BAND_ENTRIES 16 /* a band has so many rows that a row of Xᵀ has about this many entries in it */

/* The number of rows in a band of dY. */
static int32_t band_rows(const npi_csr *xt)
{
    double entries = (double)xt->ptr[xt->rows], cells = (double)xt->rows * xt->cols;
    double wanted = entries > 0 ? BAND_ENTRIES * cells / entries : 0;
    if (wanted < BAND_ROWS)
        return BAND_ROWS;
    return wanted < xt->cols ? (int32_t)wanted : xt->cols;
}

/* Rows [first, last) of dW += Xᵀ dY. Summing one row of dW after the other would read all of dY from memory for each
 * of them. Instead, all rows of dW first add what they need from one band of dY, while it is in the cache, then from
 * the next band. Each row of dW still adds its terms in the order of the rows of dY, so that the result has the same
 * bits. */
static void banded_rows(real *dw, const npi_csr *xt, const real *dy, int w, int32_t first, int32_t last,
                        const npi_kernels *kernels)
{
    int64_t at[COLUMNS]; /* next entry of each row of Xᵀ */
    int64_t rows = band_rows(xt);
    for (int32_t c = first; c < last; c++)
        at[c - first] = xt->ptr[c];
    for (int64_t limit = rows; limit < xt->cols + rows; limit += rows)
        for (int32_t c = first; c < last; c++) {
            int64_t begin = at[c - first], end = begin;
            while (end < xt->ptr[c + 1] && xt->col[end] < limit)
                end++;
            kernels->gather(dw + (size_t)c * (size_t)w, xt->col, xt->val, begin, end, dy, w, w);
            at[c - first] = end;
        }
}

typedef struct mul_t_loop {
    real *dw;
    const npi_csr *xt;
    const real *dy;
    int w;
    int32_t columns; /* of X per block */
    const npi_kernels *kernels;
} mul_t_loop;

static void mul_t_blocks(const void *arg, int64_t first, int64_t last)
{
    const mul_t_loop *l = arg;
    for (int64_t block = first; block < last; block++) {
        int64_t begin = block * l->columns, end = begin + l->columns;
        banded_rows(l->dw, l->xt, l->dy, l->w, (int32_t)begin, (int32_t)(end < l->xt->rows ? end : l->xt->rows),
                    l->kernels);
    }
}

static void sparse_mul_t(real *dw, const npi_csr *xt, const real *dy, int w, int threads)
{
    int banded = xt->cols > BAND_ROWS;
    /* a band that is in the cache should serve many rows of dW; without bands, smaller blocks balance the threads
     * better */
    int32_t columns = banded ? COLUMNS : COLUMNS / 8;
    mul_t_loop loop = {dw, xt, dy, w, columns, npi_kernels_best()};
    npi_parallel(threads, ((int64_t)xt->rows + columns - 1) / columns, 1, mul_t_blocks, &loop);
}

#define COLUMN_BLOCK 64 /* rows of dW per call to BLAS, for dense features */

typedef struct dense_t_loop {
    real *dw;
    const npi_features *x;
    const real *dy;
    int width;
} dense_t_loop;

static void dense_t_blocks(const void *arg, int64_t first, int64_t last)
{
    const dense_t_loop *l = arg;
    int32_t f = l->x->f;
    for (int64_t block = first; block < last; block++) {
        int64_t column = block * COLUMN_BLOCK;
        int columns = f - column < COLUMN_BLOCK ? (int)(f - column) : COLUMN_BLOCK;
        npi_gemm(l->dw + column * l->width, l->width, l->x->dense + column, f, 1, l->dy, l->width, 0, columns, l->width,
                 l->x->n, 1, 1);
    }
}

/* dW += Xᵀ dY */
void npi_features_mul_t(real *dw, const npi_features *x, const real *dy, int width, int threads)
{
    if (!x->dense) {
        sparse_mul_t(dw, x->xt, dy, width, threads);
        return;
    }
    dense_t_loop loop = {dw, x, dy, width};
    npi_blas_begin(threads);
    npi_parallel(threads, ((int64_t)x->f + COLUMN_BLOCK - 1) / COLUMN_BLOCK, 0, dense_t_blocks, &loop);
    npi_blas_end(threads);
}
