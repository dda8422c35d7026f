#include "eval/delong.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Number of the sorted values (count) that are below x; with `ties`, also those that equal it. */
static size_t count_below(const float *sorted, size_t count, float x, int ties)
{
    size_t from = 0, to = count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (sorted[middle] < x || (ties && sorted[middle] == x))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static double share_below(const float *sorted, size_t count, float x)
{
    return ((double)count_below(sorted, count, x, 0) + (double)count_below(sorted, count, x, 1)) / (2 * (double)count);
}

/* Variance of a mean of `count` values with these sums. */
static double variance_of_mean(double sum, double squares, size_t count)
{
    double mean = sum / (double)count, n = (double)count;
    return count < 2 ? 0 : fmax(0, squares / n - mean * mean) / (n - 1);
}

int npi_auc_compare(npi_auc_pair *out, const float *const score[2], size_t links, size_t count, const npgnn_env *env,
                    npgnn_error *err)
{
    assert(links > 0 && links < count);
    float *sorted = npi_resize(env, NULL, 2 * count, sizeof *sorted, err); /* (2, count): links, then non-links */
    if (!sorted)
        return NPGNN_E_MEMORY;
    size_t first[2] = {0, links}, size[2] = {links, count - links};
    double variance = 0;
    for (int s = 0; s < 2; s++) {
        memcpy(sorted + (size_t)s * count, score[s], count * sizeof *sorted);
        for (int kind = 0; kind < 2; kind++)
            qsort(sorted + (size_t)s * count + first[kind], size[kind], sizeof *sorted, ascending);
    }
    for (int kind = 0; kind < 2; kind++) { /* each link among the non-links, then each non-link among the links */
        double sum[2] = {0, 0}, difference = 0, squares = 0;
        for (size_t i = first[kind]; i < first[kind] + size[kind]; i++) {
            double share[2];
            for (int s = 0; s < 2; s++) {
                share[s] = share_below(sorted + (size_t)s * count + first[!kind], size[!kind], score[s][i]);
                sum[s] += share[s];
            }
            difference += share[1] - share[0];
            squares += (share[1] - share[0]) * (share[1] - share[0]);
        }
        for (int s = 0; s < 2 && kind == 0; s++)
            out->auc[s] = sum[s] / (double)links;
        variance += variance_of_mean(difference, squares, size[kind]);
    }
    out->error = links < 2 || count - links < 2 ? 0 : sqrt(variance);
    npi_free(env, sorted);
    return 0;
}
