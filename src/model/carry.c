#include "model/carry.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_ABOVE = 16 }; /* pairs above the last point, which would follow chance otherwise */

typedef struct weighed {
    float score, weight;
} weighed;

static int descending(const void *a, const void *b)
{
    const weighed *left = a, *right = b;
    return (left->score < right->score) - (left->score > right->score);
}

/* point[p]: the score above which a share of 1 / 2^(p + 1) of the weight is; NaN where too few pairs are. Sorts them. */
static void find_points(double point[NPI_CARRY_MOST], weighed *pairs, size_t count)
{
    double all = 0, above = 0;
    int p = NPI_CARRY_MOST - 1;
    qsort(pairs, count, sizeof *pairs, descending);
    for (size_t i = 0; i < count; i++)
        all += (double)pairs[i].weight;
    for (size_t i = 0; i < count && p >= 0; i++) {
        above += (double)pairs[i].weight;
        for (; p >= 0 && above >= ldexp(all, -p - 1); p--)
            point[p] = i < LEAST_ABOVE ? (double)NAN : (double)pairs[i].score;
    }
    for (; p >= 0; p--)
        point[p] = (double)NAN;
}

int npi_carry_make(npi_carry *out, const float *thin, const float *full, const float *weight, size_t count,
                   const npgnn_env *env, npgnn_error *err)
{
    npi_carry c = {0};
    double from[NPI_CARRY_MOST] = {0}, to[NPI_CARRY_MOST] = {0};
    weighed *pairs = npi_alloc(env, count, sizeof *pairs, err);
    if (!pairs)
        return NPGNN_E_MEMORY;
    for (int graph = 0; graph < 2; graph++) {
        for (size_t i = 0; i < count; i++)
            pairs[i] = (weighed){graph ? full[i] : thin[i], weight[i]};
        find_points(graph ? to : from, pairs, count);
    }
    npi_free(env, pairs);
    for (int p = 0; p < NPI_CARRY_MOST; p++) {
        int ascends = c.points == 0 || (from[p] > c.from[c.points - 1] && to[p] >= c.to[c.points - 1]);
        if (isnan(from[p]) || isnan(to[p]) || !ascends)
            continue;
        c.from[c.points] = from[p];
        c.to[c.points++] = to[p];
    }
    *out = c;
    return 0;
}

double npi_carry_score(const npi_carry *c, double score)
{
    int last = c->points - 1, i = 0;
    if (c->points == 0)
        return score;
    if (score <= c->from[0])
        return score + c->to[0] - c->from[0];
    if (score >= c->from[last])
        return score + c->to[last] - c->from[last];
    while (score > c->from[i + 1])
        i++;
    double share = (score - c->from[i]) / (c->from[i + 1] - c->from[i]);
    return c->to[i] + share * (c->to[i + 1] - c->to[i]);
}
