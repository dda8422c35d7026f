/* What the tests of the features and of linear algebra share: random matrices, and a judge of the results. */
#ifndef NPI_TESTS_MATRICES_H
#define NPI_TESTS_MATRICES_H

#include "check.h"

#include <float.h>
#include <string.h>

#include "base/rng.h"
#include "linalg/sparse.h"

#ifdef NPI_DOUBLE
#define PRECISION DBL_EPSILON
#else
#define PRECISION ((double)FLT_EPSILON)
#endif

/* Of a sum of `terms` products of numbers up to 1. */
#define TOLERANCE(terms) (PRECISION * (4 + (double)(terms)))

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static npgnn_env env = {.size = sizeof env};

static inline int set_up(void **state)
{
    (void)state;
    env = npi_env_resolve(NULL);
    return 0;
}

/* ---- random input ---- */

static inline double random_at(uint32_t stream, uint64_t index)
{
    npi_rng rng = npi_rng_make(5, NPI_RNG_TEST, stream);
    return 2 * npi_rng_uniform_at(&rng, index) - 1;
}

static inline void *room(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    assert_non_null(block);
    return block;
}

/* (count) in [-1, 1), for the caller to free */
static inline real *reals(size_t count, uint32_t stream)
{
    real *values = room(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (real)random_at(stream, i);
    return values;
}

/* (n, f), a share `density` of it not zero; with `ones` those are 1 */
static inline float *matrix(int32_t n, int32_t f, double density, int ones, uint32_t stream)
{
    size_t count = (size_t)n * (size_t)f;
    float *values = room(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        if (random_at(stream, i) < 2 * density - 1)
            values[i] = ones ? 1 : (float)random_at(stream + 1, i);
    return values;
}

/* The non-zeros of a matrix as CSR; val NULL with `pattern`. */
static inline npi_csr csr_of(const float *m, int32_t n, int32_t f, int pattern)
{
    size_t cells = (size_t)n * (size_t)f;
    npi_csr a = {n, f, npi_alloc(&env, (size_t)n + 1, sizeof *a.ptr, NULL), npi_alloc(&env, cells, sizeof *a.col, NULL),
                 pattern ? NULL : npi_alloc(&env, cells, sizeof *a.val, NULL)};
    for (int32_t i = 0; i < n; i++) {
        a.ptr[i + 1] = a.ptr[i];
        for (int32_t j = 0; j < f; j++) {
            float value = m[(size_t)i * (size_t)f + (size_t)j];
            if (value == 0)
                continue;
            if (a.val)
                a.val[a.ptr[i + 1]] = value;
            a.col[a.ptr[i + 1]++] = j;
        }
    }
    return a;
}

/* ---- the judge: near a double loop with one thread, the same bits with more ---- */

typedef struct judge {
    const double *want;
    size_t count;
    double tolerance;
    real *first; /* with one thread */
} judge;

static inline void hear(judge *j, const real *got, int threads)
{
    if (threads > 1) {
        assert_memory_equal(got, j->first, j->count * sizeof *got);
        return;
    }
    j->first = room(j->count, sizeof *j->first);
    memcpy(j->first, got, j->count * sizeof *got);
    for (size_t i = 0; i < j->count; i++)
        assert_near((double)got[i], j->want[i], j->tolerance);
}

#endif
