/* The synthetic generator: deterministic, with the documented statistics, and clear errors for invalid
 * specifications. */
#include "check.h"

#include <string.h>

#include "cosines.h"
#include "graph/graph.h"

static npgnn_graph *make(const char *spec, int threads)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    const npgnn_env env = {.size = sizeof env, .threads = threads};
    assert_ok(npgnn_graph_synthetic(&graph, spec, &env, &err), err);
    return graph;
}

static void test_deterministic(void **state)
{
    (void)state;
    npgnn_graph *a = make("nodes=3000,seed=7", 1), *b = make("seed=7,nodes=3e3", 3), *c = make("nodes=3000,seed=8", 1);
    assert_true(npi_graph_fingerprint(a) == npi_graph_fingerprint(b));
    assert_true(npi_graph_fingerprint(a) != npi_graph_fingerprint(c));
    assert_memory_equal(a->label, b->label, 3000 * sizeof *a->label);
    npgnn_graph_free(a);
    npgnn_graph_free(b);
    npgnn_graph_free(c);
}

static void test_counts(void **state)
{
    (void)state;
    npgnn_graph *graph = make("nodes=5000,topics=7,words=800,degree=4,length=30,seed=3", 2);
    npgnn_graph_info info = {.size = sizeof info};
    npgnn_graph_describe(&info, graph, NULL);
    assert_int_equal(info.nodes, 5000);
    assert_int_equal(info.columns, 800);
    assert_int_equal(info.classes, 7);
    assert_in_range(info.edges, 18500, 20200); /* 4 a node, less the ones drawn twice */
    assert_in_range(info.nonzeros, 5000 * 24, 5000 * 30);
    assert_int_equal(info.input_edges, info.edges);
    assert_int_equal(info.merged_duplicates + info.merged_reverse + info.dropped_self_loops, 0);
    assert_in_range(info.isolated, 0, 50);
    assert_int_equal(info.featureless, 0);
    npgnn_graph_free(graph);
}

static void test_topic_sizes(void **state)
{
    (void)state;
    npgnn_graph *graph = make("nodes=5000,topics=10", 2);
    int size[10] = {0};
    for (int32_t i = 0; i < graph->n; i++) {
        assert_in_range(graph->label[i], 0, 9);
        size[graph->label[i]]++;
    }
    for (int t = 0; t < 10; t++)
        assert_true(size[t] > 100);
    assert_true(size[0] > 2 * size[9]); /* skewed */
    npgnn_graph_free(graph);
}

/* The 1 % of the nodes with the highest degree have at least 4 % of the links; 2 % would be expected without skew. */
static void test_degree_skew(void **state)
{
    (void)state;
    npgnn_graph *graph = make("nodes=5000", 2);
    int64_t histogram[5000] = {0}, links = 0;
    int top = 50;
    for (int32_t i = 0; i < graph->n; i++)
        histogram[graph->a.ptr[i + 1] - graph->a.ptr[i]]++;
    for (int degree = 4999; degree > 0 && top > 0; degree--) {
        int64_t taken = histogram[degree] < top ? histogram[degree] : top;
        links += taken * degree;
        top -= (int)taken;
    }
    assert_true((double)links > 0.04 * 2 * (double)graph->m);
    npgnn_graph_free(graph);
}

/* Most links stay within a topic, and more than by chance go to the related topic. */
static void test_homophily(void **state)
{
    (void)state;
    npgnn_graph *graph = make("nodes=5000,topics=10", 2);
    double same = 0, related = 0, total = (double)graph->a.ptr[graph->n];
    for (int32_t i = 0; i < graph->n; i++)
        for (int64_t p = graph->a.ptr[i]; p < graph->a.ptr[i + 1]; p++) {
            int distance = abs(graph->label[i] - graph->label[graph->a.col[p]]);
            same += distance == 0;
            related += distance == 5;
        }
    assert_true(same / total > 0.6 && same / total < 0.8);
    assert_true(related / total > 0.15 && related / total < 0.3);
    npgnn_graph_free(graph);
}

static int64_t shared_neighbors(const npgnn_graph *graph, int32_t u, int32_t v)
{
    int64_t shared = 0;
    for (int64_t p = graph->a.ptr[u]; p < graph->a.ptr[u + 1]; p++)
        shared += npgnn_graph_has_edge(graph, graph->a.col[p], v);
    return shared;
}

