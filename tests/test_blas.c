/* BLAS from several threads at once: every product has the bits that one thread gives it, whatever build of OpenBLAS is
 * loaded (tests/blas.sh runs this under all of them), and its number of threads is what it was before. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "linalg/blas.h"

/* Many small products: the smaller, the more often a build that is not safe for concurrent calls gets one wrong. */
enum { M = 64, N = 64, K = 32, THREADS = 8, PRODUCTS = 100000, INPUTS = 16 };

static real a[INPUTS][M * K], b[INPUTS][K * N], expected[INPUTS][M * N], result[THREADS][M * N];
static const npgnn_env env = {.threads = THREADS};

static int open_blas(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npi_rng rng = npi_rng_make(1, NPI_RNG_TEST, 0);
    for (int input = 0; input < INPUTS; input++)
        for (int i = 0; i < M * K; i++) {
            a[input][i] = (real)npi_rng_uniform_at(&rng, (uint64_t)(input * M * K + i)) - (real)0.5;
            b[input][i] = (real)npi_rng_normal_at(&rng, (uint64_t)(input * M * K + i));
        }
    return npi_blas_open(&env, &err);
}

static void multiply(real *c, int input)
{
    npi_gemm(c, N, a[input], K, 0, b[input], N, 0, M, N, K, 1, 0);
}

static void check_products(const void *arg, int64_t first, int64_t last)
{
    int *wrong = *(int *const *)arg;
    real *c = result[npi_worker()];
    for (int64_t i = first; i < last; i++) {
        multiply(c, (int)(i % INPUTS));
        if (memcmp(c, expected[i % INPUTS], sizeof expected[0]) != 0)
            __atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED);
    }
}

static void test_concurrent_products(void **state)
{
    (void)state;
    int wrong = 0, *counter = &wrong;
    npi_blas_begin(1);
    for (int input = 0; input < INPUTS; input++) {
        multiply(expected[input], input);
        for (int i = 0; i < M * N; i += 997) { /* and that is a product */
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double)a[input][i / N * K + k] * (double)b[input][k * N + i % N];
            assert_near((double)expected[input][i], sum, 1e-4);
        }
    }
    npi_blas_end(1);
    npi_blas_begin(THREADS);
    npi_parallel(THREADS, PRODUCTS, 1, check_products, &counter);
    npi_blas_end(THREADS);
    assert_int_equal(wrong, 0);
}

/* ---- what the application has set ---- */

typedef int get_fn(void);
typedef void set_fn(int count);

static void test_thread_count_is_restored(void **state)
{
    (void)state;
    void *library = dlopen(NPI_BLAS, RTLD_NOW);
    get_fn *parallel, *get;
    set_fn *set;
    assert_non_null(library);
    if (!npi_library_find(&parallel, library, "openblas_get_parallel") || parallel() != 1)
        skip(); /* only the pthread build has one number for the whole process */
    assert_true(npi_library_find(&get, library, "openblas_get_num_threads"));
    assert_true(npi_library_find(&set, library, "openblas_set_num_threads"));
    set(2);
    npi_blas_begin(1);
    assert_int_equal(get(), 1);
    npi_blas_begin(1);
    npi_blas_end(1);
    assert_int_equal(get(), 1);
    npi_blas_end(1);
    assert_int_equal(get(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_concurrent_products),
        cmocka_unit_test(test_thread_count_is_restored),
    };
    return cmocka_run_group_tests(tests, open_blas, NULL);
}
