/* Graphs at the edge of what there is: each gives a clear error or a sensible result, for each preset, protocol and
 * method. docs/use/limits.md lists what this file expects. */
#include "check.h"

#include <string.h>

#include "meter.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- the graphs ---- */

enum { MOST_NODES = 30, MOST_EDGES = MOST_NODES * MOST_NODES, COLUMNS = 4 };

typedef struct recipe {
    int32_t nodes, columns;
    int64_t edges;
    npgnn_pair pairs[MOST_EDGES];
    float features[MOST_NODES * COLUMNS];
} recipe;

static void add(recipe *r, int32_t u, int32_t v)
{
    r->pairs[r->edges++] = (npgnn_pair){u, v};
}

/* A ring with chords and features that differ: nothing is strange about it. */
static void ordinary(recipe *r)
{
    *r = (recipe){.nodes = MOST_NODES, .columns = COLUMNS};
    for (int32_t i = 0; i < r->nodes; i++) {
        add(r, i, (i + 1) % r->nodes);
        add(r, i, (i + 7) % r->nodes);
        for (int c = 0; c < COLUMNS; c++)
            r->features[i * COLUMNS + c] = (float)((i + c) % 5 == 0) + (float)((i * c) % 7 == 1);
    }
}

static void empty(recipe *r)
{
    *r = (recipe){0};
}

static void one_node(recipe *r)
{
    *r = (recipe){.nodes = 1, .columns = 1, .features = {1}};
}

static void two_nodes(recipe *r)
{
    *r = (recipe){.nodes = 2, .columns = 2, .features = {1, 0, 0, 1}};
    add(r, 0, 1);
}

static void no_edges(recipe *r)
{
    ordinary(r);
    r->edges = 0;
}

static void no_features(recipe *r)
{
    ordinary(r);
    r->columns = 0;
}

static void zero_features(recipe *r)
{
    ordinary(r);
    memset(r->features, 0, sizeof r->features);
}

static void constant_features(recipe *r)
{
    ordinary(r);
    for (size_t i = 0; i < COUNT(r->features); i++)
        r->features[i] = 3;
}

static void one_column(recipe *r)
{
    ordinary(r);
    r->columns = 1;
}

/* Half of the nodes have no edge. */
static void isolated(recipe *r)
{
    ordinary(r);
    r->edges = 0;
    for (int32_t i = 0; i < 15; i++) {
        add(r, i, (i + 1) % 15);
        add(r, i, (i + 4) % 15);
    }
}

static void complete(recipe *r)
{
    ordinary(r);
    r->edges = 0;
    for (int32_t u = 0; u < r->nodes; u++)
        for (int32_t v = 0; v < u; v++)
            add(r, u, v);
}

static void star(recipe *r)
{
    ordinary(r);
    r->edges = 0;
    for (int32_t i = 1; i < r->nodes; i++)
        add(r, 0, i);
}

/* Every node has the same features and the same neighbourhood: a ring. */
static void identical(recipe *r)
{
    constant_features(r);
    r->edges = 0;
    for (int32_t i = 0; i < r->nodes; i++)
        add(r, i, (i + 1) % r->nodes);
}

static void huge_features(recipe *r)
{
    ordinary(r);
    for (size_t i = 0; i < COUNT(r->features); i++)
        r->features[i] *= 1e38F;
}

static const npgnn_env one_thread = {.size = sizeof one_thread, .threads = 1}; /* the graphs are tiny */

static npgnn_graph *make(void (*shape)(recipe *r))
{
    static recipe r; /* too large for some stacks */
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    shape(&r);
    assert_ok(npgnn_graph_from_arrays(&graph, r.pairs, r.columns ? r.features : NULL, r.nodes, r.edges, r.columns,
                                      &one_thread, &err),
              err);
    return graph;
}

/* ---- what is expected of them: "" where it works, otherwise what the error says ---- */

typedef struct strange_graph {
    const char *name;
    void (*shape)(recipe *r);
    const char *fit;      /* with the preset default */
    const char *fit_best; /* with the preset best, which needs no features */
    const char *split;    /* transductive */
} strange_graph;

#define NO_EDGE "there is no edge to train on"
#define NO_FEATURES "the nodes have no features"
#define NO_SPLIT "cannot split a graph without edges"
#define NO_LINK_LEFT "set would be empty"
#define NO_NON_LINK "non-links"
#define NO_KEPT_LINK "both ends keep others"
#define DIVERGES "diverged at iteration"

static const strange_graph graphs[] = {
    {"ordinary", ordinary, "", "", ""},
    {"no nodes", empty, NO_EDGE, NO_EDGE, NO_SPLIT},
    {"one node", one_node, NO_EDGE, NO_EDGE, NO_SPLIT},
    {"two nodes", two_nodes, "", "", NO_LINK_LEFT},
    {"no edges", no_edges, NO_EDGE, NO_EDGE, NO_SPLIT},
    {"no features", no_features, NO_FEATURES, "", ""},
    {"features all zero", zero_features, NO_FEATURES, "", ""},
    {"constant features", constant_features, "", "", ""},
    {"one column", one_column, "", "", ""},
    {"isolated nodes", isolated, "", "", ""},
    {"complete", complete, "", "", NO_NON_LINK},
    {"star", star, "", "", NO_KEPT_LINK},
    {"all nodes identical", identical, "", "", ""},
    {"huge features", huge_features, DIVERGES, "", ""},
};

