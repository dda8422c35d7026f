#include "linalg/dense.h"

#include <cblas.h>
#include <omp.h>
#include <string.h>

#include "linalg/kernels.h"

int npi_blas_begin(int threads)
{
    int saved = omp_get_max_threads();
    /* OpenBLAS on pthreads knows nothing of our threads; its thread count is the process's, so it is set only when needed */
    if (openblas_get_parallel() == OPENBLAS_THREAD && openblas_get_num_threads() != 1)
        openblas_set_num_threads(1);
    /* OpenBLAS on OpenMP uses one thread inside a parallel region; a region of one thread does not count as one */
    if (threads == 1)
        omp_set_num_threads(1);
    return saved;
}

void npi_blas_end(int saved)
{
    omp_set_num_threads(saved);
}

void npi_gemm(real *c, int ldc, const real *a, int lda, int trans_a, const real *b, int ldb, int trans_b, int m, int n,
              int k, real alpha, real beta)
{
    NPI_CBLAS(gemm)
    (CblasRowMajor, trans_a ? CblasTrans : CblasNoTrans, trans_b ? CblasTrans : CblasNoTrans, m, n, k, alpha, a, lda, b,
     ldb, beta, c, ldc);
}

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

/* Threads without a block would be woken only to be waited for. */
static int useful_threads(int threads, int64_t blocks)
{
    return blocks < threads ? (int)blocks : threads;
}

void npi_gemm_rows(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int trans_b, int64_t rows, int n,
                   int k, real beta, int threads)
{
    threads = useful_threads(threads, blocks_of(rows));
    int saved = npi_blas_begin(threads);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t block = 0; block < blocks_of(rows); block++) {
        size_t first = (size_t)block * ROW_BLOCK;
        npi_gemm(c + first * (size_t)ldc, ldc, a + first * (size_t)lda, lda, 0, b, ldb, trans_b,
                 block_rows(block, rows), n, k, 1, beta);
    }
    npi_blas_end(saved);
}

/* Sums over many rows are cut into at most this many parts: each is summed by one thread, then the parts in order. */
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

/* c (count values) += the parts, in order; row i of c has n values, stride ldc */
static void add_parts(real *c, int ldc, const real *parts, int64_t part_count, int k, int n)
{
    size_t cells = (size_t)k * (size_t)n;
    for (int64_t part = 0; part < part_count; part++)
        for (int i = 0; i < k; i++)
            for (int j = 0; j < n; j++)
                c[(size_t)i * (size_t)ldc + (size_t)j] += parts[(size_t)part * cells + (size_t)(i * n + j)];
}

void npi_gemm_tall(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int64_t rows, int k, int n,
                   real *scratch, int threads)
{
    int64_t parts = tall_parts(rows), blocks = blocks_of(rows);
    size_t cells = (size_t)k * (size_t)n;
    threads = useful_threads(threads, parts);
    int saved = npi_blas_begin(threads);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t part = 0; part < parts; part++) {
        real *sum = scratch + (size_t)part * cells;
        memset(sum, 0, cells * sizeof *sum);
        for (int64_t block = part * blocks / parts; block < (part + 1) * blocks / parts; block++) {
            size_t first = (size_t)block * ROW_BLOCK;
            npi_gemm(sum, n, a + first * (size_t)lda, lda, 1, b + first * (size_t)ldb, ldb, 0, k, n,
                     block_rows(block, rows), 1, 1);
        }
    }
    npi_blas_end(saved);
    add_parts(c, ldc, scratch, parts, k, n);
}

size_t npi_gram_tall_scratch(int64_t rows, int k)
{
    return npi_gemm_tall_scratch(rows, k + 1, k);
}

/* A part is (k + 1, k): AᵀA, and the column sums as the last row. */
void npi_gram_tall(real *gram, real *sum, const real *a, int64_t rows, int k, real *scratch, int threads)
{
    int64_t parts = tall_parts(rows), blocks = blocks_of(rows);
    size_t width = (size_t)k, cells = (width + 1) * width;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t part = 0; part < parts; part++) {
        real *square = scratch + (size_t)part * cells, *line = square + width * width;
        memset(square, 0, cells * sizeof *square);
        for (int64_t block = part * blocks / parts; block < (part + 1) * blocks / parts; block++) {
            const real *first = a + (size_t)block * ROW_BLOCK * width;
            int count = block_rows(block, rows);
            npi_gemm(square, k, first, k, 1, first, k, 0, k, k, count, 1, 1);
            for (int i = 0; i < count; i++)
                for (int j = 0; j < k; j++)
                    line[j] += first[(size_t)i * width + (size_t)j];
        }
    }
    for (int64_t part = 1; part < parts; part++)
        for (size_t i = 0; i < cells; i++)
            scratch[i] += scratch[(size_t)part * cells + i];
    memcpy(gram, scratch, width * width * sizeof *gram);
    memcpy(sum, scratch + width * width, width * sizeof *sum);
}
