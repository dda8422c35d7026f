/* Whole jobs: evaluate over seeds. */
#include <math.h>
#include <string.h>

#include "jobs/counter.h"
#include "jobs/exam.h"
#include "jobs/methods.h"

void npgnn_eval_options_default(npgnn_eval_options *options, npgnn_protocol protocol)
{
    memset(options, 0, sizeof *options);
    npgnn_options_preset(&options->model, NULL, NULL);
    npgnn_split_options_default(&options->split, protocol);
}

/* ---- one seed ---- */

/* What stays the same, or adds up, from seed to seed. */
typedef struct evaluation {
    const npgnn_graph *graph;
    npgnn_eval_options options;
    npi_method_fn *method;
    npi_resamples *resamples; /* NULL: no intervals */
    const npgnn_env *env;
} evaluation;

static int run_exam(npgnn_eval_run *out, const evaluation *e, const npi_task *task, const npi_exam *exam,
                    npgnn_error *err)
{
    npgnn_eval_run run = {.seed = e->options.model.seed,
                          .val_auc = (double)NAN,
                          .val_ap = (double)NAN,
                          .calibration = {.link_rate = (double)NAN}};
    npi_task asked = *task;
    float *score = npi_alloc(task->env, task->count, 2 * sizeof *score, err);
    asked.probability = score ? score + task->count : NULL;
    int code = score ? e->method(score, &run, &asked, err) : NPGNN_E_MEMORY;
    run.split_hash = npgnn_split_hash(task->split);
    if (!code)
        code = npi_exam_mark(&run, e->resamples, exam, score, asked.probability, task->env, err);
    if (!code)
        *out = run;
    if (!code && e->options.scores)
        e->options.scores(e->options.scores_user, out, score, exam->positives, exam->tested);
    npi_free(task->env, score);
    return code;
}

static int run_split(npgnn_eval_run *run, const evaluation *e, const npgnn_split *split, npgnn_error *err)
{
    npi_exam exam;
    int code = npi_exam_new(&exam, split, e->options.negatives, e->env, err);
    if (code)
        return code;
    const npi_task task = {.graph = npi_split_known(split),
                           .split = split,
                           .pairs = exam.pairs,
                           .count = exam.count,
                           .link_rate = exam.link_rate,
                           .options = &e->options.model,
                           .env = e->env};
    code = run_exam(run, e, &task, &exam, err);
    npi_exam_free(e->env, &exam);
    return code;
}

static int run_seed(npgnn_eval_run *run, evaluation *e, uint64_t seed, npgnn_error *err)
{
    npgnn_split *split = NULL;
    npgnn_eval_options *o = &e->options;
    o->split.seed = o->model.seed = seed;
    int code = o->fixed ? 0 : npgnn_split_new(&split, e->graph, &o->split, e->env, err);
    if (!code)
        code = run_split(run, e, o->fixed ? o->fixed : split, err);
    npgnn_split_free(split);
    return code;
}

/* ---- all seeds ---- */

static int run_seeds(npgnn_eval_run *runs, evaluation *e, npi_counter *count, npgnn_error *err)
{
    int code = 0;
    for (; !code && count->run < count->runs; count->run++)
        code = run_seed(&runs[count->run], e, e->options.first_seed + (uint64_t)count->run, err);
    return code;
}

int npgnn_evaluate(npgnn_eval_run *runs, const npgnn_graph *graph, int seeds, const npgnn_eval_options *options,
                   const npgnn_env *env, npgnn_error *err)
{
    npi_counter count = {npi_env_resolve(env), 0, seeds};
    npgnn_env counting = npi_counter_env(&count);
    npi_resamples resamples = {0};
    evaluation e = {.graph = graph, .env = &counting};
    npgnn_eval_options_default(&e.options, NPGNN_TRANSDUCTIVE);
    if (options)
        e.options = *options;
    e.method = npi_method_find(e.options.method, err);
    if (!e.method)
        return NPGNN_E_ARGUMENT;
    int code = 0;
    if (e.options.bootstrap > 0) {
        e.resamples = &resamples;
        code = npi_resamples_new(&resamples, e.options.bootstrap, &counting, err);
    }
    if (!code)
        code = run_seeds(runs, &e, &count, err);
    npi_resamples_free(&counting, &resamples);
    return code;
}
