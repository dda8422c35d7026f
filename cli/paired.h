/* Statistics of paired differences: Wilcoxon's signed-rank test, and a bootstrap interval of the mean. */
#ifndef CLI_PAIRED_H
#define CLI_PAIRED_H

#include <stdint.h>

enum {
    PAIRED_LEAST = 6,  /* with fewer pairs p cannot be below 0.05: it is at least 2 / 2^5 = 0.0625 */
    PAIRED_EXACT = 25, /* up to this many differences other than 0, p is exact */
    PAIRED_RESAMPLES = 10000
};

/* The two-sided p-value of Wilcoxon's test that differences are symmetric about 0; 1 where all differences are 0. Sorts
 * the differences and drops zeros. *better and *worse are the numbers of differences above and below 0. O(n³), at most
 * for n = PAIRED_EXACT; O(n log n) beyond. */
double paired_wilcoxon(int *better, int *worse, double *difference, int count);

typedef struct paired_result {
    int better, worse;      /* differences above and below 0 */
    double mean, low, high; /* of the differences, with its 95 % interval; NaN for a single difference */
    double p;               /* NaN with fewer than PAIRED_LEAST differences */
} paired_result;

/* Both of them. The same seed gives the same interval. Returns 0, or -1 when out of memory. */
int paired_compare(paired_result *out, const double *difference, int count, uint64_t seed);

#endif
