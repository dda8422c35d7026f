/* Scores of pairs from embeddings. */
#ifndef NPI_MODEL_SCORE_H
#define NPI_MODEL_SCORE_H

#include "npgnn/npgnn.h"

#include "base/partition.h"
#include "linalg/real.h"

/* u_i . u_j. Eq. (7). */
static inline float npi_score_pair(const real *u, int k, npgnn_pair pair)
{
    const real *a = u + (size_t)pair.u * (size_t)k, *b = u + (size_t)pair.v * (size_t)k;
    double sum = 0;
    for (int c = 0; c < k; c++)
        sum += (double)a[c] * (double)b[c];
    return (float)sum;
}

/* score (count): u_i . u_j for each pair (i, j); u (n, k). */
void npi_score_pairs(float *score, const real *u, int k, const npgnn_pair *pairs, size_t count, int threads);

/* The same where the rows of u are divided among processes, for which all have the same pairs and get the same scores.
 * Collective; E_MEMORY in all processes or in none. */
int npi_score_pairs_among(float *score, const real *u, int k, const npgnn_pair *pairs, size_t count,
                          const npi_partition *rows, const npgnn_env *env, npgnn_error *err);

#endif
