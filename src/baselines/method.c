/* What baselines share: progress, validation, and scores u_i · u_j from embeddings. */
#include "baselines/method.h"

#include <math.h>

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

int npi_task_score(float *score, const npi_task *task, npi_score_fn *fn, const void *learnt, npgnn_error *err)
{
    enum { BATCH = 1 << 20, LEAST_ROWS = 8 };
    int32_t n = task->graph->n;
    if (task->search)
        return task->search(task->search_user, fn, learnt, err);
    int code = fn(score, task->probability, learnt, task->pairs, task->count, 0, err);
    if (code || task->node_count == 0)
        return code;
    int rows = BATCH / n < LEAST_ROWS ? LEAST_ROWS : BATCH / n > NPI_TASK_ROWS ? NPI_TASK_ROWS : BATCH / n;
    size_t cells = (size_t)rows * (size_t)n;
    npgnn_pair *pairs = npi_alloc(task->env, cells, sizeof *pairs, err);
    float *value = npi_alloc(task->env, cells, sizeof *value, err);
    if (!pairs || !value)
        code = NPGNN_E_MEMORY;
    for (int32_t first = 0; !code && first < task->node_count; first += rows) {
        int count = task->node_count - first < rows ? task->node_count - first : rows;
        for (int r = 0; r < count; r++)
            for (int32_t v = 0; v < n; v++)
                pairs[(size_t)r * (size_t)n + (size_t)v] = (npgnn_pair){task->nodes[first + r], v};
        if (npi_env_stopped(task->env))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled while ranking among all nodes");
        if (!code)
            code = fn(value, NULL, learnt, pairs, (size_t)count * (size_t)n, count, err);
        for (int r = 0; !code && r < count; r++)
            code = task->row(task->row_user, first + r, value + (size_t)r * (size_t)n, err);
    }
    npi_free(task->env, pairs);
    npi_free(task->env, value);
    return code;
}

typedef struct each_loop {
    float *score;
    const npgnn_pair *pairs;
    npi_pair_fn *fn;
    const void *learnt;
    int threads;
} each_loop;

static void score_range(const void *arg, int64_t first, int64_t last)
{
    const each_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        l->score[i] = (float)l->fn(l->learnt, l->pairs[i]);
}

static int score_each(float *score, float *probability, const void *learnt, const npgnn_pair *pairs, size_t count,
                      int rows, npgnn_error *err)
{
    each_loop loop = *(const each_loop *)learnt;
    (void)probability;
    (void)rows;
    (void)err;
    loop.score = score;
    loop.pairs = pairs;
    npi_parallel(loop.threads, (int64_t)count, 64, score_range, &loop);
    return 0;
}

int npi_task_score_each(float *score, const npi_task *task, npi_pair_fn *fn, const void *learnt, npgnn_error *err)
{
    const each_loop loop = {.fn = fn, .learnt = learnt, .threads = task->env->threads};
    return npi_task_score(score, task, score_each, &loop, err);
}

/* A counting sort. */
int npi_groups_new(npi_groups *g, const npgnn_pair *pairs, size_t count, int32_t n, const npgnn_env *env,
                   npgnn_error *err)
{
    g->pairs = pairs;
    g->ptr = npi_alloc(env, (size_t)n + 2, sizeof *g->ptr, err);
    g->order = npi_alloc(env, count, sizeof *g->order, err);
    if (!g->ptr || !g->order)
        return NPGNN_E_MEMORY;
    int64_t *next = g->ptr + 1; /* shifted by one: once filled, next[i] has become the start of i + 1 */
    for (size_t i = 0; i < count; i++)
        next[pairs[i].u + 1]++;
    for (int32_t i = 0; i < n; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < count; i++)
        g->order[next[pairs[i].u]++] = i;
    return 0;
}

void npi_groups_free(const npgnn_env *env, npi_groups *g)
{
    npi_free(env, g->ptr);
    npi_free(env, g->order);
}

typedef struct embedding {
    const real *u; /* (n, k) */
    int k, threads;
} embedding;

static int score_embedded(float *score, float *probability, const void *learnt, const npgnn_pair *pairs, size_t count,
                          int rows, npgnn_error *err)
{
    const embedding *e = learnt;
    (void)probability;
    (void)rows;
    (void)err;
    npi_score_pairs(score, e->u, e->k, pairs, count, e->threads);
    return 0;
}

int npi_method_score_embeddings(float *score, npgnn_eval_run *run, const real *u, int k, const npi_task *task,
                                npgnn_error *err)
{
    int threads = task->env->threads;
    embedding e = {u, k, threads};
    int code = npi_task_score(score, task, score_embedded, &e, err);

    /* AUC and AP of the validation pairs, where the split has any */
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, task->split, NPGNN_SET_VAL);
    if (code || count == 0)
        return code;
    float *validation = npi_alloc(task->env, count, sizeof *validation, err);
    if (!validation)
        return NPGNN_E_MEMORY;
    npi_score_pairs(validation, u, k, pairs, count, threads);
    code = npgnn_auc_ap(&run->val_auc, &run->val_ap, validation, validation + positives, positives, count - positives,
                        task->env, err);
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
