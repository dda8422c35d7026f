#include "model/score.h"

void npi_score_pairs(float *score, const real *u, int k, const npgnn_pair *pairs, size_t count, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t i = 0; i < count; i++) {
        const real *a = u + (size_t)pairs[i].u * (size_t)k, *b = u + (size_t)pairs[i].v * (size_t)k;
        double sum = 0;
        for (int c = 0; c < k; c++)
            sum += (double)a[c] * (double)b[c];
        score[i] = (float)sum;
    }
}
