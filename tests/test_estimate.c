/* What a job is said to take, beside what it takes. */
#include "check.h"

#include <malloc.h>
#include <math.h>

#include "npgnn/npgnn.h"

enum { ITERATIONS = 20, SEEDS = 2 };

/* An allocator that knows the most that was out at a time, by what malloc says of its blocks. */
typedef struct scales {
    size_t bytes, peak;
} scales;

static void *weigh(void *user, void *block, size_t size)
{
    scales *s = user;
    s->bytes -= block ? malloc_usable_size(block) : 0;
    if (size == 0) {
        free(block);
        return NULL;
    }
    void *resized = realloc(block, size);
    s->bytes += malloc_usable_size(resized ? resized : block);
    s->peak = s->bytes > s->peak ? s->bytes : s->peak;
    return resized;
}

static npgnn_env weighing(scales *s)
{
    return (npgnn_env){.size = sizeof(npgnn_env), .threads = 2, .allocator = {weigh, s}};
}

static npgnn_graph *graph;
static npgnn_model *model;

static npgnn_options options_for(const char *preset)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_error err = {0};
    assert_ok(npgnn_options_preset(&options, preset, &err), err);
    options.iterations = ITERATIONS;
    options.validate_every = 10;
    options.patience = 0;
    return options;
}

static int make(void **state)
{
    npgnn_options options = options_for(NULL);
    (void)state;
    if (npgnn_graph_synthetic(&graph, "nodes=400,words=100,seed=3", NULL, NULL) != 0)
        return -1;
    return npgnn_fit(&model, graph, &options, NULL, NULL);
}

static int unmake(void **state)
{
    (void)state;
    npgnn_model_free(model);
    npgnn_graph_free(graph);
    return 0;
}

/* The memory is right, the time at least possible, and nothing is left. */
static void check_cost(const npgnn_cost *cost, const scales *estimated, const scales *real, int64_t steps)
{
    assert_int_equal(estimated->bytes, 0);
    assert_true((double)cost->bytes > 0.75 * (double)real->peak);
    assert_true((double)cost->bytes < 1.25 * (double)real->peak);
    assert_int_equal(cost->steps, steps);
    assert_true(cost->step_seconds > 0 && isfinite(cost->seconds));
    assert_true(cost->seconds >= 0.5 * (double)steps * cost->step_seconds);
}

/* ---- the jobs ---- */

static void test_fit(void **state)
{
    const char *presets[] = {"default", "best"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        scales estimated = {0}, real = {0};
        npgnn_env first = weighing(&estimated), second = weighing(&real);
        npgnn_options options = options_for(presets[i]);
        npgnn_model *fitted = NULL;
        npgnn_cost cost = {.size = sizeof cost};
        npgnn_error err = {0};
        assert_ok(npgnn_estimate_fit(&cost, graph, NULL, &options, &first, &err), err);
        assert_ok(npgnn_fit(&fitted, graph, &options, &second, &err), err);
        npgnn_model_free(fitted);
        /* one rehearsal of a network; of a process of so few links, three */
        check_cost(&cost, &estimated, &real, (i == 0 ? 2 : 4) * ITERATIONS);
    }
}

static void test_evaluate(void **state)
{
    scales estimated = {0}, real = {0};
    npgnn_env first = weighing(&estimated), second = weighing(&real);
    npgnn_eval_run runs[SEEDS] = {{.size = sizeof(npgnn_eval_run)}};
    npgnn_options model_options = options_for(NULL);
    npgnn_eval_options options = {.size = sizeof options, .model = &model_options};
    npgnn_cost cost = {.size = sizeof cost};
    npgnn_error err = {0};
    (void)state;
    assert_ok(npgnn_estimate_evaluate(&cost, graph, SEEDS, &options, &first, &err), err);
    assert_ok(npgnn_evaluate(runs, graph, SEEDS, &options, &second, &err), err);
    check_cost(&cost, &estimated, &real, SEEDS * ITERATIONS);
}

/* A method that does not ask the options how long to train is stopped, and its own number counts. */
static void test_other_methods(void **state)
{
    scales estimated = {0};
    npgnn_env env = weighing(&estimated);
    npgnn_eval_options options = {.size = sizeof options};
    npgnn_cost cost = {.size = sizeof cost};
    npgnn_error err = {0};
    (void)state;
    options.method = "gae";
    assert_ok(npgnn_estimate_evaluate(&cost, graph, SEEDS, &options, &env, &err), err);
    assert_int_equal(cost.steps, SEEDS * 200); /* Kipf and Welling's */
    assert_true(cost.bytes > 0 && cost.seconds > 0.5 * (double)cost.steps * cost.step_seconds);
    assert_int_equal(estimated.bytes, 0);
    options.method = "cosine"; /* does not iterate */
    assert_ok(npgnn_estimate_evaluate(&cost, graph, SEEDS, &options, &env, &err), err);
    assert_int_equal(cost.steps, 0);
    assert_true(cost.seconds > 0);
}