/* 1 when it worked as expected; 0 when it failed as expected. */
static int as_expected(int code, const npgnn_error *err, const char *expected, const char *name, const char *what)
{
    if (code == 0 && *expected == '\0')
        return 1;
    int right = code == (strcmp(expected, DIVERGES) == 0 ? NPGNN_E_DIVERGED : NPGNN_E_ARGUMENT);
    if (!right || *expected == '\0' || !strstr(err->text, expected))
        fail_msg("%s, %s: %d, %s", name, what, code, code ? err->text : "worked");
    return 0;
}

/* ---- training and predicting ---- */

static npgnn_options quick(const char *preset)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_error err = {0};
    assert_ok(npgnn_options_preset(&options, preset, &err), err);
    options.iterations = 12;
    options.validate_every = 4;
    return options;
}

static void check_predictions(const npgnn_model *model, const npgnn_graph *graph, int draws)
{
    static npgnn_pair pairs[MOST_EDGES];
    static npgnn_prediction links[MOST_EDGES];
    npgnn_predict_options options = {.size = sizeof options, .samples = draws};
    npgnn_error err = {0};
    int32_t n = npgnn_graph_nodes(graph);
    size_t count = 0;
    for (int32_t u = 0; u < n; u++)
        for (int32_t v = 0; v < n; v++)
            pairs[count++] = (npgnn_pair){u, v};
    assert_ok(npgnn_predict(links, model, graph, pairs, count, &options, &one_thread, &err), err);
    for (size_t i = 0; i < count; i++) {
        assert_true(links[i].probability >= 0 && links[i].probability <= 1 && isfinite(links[i].score));
        assert_true(links[i].spread >= 0 && links[i].spread <= 1);
    }
}

static void test_training(void **state)
{
    const char *preset, *help;
    (void)state;
    for (size_t i = 0; i < COUNT(graphs); i++) {
        npgnn_graph *graph = make(graphs[i].shape);
        for (int p = 0; npgnn_preset_info(&preset, &help, p); p++) {
            npgnn_options options = quick(preset);
            npgnn_model *model = NULL;
            npgnn_error err = {0};
            const char *expected = strcmp(preset, "best") == 0 ? graphs[i].fit_best : graphs[i].fit;
            int code = npgnn_fit(&model, graph, &options, &one_thread, &err);
            if (as_expected(code, &err, expected, graphs[i].name, preset)) {
                check_predictions(model, graph, 0);
                check_predictions(model, graph, 3);
            }
            npgnn_model_free(model);
        }
        npgnn_graph_free(graph);
    }
}

/* A model that was trained on something ordinary is used on something strange. */
static void test_predicting(void **state)
{
    npgnn_graph *graph = make(ordinary);
    npgnn_options options = quick("default"), tuning = quick("best");
    npgnn_model *model = NULL, *tuned = NULL;
    npgnn_error err = {0};
    (void)state;
    tuning.iterations = 40; /* fewer do not help */
    assert_ok(npgnn_fit(&model, graph, &options, &one_thread, &err), err);
    assert_ok(npgnn_fit(&tuned, graph, &tuning, &one_thread, &err), err);
    npgnn_graph_free(graph);
    for (size_t i = 0; i < COUNT(graphs); i++) {
        static npgnn_prediction none[1];
        npgnn_graph_info info = {.size = sizeof info};
        graph = make(graphs[i].shape);
        npgnn_graph_describe(&info, graph, NULL);
        if (info.columns == COLUMNS && info.nodes > 1)
            check_predictions(tuned, graph, 2);
        if (info.columns == COLUMNS && graphs[i].shape != huge_features)
            check_predictions(model, graph, 2);
        for (int which = 0; info.columns != COLUMNS && which < 2; which++)
            assert_int_equal(npgnn_predict(none, which ? tuned : model, graph, NULL, 0, NULL, NULL, &err),
                             NPGNN_E_MISMATCH);
        npgnn_graph_free(graph);
    }
    npgnn_model_free(model);
    npgnn_model_free(tuned);
}

/* ---- splitting and judging ---- */

static void test_splitting(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(graphs); i++) {
        npgnn_graph *graph = make(graphs[i].shape);
        for (int protocol = NPGNN_TRANSDUCTIVE; protocol <= NPGNN_PRODUCTION; protocol++) {
            npgnn_split_options options = {.size = sizeof options};
            npgnn_split *split = NULL;
            npgnn_error err = {0};
            npgnn_split_options_default(&options, (npgnn_protocol)protocol, NULL);
            int code = npgnn_split_new(&split, graph, &options, &one_thread, &err);
            if (protocol == NPGNN_TRANSDUCTIVE)
                as_expected(code, &err, graphs[i].split, graphs[i].name, "split");
            if (code == 0)
                assert_ok(npgnn_split_check(split, &err), err);
            else
                assert_true(code == NPGNN_E_ARGUMENT && strlen(err.text) > 20 && !split);
            npgnn_split_free(split);
        }
        npgnn_graph_free(graph);
    }
}

