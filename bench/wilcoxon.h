/* Wilcoxon's signed-rank test of paired differences (Wilcoxon 1945, doi:10.2307/3001968).
 *
 * Differences that are 0 are left out. The others are ranked by magnitude, ties sharing the mean of their ranks. Under
 * the null hypothesis (differences are symmetric about 0) the sum W of the ranks of the positive ones has
 *
 *     mean n (n + 1) / 4,    variance n (n + 1) (2 n + 1) / 24 - Σ over ties (t³ - t) / 48
 *
 * and is nearly normal from about 20 differences on. The p-value is two-sided, with a correction for continuity. */
#ifndef BENCH_WILCOXON_H
#define BENCH_WILCOXON_H

#include <math.h>
#include <stdlib.h>

typedef struct wilcoxon {
    int better, worse; /* differences above and below 0 */
    double p;          /* NaN without any difference */
} wilcoxon;

static inline int wilcoxon_order(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* Sorts the differences. */
static inline wilcoxon wilcoxon_test(double *difference, int count)
{
    wilcoxon result = {0, 0, (double)NAN};
    double sum = 0, ties = 0;
    int n = 0;
    for (int i = 0; i < count; i++)
        if (difference[i] != 0)
            difference[n++] = difference[i];
    qsort(difference, (size_t)n, sizeof *difference, wilcoxon_order);
    for (int first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n && fabs(difference[last]) == fabs(difference[first]);)
            last++;
        double rank = (first + 1 + last) / 2.0, equal = last - first;
        ties += equal * equal * equal - equal;
        for (int i = first; i < last; i++) {
            sum += difference[i] > 0 ? rank : 0;
            result.better += difference[i] > 0;
            result.worse += difference[i] < 0;
        }
    }
    double mean = n * (n + 1.0) / 4, variance = n * (n + 1.0) * (2.0 * n + 1) / 24 - ties / 48;
    double apart = fmax(fabs(sum - mean) - 0.5, 0);
    if (n > 0)
        result.p = erfc(apart / sqrt(2 * variance));
    return result;
}

#endif