/* Linked nodes share a neighbour more often than other nodes of one topic: there is structure beyond topics. */
static void test_triangles(void **state)
{
    (void)state;
    npgnn_graph *graph = make("nodes=5000", 2);
    double linked = 0, links = 0, apart = 0, pairs = 0;
    for (int32_t i = 0; i + 1 < graph->n; i++) {
        for (int64_t p = graph->a.ptr[i]; p < graph->a.ptr[i + 1]; p++, links++)
            linked += shared_neighbors(graph, i, graph->a.col[p]) > 0;
        for (int32_t j = i + 1; j < graph->n && j < i + 30; j++)
            if (graph->label[i] == graph->label[j]) {
                apart += shared_neighbors(graph, i, j) > 0;
                pairs++;
            }
    }
    assert_true(linked / links > 2 * apart / pairs);
    npgnn_graph_free(graph);
}

/* The cosine of the features predicts links fairly well, but leaves potential for a model. */
static void test_cosine(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 3; seed++) {
        char spec[32];
        const npgnn_pair *pairs;
        size_t positives;
        double auc, ap;
        npgnn_split *split = NULL;
        snprintf(spec, sizeof spec, "seed=%d", seed);
        npgnn_graph *graph = make(spec, 2);
        assert_int_equal(npgnn_split_new(&split, graph, NULL, NULL, NULL), 0);
        size_t count = npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST);
        float *score = calloc(count, sizeof *score);
        assert_non_null(score);
        score_cosines(score, graph->x, pairs, count);
        assert_int_equal(npgnn_auc_ap(&auc, &ap, score, score + positives, positives, positives, NULL, NULL), 0);
        assert_true(auc > 0.65 && auc < 0.8);
        free(score);
        npgnn_split_free(split);
        npgnn_graph_free(graph);
    }
}

/* Known cosines, sparse and dense, with a zero row. */
static void test_cosine_values(void **state)
{
    (void)state;
    const float dense[4 * 2] = {3, 4, -4, 3, 6, 8, 0, 0};
    float sparse[4 * 20] = {0}, score[4];
    const npgnn_pair pairs[4] = {{0, 1}, {0, 2}, {1, 1}, {0, 3}};
    npgnn_env env = npi_env_resolve(NULL);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++)
            sparse[20 * i + 11 * j] = dense[2 * i + j];
    for (int kind = 0; kind < 2; kind++) {
        npi_features *x = NULL;
        int code = kind ? npi_features_from_dense(&x, sparse, 4, 20, &env, NULL)
                        : npi_features_from_dense(&x, dense, 4, 2, &env, NULL);
        assert_int_equal(code, 0);
        assert_int_equal(x->dense != NULL, !kind);
        score_cosines(score, x, pairs, 4);
        assert_near((double)score[0], 0, 1e-6);
        assert_near((double)score[1], 1, 1e-6);
        assert_near((double)score[2], 1, 1e-6);
        assert_true(score[3] == 0);
        npi_features_free(x);
    }
}

static void refused(const char *spec, const char *word)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    int code = npgnn_graph_synthetic(&graph, spec, NULL, &err);
    if (code != NPGNN_E_ARGUMENT || graph || !strstr(err.text, word))
        fail_msg("%s: expected \"%s\", got %d: %s", spec, word, code, err.text);
}

static void test_invalid_specifications(void **state)
{
    (void)state;
    refused("nodes", "expected KEY=VALUE");
    refused("nodes=200,,seed=1", "expected KEY=VALUE");
    refused("colour=3", "unknown key \"colour\"");
    refused("node=300", "unknown key \"node\"");
    refused("=300", "unknown key \"\"");
    refused("nodes=99", "from 100 to 2147483647");
    refused("nodes=2147483648", "from 100 to 2147483647");
    refused("nodes=200.5", "an integer");
    refused("nodes=", "got \"\"");
    refused("nodes=200x", "got \"200x\"");
    refused("nodes=nan", "an integer");
    refused("degree=inf", "from 0.5 to 100");
    refused("topics=0", "from 1 to 1000");
    refused("nodes=100,topics=11", "need at least 110 nodes");
    refused("words=100,length=101", "must not exceed words (100)");
    refused("seed=-1", "seed");
    refused("seed=99999999999999999999", "seed");
    refused("nodes=00000000000000000000000000000000000000000000000000000000000000001", "too long");
}

static void test_smallest(void **state)
{
    (void)state;
    npgnn_graph *graph = make("nodes=100,topics=1,words=100,degree=0.5,length=1", 1);
    assert_int_equal(graph->n, 100);
    assert_true(graph->m > 0);
    npgnn_graph_free(graph);
    graph = make("nodes=100,words=100,length=100,degree=100", 2); /* as dense as it gets */
    assert_true(graph->m > 1000);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deterministic), cmocka_unit_test(test_counts),
        cmocka_unit_test(test_topic_sizes),   cmocka_unit_test(test_degree_skew),
        cmocka_unit_test(test_homophily),     cmocka_unit_test(test_triangles),
        cmocka_unit_test(test_cosine),        cmocka_unit_test(test_invalid_specifications),
        cmocka_unit_test(test_cosine_values), cmocka_unit_test(test_smallest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
