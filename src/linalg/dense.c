/* Dense products on all threads. A product with many rows is divided into blocks, one call of BLAS each:
 *
 *     npi_gemm_rows    C = A op(B)         blocks of ROW_BLOCK rows are independent
 *     npi_gemm_nodes   C = A op(B)         the same with blocks of NPI_BLOCK rows, which may be divided among processes
 *     npi_gemm_parts   C += Aᵀ B           blocks of ROW_BLOCK rows are summed: in the parts of a partition, whose rows may be divided
 *                                          among processes, then the parts in order
 *     npi_gemm_tall    C += Aᵀ B           the same with the parts of npi_partition_tall, in one process
 *     npi_gram_parts   AᵀA and Σ_i a_i     the same
 *
 * The division depends on the shape alone, so the bits do not depend on the number of threads or processes. */
#include "linalg/dense.h"

#include <string.h>

#include "base/parallel.h"

#define ROW_BLOCK NPI_TALL_BLOCK /* rows of a tall matrix that one call to BLAS takes */

typedef struct rows_loop {
    real *c;
    const real *a, *b;
    int ldc, lda, ldb, trans_b, n, k;
    int64_t rows, block;
    real beta;
} rows_loop;

static void multiply_rows(const void *arg, int64_t first, int64_t last)
{
    const rows_loop *l = arg;
    /* C_block (., n) = A_block (., k) op(B) (k, n) + beta C_block */
    for (int64_t row = first * l->block; row < last * l->block && row < l->rows; row += l->block)
        npi_gemm(l->c + row * l->ldc, l->ldc, l->a + row * l->lda, l->lda, 0, l->b, l->ldb, l->trans_b,
                 (int)(l->rows - row < l->block ? l->rows - row : l->block), l->n, l->k, 1, l->beta);
}

static void multiply_blocks(const rows_loop *loop, int threads)
{
    npi_blas_begin(threads);
    npi_parallel(threads, (loop->rows + loop->block - 1) / loop->block, 0, multiply_rows, loop);
    npi_blas_end(threads);
}

void npi_gemm_rows(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int trans_b, int64_t rows, int n,
                   int k, real beta, int threads)
{
    rows_loop loop = {c, a, b, ldc, lda, ldb, trans_b, n, k, rows, ROW_BLOCK, beta};
    multiply_blocks(&loop, threads);
}

void npi_gemm_nodes(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int trans_b, int64_t rows, int n,
                    int k, real beta, int threads)
{
    rows_loop loop = {c, a, b, ldc, lda, ldb, trans_b, n, k, rows, NPI_BLOCK, beta};
    multiply_blocks(&loop, threads);
}

/* ---- sums over nodes that are divided among processes: one per part, and the parts in order ---- */

typedef struct parts_loop {
    real *scratch;
    const real *a, *b;
    int lda, ldb, k, n;
    const npi_partition *rows;
} parts_loop;

static size_t part_cells(const parts_loop *l)
{
    return (size_t)l->k * (size_t)l->n;
}

/* sum (k, n) = A_partᵀ (k, .) B_part (., n), for parts counted from this process's first */
static void multiply_own(const void *arg, int64_t first, int64_t last)
{
    const parts_loop *l = arg;
    for (int64_t part = first; part < last; part++) {
        real *sum = l->scratch + (size_t)part * part_cells(l);
        int32_t row = npi_part_start(l->rows, l->rows->part + (int32_t)part) - l->rows->from;
        int32_t end = npi_part_start(l->rows, l->rows->part + (int32_t)part + 1) - l->rows->from;
        memset(sum, 0, part_cells(l) * sizeof *sum);
        for (; row < end; row += ROW_BLOCK)
            npi_gemm(sum, l->n, l->a + (size_t)row * (size_t)l->lda, l->lda, 1, l->b + (size_t)row * (size_t)l->ldb,
                     l->ldb, 0, l->k, l->n, end - row < ROW_BLOCK ? end - row : ROW_BLOCK, 1, 1);
    }
}

