/* Whole jobs: evaluate over seeds. */
#include <math.h>
#include <string.h>

#include "api/methods.h"

void npgnn_eval_options_default(npgnn_eval_options *options, npgnn_protocol protocol)
{
    memset(options, 0, sizeof *options);
    npgnn_options_preset(&options->model, NULL, NULL);
    npgnn_split_options_default(&options->split, protocol);
}

/* ---- progress: a training counts its own iterations, an evaluation also its runs ---- */

typedef struct counter {
    npgnn_env env; /* the caller's */
    int run, runs;
} counter;

static int count_progress(void *user, const npgnn_progress *progress)
{
    const counter *c = user;
    npgnn_progress seen = *progress;
    seen.run = c->run;
    seen.runs = c->runs;
    return c->env.progress(c->env.user, &seen);
}

static void pass_log(void *user, const char *message)
{
    const counter *c = user;
    c->env.log(c->env.user, message);
}

static npgnn_env counting_env(counter *c)
{
    npgnn_env env = c->env;
    env.user = c;
    env.progress = env.progress ? count_progress : NULL;
    env.log = env.log ? pass_log : NULL;
    return env;
}

/* ---- one seed ---- */

static int judge(npgnn_eval_run *run, const float *score, size_t positives, size_t count, const npgnn_env *env,
                 npgnn_error *err)
{
    const int k[2] = {10, 100};
    double hits[2];
    const float *negative = score + positives;
    int code = npgnn_auc_ap(&run->auc, &run->ap, score, negative, positives, count - positives, env, err);
    if (!code)
        code = npgnn_mrr_hits(&run->mrr, hits, score, negative, positives, count - positives, k, 2, env, err);
    if (!code) {
        run->hits10 = hits[0];
        run->hits100 = hits[1];
    }
    return code;
}

static int run_split(npgnn_eval_run *out, npi_method_fn *method, const npi_task *task, size_t positives,
                     const npgnn_eval_options *o, npgnn_error *err)
{
    npgnn_eval_run run = {.seed = out->seed, .val_auc = (double)NAN, .val_ap = (double)NAN};
    float *score = npi_alloc(task->env, task->count, sizeof *score, err);
    int code = score ? method(score, &run, task, err) : NPGNN_E_MEMORY;
    run.split_hash = npgnn_split_hash(task->split);
    if (!code)
        code = judge(&run, score, positives, task->count, task->env, err);
    if (!code)
        *out = run;
    if (!code && o->scores)
        o->scores(o->scores_user, out, score, positives, task->count);
    npi_free(task->env, score);
    return code;
}

static int run_seed(npgnn_eval_run *run, npi_method_fn *method, const npgnn_graph *graph, npgnn_eval_options *o,
                    const npgnn_env *env, npgnn_error *err)
{
    npgnn_split *split = NULL;
    size_t positives;
    o->split.seed = o->model.seed = run->seed;
    int code = o->fixed ? 0 : npgnn_split_new(&split, graph, &o->split, env, err);
    if (!code) {
        npi_task task = {.split = o->fixed ? o->fixed : split, .options = &o->model, .env = env};
        task.graph = npi_split_known(task.split);
        task.count = npgnn_split_pairs(&task.pairs, &positives, task.split, NPGNN_SET_TEST);
        code = run_split(run, method, &task, positives, o, err);
    }
    npgnn_split_free(split);
    return code;
}

int npgnn_evaluate(npgnn_eval_run *runs, const npgnn_graph *graph, int seeds, const npgnn_eval_options *options,
                   const npgnn_env *env, npgnn_error *err)
{
    counter count = {npi_env(env), 0, seeds};
    npgnn_env counting = counting_env(&count);
    npgnn_eval_options o;
    npgnn_eval_options_default(&o, NPGNN_TRANSDUCTIVE);
    if (options)
        o = *options;
    npi_method_fn *method = npi_method_find(o.method, err);
    if (!method)
        return NPGNN_E_ARGUMENT;
    for (; count.run < seeds; count.run++) {
        npgnn_eval_run *run = &runs[count.run];
        run->seed = o.first_seed + (uint64_t)count.run;
        int code = run_seed(run, method, graph, &o, &counting, err);
        if (code)
            return code;
    }
    return 0;
}
