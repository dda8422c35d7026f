/* Katz's index, truncated: Σ_l β^l (A^l)_uv over walk lengths l = 1 .. LENGTH, exactly, for the pairs asked for alone. A row of
 * A^l is one sparse product away from a row of A^(l-1), so pairs are sorted by one end and each end is walked from once. */
#include <string.h>

#include "base/parallel.h"
#include "baselines/neighbors.h"

#define BETA 0.005
#define LENGTH 8

/* Pairs by their smaller node. */
typedef struct groups {
    int64_t *ptr;  /* (n + 1) where each node's pairs begin in `order` */
    size_t *order; /* (count) indices of pairs */
} groups;

static int32_t source_of(npgnn_pair pair)
{
    return pair.u < pair.v ? pair.u : pair.v;
}

static int32_t target_of(npgnn_pair pair)
{
    return pair.u < pair.v ? pair.v : pair.u;
}

/* A counting sort. */
static int groups_new(groups *g, const npi_task *task, npgnn_error *err)
{
    int32_t n = task->graph->n;
    g->ptr = npi_alloc(task->env, (size_t)n + 2, sizeof *g->ptr, err);
    g->order = npi_alloc(task->env, task->count, sizeof *g->order, err);
    if (!g->ptr || !g->order)
        return NPGNN_E_MEMORY;
    int64_t *next = g->ptr + 1; /* shifted by one: once filled, next[i] has become the start of i + 1 */
    for (size_t i = 0; i < task->count; i++)
        next[source_of(task->pairs[i]) + 1]++;
    for (int32_t i = 0; i < n; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < task->count; i++)
        g->order[next[source_of(task->pairs[i])]++] = i;
    return 0;
}

/* Scores the pairs of one source. `rows` has 2 n elements. */
static void score_source(float *score, const npi_task *task, const groups *g, int32_t source, const npi_csr *a,
                         double *rows)
{
    double *row = rows, *next = rows + a->rows;
    memset(row, 0, (size_t)a->rows * sizeof *row);
    row[source] = 1;
    for (int64_t p = g->ptr[source]; p < g->ptr[source + 1]; p++)
        score[g->order[p]] = 0;
    for (int length = 1; length <= LENGTH; length++) {
        /* next = β A row: each value is a sum in the order of its row, so that its bits are fixed */
        for (int32_t i = 0; i < a->rows; i++) {
            double sum = 0;
            for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
                sum += row[a->col[p]];
            next[i] = BETA * sum;
        }
        for (int64_t p = g->ptr[source]; p < g->ptr[source + 1]; p++)
            score[g->order[p]] += (float)next[target_of(task->pairs[g->order[p]])];
        double *old = row;
        row = next;
        next = old;
    }
}

typedef struct sources_loop {
    float *score;
    const npi_task *task;
    const groups *g;
    double *rows; /* (threads, 2, n) */
} sources_loop;

static void score_sources(const void *arg, int64_t first, int64_t last)
{
    const sources_loop *l = arg;
    const npi_csr *a = &l->task->graph->a;
    double *rows = l->rows + 2 * (size_t)a->rows * (size_t)npi_worker();
    for (int32_t source = (int32_t)first; source < last; source++)
        if (l->g->ptr[source] < l->g->ptr[source + 1])
            score_source(l->score, l->task, l->g, source, a, rows);
}

int npi_katz_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    const npgnn_env *env = task->env;
    const npi_csr *a = &task->graph->a;
    groups g = {0};
    double start = npi_clock_seconds(), *rows = NULL;
    size_t width = 2 * (size_t)a->rows;
    int code = groups_new(&g, task, err);
    if (!code && !(rows = npi_alloc(env, width * (size_t)env->threads, sizeof *rows, err)))
        code = NPGNN_E_MEMORY;
    if (code)
        goto out;
    sources_loop loop = {score, task, &g, rows};
    npi_parallel(env->threads, a->rows, 16, score_sources, &loop);
    run->train_seconds = npi_clock_seconds() - start;
out:
    npi_free(env, rows);
    npi_free(env, g.ptr);
    npi_free(env, g.order);
    return code;
}
