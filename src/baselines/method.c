/* What baselines share: progress, the scores of a task, and scores u_i · u_j from embeddings. */
#include "baselines/method.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "model/score.h"

npgnn_progress npi_method_begin(int iterations)
{
    double unknown = (double)NAN;
    return (npgnn_progress){.size = sizeof(npgnn_progress),
                            .runs = 1,
                            .iterations = iterations,
                            .loss = unknown,
                            .kl = unknown,
                            .val_auc = unknown,
                            .val_ap = unknown};
}

int npi_method_advance(npgnn_progress *progress, double start, const npgnn_env *env, npgnn_error *err)
{
    progress->iteration++;
    progress->seconds = npi_clock_seconds() - start;
    if (npi_env_stopped(env) || (env->progress && env->progress(env->user, progress)))
        return npi_fail(err, NPGNN_E_CANCELLED, "cancelled after iteration %d of %d", progress->iteration,
                        progress->iterations);
    return 0;
}

/* ---- pairs ---- */

/* Indices of the pairs by first node: a counting sort. */
static size_t *order_pairs(const npi_task *task, npgnn_error *err)
{
    int32_t n = task->graph->n;
    size_t *order = npi_alloc(task->env, task->count, sizeof *order, err);
    size_t *next = npi_alloc(task->env, (size_t)n + 1, sizeof *next, err);
    for (size_t i = 0; order && next && i < task->count; i++)
        next[task->pairs[i].u + 1]++;
    for (int32_t i = 0; order && next && i < n; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; order && next && i < task->count; i++)
        order[next[task->pairs[i].u]++] = i;
    if (!next) {
        npi_free(task->env, order);
        order = NULL;
    }
    npi_free(task->env, next);
    return order;
}

typedef struct pairs_loop {
    float *score;
    const npi_task *task;
    const npi_heuristic *heuristic;
    const size_t *order;
    npi_scratch *scratch; /* (threads) */
} pairs_loop;

static void score_range(const void *arg, int64_t first, int64_t last)
{
    const pairs_loop *l = arg;
    if (npi_env_stopped(l->task->env))
        return;
    for (int64_t i = first; i < last; i++)
        l->score[l->order[i]] =
            npi_heuristic_pair(&l->scratch[npi_worker()], l->heuristic, l->task->pairs[l->order[i]]);
}

/* ---- rows ---- */

int npi_task_rank(const npi_task *task, npi_rows_fn *rows, const void *user, npgnn_error *err)
{
    enum { CELLS = 1 << 20, LEAST = 8 };
    int32_t n = task->graph->n;
    if (task->node_count == 0)
        return 0;
    int most = CELLS / n < LEAST ? LEAST : CELLS / n > NPI_TASK_ROWS ? NPI_TASK_ROWS : CELLS / n;
    float *score = npi_alloc(task->env, (size_t)most * (size_t)n, sizeof *score, err);
    int code = score ? 0 : NPGNN_E_MEMORY;
    for (int32_t first = 0; !code && first < task->node_count; first += most) {
        int count = task->node_count - first < most ? task->node_count - first : most;
        code = rows(score, user, task->nodes + first, count, err);
        if (!code && npi_env_stopped(task->env))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled while ranking among all nodes");
        for (int r = 0; !code && r < count; r++)
            code = task->row(task->row_user, first + r, score + (size_t)r * (size_t)n, err);
    }
    npi_free(task->env, score);
    return code;
}

typedef struct rows_loop {
    float *score; /* (count, n) */
    const pairs_loop *shared;
    const int32_t *nodes;
} rows_loop;

static void fill_rows(const void *arg, int64_t first, int64_t last)
{
    const rows_loop *l = arg;
    size_t n = (size_t)l->shared->task->graph->n;
    for (int64_t r = first; r < last && !npi_env_stopped(l->shared->task->env); r++)
        memcpy(l->score + (size_t)r * n,
               npi_heuristic_row(&l->shared->scratch[npi_worker()], l->shared->heuristic, l->nodes[r])->score,
               n * sizeof *l->score);
}

static int score_rows(float *score, const void *user, const int32_t *nodes, int count, npgnn_error *err)
{
    const pairs_loop *shared = user;
    rows_loop loop = {score, shared, nodes};
    (void)err;
    npi_parallel(shared->task->env->threads, count, 1, fill_rows, &loop);
    return 0;
}

int npi_task_score(float *score, const npi_task *task, const npi_heuristic *heuristic, npgnn_error *err)
{
    const npgnn_env *env = task->env;
    npi_scratch *scratch;
    int code = npi_scratches_new(&scratch, heuristic, env, err);
    size_t *order = code ? NULL : order_pairs(task, err);
    if (!order)
        code = NPGNN_E_MEMORY;
    if (!code) {
        pairs_loop loop = {score, task, heuristic, order, scratch};
        npi_parallel(env->threads, (int64_t)task->count, 64, score_range, &loop);
        if (npi_env_stopped(env))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled while scoring pairs");
        if (!code)
            code = npi_task_rank(task, score_rows, &loop, err);
    }
    npi_free(env, order);
    npi_scratches_free(env, scratch);
    return code;
}

/* ---- embeddings ---- */

typedef struct embedding {
    real *u; /* (n, k) */
    int k;
} embedding;

static void embedding_free(const npgnn_env *env, void *learnt)
{
    embedding *e = learnt;
    npi_free(env, e->u);
    npi_free(env, e);
}

static float score_embedded(npi_scratch *scratch, const npi_heuristic *h, npgnn_pair pair)
{
    const embedding *e = h->learnt;
    (void)scratch;
    return npi_score_pair(e->u, e->k, pair);
}

int npi_method_use_embeddings(npi_heuristic *out, npgnn_eval_run *run, real *u, int k, const npi_task *task,
                              npgnn_error *err)
{
    embedding *e = npi_alloc(task->env, 1, sizeof *e, err);
    if (!e) {
        npi_free(task->env, u);
        return NPGNN_E_MEMORY;
    }
    *e = (embedding){u, k};
    *out = (npi_heuristic){.graph = task->graph, .pair = score_embedded, .learnt = e, .free = embedding_free};

    /* AUC and AP of the validation pairs, where the split has any */
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, task->split, NPGNN_SET_VAL);
    if (count == 0)
        return 0;
    float *validation = npi_alloc(task->env, count, sizeof *validation, err);
    if (!validation)
        return NPGNN_E_MEMORY;
    npi_score_pairs(validation, u, k, pairs, count, task->env->threads);
    int code = npgnn_auc_ap(&run->val_auc, &run->val_ap, validation, validation + positives, positives,
                            count - positives, task->env, err);
    npi_free(task->env, validation);
    return code;
}

int npi_method_check_features(const npgnn_graph *train, const char *who, npgnn_error *err)
{
    if (train->m == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no edge to learn from");
    if (train->x->f == 0 || train->x->nonzeros == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the nodes have no features, and %s starts from them", who);
    return 0;
}
