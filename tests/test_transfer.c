/* A model on another part of a graph: that the parts are what they should be, that nothing leaks, and what comes
 * out. */
#include "check.h"

#include <string.h>

#include "jobs/transfer_split.h"
#include "meter.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SPEC "nodes=300,words=100,seed=3"

static npgnn_graph *graph;
static const npgnn_env one_thread = {.size = sizeof one_thread, .threads = 1};

static int make_graph(void **state)
{
    (void)state;
    return npgnn_graph_synthetic(&graph, SPEC, &one_thread, NULL);
}

static int free_graph(void **state)
{
    (void)state;
    npgnn_graph_free(graph);
    return 0;
}

/* Of every training here. */
static npgnn_options quick_model(void)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_options_preset(&options, NULL, NULL);
    options.iterations = 6;
    options.calibrate = 0;
    return options;
}

/* The default shares, written out. */
static npgnn_transfer_options quick(const npgnn_options *model)
{
    return (npgnn_transfer_options){
        .size = sizeof(npgnn_transfer_options), .model = model, .train_nodes = 0.3, .context_nodes = 0.7, .test = 0.1};
}

/* ---- the parts ---- */

/* home[i]: node of the graph that node i of the training part of `split` is; from[]: those of the split's own graph. */
static void follow(int32_t *home, const npgnn_split *split, const int32_t *from)
{
    const int32_t *map;
    int32_t n = npgnn_graph_nodes(npgnn_split_train(&map, split));
    for (int32_t i = 0; i < n; i++) {
        int32_t at = map ? map[i] : i;
        home[i] = from ? from[at] : at;
    }
}

/* Where the nodes of the two parts are in the graph. */
static void find_homes(int32_t *first, int32_t *second, const npi_transfer_split *parts)
{
    int32_t rest[300], known[300], count = 0;
    const int32_t *at = NULL;
    if (parts->rest) {
        for (int32_t i = 0; i < graph->n; i++)
            if (parts->first->role[i] != NPI_NODE_TRAIN)
                rest[count++] = i;
        assert_int_equal(count, npgnn_graph_nodes(parts->rest));
        at = rest;
    }
    if (parts->cut) {
        follow(known, parts->cut, at);
        at = known;
    }
    follow(second, parts->second, at);
    follow(first, parts->first, parts->rest ? NULL : second);
}

/* Every edge of a part is one of the graph. */
static void check_edges(const npgnn_graph *part, const int32_t *home)
{
    const int32_t *neighbours;
    for (int32_t i = 0; i < part->n; i++) {
        int64_t degree = npgnn_graph_neighbors(&neighbours, part, i);
        for (int64_t p = 0; p < degree; p++)
            assert_true(npgnn_graph_has_edge(graph, home[i], home[neighbours[p]]));
    }
}

/* 1 when the two nodes of the graph are linked in the part. */
static int knows(const npgnn_graph *part, const int32_t *home, int32_t u, int32_t v)
{
    int32_t a = -1, b = -1;
    for (int32_t i = 0; i < part->n; i++) {
        a = home[i] == u ? i : a;
        b = home[i] == v ? i : b;
    }
    return a >= 0 && b >= 0 && npgnn_graph_has_edge(part, a, b);
}

static void check_parts(const npi_transfer_split *parts, const npgnn_transfer_options *options)
{
    int32_t first[300], second[300];
    const npgnn_pair *pairs;
    size_t positives;
    const npgnn_graph *trained = npgnn_split_train(NULL, parts->first),
                      *context = npgnn_split_train(NULL, parts->second);
    find_homes(first, second, parts);
    assert_in_range(trained->n, (int)(options->train_nodes * 300) - 1, (int)(options->train_nodes * 300));
    assert_in_range(context->n, (int)(options->context_nodes * 300) - 1, (int)(options->context_nodes * 300));
    check_edges(trained, first);
    check_edges(context, second);
    for (int32_t i = 0; i < trained->n; i++) {
        int shared = 0;
        for (int32_t j = 0; j < context->n; j++)
            shared += first[i] == second[j];
        assert_int_equal(shared, options->grow);
    }
    size_t count = npgnn_split_pairs(&pairs, &positives, parts->second, NPGNN_SET_TEST);
    assert_true(positives > 0 && count == 2 * positives);
    for (size_t i = 0; i < count; i++) {
        int32_t u = second[pairs[i].u], v = second[pairs[i].v];
        assert_int_equal(npgnn_graph_has_edge(graph, u, v), i < positives);
        assert_false(knows(trained, first, u, v));
        assert_false(knows(context, second, u, v));
    }
}

