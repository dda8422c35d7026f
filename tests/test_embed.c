/* Embeddings of processes: their inner products rank about as the scores do. */
#include "check.h"

#include <string.h>

#include "predict/predictor.h"
#include "search/vectors.h"

enum { WIDTH = NPI_EMBEDDING_WIDTH };
#define DATA "synthetic:nodes=600,degree=6,words=100,seed=5"

static npgnn_model *universal;
static const npgnn_env one_thread = {.size = sizeof one_thread, .threads = 1};

static int make_model(void **state)
{
    (void)state;
    return npgnn_model_universal(&universal, NULL, NULL);
}

static int free_model(void **state)
{
    (void)state;
    npgnn_model_free(universal);
    return 0;
}

static npgnn_graph *load(const char *data)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_load(&graph, data, NULL, NULL, &err), err);
    return graph;
}

/* A graph without features whose links follow the degrees alone. Its form has large negative eigenvalues. */
static npgnn_graph *degree_graph(void)
{
    enum { N = 400, LINKS = 3000 };
    static npgnn_pair pairs[LINKS];
    uint32_t at = 12345;
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    for (int i = 0; i < LINKS; i++) {
        int32_t end[2];
        for (int e = 0; e < 2; e++) {
            at = at * 1664525U + 1013904223U;
            double x = (double)at / 4294967296.0;
            end[e] = (int32_t)(x * x * x * N);
        }
        pairs[i] = (npgnn_pair){end[0], end[0] == end[1] ? (end[1] + 1) % N : end[1]};
    }
    assert_ok(npgnn_graph_from_arrays(&graph, pairs, NULL, N, LINKS, 0, NULL, &err), err);
    return graph;
}

/* The embeddings of a graph, which are finite. */
static float *embed(const npgnn_model *model, const npgnn_graph *graph, int threads)
{
    npgnn_env env = {.size = sizeof env, .threads = threads};
    npgnn_error err = {0};
    size_t count = (size_t)npgnn_graph_nodes(graph) * WIDTH;
    float *out = malloc(count * sizeof *out + 1);
    assert_non_null(out);
    memset(out, 0xFF, count * sizeof *out); /* NaN */
    assert_ok(npgnn_model_embed(out, model, graph, &env, &err), err);
    for (size_t i = 0; i < count; i++)
        assert_true(isfinite(out[i]));
    return out;
}

/* ---- shape and bits ---- */

static void test_width(void **state)
{
    (void)state;
    npgnn_options o = {.size = sizeof o};
    char text[16];
    npgnn_error err = {0};
    assert_ok(npgnn_model_options(&o, universal, &err), err);
    assert_int_equal(o.output_size, WIDTH);
    assert_ok(npgnn_options_get(text, sizeof text, &o, "output-size", &err), err);
    assert_string_equal(text, "48");
}

static void test_threads(void **state)
{
    (void)state;
    npgnn_graph *graph = load(DATA);
    float *one = embed(universal, graph, 1), *four = embed(universal, graph, 4);
    assert_memory_equal(one, four, (size_t)npgnn_graph_nodes(graph) * WIDTH * sizeof *one);
    free(one);
    free(four);
    npgnn_graph_free(graph);
}

/* No inner product has a minus, and walks are no part of the fit. */
static void test_positive(void **state)
{
    (void)state;
    npgnn_graph *graph = degree_graph();
    npgnn_predictor *p = NULL;
    npgnn_error err = {0};
    npi_vectors v;
    assert_ok(npgnn_predictor_new(&p, universal, graph, NULL, &one_thread, &err), err);
    assert_ok(npi_process_complete(p, &err), err);
    assert_ok(npi_vectors_new(&v, p, NPI_VECTORS_EMBED, &err), err);
    for (int c = 0; c < v.width; c++)
        assert_true(v.sign[c] >= 0);
    for (int j = 0; j < NPI_WALK_COLUMNS; j++)
        assert_true(v.walks[j] == 0);
    npi_vectors_free(&p->env, &v);
    npgnn_predictor_free(p);
    npgnn_graph_free(graph);
}

/* ---- ranking ---- */

