/* The inner products of embeddings for a list of pairs, in parallel: s_ij = u_i · u_j
 * (docs/understand/math.md, (7)). */
#include "model/score.h"

#include "base/parallel.h"

typedef struct score_loop {
    float *score;
    const real *u;
    int k;
    const npgnn_pair *pairs;
} score_loop;

static void score_range(const void *arg, int64_t first, int64_t last)
{
    const score_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        l->score[i] = npi_score_pair(l->u, l->k, l->pairs[i]);
}

void npi_score_pairs(float *score, const real *u, int k, const npgnn_pair *pairs, size_t count, int threads)
{
    score_loop loop = {score, u, k, pairs};
    npi_parallel(threads, (int64_t)count, 0, score_range, &loop);
}
