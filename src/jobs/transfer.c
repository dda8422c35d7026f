/* Whole jobs: a model on a graph that it was not trained on, over seeds. */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "jobs/counter.h"
#include "jobs/fit.h"
#include "jobs/test_set.h"
#include "jobs/transfer_split.h"
#include "model/model.h"
#include "model/options.h"

/* What stays the same from seed to seed. */
typedef struct transfer {
    const npgnn_graph *graph;
    const npgnn_model *given; /* NULL: one is trained on the first part */
    npgnn_transfer_options options;
    npgnn_options training; /* of options, with the seed of the run */
    npi_counter *counter;
    const npgnn_env *env;
} transfer;

/* Trains on the known part of a split. */
static int train(npgnn_model **out, double *seconds, const npgnn_split *split, const transfer *t, npgnn_error *err)
{
    double start = npi_clock_seconds();
    int code = npi_fit(out, NULL, split->graph, split, &t->training, t->env, err);
    *seconds = npi_clock_seconds() - start;
    t->counter->run++;
    return code;
}

/* What a model says of the test links of the second part. */
static int judge(npgnn_eval_run *out, const npgnn_model *model, double seconds, const npgnn_split *split,
                 const transfer *t, npgnn_error *err)
{
    npgnn_eval_run run = {.size = sizeof run,
                          .seed = t->training.seed,
                          .split_hash = npgnn_split_hash(split),
                          .iterations = model->info.iterations,
                          .best_iteration = model->info.iterations,
                          .val_auc = model->info.val_auc,
                          .val_ap = model->info.val_ap,
                          .train_seconds = seconds};
    npgnn_predict_options how = {.size = sizeof how, .samples = -1};
    npi_test_set set = {0};
    float *score = NULL;
    int code = npi_test_set_new(&set, split, NPGNN_NEGATIVES_UNIFORM, t->env, err);
    if (!code && !(score = npi_alloc(t->env, set.count, 2 * sizeof *score, err)))
        code = NPGNN_E_MEMORY;
    float *probability = score ? score + set.count : NULL;
    how.link_rate = set.link_rate;
    run.calibration.link_rate = model->scorer.calibrated ? set.link_rate : (double)NAN;
    if (!code)
        code = npi_test_set_predict(score, probability, model, npi_split_known(split), set.pairs, set.count, &how,
                                    t->env, err);
    if (!code)
        code = npi_test_set_measure(&run, NULL, &set, score, probability, t->env, err);
    if (!code)
        *out = run;
    npi_free(t->env, score);
    npi_test_set_free(t->env, &set);
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

/* The model as it is, and told about the known links of the second subgraph. */
static int judge_transfer(npgnn_eval_run way[NPGNN_TRANSFER_WAYS], double *shift, const npgnn_model *model,
                          double trained, const npgnn_split *split, const transfer *t, npgnn_error *err)
{
    npgnn_model *adapted = NULL;
    int code = judge(&way[NPGNN_OLD_LATENT], model, trained, split, t, err);
    double start = npi_clock_seconds();
    if (!code)
        code = npgnn_model_adapt(&adapted, model, npi_split_known(split), t->env, err);
    double seconds = npi_clock_seconds() - start;
    if (!code)
        code = judge(&way[NPGNN_NEW_LATENT], adapted, seconds, split, t, err);
    if (!code)
        *shift = shift_of(model, adapted);
    npgnn_model_free(adapted);
    return code;
}

static int run_seed(npgnn_eval_run way[NPGNN_TRANSFER_WAYS], double *shift, transfer *t, uint64_t seed,
                    npgnn_error *err)
{
    npi_transfer_split parts = {0};
    npgnn_model *first = NULL, *scratch = NULL;
    double seconds = 0;
    t->training.seed = seed;
    int code = (t->given ? npi_transfer_split_whole : npi_transfer_split_new)(&parts, t->graph, &t->options, seed,
                                                                              t->env, err);
    if (!code && !t->given)
        code = train(&first, &seconds, parts.first, t, err);
    if (!code)
        code = judge_transfer(way, shift, t->given ? t->given : first, seconds, parts.second, t, err);
    if (!code)
        code = train(&scratch, &seconds, parts.second, t, err);
    if (!code)
        code = judge(&way[NPGNN_FROM_SCRATCH], scratch, seconds, parts.second, t, err);
    npgnn_model_free(first);
    npgnn_model_free(scratch);
    npi_transfer_split_free(&parts);
    return code;
}

static npgnn_transfer_options with_defaults(npgnn_transfer_options given)
{
    if (given.train_nodes == 0)
        given.train_nodes = 0.3;
    if (given.context_nodes == 0)
        given.context_nodes = 0.7;
    if (given.test == 0)
        given.test = 0.1;
    return given;
}

int npgnn_transfer(npgnn_eval_run *runs, double *shift, const npgnn_graph *graph, const npgnn_model *model, int seeds,
                   const npgnn_transfer_options *options, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npi_counter counter = {npi_env_resolve(env), 0, model ? seeds : 2 * seeds};
    npgnn_env counting = npi_counter_env(&counter);
    transfer t = {.graph = graph, .given = model, .counter = &counter, .env = &counting};
    int code = npi_sized_read(&t.options, sizeof t.options, options, "npgnn_transfer_options", err);
    if (!code)
        code = npi_options_read(&t.training, t.options.model, err);
    if (!code && seeds > 0)
        code = npi_sized_check(runs, "npgnn_eval_run", err);
    t.options = with_defaults(t.options);
    for (int i = 0; !code && i < seeds; i++) {
        npgnn_eval_run way[NPGNN_TRANSFER_WAYS];
        double moved = (double)NAN;
        code = run_seed(way, &moved, &t, t.options.first_seed + (uint64_t)i, err);
        for (size_t w = 0; !code && w < NPGNN_TRANSFER_WAYS; w++)
            npi_sized_store(runs, (size_t)i * NPGNN_TRANSFER_WAYS + w, &way[w], sizeof way[w]);
        if (!code && shift)
            shift[i] = moved;
    }
    return code;
}
