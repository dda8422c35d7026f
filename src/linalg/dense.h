/* Dense products through BLAS, cut into blocks whose sizes and order do not depend on the number of threads.
 * All matrices are row-major; ld is the row stride. */
#ifndef NPI_LINALG_DENSE_H
#define NPI_LINALG_DENSE_H

#include "base/partition.h"
#include "linalg/blas.h"
#include "linalg/sparse.h"

/* C (rows, n) = A (rows, k) B (k, n) + beta C, rows in parallel. */
void npi_gemm_rows(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int trans_b, int64_t rows, int n,
                   int k, real beta, int threads);

/* The same for rows that npi_partition_among divides: the first row is the first of a block. */
void npi_gemm_nodes(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int trans_b, int64_t rows, int n,
                    int k, real beta, int threads);

/* C (k, n) += Aᵀ B over many rows: A (rows, k), B (rows, n), C contiguous. `scratch` has npi_gemm_tall_scratch(rows, k,
 * n) reals. */
void npi_gemm_tall(real *c, const real *a, int lda, const real *b, int ldb, int32_t rows, int k, int n, real *scratch,
                   int threads);
size_t npi_gemm_tall_scratch(int32_t rows, int k, int n);

/* The same for rows that a partition divides: A and B have the rows of this process, and C gets the sum over all rows.
 * `scratch` has npi_gemm_parts_scratch reals. The parts of npi_partition_tall give the bits of npi_gemm_tall. */
void npi_gemm_parts(real *c, const real *a, int lda, const real *b, int ldb, const npi_partition *rows, int k, int n,
                    real *scratch, int threads);
size_t npi_gemm_parts_scratch(const npi_partition *rows, int k, int n);

/* gram (k + 1, k): Aᵀ A and, as the last row, the column sums of A (rows, k), contiguous, in one pass over it. */
void npi_gram_parts(real *gram, const real *a, const npi_partition *rows, int k, real *scratch, int threads);
size_t npi_gram_parts_scratch(const npi_partition *rows, int k);

/* sum (cells) += the sums of the parts, in order; scratch (parts of this process, cells). */
void npi_parts_add(real *sum, const real *scratch, size_t cells, const npi_partition *rows);

#endif
