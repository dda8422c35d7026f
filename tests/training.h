/* What the tests of training, prediction and evaluation share: a graph with its split, which make_graph and free_graph
 * make and free around the tests; small models of it; and a brake that cancels. */
#ifndef NPI_TESTS_TRAINING_H
#define NPI_TESTS_TRAINING_H

#include "check.h"

#include <string.h>

#include "graph/split.h"
#include "model/model.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SPEC "nodes=200,words=100,seed=2"

static npgnn_graph *graph;
static npgnn_split *split; /* of graph, transductive */
static const npgnn_env one_thread = {.size = sizeof one_thread, .threads = 1};

static inline int make_graph(void **state)
{
    (void)state;
    npgnn_split_options options = {.size = sizeof options};
    npgnn_split_options_default(&options, NPGNN_RANDOM_LINKS, NULL);
    return npgnn_graph_synthetic(&graph, SPEC, &one_thread, NULL) ||
           npgnn_split_new(&split, graph, &options, &one_thread, NULL);
}

static inline int free_graph(void **state)
{
    (void)state;
    npgnn_split_free(split);
    npgnn_graph_free(graph);
    return 0;
}

/* The model of the paper, small, and without a rehearsal: it is not calibrated. */
static inline npgnn_options small_options(int iterations)
{
    npgnn_options o = {.size = sizeof o};
    npgnn_options_preset(&o, NULL, NULL);
    o.hidden = 8;
    o.latent_size = 4;
    o.decoder_hidden = 8;
    o.output_size = 4;
    o.input_dropout = 0;
    o.calibrate = 0;
    o.pairs_per_node = 16;
    o.iterations = iterations;
    return o;
}

static inline npgnn_trainer *trainer_of(const npgnn_split *known, const npgnn_options *options, const npgnn_env *env)
{
    npgnn_trainer *trainer = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_trainer_new(&trainer, graph, known, options, env, &err), err);
    return trainer;
}

static inline npgnn_model *model_of(const npgnn_trainer *trainer)
{
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_trainer_model(&model, trainer, &err), err);
    return model;
}

static inline npgnn_model *fit(const npgnn_options *options, int threads)
{
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    npgnn_env env = {.size = sizeof env, .threads = threads};
    assert_ok(npgnn_fit(&model, graph, options, &env, &err), err);
    return model;
}

static inline int same_parameters(const npgnn_model *a, const npgnn_model *b)
{
    assert_int_equal(a->params.count, b->params.count);
    return memcmp(a->params.block, b->params.block, a->params.count * sizeof(real)) == 0 &&
           (!a->q || memcmp(a->q, b->q, 2 * (size_t)a->params.size.d * sizeof(real)) == 0);
}

static inline void predict(npgnn_prediction *out, const npgnn_model *model, const npgnn_pair *pairs, size_t count,
                           int samples)
{
    npgnn_error err = {0};
    npgnn_predict_options options = {.size = sizeof options, .samples = samples, .seed = 4};
    assert_ok(npgnn_predict(out, model, graph, pairs, count, &options, &one_thread, &err), err);
}

/* Cancels at an iteration of a run. */
typedef struct brake {
    int run, iteration;
    int calls, last_run, runs;
} brake;

static inline int press(void *user, const npgnn_progress *p)
{
    brake *b = user;
    b->calls++;
    b->last_run = p->run;
    b->runs = p->runs;
    return p->run == b->run && p->iteration == b->iteration;
}

#endif
