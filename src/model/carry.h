/* Scores of hidden links are computed from fewer links than those of the pairs that will be predicted, and are lower. Their
 * distribution cannot be seen in the graph with all links; that of pairs without a link can be seen in both. A score that
 * exceeds a share q of these in the thinner graph is taken for the score that exceeds q of them in the full one. */
#ifndef NPI_MODEL_CARRY_H
#define NPI_MODEL_CARRY_H

#include "base/env.h"

enum { NPI_CARRY_MOST = 24 };

/* An increasing map of scores, linear between its points and parallel to the identity beyond them. */
typedef struct npi_carry {
    int points;
    double from[NPI_CARRY_MOST], to[NPI_CARRY_MOST]; /* (points) ascending */
} npi_carry;

/* From the scores of the same pairs (count), which stand for so many (weight), in both graphs. Too few pairs give the identity.
 * E_MEMORY. */
int npi_carry_make(npi_carry *out, const float *thin, const float *full, const float *weight, size_t count,
                   const npgnn_env *env, npgnn_error *err);

double npi_carry_score(const npi_carry *carry, double score);

#endif
