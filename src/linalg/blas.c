/* BLAS behind one door: which library stands behind the name, and what it takes to call it from several threads at once.
 *
 * openblas_get_parallel() tells OpenBLAS's builds apart:
 *   pthread  safe; its number of threads is the process's, held at 1 between npi_blas_begin and npi_blas_end
 *   OpenMP   safe; its number of threads is the calling thread's, set to 1 around each call
 *   serial   not safe for concurrent calls: one at a time
 * Any other BLAS is taken for unsafe as well. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "linalg/blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

enum { UNSAFE, PTHREAD, OPENMP };

static struct blas {
    int kind;
    int (*get_num_threads)(void); /* the process's (PTHREAD) or the calling thread's (OPENMP) */
    void (*set_num_threads)(int count);
} blas;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Callers between begin and end, and what the last end restores. */
static pthread_mutex_t holders_lock = PTHREAD_MUTEX_INITIALIZER;
static int holders, held_threads;

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* A function by its name, or NULL: a pointer to data cannot be cast to one. */
static void find(void *function, const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &address, sizeof address);
}

static void find_blas(void)
{
    int (*get_parallel)(void);
    find(&get_parallel, "openblas_get_parallel");
    int parallel = get_parallel ? get_parallel() : 0;
    if (parallel == 1) {
        find(&blas.get_num_threads, "openblas_get_num_threads");
        find(&blas.set_num_threads, "openblas_set_num_threads");
    } else if (parallel == 2) {
        find(&blas.get_num_threads, "omp_get_max_threads");
        find(&blas.set_num_threads, "omp_set_num_threads");
    }
    if (blas.get_num_threads && blas.set_num_threads)
        blas.kind = parallel == 1 ? PTHREAD : OPENMP;
}

void npi_blas_begin(void)
{
    pthread_once(&once, find_blas);
    if (blas.kind != PTHREAD)
        return;
    pthread_mutex_lock(&holders_lock);
    if (holders++ == 0) {
        held_threads = blas.get_num_threads();
        if (held_threads != 1)
            blas.set_num_threads(1);
    }
    pthread_mutex_unlock(&holders_lock);
}

void npi_blas_end(void)
{
    if (blas.kind != PTHREAD)
        return;
    pthread_mutex_lock(&holders_lock);
    if (--holders == 0 && held_threads != 1)
        blas.set_num_threads(held_threads);
    pthread_mutex_unlock(&holders_lock);
}

int npi_blas_enter(void)
{
    int saved = 1;
    if (blas.kind == UNSAFE)
        pthread_mutex_lock(&one_at_a_time);
    if (blas.kind == OPENMP && (saved = blas.get_num_threads()) != 1)
        blas.set_num_threads(1);
    return saved;
}

void npi_blas_leave(int saved)
{
    if (blas.kind == UNSAFE)
        pthread_mutex_unlock(&one_at_a_time);
    if (saved != 1)
        blas.set_num_threads(saved);
}

void npi_gemm(real *c, int ldc, const real *a, int lda, int trans_a, const real *b, int ldb, int trans_b, int m, int n,
              int k, real alpha, real beta)
{
    int saved = npi_blas_enter();
    NPI_CBLAS(gemm)
    (CblasRowMajor, trans_a ? CblasTrans : CblasNoTrans, trans_b ? CblasTrans : CblasNoTrans, m, n, k, alpha, a, lda, b,
     ldb, beta, c, ldc);
    npi_blas_leave(saved);
}
