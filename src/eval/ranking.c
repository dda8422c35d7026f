/* Sorts positives and negatives by score and walks through the groups of equal scores, from the highest down. */
#include "eval/ranking.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

/* An integer that orders like the float: negative numbers are reversed by flipping all of their bits. */
static uint32_t ordered_bits(float score)
{
    uint32_t bits;
    score += 0.0f; /* -0 becomes +0: they are equal, and so must their bits be */
    memcpy(&bits, &score, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static float from_ordered_bits(uint32_t bits)
{
    float score;
    bits = bits & 0x80000000u ? bits & ~0x80000000u : ~bits;
    memcpy(&score, &bits, sizeof score);
    return score;
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

void npi_ranking_free(npi_ranking *r)
{
    npi_free(&r->env, r->keys);
}

int npi_ranking_new(npi_ranking *r, const float *positive, const float *negative, size_t positives, size_t negatives,
                    const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    size_t count = positives + negatives;
    int code;
    *r = (npi_ranking){.env = npi_env_resolve(env), .positives = positives, .negatives = negatives, .left = count};
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
        npi_u64_sort(r->keys, r->keys + count, count);
    else
        npi_ranking_free(r);
    return code;
}

int npi_ranking_next(npi_group *g, npi_ranking *r)
{
    if (r->left == 0)
        return 0;
    uint64_t score = r->keys[r->left - 1] >> 1;
    g->score = from_ordered_bits((uint32_t)score);
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
