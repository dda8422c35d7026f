/* Statistics of paired differences d_1 .. d_n.
 *
 * Wilcoxon's signed-rank test (Wilcoxon 1945, doi:10.2307/3001968): differences that are 0 are left out, the other n are
 * ranked by magnitude, and ties share the mean of their ranks. W is the sum of the ranks of the positive differences.
 * Under the null hypothesis each sign is a fair coin, so that W has
 *
 *     mean n (n + 1) / 4,    variance n (n + 1) (2 n + 1) / 24 - Σ over ties (t³ - t) / 48.
 *
 * Up to n = PAIRED_EXACT, p is the share of the 2^n sign vectors whose W is at least as far from the mean, given the
 * ranks with their ties. Beyond, W is taken as normal, with a correction for continuity.
 *
 * Bootstrap: the n differences are drawn n times with replacement, PAIRED_RESAMPLES times. The interval holds the
 * central 95 % of the means (percentile method). */
#include "paired.h"

#include <math.h>
#include <stdlib.h>

#define OUTSIDE 0.025 /* on either side of the interval */

/* ---- Wilcoxon's test ---- */

static int by_magnitude(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* The exact p-value. Ranks with ties are multiples of 1/2; all sums here are doubled to be whole numbers. */
static double exact_p(const int *rank2, int n, int sum2)
{
    enum { MOST = PAIRED_EXACT * (PAIRED_EXACT + 1) };
    double ways[MOST + 1] = {1}; /* ways[s]: number of sign vectors of the ranks so far with 2 W = s */
    int total = n * (n + 1);     /* the largest 2 W; the mean is half of it */
    double extreme = 0, all = 1;
    for (int i = 0; i < n; i++, all *= 2)
        for (int s = total; s >= rank2[i]; s--)
            ways[s] += ways[s - rank2[i]];
    for (int s = 0; s <= total; s++)
        if (abs(2 * s - total) >= abs(2 * sum2 - total))
            extreme += ways[s];
    return extreme / all;
}

double paired_wilcoxon(int *better, int *worse, double *difference, int count)
{
    int rank2[PAIRED_EXACT] = {0}, n = 0;
    double sum2 = 0, ties = 0;
    *better = *worse = 0;
    for (int i = 0; i < count; i++)
        if (difference[i] != 0)
            difference[n++] = difference[i];
    qsort(difference, (size_t)n, sizeof *difference, by_magnitude);
    for (int first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n && fabs(difference[last]) == fabs(difference[first]);)
            last++;
        double equal = last - first;
        ties += equal * equal * equal - equal;
        for (int i = first; i < last; i++) {
            if (i < PAIRED_EXACT)
                rank2[i] = first + 1 + last; /* ranks first + 1 to last share their mean */
            if (difference[i] > 0)
                sum2 += first + 1 + last;
            *better += difference[i] > 0;
            *worse += difference[i] < 0;
        }
    }
    if (n <= PAIRED_EXACT)
        return exact_p(rank2, n, (int)sum2);
    double mean = n * (n + 1.0) / 4, variance = n * (n + 1.0) * (2.0 * n + 1) / 24 - ties / 48;
    return erfc(fmax(fabs(sum2 / 2 - mean) - 0.5, 0) / sqrt(2 * variance));
}

/* ---- bootstrap ---- */

/* splitmix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int count, double share)
{
    double at = share * (count - 1), below = floor(at);
    int i = (int)below, next = i + 1 < count ? i + 1 : i;
    return sorted[i] + (at - below) * (sorted[next] - sorted[i]);
}

int paired_compare(paired_result *out, const double *difference, int count, uint64_t seed)
{
    double *means = calloc(PAIRED_RESAMPLES, sizeof *means), *copy = calloc((size_t)count, sizeof *copy);
    int code = means && copy ? 0 : -1;
    *out = (paired_result){.low = (double)NAN, .high = (double)NAN, .p = (double)NAN};
    for (int i = 0; code == 0 && i < count; i++) {
        out->mean += difference[i] / count;
        copy[i] = difference[i];
    }
    if (code == 0 && count > 1) {
        for (int r = 0; r < PAIRED_RESAMPLES; r++) {
            for (int i = 0; i < count; i++) /* the upper half of the bits, scaled to 0 .. count - 1 */
                means[r] += difference[((next_random(&seed) >> 32) * (uint64_t)count) >> 32];
            means[r] /= count;
        }
        qsort(means, PAIRED_RESAMPLES, sizeof *means, ascending);
        out->low = quantile(means, PAIRED_RESAMPLES, OUTSIDE);
        out->high = quantile(means, PAIRED_RESAMPLES, 1 - OUTSIDE);
    }
    if (code == 0) {
        double p = paired_wilcoxon(&out->better, &out->worse, copy, count);
        if (count >= PAIRED_LEAST)
            out->p = p;
    }
    free(means);
    free(copy);
    return code;
}