static npgnn_embed_accuracy accuracy_of(const npgnn_model *model, const npgnn_graph *graph)
{
    npgnn_embed_accuracy out = {.size = sizeof out};
    npgnn_error err = {0};
    assert_ok(npgnn_model_embed_test(&out, model, graph, 1, NULL, &err), err);
    return out;
}

static void test_accuracy(void **state)
{
    (void)state;
    npgnn_graph *graph = load(DATA);
    npgnn_embed_accuracy a = accuracy_of(universal, graph);
    assert_true(a.links > 50 && a.links <= (size_t)npgnn_graph_edges(graph) / 10 + 1);
    assert_true(a.inner_auc > 0.8 && a.inner_auc <= 1);
    assert_true(a.score_auc > 0.8 && fabs(a.score_auc - a.inner_auc) < 0.05);
    npgnn_graph_free(graph);
}

static void test_degrees(void **state)
{
    (void)state;
    npgnn_graph *graph = degree_graph();
    npgnn_embed_accuracy a = accuracy_of(universal, graph);
    assert_true(a.inner_auc > 0.8 && a.score_auc - a.inner_auc < 0.05);
    npgnn_graph_free(graph);
}

/* The inner products of a network are its scores. */
static void test_other_models(void **state)
{
    (void)state;
    npgnn_graph *graph = load(DATA);
    npgnn_options o = {.size = sizeof o};
    npgnn_model *network = NULL, *best = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_options_preset(&o, NULL, &err), err);
    o.iterations = 20;
    assert_ok(npgnn_fit(&network, graph, &o, NULL, &err), err);
    npgnn_embed_accuracy a = accuracy_of(network, graph);
    assert_true(fabs(a.inner_auc - a.score_auc) < 1e-3);
    assert_ok(npgnn_options_preset(&o, "best", &err), err);
    o.iterations = 2;
    assert_ok(npgnn_fit(&best, graph, &o, NULL, &err), err);
    free(embed(best, graph, 2));
    assert_true(accuracy_of(best, graph).inner_auc > 0.8);
    npgnn_model_free(network);
    npgnn_model_free(best);
    npgnn_graph_free(graph);
}

/* ---- graphs with little in them ---- */

static void test_ugly(void **state)
{
    (void)state;
    static const npgnn_pair star[] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}}, none[1] = {{0, 0}};
    static const struct {
        const npgnn_pair *pairs;
        int32_t count, n;
    } cases[] = {{star, 7, 8}, {star, 3, 40}, {star, 1, 2}, {none, 0, 5}, {none, 0, 1}, {none, 0, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        npgnn_graph *graph = NULL;
        npgnn_error err = {0};
        npgnn_embed_accuracy accuracy = {.size = sizeof accuracy};
        int code = npgnn_graph_from_arrays(&graph, cases[c].pairs, NULL, cases[c].n, cases[c].count, 0, NULL, &err);
        if (code && cases[c].n == 0)
            continue; /* a graph may have to have nodes */
        assert_ok(code, err);
        free(embed(universal, graph, 2));
        code = npgnn_model_embed_test(&accuracy, universal, graph, 1, &one_thread, &err);
        assert_true(code == NPGNN_E_ARGUMENT || (code == 0 && cases[c].count > 1));
        npgnn_graph_free(graph);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    npgnn_graph *graph = load(DATA);
    npgnn_embed_accuracy out = {0};
    npgnn_error err = {0};
    int stop = 1;
    npgnn_env stopped = {.size = sizeof stopped, .stop = &stop};
    assert_int_equal(npgnn_model_embed_test(&out, universal, graph, 1, NULL, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "npgnn_embed_accuracy"));
    out.size = sizeof out;
    assert_int_equal(npgnn_model_embed_test(&out, universal, graph, 1, &stopped, &err), NPGNN_E_CANCELLED);
    assert_int_equal(out.links, 0);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_width),    cmocka_unit_test(test_threads),  cmocka_unit_test(test_positive),
        cmocka_unit_test(test_accuracy), cmocka_unit_test(test_degrees),  cmocka_unit_test(test_other_models),
        cmocka_unit_test(test_ugly),     cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, make_model, free_model);
}
