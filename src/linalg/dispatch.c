/* Which of the tables of kernels.h and exact.h this processor can run. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "linalg/exact.h"
#include "linalg/kernels.h"

extern const npi_kernels npi_kernels_baseline;
extern const npi_exact npi_exact_baseline;
#ifdef __x86_64__
extern const npi_kernels npi_kernels_v3, npi_kernels_v4;
extern const npi_exact npi_exact_v3, npi_exact_v4;

/* The levels of the x86-64 psABI, told by the extensions that the kernels use; every processor with these has the
 * rest. */
static int has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

static int has_v4(void)
{
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

typedef struct level {
    const npi_kernels *kernels;
    const npi_exact *exact;
} level;

/* The index-th level that can run, the best one first; NULLs past the last. */
static level level_at(int index)
{
    level levels[3];
    int count = 0;
#ifdef __x86_64__
    if (has_v4())
        levels[count++] = (level){&npi_kernels_v4, &npi_exact_v4};
    if (has_v3())
        levels[count++] = (level){&npi_kernels_v3, &npi_exact_v3};
#endif
    levels[count++] = (level){&npi_kernels_baseline, &npi_exact_baseline};
    return index >= 0 && index < count ? levels[index] : (level){NULL, NULL};
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static level best;
static int known = 1; /* 0: NPGNN_KERNELS has another name than those of the levels that can run */

/* The level that NPGNN_KERNELS names, or else the best one. */
static void choose(void)
{
    const char *wanted = getenv("NPGNN_KERNELS");
    best = level_at(0);
    known = !wanted || !*wanted;
    level next = best;
    for (int i = 0; !known && next.kernels; next = level_at(++i))
        if (strcmp(next.kernels->name, wanted) == 0) {
            best = next;
            known = 1;
        }
}

int npi_kernels_check(npgnn_error *err)
{
    pthread_once(&once, choose);
    return known ? 0
                 : npi_fail(err, NPGNN_E_ARGUMENT,
                            "NPGNN_KERNELS is '%s', which is no set of kernels that this processor can run: the best "
                            "is '%s', the least 'baseline'",
                            getenv("NPGNN_KERNELS"), best.kernels->name);
}

const npi_kernels *npi_kernels_best(void)
{
    pthread_once(&once, choose);
    return best.kernels;
}

const npi_kernels *npi_kernels_at(int index)
{
    return level_at(index).kernels;
}

const npi_exact *npi_exact_best(void)
{
    pthread_once(&once, choose);
    return best.exact;
}

const npi_exact *npi_exact_at(int index)
{
    return level_at(index).exact;
}