static int needs_features(const char *method)
{
    static const char *const learners[] = {"npgnn", "cnp", "vgae", "gae", "sage"};
    for (size_t i = 0; i < COUNT(learners); i++)
        if (strcmp(method, learners[i]) == 0)
            return 1;
    return 0;
}

static void check_run(const npgnn_eval_run *run)
{
    const double shares[] = {run->auc, run->ap, run->mrr, run->hits1, run->hits100, run->hard_mrr, run->hard_hits10};
    for (size_t i = 0; i < COUNT(shares); i++)
        assert_true(shares[i] >= 0 && shares[i] <= 1);
}

static void test_methods(void **state)
{
    const char *method, *help;
    (void)state;
    for (size_t i = 0; i < COUNT(graphs); i++) {
        npgnn_graph *graph = make(graphs[i].shape);
        for (int m = 0; npgnn_method_info(&method, &help, m); m++) {
            npgnn_options model = quick(NULL);
            npgnn_eval_options options = {
                .size = sizeof options, .method = method, .model = &model, .negatives = NPGNN_NEGATIVES_HARD};
            npgnn_eval_run run = {.size = sizeof run};
            npgnn_error err = {0};
            int code = npgnn_evaluate(&run, graph, 1, &options, &one_thread, &err);
            const char *expected = needs_features(method) && *graphs[i].fit ? graphs[i].fit : "";
            if (*graphs[i].split)
                expected = graphs[i].split;
            if (code == 0 && graphs[i].shape == huge_features)
                expected = ""; /* some methods bear them */
            if (as_expected(code, &err, expected, graphs[i].name, method))
                check_run(&run);
        }
        npgnn_graph_free(graph);
    }
}

/* Splits that leave nothing to train on are refused, and so are shares that are no shares. */
static void test_nothing_left(void **state)
{
    static const struct {
        npgnn_protocol protocol;
        double test, val, train_nodes;
    } shares[] = {
        {NPGNN_TRANSDUCTIVE, 0.9, 0.1, -1}, {NPGNN_TRANSDUCTIVE, 1, 0, -1},
        {NPGNN_INDUCTIVE, 0.5, 0.5, -1},    {NPGNN_FEW_SHOT, -1, -1, 0.01},
        {NPGNN_PRODUCTION, 0.7, 0.3, -1},   {NPGNN_TRANSDUCTIVE, (double)NAN, 0.1, -1},
    };
    npgnn_graph *graph = make(ordinary);
    (void)state;
    for (size_t i = 0; i < COUNT(shares); i++) {
        npgnn_split_options options = {.size = sizeof options};
        npgnn_split *split = NULL;
        npgnn_error err = {0};
        npgnn_split_options_default(&options, shares[i].protocol, NULL);
        options.test = shares[i].test;
        options.val = shares[i].val;
        options.train_nodes = shares[i].train_nodes;
        assert_int_equal(npgnn_split_new(&split, graph, &options, &one_thread, &err), NPGNN_E_ARGUMENT);
        assert_true(strlen(err.text) > 20 && !split);
    }
    npgnn_graph_free(graph);
}

/* ---- sizes that no memory holds ---- */

static void test_largest_sizes(void **state)
{
    static const npgnn_pair edge = {0, 1};
    static const int64_t ptr[3] = {0, 1, 1};
    static const int32_t last = INT32_MAX - 1;
    meter memory = {.allow = -1};
    npgnn_env env = metered_env(&memory);
    npgnn_graph *graph = NULL;
    npgnn_trainer *trainer = NULL;
    npgnn_error err = {0};
    (void)state;
    assert_int_equal(npgnn_graph_from_arrays(&graph, &edge, NULL, INT32_MAX, 1, 0, &env, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(npgnn_graph_from_arrays(&graph, &edge, NULL, INT32_MAX - 1, 1, 0, &env, &err), NPGNN_E_MEMORY);
    assert_int_equal(npgnn_graph_from_arrays(&graph, &edge, NULL, -1, 1, 0, &env, &err), NPGNN_E_ARGUMENT);
    assert_ok(npgnn_graph_from_csr(&graph, &edge, ptr, &last, NULL, 2, 1, INT32_MAX, &env, &err), err);
    assert_int_equal(npgnn_trainer_new(&trainer, graph, NULL, NULL, &env, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "columns of features are too many"));
    npgnn_graph_free(graph);
    assert_int_equal(memory.blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_training), cmocka_unit_test(test_predicting),   cmocka_unit_test(test_splitting),
        cmocka_unit_test(test_methods),  cmocka_unit_test(test_nothing_left), cmocka_unit_test(test_largest_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
