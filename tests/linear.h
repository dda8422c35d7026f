/* Whether reading takes time in proportion to the size of a file: four times the file, about four times the processor
 * time. What is quadratic takes sixteen times. */
#ifndef NPI_TESTS_LINEAR_H
#define NPI_TESTS_LINEAR_H

#include "check.h"

#include <time.h>

/* Makes a text of `count` units, which the caller frees. */
typedef char *make_fn(size_t *size, int count);
/* Reads it, whatever comes of it. */
typedef void read_fn(const char *text, size_t size);

static inline double fastest(make_fn *make, read_fn *read, int count)
{
    size_t size;
    char *text = make(&size, count);
    double least = 1e9;
    for (int i = 0; i < 3; i++) {
        clock_t start = clock();
        read(text, size);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        least = seconds < least ? seconds : least;
    }
    free(text);
    return least;
}

static inline void assert_linear(make_fn *make, read_fn *read, int count)
{
    double small = fastest(make, read, count), large = fastest(make, read, 4 * count);
    if (large > 9 * small + 0.02) /* 0.02: below it, the clock decides */
        fail_msg("%g s for %d units, %g s for four times as many", small, count, large);
}

#endif
