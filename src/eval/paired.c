/* Statistics of paired differences d_1 .. d_n.
 *
 * Wilcoxon's signed-rank test (Wilcoxon 1945, doi:10.2307/3001968): differences that are 0 are left out, the other n
 * are ranked by magnitude, and ties share the mean of their ranks. W is the sum of the ranks of the positive
 * differences. Under the null hypothesis each sign is a fair coin, so that W has
 *
 *     mean n (n + 1) / 4,    variance n (n + 1) (2 n + 1) / 24 - Σ over ties (t³ - t) / 48.
 *
 * Up to n = NPGNN_PAIRED_EXACT, p is the share of the 2^n sign vectors whose W is at least as far from the mean, given
 * the ranks with their ties. Beyond, W is taken as normal, with a correction for continuity.
 *
 * Bootstrap: the n differences are drawn n times with replacement, NPGNN_PAIRED_RESAMPLES times. The interval holds the
 * central 95 % of the means (percentile method). */
#include <math.h>
#include <stdlib.h>

#include "base/env.h"
#include "base/rng.h"
#include "base/sized.h"

#define OUTSIDE 0.025 /* on either side of the interval */
#define STEPS 1e12    /* per 1, that differences are rounded to: equal ones of fractions may differ in the last bits */

/* ---- Wilcoxon's test ---- */

static int by_magnitude(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* The exact p-value. Ranks with ties are multiples of 1/2; all sums here are doubled to be whole numbers. */
static double exact_p(const int *rank2, int n, int sum2)
{
    enum { MOST = NPGNN_PAIRED_EXACT * (NPGNN_PAIRED_EXACT + 1) };
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

/* The p-value; 1 where all differences are 0. Sorts the differences and drops zeros. O(n^3), at most for n =
 * NPGNN_PAIRED_EXACT; O(n log n) beyond. */
static double wilcoxon(double *difference, int count)
{
    int rank2[NPGNN_PAIRED_EXACT] = {0}, n = 0;
    double sum2 = 0, ties = 0;
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
            if (i < NPGNN_PAIRED_EXACT)
                rank2[i] = first + 1 + last; /* ranks first + 1 to last share their mean */
            if (difference[i] > 0)
                sum2 += first + 1.0 + last;
        }
    }
    if (n <= NPGNN_PAIRED_EXACT)
        return exact_p(rank2, n, (int)sum2);
    double mean = n * (n + 1.0) / 4, variance = n * (n + 1.0) * (2.0 * n + 1) / 24 - ties / 48;
    return erfc(fmax(fabs(sum2 / 2 - mean) - 0.5, 0) / sqrt(2 * variance));
}

/* ---- bootstrap ---- */

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

/* means (NPGNN_PAIRED_RESAMPLES) is scratch. */
static void interval(double *low, double *high, double *means, const double *difference, int count, uint64_t seed)
{
    for (int r = 0; r < NPGNN_PAIRED_RESAMPLES; r++) {
        npi_rng rng = npi_rng_make(seed, NPI_RNG_BOOTSTRAP, (uint32_t)r);
        double sum = 0;
        for (int i = 0; i < count; i++)
            sum += difference[npi_rng_below(&rng, (uint64_t)count)];
        means[r] = sum / count;
    }
    qsort(means, NPGNN_PAIRED_RESAMPLES, sizeof *means, ascending);
    *low = quantile(means, NPGNN_PAIRED_RESAMPLES, OUTSIDE);
    *high = quantile(means, NPGNN_PAIRED_RESAMPLES, 1 - OUTSIDE);
}

int npgnn_paired_compare(npgnn_paired *out, const double *values, const double *reference, int count, uint64_t seed,
                         const npgnn_env *env, npgnn_error *err)
{
    npgnn_paired result = {.low = (double)NAN, .high = (double)NAN, .p = (double)NAN};
    if (npi_env_check(env, err) || npi_sized_check(out, "npgnn_paired", err))
        return NPGNN_E_ARGUMENT;
    if (count < 1)
        return npi_fail(err, NPGNN_E_ARGUMENT, "a comparison needs at least one pair of values, got %d", count);
    npgnn_env known = npi_env_resolve(env);
    int code = 0;
    double *difference = npi_alloc(&known, (size_t)count, sizeof *difference, err);
    double *means = npi_alloc(&known, NPGNN_PAIRED_RESAMPLES, sizeof *means, err);
    if (!difference || !means)
        code = NPGNN_E_MEMORY;
    for (int i = 0; code == 0 && i < count; i++) {
        difference[i] = round((values[i] - reference[i]) * STEPS) / STEPS;
        if (!isfinite(difference[i]))
            code =
                npi_fail(err, NPGNN_E_ARGUMENT, "values %d, %g and %g, have no difference", i, values[i], reference[i]);
        result.mean += difference[i] / count;
        result.better += difference[i] > 0;
        result.worse += difference[i] < 0;
    }
    if (code == 0 && count > 1)
        interval(&result.low, &result.high, means, difference, count, seed);
    if (code == 0 && count >= NPGNN_PAIRED_LEAST)
        result.p = wilcoxon(difference, count); /* last: it sorts them */
    if (code == 0)
        code = npi_sized_write(out, &result, sizeof result, "npgnn_paired", err);
    npi_free(&known, difference);
    npi_free(&known, means);
    return code;
}
