/* The inner products of embeddings for a list of pairs, in parallel: s_ij = u_i · u_j
 * (docs/understand/math.md, (7)). */
#include "model/score.h"

#include "base/parallel.h"
#include "linalg/fetch.h"

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

#define BATCH 65536 /* pairs whose rows are fetched at a time */

/* The first pair that a process scores. */
static size_t slice_start(size_t count, int rank, int ranks)
{
    return count / (size_t)ranks * (size_t)rank + count % (size_t)ranks * (size_t)rank / (size_t)ranks;
}

int npi_score_pairs_among(float *score, const real *u, int k, const npgnn_pair *pairs, size_t count,
                          const npi_partition *rows, const npgnn_env *env, npgnn_error *err)
{
    int rank = npi_comm_rank(rows->comm), ranks = npi_comm_ranks(rows->comm);
    if (ranks == 1) {
        npi_score_pairs(score, u, k, pairs, count, env->threads);
        return 0;
    }
    /* each process scores a slice of the pairs */
    npi_fetch fetch = {0};
    size_t most = count / (size_t)ranks + 1, batch = most < BATCH ? most : BATCH, start[NPI_MOST_RANKS + 1];
    size_t first = slice_start(count, rank, ranks), last = slice_start(count, rank + 1, ranks);
    int32_t *node = npi_alloc(env, 2 * batch, sizeof *node, err);
    npgnn_pair *places = npi_alloc(env, batch, sizeof *places, err);
    real *ends = npi_alloc(env, 2 * batch * (size_t)k, sizeof *ends, err);
    int code =
        node && places && ends ? npi_fetch_new(&fetch, rows, (int64_t)(2 * batch), 0, k, env, err) : NPGNN_E_MEMORY;
    code = npi_comm_agree(rows->comm, code, err);
    /* all processes have the same number of batches, of which the last ones may be empty */
    for (size_t done = 0; !code && done < most; done += batch) {
        size_t at = first + done < last ? first + done : last, size = last - at < batch ? last - at : batch;
        for (size_t i = 0; i < size; i++) {
            node[2 * i] = pairs[at + i].u;
            node[2 * i + 1] = pairs[at + i].v;
            places[i] = (npgnn_pair){(int32_t)(2 * i), (int32_t)(2 * i + 1)};
        }
        code = npi_fetch_plan(&fetch, node, (int64_t)(2 * size), err);
        if (code)
            break;
        npi_fetch_rows(&fetch, ends, u, k, k, env->threads);
        npi_score_pairs(score + at, ends, k, places, size, env->threads);
    }
    for (int r = 0; r <= ranks; r++)
        start[r] = slice_start(count, r, ranks) * sizeof *score;
    if (!code)
        npi_comm_gather(rows->comm, score, start);
    npi_fetch_free(&fetch);
    npi_free(env, node);
    npi_free(env, places);
    npi_free(env, ends);
    return code;
}
