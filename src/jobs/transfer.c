/* Whole jobs: a model on a graph that it was not trained on, over seeds. */
#include <math.h>
#include <string.h>

#include "jobs/counter.h"
#include "jobs/exam.h"
#include "jobs/fit.h"
#include "jobs/parts.h"
#include "model/model.h"

void npgnn_transfer_options_default(npgnn_transfer_options *options)
{
    memset(options, 0, sizeof *options);
    npgnn_options_preset(&options->model, NULL, NULL);
    options->train_nodes = 0.3;
    options->context_nodes = 0.7;
    options->test = 0.1;
}

/* What stays the same from seed to seed. */
typedef struct transfer {
    const npgnn_graph *graph;
    const npgnn_model *given; /* NULL: one is trained on the first part */
    npgnn_transfer_options options;
    npi_counter *counter;
    const npgnn_env *env;
} transfer;

/* Trains on the known part of a split. */
static int train(npgnn_model **out, double *seconds, const npgnn_split *split, const transfer *t, npgnn_error *err)
{
    double start = npi_clock_seconds();
    int code = npi_fit(out, NULL, split->graph, split, &t->options.model, 0, t->env, err);
    *seconds = npi_clock_seconds() - start;
    t->counter->run++;
    return code;
}

/* What a model says of the test links of the second part. */
static int judge(npgnn_eval_run *out, const npgnn_model *model, double seconds, const npgnn_split *split,
                 const transfer *t, npgnn_error *err)
{
    npgnn_eval_run run = {.seed = t->options.model.seed,
                          .split_hash = npgnn_split_hash(split),
                          .iterations = model->info.iterations,
                          .best_iteration = model->info.iterations,
                          .val_auc = model->info.val_auc,
                          .val_ap = model->info.val_ap,
                          .train_seconds = seconds};
    npgnn_predict_options how = {.samples = -1};
    npi_exam exam = {0};
    float *score = NULL;
    int code = npi_exam_new(&exam, split, NPGNN_NEGATIVES_UNIFORM, t->env, err);
    if (!code && !(score = npi_alloc(t->env, exam.count, 2 * sizeof *score, err)))
        code = NPGNN_E_MEMORY;
    float *probability = score ? score + exam.count : NULL;
    how.link_rate = exam.link_rate;
    run.calibration.link_rate = model->info.calibrated ? exam.link_rate : (double)NAN;
    if (!code)
        code = npi_exam_answer(score, probability, model, npi_split_known(split), exam.pairs, exam.count, &how, t->env,
                               err);
    if (!code)
        code = npi_exam_mark(&run, NULL, &exam, score, probability, t->env, err);
    if (!code)
        *out = run;
    npi_free(t->env, score);
    npi_exam_free(t->env, &exam);
    return code;
}

/* The root mean square, over its dimensions, of how many of its standard deviations the mean of z moved. */
static double shift_of(const npgnn_model *from, const npgnn_model *to)
{
    int d = from->params.size.d;
    double sum = 0;
    for (int c = 0; c < d; c++) {
        double moved = (double)(to->q[c] - from->q[c]) / exp((double)from->q[d + c]);
        sum += moved * moved;
    }
    return d > 0 ? sqrt(sum / d) : (double)NAN;
}

/* The model as it is, and told about the known links of the second part. */
static int judge_transfer(npgnn_transfer_run *run, const npgnn_model *model, double trained, const npgnn_split *split,
                          const transfer *t, npgnn_error *err)
{
    npgnn_model *adapted = NULL;
    int code = judge(&run->way[NPGNN_OLD_LATENT], model, trained, split, t, err);
    double start = npi_clock_seconds();
    if (!code)
        code = npgnn_model_adapt(&adapted, model, npi_split_known(split), t->env, err);
    double seconds = npi_clock_seconds() - start;
    if (!code)
        code = judge(&run->way[NPGNN_NEW_LATENT], adapted, seconds, split, t, err);
    if (!code)
        run->shift = shift_of(model, adapted);
    npgnn_model_free(adapted);
    return code;
}

static int judge_scratch(npgnn_transfer_run *run, const npgnn_split *split, const transfer *t, npgnn_error *err)
{
    npgnn_model *model = NULL;
    double seconds = 0;
    int code = train(&model, &seconds, split, t, err);
    if (!code)
        code = judge(&run->way[NPGNN_FROM_SCRATCH], model, seconds, split, t, err);
    npgnn_model_free(model);
    return code;
}

static int run_parts(npgnn_transfer_run *out, const npi_parts *parts, const transfer *t, npgnn_error *err)
{
    npgnn_transfer_run run;
    npgnn_model *own = NULL;
    double seconds = 0;
    int code = t->given ? 0 : train(&own, &seconds, parts->first, t, err);
    if (!code)
        code = judge_transfer(&run, t->given ? t->given : own, seconds, parts->second, t, err);
    if (!code)
        code = judge_scratch(&run, parts->second, t, err);
    if (!code)
        *out = run;
    npgnn_model_free(own);
    return code;
}

static int run_seed(npgnn_transfer_run *run, transfer *t, uint64_t seed, npgnn_error *err)
{
    npi_parts parts = {0};
    t->options.model.seed = seed;
    int code = (t->given ? npi_parts_whole : npi_parts_cut)(&parts, t->graph, &t->options, seed, t->env, err);
    if (!code)
        code = run_parts(run, &parts, t, err);
    npi_parts_free(&parts);
    return code;
}

int npgnn_transfer(npgnn_transfer_run *runs, const npgnn_graph *graph, const npgnn_model *model, int seeds,
                   const npgnn_transfer_options *options, const npgnn_env *env, npgnn_error *err)
{
    npi_counter counter = {npi_env_resolve(env), 0, model ? seeds : 2 * seeds};
    npgnn_env counting = npi_counter_env(&counter);
    transfer t = {.graph = graph, .given = model, .counter = &counter, .env = &counting};
    npgnn_transfer_options_default(&t.options);
    if (options)
        t.options = *options;
    uint64_t first = t.options.first_seed;
    int code = 0;
    for (int i = 0; !code && i < seeds; i++)
        code = run_seed(&runs[i], &t, first + (uint64_t)i, err);
    return code;
}
