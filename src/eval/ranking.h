/* Positives and negatives sorted together once; every metric is then a sum over the groups of equal scores, from the
 * highest down, so that ties cost nothing extra and are counted exactly. */
#ifndef NPI_EVAL_RANKING_H
#define NPI_EVAL_RANKING_H

#include "base/env.h"

/* All scores, sorted. A key is the score as an integer of the same order, then one bit: 1 for a positive. */
typedef struct npi_ranking {
    npgnn_env env;
    uint64_t *keys; /* (positives + negatives) ascending */
    size_t positives, negatives;
    size_t left; /* keys that npi_ranking_next has not taken yet: keys[0 .. left) */
} npi_ranking;

/* The pairs that share one score, and how many are above them. */
typedef struct npi_group {
    float score;
    double positives, negatives;
    double positives_above, negatives_above;
} npi_group;

/* E_ARGUMENT when a class is empty or a score is NaN. */
int npi_ranking_new(npi_ranking *r, const float *positive, const float *negative, size_t positives, size_t negatives,
                    const npgnn_env *env, npgnn_error *err);
void npi_ranking_free(npi_ranking *r);

/* Takes the next lower group; returns 0 after the last. `g` starts as all zeros. */
int npi_ranking_next(npi_group *g, npi_ranking *r);

/* The area under the ROC curve and the average precision, group by group; both start as 0. */
typedef struct npi_curve {
    double wins;      /* couples of a positive and a negative in the right order */
    double precision; /* at the threshold of each positive, summed */
} npi_curve;

static inline void npi_curve_add(npi_curve *curve, const npi_group *g, double negatives)
{
    /* The area is the share of (positive, negative) couples in the right order, a tie being half right. */
    curve->wins += g->positives * (negatives - g->negatives_above - g->negatives / 2);
    /* Precision at this threshold, once per positive that it lets in. */
    double found = g->positives_above + g->positives;
    if (g->positives > 0)
        curve->precision += g->positives * found / (found + g->negatives_above + g->negatives);
}

#endif
