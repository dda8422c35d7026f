/* Katz's index, truncated: Σ_l β^l (A^l)_uv over walk lengths l = 1 .. LENGTH, exactly, for the pairs asked for alone.
 * A row of A^l is one sparse product away from a row of A^(l-1), so pairs are sorted by one end and each end is walked
 * from once. */
#include <string.h>

#include "base/parallel.h"
#include "baselines/neighbors.h"

#define BETA 0.005
#define LENGTH 8

/* Scores the pairs of one source. `rows` has 2 n elements. */
static void score_source(float *score, const npi_groups *g, int32_t source, const npi_csr *a, double *rows)
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
            score[g->order[p]] += (float)next[g->pairs[g->order[p]].v];
        double *old = row;
        row = next;
        next = old;
    }
}

typedef struct sources_loop {
    float *score;
    const npi_csr *a;
    const npi_groups *g;
    double *rows; /* (threads, 2, n) */
} sources_loop;

static void score_sources(const void *arg, int64_t first, int64_t last)
{
    const sources_loop *l = arg;
    double *rows = l->rows + 2 * (size_t)l->a->rows * (size_t)npi_worker();
    for (int32_t source = (int32_t)first; source < last; source++)
        if (l->g->ptr[source] < l->g->ptr[source + 1])
            score_source(l->score, l->g, source, l->a, rows);
}

static int score_pairs(float *score, float *probability, const void *learnt, const npgnn_pair *pairs, size_t count,
                       int rows, npgnn_error *err)
{
    const npi_task *task = learnt;
    const npgnn_env *env = task->env;
    const npi_csr *a = &task->graph->a;
    npi_groups g = {0};
    double *walks = npi_alloc(env, 2 * (size_t)a->rows * (size_t)env->threads, sizeof *walks, err);
    int code = walks ? npi_groups_new(&g, pairs, count, a->rows, env, err) : NPGNN_E_MEMORY;
    (void)probability;
    (void)rows;
    if (!code) {
        sources_loop loop = {score, a, &g, walks};
        npi_parallel(env->threads, a->rows, 16, score_sources, &loop);
    }
    npi_free(env, walks);
    npi_groups_free(env, &g);
    return code;
}

int npi_katz_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    double start = npi_clock_seconds();
    int code = npi_task_score(score, task, score_pairs, task, err);
    run->train_seconds = npi_clock_seconds() - start;
    return code;
}
