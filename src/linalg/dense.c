/* Dense products on all threads. A product with many rows is divided into blocks of ROW_BLOCK rows, one call of BLAS
 * each:
 *
 *     npi_gemm_rows   C = A op(B)          blocks are independent
 *     npi_gemm_tall   C += Aᵀ B            blocks are summed: in at most TALL_PARTS parts, then the parts in order
 *     npi_gram_tall   AᵀA and Σ_i a_i      the same
 *
 * The division depends on the shape alone, so the bits do not depend on the number of threads. */
#include "linalg/dense.h"

#include <string.h>

#include "base/parallel.h"

#define ROW_BLOCK 512 /* rows of a tall matrix that one call to BLAS takes */

static int64_t blocks_of(int64_t rows)
{
    return (rows + ROW_BLOCK - 1) / ROW_BLOCK;
}

static int block_rows(int64_t block, int64_t rows)
{
    int64_t left = rows - block * ROW_BLOCK;
    return (int)(left < ROW_BLOCK ? left : ROW_BLOCK);
}

typedef struct rows_loop {
    real *c;
    const real *a, *b;
    int ldc, lda, ldb, trans_b, n, k;
    int64_t rows;
    real beta;
} rows_loop;

static void multiply_rows(const void *arg, int64_t first, int64_t last)
{
    const rows_loop *l = arg;
    /* C_block (., n) = A_block (., k) op(B) (k, n) + beta C_block */
    for (int64_t block = first; block < last; block++)
        npi_gemm(l->c + block * ROW_BLOCK * l->ldc, l->ldc, l->a + block * ROW_BLOCK * l->lda, l->lda, 0, l->b, l->ldb,
                 l->trans_b, block_rows(block, l->rows), l->n, l->k, 1, l->beta);
}

void npi_gemm_rows(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int trans_b, int64_t rows, int n,
                   int k, real beta, int threads)
{
    rows_loop loop = {c, a, b, ldc, lda, ldb, trans_b, n, k, rows, beta};
    npi_blas_begin(threads);
    npi_parallel(threads, blocks_of(rows), 0, multiply_rows, &loop);
    npi_blas_end(threads);
}

/* Sums over many rows have at most this many parts: each is summed by one thread, then the parts in order. */
#define TALL_PARTS 32

static int64_t tall_parts(int64_t rows)
{
    int64_t blocks = blocks_of(rows);
    return blocks < TALL_PARTS ? blocks : TALL_PARTS;
}

size_t npi_gemm_tall_scratch(int64_t rows, int k, int n)
{
    return (size_t)tall_parts(rows) * (size_t)k * (size_t)n;
}

typedef struct tall_loop {
    real *scratch;
    const real *a, *b;
    int lda, ldb, k, n;
    int64_t rows;
} tall_loop;

static void multiply_parts(const void *arg, int64_t first, int64_t last)
{
    const tall_loop *l = arg;
    int64_t parts = tall_parts(l->rows), blocks = blocks_of(l->rows);
    size_t cells = (size_t)l->k * (size_t)l->n;
    for (int64_t part = first; part < last; part++) {
        real *sum = l->scratch + (size_t)part * cells;
        memset(sum, 0, cells * sizeof *sum);
        /* sum (k, n) += A_blockᵀ (k, .) B_block (., n) */
        for (int64_t block = part * blocks / parts; block < (part + 1) * blocks / parts; block++)
            npi_gemm(sum, l->n, l->a + block * ROW_BLOCK * l->lda, l->lda, 1, l->b + block * ROW_BLOCK * l->ldb, l->ldb,
                     0, l->k, l->n, block_rows(block, l->rows), 1, 1);
    }
}

void npi_gemm_tall(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int64_t rows, int k, int n,
                   real *scratch, int threads)
{
    tall_loop loop = {scratch, a, b, lda, ldb, k, n, rows};
    npi_blas_begin(threads);
    npi_parallel(threads, tall_parts(rows), 0, multiply_parts, &loop);
    npi_blas_end(threads);
    /* C (k, n) += the parts, in order */
    size_t cells = (size_t)k * (size_t)n;
    for (int64_t part = 0; part < tall_parts(rows); part++)
        for (int i = 0; i < k; i++)
            for (int j = 0; j < n; j++)
                c[(size_t)i * (size_t)ldc + (size_t)j] += scratch[(size_t)part * cells + (size_t)(i * n + j)];
}

size_t npi_gram_tall_scratch(int64_t rows, int k)
{
    return npi_gemm_tall_scratch(rows, k + 1, k);
}

/* A part is (k + 1, k): AᵀA, and the column sums as the last row. */
static void gram_parts(const void *arg, int64_t first, int64_t last)
{
    const tall_loop *l = arg;
    int64_t parts = tall_parts(l->rows), blocks = blocks_of(l->rows);
    int k = l->k;
    size_t width = (size_t)k, cells = (width + 1) * width;
    for (int64_t part = first; part < last; part++) {
        real *square = l->scratch + (size_t)part * cells, *line = square + width * width;
        memset(square, 0, cells * sizeof *square);
        for (int64_t block = part * blocks / parts; block < (part + 1) * blocks / parts; block++) {
            const real *row = l->a + (size_t)block * ROW_BLOCK * width;
            int count = block_rows(block, l->rows);
            /* square (k, k) += A_blockᵀ (k, count) A_block (count, k) */
            npi_gemm(square, k, row, k, 1, row, k, 0, k, k, count, 1, 1);
            for (int i = 0; i < count; i++)
                for (int j = 0; j < k; j++)
                    line[j] += row[(size_t)i * width + (size_t)j];
        }
    }
}

void npi_gram_tall(real *gram, real *sum, const real *a, int64_t rows, int k, real *scratch, int threads)
{
    tall_loop loop = {.scratch = scratch, .a = a, .k = k, .rows = rows};
    int64_t parts = tall_parts(rows);
    size_t width = (size_t)k, cells = (width + 1) * width;
    npi_blas_begin(threads);
    npi_parallel(threads, parts, 0, gram_parts, &loop);
    npi_blas_end(threads);
    for (int64_t part = 1; part < parts; part++)
        for (size_t i = 0; i < cells; i++)
            scratch[i] += scratch[(size_t)part * cells + i];
    memcpy(gram, scratch, width * width * sizeof *gram);
    memcpy(sum, scratch + width * width, width * sizeof *sum);
}
