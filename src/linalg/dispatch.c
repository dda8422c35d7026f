/* Which of the kernel tables this processor can run. */
#include "linalg/kernels.h"

#include <stddef.h>

extern const npi_kernels npi_kernels_baseline;
#ifdef __x86_64__
extern const npi_kernels npi_kernels_v3, npi_kernels_v4;

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

/* Fills `tables` with those that can run, the best one first; returns their number. */
static int usable(const npi_kernels *tables[3])
{
    int count = 0;
#ifdef __x86_64__
    if (has_v4())
        tables[count++] = &npi_kernels_v4;
    if (has_v3())
        tables[count++] = &npi_kernels_v3;
#endif
    tables[count++] = &npi_kernels_baseline;
    return count;
}

const npi_kernels *npi_kernels_best(void)
{
    const npi_kernels *tables[3];
    usable(tables);
    return tables[0];
}

const npi_kernels *npi_kernels_at(int index)
{
    const npi_kernels *tables[3];
    int count = usable(tables);
    return index >= 0 && index < count ? tables[index] : NULL;
}
