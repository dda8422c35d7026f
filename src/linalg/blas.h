/* BLAS: one call per block of a matrix, each from one of our own threads, with one thread of its own. */
#ifndef NPI_LINALG_BLAS_H
#define NPI_LINALG_BLAS_H

#include "linalg/real.h"

/* Around a loop whose bodies call npi_gemm, on the thread that starts the loop; may be nested. OpenBLAS's pthread build has
 * one number of threads for the whole process: from the first begin to the last end it is 1, then what it was before. */
void npi_blas_begin(void);
void npi_blas_end(void);

/* C (m, n) = alpha op(A) op(B) + beta C on the calling thread. All matrices are row-major; ld is the row stride. */
void npi_gemm(real *c, int ldc, const real *a, int lda, int trans_a, const real *b, int ldb, int trans_b, int m, int n,
              int k, real alpha, real beta);

/* Around calls of other libraries that call BLAS by themselves (ARPACK), besides begin and end: their BLAS runs on the
 * calling thread alone. enter returns what leave restores. In between, npi_gemm must not be called. */
int npi_blas_enter(void);
void npi_blas_leave(int saved);

#endif
