/* Extending a graph with new nodes that have features only: the graph, predictions for the new nodes, and errors. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include "meter.h"
#include "reading.h"

static const char *write_file(const char *name, const char *text)
{
    static char path[2][4096];
    static int turn;
    turn = !turn;
    return write_text(path[turn], name, text);
}

static npgnn_graph *load(const char *edges, const char *features, int prepare, const npgnn_env *env)
{
    npgnn_load_options options = {.size = sizeof options, .normalize = prepare, .binarize = prepare, .encoding = "raw"};
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    options.edges = write_file("edges.csv", edges);
    options.features = write_file("x.csv", features);
    assert_ok(npgnn_load(&graph, NULL, &options, env, &err), err);
    return graph;
}

static const char edges[] = "ann,bob\nbob,cyd\n";
static const char features[] = "id,red,green,blue,label\nann,1,0,2,x\nbob,0,3,0,y\ncyd,4,4,0,x\n";

static npgnn_graph *extend(const npgnn_graph *graph, const char *name, const char *text)
{
    npgnn_graph *extended = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_extend(&extended, graph, write_file(name, text), &err), err);
    return extended;
}

/* Edges, labels and features of the old nodes stay; the columns of the new features are matched by name. */
static void test_extended_graph(void **state)
{
    (void)state;
    char number[12];
    npgnn_graph *graph = load(edges, features, 0, NULL);
    npgnn_graph *more = extend(graph, "new.csv", "id,blue,red,green\ndan,7,5,0\neve,0,0,6\n");
    assert_int_equal(npgnn_graph_nodes(more), 5);
    assert_int_equal(npgnn_graph_edges(more), 2);
    assert_int_equal(npgnn_graph_find(more, "bob"), 1);
    assert_int_equal(npgnn_graph_find(more, "eve"), 4);
    assert_string_equal(npgnn_graph_name(more, 3, number), "dan");
    assert_true(npgnn_graph_has_edge(more, 1, 2) && !npgnn_graph_has_edge(more, 3, 4));
    assert_int_equal(npgnn_graph_label(more, 2), npgnn_graph_label(graph, 2));
    assert_int_equal(npgnn_graph_label(more, 4), -1);
    for (int32_t i = 0; i < 3; i++)
        for (int32_t c = 0; c < 3; c++)
            assert_true(feature(more, i, c) == feature(graph, i, c));
    assert_true(feature(more, 3, 0) == 5 && feature(more, 3, 1) == 0 && feature(more, 3, 2) == 7);
    assert_true(feature(more, 4, 1) == 6);
    npgnn_graph_free(more);
    npgnn_graph_free(graph);
}

/* The new features are binarised and normalised as those of the graph were. */
static void test_prepared_features(void **state)
{
    (void)state;
    npgnn_graph *graph = load(edges, features, 1, NULL);
    npgnn_graph *more = extend(graph, "new.csv", "id,red,green,blue\ndan,9,0,3\n");
    assert_true(feature(more, 3, 0) == 0.5f && feature(more, 3, 1) == 0 && feature(more, 3, 2) == 0.5f);
    assert_true(feature(more, 0, 2) == 0.5f);
    npgnn_graph_free(more);
    npgnn_graph_free(graph);
}

/* Without names the new nodes have the next numbers; svmlight files may omit the last columns where they are zero. */
static void test_nodes_without_names(void **state)
{
    (void)state;
    char number[12];
    npgnn_graph *graph = load("0,1\n1,2\n", "0.5,0,1\n0.5,1,0\n0.25,1,1\n", 0, NULL);
    npgnn_graph *more = extend(graph, "new.svm", "0 1:2.5\n0 2:1\n");
    assert_int_equal(npgnn_graph_nodes(more), 5);
    assert_string_equal(npgnn_graph_name(more, 4, number), "4");
    assert_true(feature(more, 3, 0) == 2.5f && feature(more, 4, 1) == 1);
    npgnn_graph *named = extend(graph, "new.csv", "id,a,b,c\nzoe,1,2,3\n");
    assert_int_equal(npgnn_graph_find(named, "2"), 2);
    assert_int_equal(npgnn_graph_find(named, "zoe"), 3);
    npgnn_graph_free(named);
    npgnn_graph_free(more);
    npgnn_graph_free(graph);
}

