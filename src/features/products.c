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
        npi_gemm_nodes(y, width, x->dense, x->f, w, ldw, 0, x->n, width, x->f, 0, threads);
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

/* dW += Xᵀ dY on w columns of dY, which begin at dy; row c of dW begins at dw + c * ldw. */
typedef struct mul_t_loop {
    real *dw;
    const npi_csr *xt;
    const real *dy;
    int ldw, lddy, w;
    int32_t first, last; /* rows of dW */
    int32_t columns;     /* of X per block */
    int64_t band;        /* rows of dY */
    const npi_kernels *kernels;
} mul_t_loop;

/* Summing one row of dW after the other would read all of dY from memory for each of them. Instead, all rows of a block
 * first add what they need from one band of dY, while it is in the cache, then from the next band. Each row of dW still
 * adds its terms in the order of the rows of dY, so that the result has the same bits. */
static void mul_t_blocks(const void *arg, int64_t first, int64_t last)
{
    const mul_t_loop *l = arg;
    const npi_csr *xt = l->xt;
    int64_t at[COLUMNS]; /* next entry of each row of Xᵀ */
    for (int64_t block = first; block < last; block++) {
        int64_t begin = l->first + block * l->columns;
        int32_t end = begin + l->columns < l->last ? (int32_t)begin + l->columns : l->last;
        for (int32_t c = (int32_t)begin; c < end; c++)
            at[c - begin] = xt->ptr[c];
        for (int64_t limit = l->band; limit < xt->cols + l->band; limit += l->band)
            for (int32_t c = (int32_t)begin; c < end; c++) {
                int64_t from = at[c - begin], to = from;
                while (to < xt->ptr[c + 1] && xt->col[to] < limit)
                    to++;
                l->kernels->gather(l->dw + (size_t)c * (size_t)l->ldw, xt->col, xt->val, from, to, l->dy, l->w,
                                   l->lddy);
                at[c - begin] = to;
            }
    }
}

/* A band that is in the cache should serve many rows of dW; without bands, smaller blocks balance the threads
 * better. */
static void sparse_mul_t(mul_t_loop loop, int threads)
{
    loop.columns = loop.xt->cols > BAND_ROWS ? COLUMNS : COLUMNS / 8;
    loop.band = band_rows(loop.xt);
    loop.kernels = npi_kernels_best();
    npi_parallel(threads, ((int64_t)loop.last - loop.first + loop.columns - 1) / loop.columns, 1, mul_t_blocks, &loop);
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
        mul_t_loop whole = {.dw = dw, .xt = x->xt, .dy = dy, .ldw = width, .lddy = width, .w = width, .last = x->f};
        sparse_mul_t(whole, threads);
        return;
    }
    dense_t_loop loop = {dw, x, dy, width};
    npi_blas_begin(threads);
    npi_parallel(threads, ((int64_t)x->f + COLUMN_BLOCK - 1) / COLUMN_BLOCK, 0, dense_t_blocks, &loop);
    npi_blas_end(threads);
}

/* ---- the same where nodes are divided among processes ----
 *
 * Dense features: one sum per part, and the parts in order.
 *
 * Sparse features: each process adds its nodes to the running sum of those before it. So that all are at work at the
 * same time, the sum is divided into slices of SLICE columns of dW, and these into ranges of rows; the slices lie one
 * after the other in `scratch`. A slice reads as many whole cache lines of dY as it needs: all slices together read dY
 * once. */

#define SLICE 16

static int slices_of(int width)
{
    return (width + SLICE - 1) / SLICE;
}

typedef struct slices_loop {
    real *sum; /* (slices, f, SLICE) */
    const npi_features *x;
    const real *dy;
    int width, threads;
} slices_loop;

/* Adds to the rows [first, last) of all slices. */
static void add_slices(void *arg, int64_t first, int64_t last)
{
    const slices_loop *l = arg;
    int64_t f = l->x->f;
    while (first < last) {
        int64_t slice = first / f, end = (slice + 1) * f < last ? (slice + 1) * f : last;
        int column = (int)slice * SLICE, w = l->width - column < SLICE ? l->width - column : SLICE;
        mul_t_loop loop = {.dw = l->sum + slice * f * SLICE,
                           .xt = l->x->xt,
                           .dy = l->dy + column,
                           .ldw = SLICE,
                           .lddy = l->width,
                           .w = w,
                           .first = (int32_t)(first - slice * f),
                           .last = (int32_t)(end - slice * f)};
        sparse_mul_t(loop, l->threads);
        first = end;
    }
}

/* Between dW (f, width) and its slices. */
static void copy_slices(real *sum, real *dw, int32_t f, int width, int back)
{
    for (int32_t c = 0; c < f; c++)
        for (int column = 0; column < width; column += SLICE) {
            real *slice = sum + ((size_t)(column / SLICE) * (size_t)f + (size_t)c) * SLICE;
            real *row = dw + (size_t)c * (size_t)width + column;
            size_t bytes = (size_t)(width - column < SLICE ? width - column : SLICE) * sizeof *row;
            memcpy(back ? row : slice, back ? slice : row, bytes);
        }
}

size_t npi_features_mul_t_scratch(const npi_features *x, int width, const npi_partition *rows)
{
    size_t slices = rows->comm ? (size_t)slices_of(width) * (size_t)x->f * SLICE : 0;
    return x->dense ? npi_gemm_parts_scratch(rows, x->f, width) : slices;
}

void npi_features_mul_t_parts(real *dw, const npi_features *x, const real *dy, int width, const npi_partition *rows,
                              real *scratch, int threads)
{
    if (x->dense) {
        npi_gemm_parts(dw, x->dense, x->f, dy, width, rows, x->f, width, scratch, threads);
    } else if (!rows->comm) {
        npi_features_mul_t(dw, x, dy, width, threads);
    } else {
        /* at least four messages per process, so that it waits for a small share of the time */
        int64_t slices = slices_of(width), cuts = 4 * npi_comm_ranks(rows->comm) / slices + 1;
        slices_loop loop = {scratch, x, dy, width, threads};
        copy_slices(scratch, dw, x->f, width, 0);
        npi_comm_chain(rows->comm, scratch, slices * x->f, SLICE * sizeof *dw, (x->f + cuts - 1) / cuts, add_slices,
                       &loop);
        copy_slices(scratch, dw, x->f, width, 1);
    }
}
