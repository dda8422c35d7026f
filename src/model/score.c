#include "model/score.h"

void npi_score_pairs(float *score, const real *u, int k, const npgnn_pair *pairs, size_t count, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t i = 0; i < count; i++)
        score[i] = npi_score_pair(u, k, pairs[i]);
}
