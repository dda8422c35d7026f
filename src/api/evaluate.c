/* Whole jobs: fit, and evaluate over seeds. */
#include <math.h>
#include <string.h>

#include "baselines/cosine.h"
#include "graph/split.h"
#include "model/model.h"

int npgnn_fit(npgnn_model **out, const npgnn_graph *graph, const npgnn_options *options, const npgnn_env *env,
              npgnn_error *err)
{
    npgnn_trainer *trainer = NULL;
    int code = npgnn_trainer_new(&trainer, graph, NULL, options, env, err);
    if (!code)
        code = npgnn_trainer_run(trainer, err);
    if (!code)
        code = npgnn_trainer_model(out, trainer, err);
    npgnn_trainer_free(trainer);
    return code;
}

void npgnn_eval_options_default(npgnn_eval_options *options, npgnn_protocol protocol)
{
    memset(options, 0, sizeof *options);
    npgnn_options_preset(&options->model, NULL, NULL);
    npgnn_split_options_default(&options->split, protocol);
}

/* ---- methods: each scores the test pairs of a split ---- */

/* The trainer counts its own iterations; an evaluation also says which run of how many they belong to. */
typedef struct relay {
    const npgnn_env *env;
    int run, runs;
} relay;

static int relay_progress(void *user, const npgnn_progress *progress)
{
    const relay *r = user;
    npgnn_progress seen = *progress;
    seen.run = r->run;
    seen.runs = r->runs;
    return r->env->progress(r->env->user, &seen);
}

static void relay_log(void *user, const char *message)
{
    const relay *r = user;
    r->env->log(r->env->user, message);
}

static int score_model(float *score, npgnn_eval_run *run, const npgnn_trainer *trainer, const npgnn_graph *graph,
                       const npgnn_pair *pairs, size_t count, const npgnn_env *env, npgnn_error *err)
{
    npgnn_model *model = NULL;
    npgnn_predictor *predictor = NULL;
    npgnn_prediction *predictions = npi_alloc(env, count, sizeof *predictions, err);
    int code = predictions ? npgnn_trainer_model(&model, trainer, err) : NPGNN_E_MEMORY;
    if (!code)
        code = npgnn_predictor_new(&predictor, model, graph, NULL, env, err);
    if (!code)
        code = npgnn_predictor_run(predictions, predictor, pairs, count, err);
    for (size_t i = 0; !code && i < count; i++)
        score[i] = model->options.predict_samples ? predictions[i].probability : predictions[i].score;
    if (!code) {
        run->best_iteration = model->info.iterations;
        run->val_auc = model->info.val_auc;
        run->val_ap = model->info.val_ap;
    }
    npgnn_predictor_free(predictor);
    npgnn_model_free(model);
    npi_free(env, predictions);
    return code;
}

static int run_npgnn(float *score, npgnn_eval_run *run, const npgnn_graph *graph, const npgnn_split *split,
                     const npgnn_pair *pairs, size_t count, const npgnn_options *options, const relay *relay,
                     npgnn_error *err)
{
    npgnn_trainer *trainer = NULL;
    npgnn_options seeded = *options;
    npgnn_env env = *relay->env;
    struct relay own = *relay;
    env.user = &own;
    env.progress = env.progress ? relay_progress : NULL;
    env.log = env.log ? relay_log : NULL;
    seeded.seed = run->seed;
    int code = npgnn_trainer_new(&trainer, graph, split, &seeded, &env, err);
    double start = npi_seconds();
    if (!code)
        code = npgnn_trainer_run(trainer, err);
    run->train_seconds = npi_seconds() - start;
    if (!code)
        code = score_model(score, run, trainer, graph, pairs, count, &env, err);
    npgnn_trainer_free(trainer);
    return code;
}

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

static int run_seed(npgnn_eval_run *out, const npgnn_graph *graph, const npgnn_split *split,
                    const npgnn_eval_options *o, const relay *relay, npgnn_error *err)
{
    const npgnn_pair *pairs;
    const npgnn_env *env = relay->env;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST);
    npgnn_eval_run run = {.seed = out->seed, .split_hash = npgnn_split_hash(split), .val_auc = NAN, .val_ap = NAN};
    float *score = npi_alloc(env, count, sizeof *score, err);
    int code = score ? 0 : NPGNN_E_MEMORY;
    if (!code && strcmp(o->method ? o->method : "npgnn", "cosine") == 0)
        code = npi_cosine_scores(score, graph->x, pairs, count, env, err);
    else if (!code)
        code = run_npgnn(score, &run, graph, split, pairs, count, &o->model, relay, err);
    if (!code)
        code = judge(&run, score, positives, count, env, err);
    if (!code)
        *out = run;
    npi_free(env, score);
    return code;
}

int npgnn_evaluate(npgnn_eval_run *runs, const npgnn_graph *graph, int seeds, const npgnn_eval_options *options,
                   const npgnn_env *env, npgnn_error *err)
{
    npgnn_env resolved = npi_env(env);
    relay relay = {&resolved, 0, seeds};
    npgnn_eval_options o;
    npgnn_eval_options_default(&o, NPGNN_TRANSDUCTIVE);
    if (options)
        o = *options;
    if (o.method && strcmp(o.method, "npgnn") != 0 && strcmp(o.method, "cosine") != 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no method \"%s\": take npgnn or cosine", o.method);
    for (; relay.run < seeds; relay.run++) {
        npgnn_split *split = NULL;
        npgnn_eval_run *run = &runs[relay.run];
        int code = 0;
        run->seed = o.first_seed + (uint64_t)relay.run;
        o.split.seed = run->seed;
        if (!o.fixed)
            code = npgnn_split_new(&split, graph, &o.split, &resolved, err);
        if (!code)
            code = run_seed(run, graph, o.fixed ? o.fixed : split, &o, &relay, err);
        npgnn_split_free(split);
        if (code)
            return code;
    }
    return 0;
}
