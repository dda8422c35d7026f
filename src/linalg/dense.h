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

/* The same for rows that a partition divides: the first row is the first of a block. */
void npi_gemm_nodes(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int trans_b, int64_t rows, int n,
                    int k, real beta, int threads);

/* C (k, n) += Aᵀ B over many rows: A (rows, k), B (rows, n). `scratch` has npi_gemm_tall_scratch(rows, k, n) reals. */
void npi_gemm_tall(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int64_t rows, int k, int n,
                   real *scratch, int threads);
size_t npi_gemm_tall_scratch(int64_t rows, int k, int n);

/* The same, contiguous, where the processes of comm divide the work: process r adds the rows from npi_tall_start(rows,
 * r) on, and all get the sum. A and B have all rows; those of other processes are not read. */
void npi_gemm_tall_among(real *c, const real *a, const real *b, int64_t rows, int k, int n, real *scratch,
                         npgnn_comm *comm, int threads);
int64_t npi_tall_start(int64_t rows, int rank, const npgnn_comm *comm);

/* The same for rows that a partition divides: A and B have the rows of this process, and C (k, n), contiguous, gets the
 * sum over all rows. `scratch` has npi_gemm_parts_scratch reals. */
void npi_gemm_parts(real *c, const real *a, int lda, const real *b, int ldb, const npi_partition *rows, int k, int n,
                    real *scratch, int threads);
size_t npi_gemm_parts_scratch(const npi_partition *rows, int k, int n);

/* gram (k + 1, k): Aᵀ A and, as the last row, the column sums of A (rows, k), contiguous, in one pass over it. */
void npi_gram_parts(real *gram, const real *a, const npi_partition *rows, int k, real *scratch, int threads);
size_t npi_gram_parts_scratch(const npi_partition *rows, int k);

/* sum (cells) += the sums of the parts, in order; scratch (parts of this process, cells). */
void npi_parts_add(real *sum, const real *scratch, size_t cells, const npi_partition *rows);

#endif