static void test_parts(void **state)
{
    (void)state;
    const struct {
        double train, context;
        int grow;
    } cases[] = {{0.3, 0.7, 0}, {0.3, 0.3, 0}, {0.3, 0.7, 1}, {0.3, 1, 1}, {0.6, 0.4, 0}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            npgnn_transfer_options options = quick(NULL);
            npi_transfer_split parts;
            npgnn_env env = npi_env_resolve(&one_thread);
            npgnn_error err = {0};
            options.train_nodes = cases[i].train;
            options.context_nodes = cases[i].context;
            options.grow = cases[i].grow;
            assert_ok(npi_transfer_split_new(&parts, graph, &options, seed, &env, &err), err);
            check_parts(&parts, &options);
            npi_transfer_split_free(&parts);
        }
}

/* ---- the runs ---- */

static void test_runs(void **state)
{
    (void)state;
    npgnn_options model = quick_model();
    npgnn_transfer_options options = quick(&model);
    npgnn_eval_run runs[2][NPGNN_TRANSFER_WAYS] = {{{.size = sizeof runs[0][0]}}};
    npgnn_eval_run again[NPGNN_TRANSFER_WAYS] = {{.size = sizeof again[0]}};
    double shift[2], shift_again;
    npgnn_error err = {0};
    options.first_seed = 4;
    assert_ok(npgnn_transfer(runs[0], shift, graph, NULL, 2, &options, &one_thread, &err), err);
    for (int i = 0; i < 2; i++) {
        for (int w = 0; w < NPGNN_TRANSFER_WAYS; w++) {
            const npgnn_eval_run *run = &runs[i][w];
            assert_true(run->auc > 0 && run->auc < 1 && run->ap > 0 && run->ap < 1);
            assert_true(run->seed == 4 + (uint64_t)i && run->split_hash == runs[i][0].split_hash);
            assert_int_equal(run->iterations, 6);
            assert_int_equal(run->size, sizeof *run);
        }
        assert_true(shift[i] > 0);
    }
    assert_true(runs[0][0].split_hash != runs[1][0].split_hash);
    npgnn_env threads = {.size = sizeof threads, .threads = 3};
    options.first_seed = 5;
    options.train_nodes = options.context_nodes = options.test = 0; /* the defaults */
    assert_ok(npgnn_transfer(again, &shift_again, graph, NULL, 1, &options, &threads, &err), err);
    for (int w = 0; w < NPGNN_TRANSFER_WAYS; w++)
        assert_true(again[w].auc == runs[1][w].auc && again[w].ap == runs[1][w].ap);
    assert_true(shift_again == shift[1]);
}

/* Calibration is of the trained models, and takes nothing from their accuracy. */
static void test_calibrated(void **state)
{
    (void)state;
    npgnn_options model = quick_model();
    npgnn_transfer_options options = quick(&model);
    npgnn_eval_run plain[NPGNN_TRANSFER_WAYS] = {{.size = sizeof plain[0]}};
    npgnn_eval_run calibrated[NPGNN_TRANSFER_WAYS] = {{.size = sizeof calibrated[0]}};
    npgnn_error err = {0};
    assert_ok(npgnn_transfer(plain, NULL, graph, NULL, 1, &options, &one_thread, &err), err);
    model.calibrate = 1;
    assert_ok(npgnn_transfer(calibrated, NULL, graph, NULL, 1, &options, &one_thread, &err), err);
    for (int w = 0; w < NPGNN_TRANSFER_WAYS; w++) {
        assert_true(isnan(plain[w].calibration.ece) && isfinite(calibrated[w].calibration.ece));
        assert_true(plain[w].auc == calibrated[w].auc);
    }
}

/* The ways are what their names say: done by hand, with a given model. */
static void test_by_hand(void **state)
{
    (void)state;
    npgnn_options model = quick_model();
    npgnn_transfer_options options = quick(&model);
    npgnn_split_options cut = {.size = sizeof cut};
    npgnn_eval_run run[NPGNN_TRANSFER_WAYS] = {{.size = sizeof run[0]}};
    npgnn_graph *home = NULL;
    npgnn_model *models[NPGNN_TRANSFER_WAYS] = {0};
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    options.first_seed = model.seed = 9;
    npgnn_split_options_default(&cut, NPGNN_TRANSDUCTIVE, NULL);
    cut.val = 0;
    cut.seed = 9;
    assert_ok(npgnn_graph_synthetic(&home, "nodes=200,words=100,seed=8", &one_thread, &err), err);
    assert_ok(npgnn_fit(&models[NPGNN_OLD_LATENT], home, &model, &one_thread, &err), err);
    assert_ok(npgnn_transfer(run, NULL, graph, models[NPGNN_OLD_LATENT], 1, &options, &one_thread, &err), err);

    assert_ok(npgnn_split_new(&split, graph, &cut, &one_thread, &err), err);
    const npgnn_graph *known = npgnn_split_train(NULL, split);
    assert_ok(npgnn_model_adapt(&models[NPGNN_NEW_LATENT], models[NPGNN_OLD_LATENT], known, &one_thread, &err), err);
    assert_ok(npgnn_fit(&models[NPGNN_FROM_SCRATCH], known, &model, &one_thread, &err), err);
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST);
    npgnn_prediction *says = calloc(count, sizeof *says);
    float *score = calloc(count, sizeof *score);
    for (int w = 0; w < NPGNN_TRANSFER_WAYS; w++) {
        double auc, ap;
        assert_ok(npgnn_predict(says, models[w], known, pairs, count, NULL, &one_thread, &err), err);
        for (size_t i = 0; i < count; i++)
            score[i] = says[i].score;
        assert_ok(npgnn_auc_ap(&auc, &ap, score, score + positives, positives, count - positives, &one_thread, &err),
                  err);
        assert_true(auc == run[w].auc && ap == run[w].ap);
        npgnn_model_free(models[w]);
    }
    free(says);
    free(score);
    npgnn_split_free(split);
    npgnn_graph_free(home);
}

