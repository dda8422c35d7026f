/* Whole jobs: evaluate over seeds. */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/hash.h"
#include "base/sized.h"
#include "eval/full.h"
#include "graph/negative.h"
#include "jobs/counter.h"
#include "jobs/methods.h"
#include "jobs/test_set.h"
#include "linalg/blas.h"
#include "model/options.h"

/* ---- one seed ---- */

/* What stays the same, or adds up, from seed to seed. */
typedef struct evaluation {
    const npgnn_graph *graph;
    npgnn_eval_options options;
    npgnn_options model; /* of options, with the seed of the run */
    npgnn_split_options split;
    const npi_method *method;
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
                          .untuned_auc = (double)NAN,
                          .untuned_ap = (double)NAN,
                          .calibration = {.link_rate = (double)NAN}};
    npi_task asked = *task;
    npi_full full = {0};
    npi_population among = npi_split_population(task->split, NPGNN_SET_TEST);
    float *score = npi_alloc(task->env, task->count, 2 * sizeof *score, err);
    asked.probability = score ? score + task->count : NULL;
    int code = score ? 0 : NPGNN_E_MEMORY;
    run.split_hash = npgnn_split_hash(task->split);
    if (!code && e->options.negatives == NPGNN_NEGATIVES_ALL) {
        code = npi_full_new(&full, &among, set->pairs, set->positives, run.split_hash, task->env, err);
        asked.nodes = full.node;
        asked.node_count = full.nodes;
        asked.row = rank_end;
        asked.row_user = &full;
    }
    if (!code)
        code = npi_method_run(score, &run, &asked, e->method, err);
    if (!code)
        code = npi_test_set_measure(&run, e->resamples, set, score, asked.probability, task->env, err);
    npi_split_emptied(&run.emptied_links, &run.emptied_non_links, task->split);
    run.emptied_auc = 0.5 + (run.emptied_links - run.emptied_non_links) / 2;
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

/* Whether all processes have been given the same. */
static int check_same(const evaluation *e, int seeds, const npgnn_env *env, npgnn_error *err)
{
    const npgnn_split_options *split = &e->split;
    const double numbers[] = {(double)split->protocol,      split->test,           split->val,
                              split->train_nodes,           split->negative_ratio, split->known_links,
                              (double)e->options.negatives, e->options.bootstrap,  seeds};
    const char *method = e->options.method ? e->options.method : "";
    uint64_t hash = npi_options_hash(&e->model);
    hash = npi_hash_bytes(hash, numbers, sizeof numbers);
    hash = npi_hash_bytes(hash, &e->options.first_seed, sizeof e->options.first_seed);
    hash = npi_hash_bytes(hash, method, strlen(method));
    int code = npi_blas_open_among(env, err);
    if (!code)
        code = npi_comm_same(env->comm, npi_graph_fingerprint(e->graph), "the graph", err);
    if (!code && e->options.fixed)
        code = npi_comm_same(env->comm, npgnn_split_hash(e->options.fixed), "the split", err);
    return code ? code : npi_comm_same(env->comm, hash, "the list of options", err);
}

/* Each process runs its share of the seeds, and all get the runs of all, finished ones also after a failure. Intervals
 * are of all runs so far (npi_resamples): they are computed anew, from the resamples of every run. */
static int evaluate_among(npgnn_eval_run *runs, evaluation *e, int seeds, npi_counter *count, npgnn_comm *comm,
                          npgnn_error *err)
{
    npi_resamples *r = e->resamples;
    size_t drawn = r ? (size_t)r->count : 0;
    npgnn_eval_run *all = npi_alloc(e->env, (size_t)seeds, sizeof *all, err);           /* size 0: not finished */
    double *values = npi_alloc(e->env, (size_t)seeds * 2 * drawn, sizeof *values, err); /* (seeds, 2, drawn) AUC, AP */
    int code = npi_comm_agree(comm, all && values ? 0 : NPGNN_E_MEMORY, err);
    if (!code) {
        int first = (int)npi_comm_share_start(comm, seeds, npi_comm_rank(comm));
        count->runs = (int)npi_comm_share_start(comm, seeds, npi_comm_rank(comm) + 1) - first;
        for (; !code && count->run < count->runs; count->run++) {
            size_t at = (size_t)first + (size_t)count->run;
            if (r)
                npi_resamples_reset(r);
            code = run_seed(&all[at], e, e->options.first_seed + at, err);
            if (!code && r) {
                memcpy(values + at * 2 * drawn, r->auc, drawn * sizeof *values);
                memcpy(values + (at * 2 + 1) * drawn, r->ap, drawn * sizeof *values);
            }
        }
        code = npi_comm_agree(comm, code, err);
        npi_comm_gather_shares(comm, all, seeds, sizeof *all);
        npi_comm_gather_shares(comm, values, seeds, 2 * drawn * sizeof *values);
        if (r)
            npi_resamples_reset(r);
        for (int i = 0; i < seeds; i++) {
            const double *auc = values + (size_t)i * 2 * drawn, *ap = auc + drawn;
            if (all[i].size == 0)
                continue;
            for (size_t d = 0; d < drawn; d++) {
                r->auc[d] += auc[d];
                r->ap[d] += ap[d];
            }
            if (r) {
                r->runs++;
                npi_resamples_interval(all[i].auc_interval, all[i].ap_interval, r);
            }
            npi_sized_store(runs, (size_t)i, &all[i], sizeof all[i]);
        }
    }
    npi_free(e->env, all);
    npi_free(e->env, values);
    return code;
}

int npgnn_evaluate(npgnn_eval_run *runs, const npgnn_graph *graph, int seeds, const npgnn_eval_options *options,
                   const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npi_counter count = {npi_env_resolve(env), 0, seeds};
    npgnn_env shared = count.env; /* of several processes, each one takes a share of the seeds */
    npgnn_comm *comm = npi_comm_ranks(shared.comm) > 1 ? shared.comm : NULL;
    count.env.comm = NULL;
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
    if (comm)
        code = check_same(&e, seeds, &shared, err);
    if (code)
        return code;
    if (e.options.bootstrap > 0) {
        e.resamples = &resamples;
        code = npi_resamples_new(&resamples, e.options.bootstrap, &counting, err);
    }
    if (comm && !(code = npi_comm_agree(comm, code, err)))
        code = evaluate_among(runs, &e, seeds, &count, comm, err);
    for (; !code && !comm && count.run < seeds; count.run++) {
        npgnn_eval_run run;
        code = run_seed(&run, &e, e.options.first_seed + (uint64_t)count.run, err);
        if (!code)
            npi_sized_store(runs, (size_t)count.run, &run, sizeof run);
    }
    npi_resamples_free(&counting, &resamples);
    return code;
}
