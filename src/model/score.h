/* Scores of pairs from embeddings. */
#ifndef NPI_MODEL_SCORE_H
#define NPI_MODEL_SCORE_H

#include "npgnn/npgnn.h"

#include "linalg/real.h"

/* score (count): u_i . u_j for each pair (i, j); u (n, k). Eq. (7). */
void npi_score_pairs(float *score, const real *u, int k, const npgnn_pair *pairs, size_t count, int threads);

#endif
