/* Two scores of the same pairs: the AUC of each, and the standard error of their difference (DeLong, DeLong and
 * Clarke-Pearson 1988, doi:10.2307/2531595).
 *
 *     V_i = share of the non-links that score below link i,   W_j = share of the links that score above non-link j
 *     AUC = mean of V = mean of W,   variance of AUC_a - AUC_b = var(V_a - V_b) / links + var(W_a - W_b) / non-links
 *
 * A tie counts half. */
#ifndef NPI_EVAL_DELONG_H
#define NPI_EVAL_DELONG_H

#include "base/env.h"

typedef struct npi_auc_pair {
    double auc[2];
    double error; /* standard error of auc[1] - auc[0]; 0 with fewer than two links or two non-links */
} npi_auc_pair;

/* score[0] and score[1] (count): the first `links` pairs are links, the others are not; at least one of each. No NaN.
 * O(count log count). E_MEMORY. */
int npi_auc_compare(npi_auc_pair *out, const float *const score[2], size_t links, size_t count, const npgnn_env *env,
                    npgnn_error *err);

#endif
