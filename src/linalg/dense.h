/* Dense products through BLAS, cut into blocks whose sizes and order do not depend on the number of threads.
 * All matrices are row-major; ld is the row stride. */
#ifndef NPI_LINALG_DENSE_H
#define NPI_LINALG_DENSE_H

#include "linalg/sparse.h"

/* BLAS uses one thread per call in here, each call coming from one of our own threads. begin returns what end restores. */
int npi_blas_begin(int threads);
void npi_blas_end(int saved);

/* C (m, n) = alpha op(A) op(B) + beta C on the calling thread. */
void npi_gemm(real *c, int ldc, const real *a, int lda, int trans_a, const real *b, int ldb, int trans_b, int m, int n,
              int k, real alpha, real beta);

/* C (rows, n) = A (rows, k) B (k, n) + beta C, rows in parallel. */
void npi_gemm_rows(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int trans_b, int64_t rows, int n,
                   int k, real beta, int threads);

/* C (k, n) += Aᵀ B over many rows: A (rows, k), B (rows, n). `scratch` has npi_gemm_tall_scratch(rows, k, n) reals. */
void npi_gemm_tall(real *c, int ldc, const real *a, int lda, const real *b, int ldb, int64_t rows, int k, int n,
                   real *scratch, int threads);
size_t npi_gemm_tall_scratch(int64_t rows, int k, int n);

/* gram (k, k) = Aᵀ A and sum (k) = the column sums of A (rows, k), contiguous, in one pass over it. */
void npi_gram_tall(real *gram, real *sum, const real *a, int64_t rows, int k, real *scratch, int threads);
size_t npi_gram_tall_scratch(int64_t rows, int k);

#endif
