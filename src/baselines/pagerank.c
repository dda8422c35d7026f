/* Personalised PageRank, both ways: p_u(v) + p_v(u), with p_u(v) the probability that a random walk from u, which stops
 * at every step with probability STOP, ends in v. Walks on an undirected graph are reversible, d_u p_u(v) = d_v p_v(u),
 * so that one end is enough:
 *
 *     score = p_u(v) (1 + d_u / d_v) */
#include "graph/pagerank.h"

#include "base/parallel.h"
#include "baselines/neighbors.h"

#define STOP 0.15
#define TOLERANCE 1e-6 /* of a rank, times the degree */

typedef struct sources_loop {
    float *score;
    const npi_csr *a;
    const npi_groups *g;
    npi_pagerank *workspaces; /* (threads) */
} sources_loop;

static void score_sources(const void *arg, int64_t first, int64_t last)
{
    const sources_loop *l = arg;
    const npi_csr *a = l->a;
    npi_pagerank *p = &l->workspaces[npi_worker()];
    for (int32_t u = (int32_t)first; u < last; u++) {
        if (l->g->ptr[u] == l->g->ptr[u + 1])
            continue;
        double degree = (double)(a->ptr[u + 1] - a->ptr[u]);
        npi_pagerank_from(p, a, u, STOP, TOLERANCE);
        for (int64_t i = l->g->ptr[u]; i < l->g->ptr[u + 1]; i++) {
            int32_t v = l->g->pairs[l->g->order[i]].v;
            double other = (double)(a->ptr[v + 1] - a->ptr[v]);
            l->score[l->g->order[i]] = degree > 0 && other > 0 ? (float)(p->rank[v] * (1 + degree / other)) : 0;
        }
        npi_pagerank_clear(p);
    }
}

static int score_pairs(float *score, float *probability, const void *learnt, const npgnn_pair *pairs, size_t count,
                       int rows, npgnn_error *err)
{
    const npi_task *task = learnt;
    const npgnn_env *env = task->env;
    const npi_csr *a = &task->graph->a;
    npi_groups g = {0};
    npi_pagerank *workspaces = npi_alloc(env, (size_t)env->threads, sizeof *workspaces, err);
    int code = workspaces ? npi_groups_new(&g, pairs, count, a->rows, env, err) : NPGNN_E_MEMORY;
    (void)probability;
    (void)rows;
    for (int t = 0; !code && t < env->threads; t++)
        code = npi_pagerank_new(&workspaces[t], a->rows, env, err);
    if (!code) {
        sources_loop loop = {score, a, &g, workspaces};
        npi_parallel(env->threads, a->rows, 16, score_sources, &loop);
    }
    for (int t = 0; workspaces && t < env->threads; t++)
        npi_pagerank_free(env, &workspaces[t]);
    npi_free(env, workspaces);
    npi_groups_free(env, &g);
    return code;
}

int npi_pagerank_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    double start = npi_clock_seconds();
    int code = npi_task_score(score, task, score_pairs, task, err);
    run->train_seconds = npi_clock_seconds() - start;
    return code;
}
