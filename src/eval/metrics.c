/* Ranking metrics. Positives and negatives are sorted together once; every metric is then a sum over the groups of equal
 * scores, from the highest down, so that ties cost nothing extra and are counted exactly. */
#include <math.h>
#include <string.h>

#include "base/env.h"
#include "base/sort.h"

/* All scores, sorted. A key is the score as an integer of the same order, then one bit: 1 for a positive. */
typedef struct ranking {
    npgnn_env env;
    uint64_t *keys; /* (positives + negatives) ascending */
    size_t positives, negatives;
    size_t left; /* keys that next_group has not taken yet: keys[0 .. left) */
} ranking;

/* The pairs that share one score, and how many are above them. */
typedef struct group {
    double positives, negatives;
    double positives_above, negatives_above;
} group;

/* An integer that orders like the float: negative numbers are reversed by flipping all of their bits. */
static uint32_t ordered_bits(float score)
{
    uint32_t bits;
    score += 0.0f; /* -0 becomes +0: they are equal, and so must their bits be */
    memcpy(&bits, &score, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static int add_scores(uint64_t *keys, const float *scores, size_t count, int positive, npgnn_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (isnan(scores[i]))
            return npi_fail(err, NPGNN_E_ARGUMENT, "the score of %s %zu is not a number",
                            positive ? "positive" : "negative", i);
        keys[i] = (uint64_t)ordered_bits(scores[i]) << 1 | (uint64_t)positive;
    }
    return 0;
}

static void ranking_free(ranking *r)
{
    npi_free(&r->env, r->keys);
}

static int ranking_new(ranking *r, const float *positive, const float *negative, size_t positives, size_t negatives,
                       const npgnn_env *env, npgnn_error *err)
{
    size_t count = positives + negatives;
    int code;
    *r = (ranking){.env = npi_env(env), .positives = positives, .negatives = negatives, .left = count};
    if (positives == 0 || negatives == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there are no %s to rank", positives ? "negatives" : "positives");
    if (count < positives)
        return npi_fail(err, NPGNN_E_ARGUMENT, "%zu + %zu scores are too many", positives, negatives);
    r->keys = npi_resize(&r->env, NULL, count, 2 * sizeof *r->keys, err); /* the second half is the sort's scratch */
    if (!r->keys)
        return NPGNN_E_MEMORY;
    code = add_scores(r->keys, positive, positives, 1, err);
    if (code == 0)
        code = add_scores(r->keys + positives, negative, negatives, 0, err);
    if (code == 0)
        npi_sort_u64(r->keys, r->keys + count, count);
    else
        ranking_free(r);
    return code;
}

/* Takes the next lower group; returns 0 after the last. `g` starts as all zeros. */
static int next_group(group *g, ranking *r)
{
    if (r->left == 0)
        return 0;
    uint64_t score = r->keys[r->left - 1] >> 1;
    g->positives_above += g->positives;
    g->negatives_above += g->negatives;
    g->positives = g->negatives = 0;
    for (; r->left > 0 && r->keys[r->left - 1] >> 1 == score; r->left--) {
        if (r->keys[r->left - 1] & 1)
            g->positives++;
        else
            g->negatives++;
    }
    return 1;
}

int npgnn_auc_ap(double *auc, double *ap, const float *positive, const float *negative, size_t positives,
                 size_t negatives, const npgnn_env *env, npgnn_error *err)
{
    ranking r;
    group g = {0};
    double wins = 0, precision = 0;
    int code = ranking_new(&r, positive, negative, positives, negatives, env, err);
    if (code)
        return code;
    while (next_group(&g, &r)) {
        /* The area is the share of (positive, negative) couples in the right order, a tie being half right. */
        wins += g.positives * ((double)negatives - g.negatives_above - g.negatives / 2);
        /* Precision at this threshold, once per positive that it lets in. */
        double found = g.positives_above + g.positives;
        precision += g.positives * found / (found + g.negatives_above + g.negatives);
    }
    *auc = wins / ((double)positives * (double)negatives);
    *ap = precision / (double)positives;
    ranking_free(&r);
    return 0;
}

int npgnn_mrr_hits(double *mrr, double *hits, const float *positive, const float *negative, size_t positives,
                   size_t negatives, const int *k, size_t ks, const npgnn_env *env, npgnn_error *err)
{
    ranking r;
    group g = {0};
    double reciprocals = 0;
    int code;
    for (size_t i = 0; i < ks; i++)
        if (k[i] < 1)
            return npi_fail(err, NPGNN_E_ARGUMENT, "hits at %d: the rank must be at least 1", k[i]);
    code = ranking_new(&r, positive, negative, positives, negatives, env, err);
    if (code)
        return code;
    for (size_t i = 0; i < ks; i++)
        hits[i] = 0;
    while (next_group(&g, &r)) {
        double rank = 1 + g.negatives_above + g.negatives / 2;
        reciprocals += g.positives / rank;
        for (size_t i = 0; i < ks; i++)
            if (rank <= k[i])
                hits[i] += g.positives;
    }
    for (size_t i = 0; i < ks; i++)
        hits[i] /= (double)positives;
    *mrr = reciprocals / (double)positives;
    ranking_free(&r);
    return 0;
}