/* ---- what goes wrong ---- */

static void test_bad_shares(void **state)
{
    (void)state;
    const struct {
        double train, context, test;
        int grow;
    } cases[] = {{-0.1, 0.5, 0.1, 0}, {1, 0.5, 0.1, 0},   {0.3, -1, 0.1, 0},  {0.3, 0.8, 0.1, 0},
                 {0.7, 0.3, 0.1, 1},  {0.5, 0.5, 0.1, 1}, {0.3, 1.5, 0.1, 1}, {(double)NAN, 0.5, 0.1, 0},
                 {0.3, 0.7, 1, 0},    {0.3, 0.7, 1e-9, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        npgnn_options model = quick_model();
        npgnn_transfer_options options = quick(&model);
        npgnn_eval_run run[NPGNN_TRANSFER_WAYS] = {{.size = sizeof run[0]}};
        npgnn_error err = {0};
        options.train_nodes = cases[i].train;
        options.context_nodes = cases[i].context;
        options.test = cases[i].test;
        options.grow = cases[i].grow;
        assert_int_equal(npgnn_transfer(run, NULL, graph, NULL, 1, &options, &one_thread, &err), NPGNN_E_ARGUMENT);
        assert_true(strlen(err.text) > 0);
    }
}

static int stop_in_third(void *user, const npgnn_progress *progress)
{
    int *seen = user;
    assert_int_equal(progress->runs, 4);
    *seen = progress->run;
    return progress->run == 2;
}

static void test_cancelling(void **state)
{
    (void)state;
    npgnn_options model = quick_model();
    npgnn_transfer_options options = quick(&model);
    npgnn_eval_run runs[2][NPGNN_TRANSFER_WAYS] = {{{.size = sizeof runs[0][0]}}};
    int seen = -1;
    npgnn_env env = {.size = sizeof env, .threads = 1, .progress = stop_in_third, .user = &seen};
    assert_int_equal(npgnn_transfer(runs[0], NULL, graph, NULL, 2, &options, &env, NULL), NPGNN_E_CANCELLED);
    assert_int_equal(seen, 2);
    assert_true(runs[0][NPGNN_FROM_SCRATCH].auc > 0);
    assert_true(runs[1][NPGNN_OLD_LATENT].auc == 0);
}

/* In steps that grow: there are many allocations, and each of the rooms is tested on its own. */
static void test_out_of_memory(void **state)
{
    (void)state;
    for (int grow = 0; grow < 2; grow++) {
        int code = NPGNN_E_MEMORY;
        for (long allow = 0; code; allow += 1 + allow / 20) {
            meter memory = {.allow = -1};
            npgnn_env env = metered_env(&memory);
            npgnn_options model = quick_model();
            npgnn_transfer_options options = quick(&model);
            npgnn_eval_run run[NPGNN_TRANSFER_WAYS] = {{.size = sizeof run[0]}};
            npgnn_error err = {0};
            npgnn_graph *own = NULL;
            model.iterations = 1;
            model.calibrate = 1;
            options.grow = grow;
            assert_ok(npgnn_graph_synthetic(&own, SPEC, &env, &err), err);
            memory.allow = allow;
            code = npgnn_transfer(run, NULL, own, NULL, 1, &options, &env, &err);
            if (code)
                assert_true(code == NPGNN_E_MEMORY && err.code == code);
            npgnn_graph_free(own);
            assert_int_equal(memory.blocks, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),         cmocka_unit_test(test_runs),       cmocka_unit_test(test_calibrated),
        cmocka_unit_test(test_by_hand),       cmocka_unit_test(test_bad_shares), cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, make_graph, free_graph);
}