/* ---- predictions ---- */

static void test_predictions(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_graph *graph = load(edges, features, 0, NULL);
    npgnn_graph *more = extend(graph, "new.csv", "id,red,green,blue\ntwin,4,4,0\nother,0,0,1\n");
    npgnn_options o = {.size = sizeof o};
    npgnn_model *model = NULL;
    assert_ok(npgnn_options_preset(&o, NULL, &err), err);
    o.iterations = 3;
    assert_ok(npgnn_fit(&model, graph, &o, NULL, &err), err);
    const npgnn_pair known[] = {{0, 1}, {0, 2}}, fresh[] = {{0, 1}, {0, npgnn_graph_find(more, "twin")}};
    npgnn_prediction before[2], after[2];
    assert_ok(npgnn_predict(before, model, graph, known, 2, NULL, NULL, &err), err);
    assert_ok(npgnn_predict(after, model, more, fresh, 2, NULL, NULL, &err), err);
    assert_near((double)after[0].score, (double)before[0].score, 1e-6); /* known nodes: as before */
    assert_near((double)after[1].score, (double)before[1].score, 1e-6); /* twin has the features of cyd */
    npgnn_model_free(model);
    npgnn_graph_free(more);
    npgnn_graph_free(graph);
}

/* ---- errors ---- */

static void refuse(const npgnn_graph *graph, const char *text, const char *part)
{
    npgnn_graph *untouched = NULL;
    npgnn_error err = {0};
    assert_int_equal(npgnn_graph_extend(&untouched, graph, write_file("new.csv", text), &err), NPGNN_E_MISMATCH);
    assert_null(untouched);
    if (!strstr(err.text, part))
        fail_msg("'%s' is not in '%s'", part, err.text);
}

static void test_invalid_files(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_graph *graph = load(edges, features, 0, NULL), *untouched = NULL;
    refuse(graph, "id,red,green,blue\nbob,1,1,1\n", "'bob'");
    refuse(graph, "id,red,green\ndan,1,1\n", "\"blue\"");
    refuse(graph, "id,red,green,blue,mauve\ndan,1,1,1,2\n", "\"mauve\"");
    refuse(graph, "dan,1,1\n", "has 3 feature columns");
    assert_int_equal(npgnn_graph_extend(&untouched, graph, "/nowhere/new.csv", &err), NPGNN_E_IO);
    npgnn_graph_free(graph);
    graph = load("0,1\n1,2\n", "0.5,0\n0.5,1\n0.25,1\n", 0, NULL);
    refuse(graph, "id,a,b\n2,1,1\n", "'2'"); /* the number of a node is its name */
    npgnn_graph_free(graph);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    meter m = {.allow = -1};
    npgnn_env env = metered_env(&m);
    npgnn_graph *graph = load(edges, features, 1, &env);
    const char *path = write_file("new.csv", "id,blue,red,green\ndan,7,5,0\neve,0,0,6\n");
    long before = m.blocks;
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code != 0; allow++) {
        npgnn_graph *more = NULL;
        npgnn_error err = {0};
        m.allow = allow;
        code = npgnn_graph_extend(&more, graph, path, &err);
        assert_true(code == 0 ? allow >= 10 : code == NPGNN_E_MEMORY);
        npgnn_graph_free(more);
        assert_int_equal(m.blocks, before);
    }
    m.allow = -1;
    npgnn_graph_free(graph);
    assert_int_equal(m.blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extended_graph),      cmocka_unit_test(test_prepared_features),
        cmocka_unit_test(test_nodes_without_names), cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_invalid_files),       cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
