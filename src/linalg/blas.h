/* BLAS: loaded when it is first needed, and called for one block of a matrix at a time, from our own threads. */
#ifndef NPI_LINALG_BLAS_H
#define NPI_LINALG_BLAS_H

#include "base/env.h"
#include "linalg/real.h"

/* Loads BLAS, with memory for at least one call at a time. Whatever is going to multiply opens it first, while it can
 * still report an error: E_IO when there is no BLAS, E_MEMORY when a limit on memory leaves no space for its
 * buffers. */
int npi_blas_open(const npgnn_env *env, npgnn_error *err);

/* The same in all processes of env->comm. What they compute is put together: so E_MISMATCH unless their kernels are the
 * same. */
int npi_blas_open_among(const npgnn_env *env, npgnn_error *err);

/* What the bits of results depend on besides the build of the library: its kernels, and the version and kernels of
 * OpenBLAS, such as "x86-64-v3, OpenBLAS 0.3.21 Haswell". BLAS must be open; without it the text says so. */
enum { NPI_NUMERICS_SIZE = 128 };
void npi_blas_numerics(char text[NPI_NUMERICS_SIZE]);

/* Around a loop of `threads` threads that call npi_gemm, on the thread that starts it. OpenBLAS's pthread build has one
 * number of threads for the whole process: it is 1 from the first begin to the last end, and then what it was
 * before. */
void npi_blas_begin(int threads);
void npi_blas_end(int threads);

/* C (m, n) = alpha op(A) op(B) + beta C on the calling thread. All matrices are row-major; ld is the row stride. */
void npi_gemm(real *c, int ldc, const real *a, int lda, int trans_a, const real *b, int ldb, int trans_b, int m, int n,
              int k, real alpha, real beta);

/* Around a call of a library that calls BLAS by itself (ARPACK), inside begin and end: its BLAS, too, runs on the
 * calling thread alone. enter returns what leave restores. In between, npi_gemm must not be called. */
typedef struct npi_blas_call {
    int permit;  /* to give back */
    int threads; /* of OpenMP on the calling thread; 0: not changed */
} npi_blas_call;
npi_blas_call npi_blas_enter(void);
void npi_blas_leave(npi_blas_call call);

/* A function of a shared library, by name: a pointer to data cannot be cast to one. Returns 0 when there is none. */
int npi_library_find(void *function, void *library, const char *name);

#endif