typedef struct parts_sum {
    real *sum;
    const real *scratch;
    size_t cells;
    int32_t parts;
} parts_sum;

static void add_parts(void *arg, int64_t first, int64_t last)
{
    const parts_sum *s = arg;
    for (int32_t part = 0; part < s->parts; part++)
        for (int64_t i = first; i < last; i++)
            s->sum[i] += s->scratch[(size_t)part * s->cells + (size_t)i];
}

#define CHUNK (1 << 14) /* numbers of a sum that travel at a time */

void npi_parts_add(real *sum, const real *scratch, size_t cells, const npi_partition *rows)
{
    parts_sum s = {sum, scratch, cells, rows->part_end - rows->part};
    npi_comm_chain(rows->comm, sum, (int64_t)cells, sizeof *sum, CHUNK, add_parts, &s);
}

size_t npi_gemm_parts_scratch(const npi_partition *rows, int k, int n)
{
    return (size_t)(rows->part_end - rows->part) * (size_t)k * (size_t)n;
}

void npi_gemm_parts(real *c, const real *a, int lda, const real *b, int ldb, const npi_partition *rows, int k, int n,
                    real *scratch, int threads)
{
    parts_loop loop = {scratch, a, b, lda, ldb, k, n, rows};
    npi_blas_begin(threads);
    npi_parallel(threads, rows->part_end - rows->part, 1, multiply_own, &loop);
    npi_blas_end(threads);
    npi_parts_add(c, scratch, part_cells(&loop), rows);
}

size_t npi_gemm_tall_scratch(int32_t rows, int k, int n)
{
    npi_partition all = npi_partition_tall(rows, NULL);
    return npi_gemm_parts_scratch(&all, k, n);
}

void npi_gemm_tall(real *c, const real *a, int lda, const real *b, int ldb, int32_t rows, int k, int n, real *scratch,
                   int threads)
{
    npi_partition all = npi_partition_tall(rows, NULL);
    npi_gemm_parts(c, a, lda, b, ldb, &all, k, n, scratch, threads);
}

size_t npi_gram_parts_scratch(const npi_partition *rows, int k)
{
    return npi_gemm_parts_scratch(rows, k + 1, k);
}

/* A part is (k + 1, k): AᵀA, and the column sums as the last row. */
static void gram_own(const void *arg, int64_t first, int64_t last)
{
    const parts_loop *l = arg;
    size_t width = (size_t)l->n;
    for (int64_t part = first; part < last; part++) {
        real *square = l->scratch + (size_t)part * part_cells(l), *line = square + width * width;
        int32_t row = npi_part_start(l->rows, l->rows->part + (int32_t)part) - l->rows->from;
        int32_t end = npi_part_start(l->rows, l->rows->part + (int32_t)part + 1) - l->rows->from;
        memset(square, 0, part_cells(l) * sizeof *square);
        for (int32_t at = row; at < end; at += ROW_BLOCK) {
            const real *a = l->a + (size_t)at * width;
            /* square (k, k) += A_blockᵀ (k, .) A_block (., k) */
            npi_gemm(square, l->n, a, l->n, 1, a, l->n, 0, l->n, l->n, end - at < ROW_BLOCK ? end - at : ROW_BLOCK, 1,
                     1);
        }
        for (; row < end; row++)
            for (size_t j = 0; j < width; j++)
                line[j] += l->a[(size_t)row * width + j];
    }
}

void npi_gram_parts(real *gram, const real *a, const npi_partition *rows, int k, real *scratch, int threads)
{
    parts_loop loop = {.scratch = scratch, .a = a, .k = k + 1, .n = k, .rows = rows};
    npi_blas_begin(threads);
    npi_parallel(threads, rows->part_end - rows->part, 1, gram_own, &loop);
    npi_blas_end(threads);
    memset(gram, 0, part_cells(&loop) * sizeof *gram);
    npi_parts_add(gram, scratch, part_cells(&loop), rows);
}
