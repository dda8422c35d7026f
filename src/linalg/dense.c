/* Dense products on all threads. A product with many rows is divided into blocks, one call of BLAS each:
 *
 *     npi_gemm_rows    C = A op(B)         blocks of ROW_BLOCK rows are independent
 *     npi_gemm_nodes   C = A op(B)         the same with blocks of NPI_BLOCK rows, which may be divided among processes
 *     npi_gemm_tall    C += Aᵀ B           blocks of ROW_BLOCK rows are summed: in at most TALL_PARTS parts, then the parts in order
 *     npi_gemm_parts   C += Aᵀ B           the parts are those of a partition, whose rows may be divided among processes
 *     npi_gram_parts   AᵀA and Σ_i a_i     the same
 *
 * The division depends on the shape alone, so the bits do not depend on the number of threads or processes. */
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

/* The first part of a process. */
static int64_t tall_part(int64_t rows, int rank, const npgnn_comm *comm)
{
    return npi_comm_share_start(comm, tall_parts(rows), rank);
}

int64_t npi_tall_start(int64_t rows, int rank, const npgnn_comm *comm)
{
    int64_t parts = tall_parts(rows), part = tall_part(rows, rank, comm);
    return rank == npi_comm_ranks(comm) ? rows : part * blocks_of(rows) / (parts > 0 ? parts : 1) * ROW_BLOCK;
}

typedef struct tall_sum {
    real *sum;
    const real *scratch;
    size_t cells;
    int64_t part, part_end;
} tall_sum;

static void add_tall_parts(void *arg, int64_t first, int64_t last)
{
    const tall_sum *s = arg;
    for (int64_t part = s->part; part < s->part_end; part++)
        for (int64_t i = first; i < last; i++)
            s->sum[i] += s->scratch[(size_t)part * s->cells + (size_t)i];
}

typedef struct own_parts {
    const tall_loop *loop;
    int64_t part;
} own_parts;

static void multiply_own_parts(const void *arg, int64_t first, int64_t last)
{
    const own_parts *own = arg;
    multiply_parts(own->loop, own->part + first, own->part + last);
}

void npi_gemm_tall_among(real *c, const real *a, const real *b, int64_t rows, int k, int n, real *scratch,
                         npgnn_comm *comm, int threads)
{
    tall_loop loop = {scratch, a, b, k, n, k, n, rows};
    tall_sum sum = {c, scratch, (size_t)k * (size_t)n, tall_part(rows, npi_comm_rank(comm), comm),
                    tall_part(rows, npi_comm_rank(comm) + 1, comm)};
    own_parts own = {&loop, sum.part};
    npi_blas_begin(threads);
    npi_parallel(threads, sum.part_end - sum.part, 0, multiply_own_parts, &own);
    npi_blas_end(threads);
    npi_comm_chain(comm, c, (int64_t)sum.cells, sizeof *c, (int64_t)sum.cells, add_tall_parts, &sum);
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
