/* Whole jobs: evaluate over seeds. */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "eval/full.h"
#include "jobs/counter.h"
#include "jobs/methods.h"
#include "jobs/test_set.h"
#include "model/options.h"

/* ---- one seed ---- */

/* What stays the same, or adds up, from seed to seed. */
typedef struct evaluation {
    const npgnn_graph *graph;
    npgnn_eval_options options;
    npgnn_options model; /* of options, with the seed of the run */
    npgnn_split_options split;
    npi_method_fn *method;
    npi_resamples *resamples; /* NULL: no intervals */
    const npgnn_env *env;
} evaluation;

/* Receives the scores of an end with all nodes. */
static int rank_end(void *user, int32_t index, const float *score, npgnn_error *err)
{
    npi_full *full = user;
    return npi_full_rank(full, index, score)
               ? 0
               : npi_fail(err, NPGNN_E_DIVERGED, "a score of node %d is not a number", full->node[index]);
}

static void measure_full(npgnn_eval_run *run, const npi_full *full)
{
    npi_full_metrics m = npi_full_measure(full);
    run->full_mrr = m.mrr;
    run->full_hits10 = m.hits10;
    run->full_mrr_se = m.mrr_se;
    run->full_hits10_se = m.hits10_se;
    run->full_ends = (double)full->count;
}

static int run_exam(npgnn_eval_run *out, const evaluation *e, const npi_task *task, const npi_test_set *set,
                    npgnn_error *err)
{
    npgnn_eval_run run = {.size = sizeof run,
                          .seed = e->model.seed,
                          .val_auc = (double)NAN,
                          .val_ap = (double)NAN,
                          .calibration = {.link_rate = (double)NAN}};
    npi_task asked = *task;
    npi_full full = {0};
    float *score = npi_alloc(task->env, task->count, 2 * sizeof *score, err);
    asked.probability = score ? score + task->count : NULL;
    int code = score ? 0 : NPGNN_E_MEMORY;
    run.split_hash = npgnn_split_hash(task->split);
    if (!code && e->options.negatives == NPGNN_NEGATIVES_ALL) {
        code = npi_full_new(&full, task->split->graph, set->pairs, set->positives, run.split_hash, task->env, err);
        asked.nodes = full.node;
        asked.node_count = full.nodes;
        asked.row = rank_end;
        asked.row_user = &full;
    }
    if (!code)
        code = e->method(score, &run, &asked, err);
    if (!code)
        code = npi_test_set_measure(&run, e->resamples, set, score, asked.probability, task->env, err);
    if (!code && full.nodes > 0)
        measure_full(&run, &full);
    if (!code)
        *out = run;
    if (!code && e->options.scores)
        e->options.scores(e->options.scores_user, out, score, set->positives, set->tested);
    npi_full_free(task->env, &full);
    npi_free(task->env, score);
    return code;
}

static int run_split(npgnn_eval_run *run, const evaluation *e, const npgnn_split *split, npgnn_error *err)
{
    npi_test_set set;
    int code = npi_test_set_new(&set, split, e->options.negatives, e->env, err);
    if (code)
        return code;
    const npi_task task = {.graph = npi_split_known(split),
                           .split = split,
                           .pairs = set.pairs,
                           .count = set.count,
                           .link_rate = set.link_rate,
                           .options = &e->model,
                           .env = e->env};
    code = run_exam(run, e, &task, &set, err);
    npi_test_set_free(e->env, &set);
    return code;
}

static int run_seed(npgnn_eval_run *run, evaluation *e, uint64_t seed, npgnn_error *err)
{
    npgnn_split *split = NULL;
    const npgnn_split *fixed = e->options.fixed;
    e->split.seed = e->model.seed = seed;
    int code = fixed ? 0 : npgnn_split_new(&split, e->graph, &e->split, e->env, err);
    if (!code)
        code = run_split(run, e, fixed ? fixed : split, err);
    npgnn_split_free(split);
    return code;
}

/* ---- all seeds ---- */

int npgnn_evaluate(npgnn_eval_run *runs, const npgnn_graph *graph, int seeds, const npgnn_eval_options *options,
                   const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npi_counter count = {npi_env_resolve(env), 0, seeds};
    npgnn_env counting = npi_counter_env(&count);
    npi_resamples resamples = {0};
    evaluation e = {.graph = graph, .env = &counting, .split = npi_split_defaults(NPGNN_TRANSDUCTIVE)};
    int code = npi_sized_read(&e.options, sizeof e.options, options, "npgnn_eval_options", err);
    if (!code)
        code = npi_options_read(&e.model, e.options.model, err);
    if (!code)
        code = npi_sized_read(&e.split, sizeof e.split, e.options.split, "npgnn_split_options", err);
    if (!code && seeds > 0)
        code = npi_sized_check(runs, "npgnn_eval_run", err);
    if (code)
        return code;
    e.method = npi_method_find(e.options.method, err);
    if (!e.method)
        return NPGNN_E_ARGUMENT;
    if (e.options.bootstrap > 0) {
        e.resamples = &resamples;
        code = npi_resamples_new(&resamples, e.options.bootstrap, &counting, err);
    }
    for (; !code && count.run < seeds; count.run++) {
        npgnn_eval_run run;
        code = run_seed(&run, &e, e.options.first_seed + (uint64_t)count.run, err);
        if (!code)
            npi_sized_store(runs, (size_t)count.run, &run, sizeof run);
    }
    npi_resamples_free(&counting, &resamples);
    return code;
}