static void test_transfer(void **state)
{
    scales estimated = {0}, real = {0};
    npgnn_env first = weighing(&estimated), second = weighing(&real);
    npgnn_eval_run runs[SEEDS * NPGNN_TRANSFER_WAYS] = {{.size = sizeof runs[0]}};
    npgnn_options model_options = options_for(NULL);
    npgnn_transfer_options options = {.size = sizeof options, .model = &model_options};
    npgnn_cost cost = {.size = sizeof cost};
    npgnn_error err = {0};
    (void)state;
    assert_ok(npgnn_estimate_transfer(&cost, graph, NULL, SEEDS, &options, &first, &err), err);
    assert_ok(npgnn_transfer(runs, NULL, graph, NULL, SEEDS, &options, &second, &err), err);
    check_cost(&cost, &estimated, &real, 4 * SEEDS * ITERATIONS); /* on either subgraph, each with a rehearsal */
}

static void test_predict(void **state)
{
    enum { COUNT = 5000 };
    static npgnn_pair pairs[COUNT];
    static npgnn_prediction predictions[COUNT];
    scales estimated = {0}, real = {0};
    npgnn_env first = weighing(&estimated), second = weighing(&real);
    npgnn_predict_options options = {.size = sizeof options, .samples = 2};
    npgnn_cost cost = {.size = sizeof cost}, more = {.size = sizeof more};
    npgnn_error err = {0};
    (void)state;
    assert_ok(npgnn_estimate_predict(&cost, model, graph, COUNT, &options, &first, &err), err);
    assert_ok(npgnn_predict(predictions, model, graph, pairs, COUNT, &options, &second, &err), err);
    check_cost(&cost, &estimated, &real, COUNT);
    assert_ok(npgnn_estimate_predict(&more, model, graph, INT64_C(1000000000000), &options, NULL, &err), err);
    assert_true(more.seconds > 100 * cost.seconds);
    assert_true(more.seconds > 0.5 * 1e12 * more.step_seconds);
}

static void test_top(void **state)
{
    enum { K = 5 };
    static npgnn_link links[400 * K];
    static int32_t found[400];
    npgnn_predict_options predict = {.size = sizeof predict, .samples = 0};
    (void)state;
    for (int all = 0; all < 2; all++) {
        scales estimated = {0}, real = {0};
        npgnn_env first = weighing(&estimated), second = weighing(&real);
        npgnn_predictor *predictor = NULL;
        npgnn_cost cost = {.size = sizeof cost};
        npgnn_error err = {0};
        assert_ok(npgnn_estimate_top(&cost, model, graph, K, all, &predict, NULL, &first, &err), err);
        assert_ok(npgnn_predictor_new(&predictor, model, graph, &predict, &second, &err), err);
        assert_ok((all ? npgnn_predictor_top_links : npgnn_predictor_top)(links, found, predictor, K, NULL, &err), err);
        npgnn_predictor_free(predictor);
        assert_int_equal(estimated.bytes, 0);
        assert_true(cost.bytes > 0 && cost.seconds > 0);
        assert_true((double)cost.bytes > 0.75 * (double)real.peak && (double)cost.bytes < 1.25 * (double)real.peak);
        assert_int_equal(cost.steps, 400);
    }
}

/* ---- what it depends on ---- */

/* A job of a million iterations is not run, and takes longer than one of six. */
static void test_length(void **state)
{
    npgnn_options options = options_for(NULL);
    npgnn_cost few = {.size = sizeof few}, many = {.size = sizeof many};
    npgnn_error err = {0};
    (void)state;
    options.iterations = 6;
    assert_ok(npgnn_estimate_fit(&few, graph, NULL, &options, NULL, &err), err);
    options.iterations = 1000000;
    assert_ok(npgnn_estimate_fit(&many, graph, NULL, &options, NULL, &err), err);
    assert_true(many.seconds > 100 * few.seconds);
}

static int refuse(void *user, const npgnn_progress *progress)
{
    ++*(int *)user;
    return progress->iteration == 2;
}

/* The caller can stop it, and a failure of the job is one of the estimate. */
static void test_failures(void **state)
{
    int calls = 0;
    npgnn_env env = {.size = sizeof env, .progress = refuse, .user = &calls};
    npgnn_eval_options options = {.size = sizeof options};
    npgnn_cost cost = {.size = sizeof cost, .bytes = -7};
    npgnn_error err = {0};
    (void)state;
    assert_int_equal(npgnn_estimate_fit(&cost, graph, NULL, NULL, &env, &err), NPGNN_E_CANCELLED);
    assert_int_equal(calls, 2);
    options.method = "no-such-method";
    assert_int_equal(npgnn_estimate_evaluate(&cost, graph, 1, &options, NULL, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(npgnn_estimate_top(&cost, model, graph, 0, 0, NULL, NULL, NULL, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(npgnn_estimate_predict(&cost, model, graph, -1, NULL, NULL, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(cost.bytes, -7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit),      cmocka_unit_test(test_evaluate), cmocka_unit_test(test_other_methods),
        cmocka_unit_test(test_transfer), cmocka_unit_test(test_predict),  cmocka_unit_test(test_top),
        cmocka_unit_test(test_length),   cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
