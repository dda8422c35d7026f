/* npgnn_transfer: how well a model does on a graph that it was not trained on, over seeds. Per seed, the links of a
 * second subgraph are divided into known and test links (jobs/transfer_split.h), and three models predict the test
 * links:
 *
 *     NPGNN_OLD_LATENT     trained on the first subgraph, or given, unchanged
 *     NPGNN_NEW_LATENT     the same model, with z encoded from the known links of the second subgraph
 *     NPGNN_FROM_SCRATCH   trained on the known links of the second subgraph */
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
    const npgnn_model *given; /* NULL: one is trained on the first subgraph */
    npgnn_transfer_options options;
    npgnn_options training; /* of options, with the seed of the run */
    npi_counter *counter;
    const npgnn_env *env;
} transfer;

/* Trains on the known links of a split. */
static int train(npgnn_model **out, double *seconds, const npgnn_split *split, const transfer *t, npgnn_error *err)
{
    double start = npi_clock_seconds();
    int code = npi_fit(out, NULL, split->graph, split, &t->training, t->env, err);
    *seconds = npi_clock_seconds() - start;
    t->counter->run++;
    return code;
}

/* The metrics of a model on the test links of a split. seconds: what it took to train or adapt the model. */
static int measure(npgnn_eval_run *out, const npgnn_model *model, double seconds, const npgnn_split *split,
                   const transfer *t, npgnn_error *err)
{
    npgnn_eval_run run = {.size = sizeof run,
                          .untuned_auc = (double)NAN,
                          .untuned_ap = (double)NAN,
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

/* The three ways, in the order of their constants. */
static int run_seed(npgnn_eval_run way[NPGNN_TRANSFER_WAYS], double *shift, transfer *t, uint64_t seed,
                    npgnn_error *err)
{
    npi_transfer_split parts = {0};
    npgnn_model *first = NULL, *adapted = NULL, *scratch = NULL;
    const npgnn_model *old = t->given;
    double seconds = 0;
    t->training.seed = seed;
    int code = t->given ? npi_transfer_split_whole(&parts, t->graph, &t->options, seed, t->env, err)
                        : npi_transfer_split_new(&parts, t->graph, &t->options, seed, t->env, err);
    const npgnn_split *second = parts.second;

    if (!code && !t->given) {
        code = train(&first, &seconds, parts.first, t, err);
        old = first;
    }
    if (!code)
        code = measure(&way[NPGNN_OLD_LATENT], old, seconds, second, t, err);

    if (!code) {
        double start = npi_clock_seconds();
        code = npgnn_model_adapt(&adapted, old, npi_split_known(second), t->env, err);
        seconds = npi_clock_seconds() - start;
    }
    if (!code)
        code = measure(&way[NPGNN_NEW_LATENT], adapted, seconds, second, t, err);
    if (!code)
        *shift = shift_of(old, adapted);

    if (!code)
        code = train(&scratch, &seconds, second, t, err);
    if (!code)
        code = measure(&way[NPGNN_FROM_SCRATCH], scratch, seconds, second, t, err);
    npgnn_model_free(first);
    npgnn_model_free(adapted);
    npgnn_model_free(scratch);
    npi_transfer_split_free(&parts);
    return code;
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
    t.options.train_nodes = t.options.train_nodes == 0 ? 0.3 : t.options.train_nodes;
    t.options.context_nodes = t.options.context_nodes == 0 ? 0.7 : t.options.context_nodes;
    t.options.test = t.options.test == 0 ? 0.1 : t.options.test;
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
