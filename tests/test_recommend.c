/* Methods that need no model, applied to a graph: the best links against sorting all pairs, and what is refused. */
#include "check.h"

#include <string.h>

#include "graph/graph.h"

enum { N = 60, K = 7 };
static const char *const methods[] = {"cosine", "smoothed-cosine",     "common-neighbors", "adamic-adar",
                                      "sc",     "resource-allocation", "pagerank",         "katz",
                                      "vgae",   "three-steps",         "item-cosine"};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static npgnn_graph *graph;

static int make_graph(void **state)
{
    (void)state;
    npgnn_graph *whole = NULL;
    npgnn_error err = {0};
    int32_t nodes[N];
    for (int32_t i = 0; i < N; i++)
        nodes[i] = i;
    assert_ok(npgnn_load(&whole, "synthetic:nodes=100,words=100,seed=6,degree=8", NULL, NULL, &err), err);
    assert_ok(npgnn_graph_subgraph(&graph, whole, nodes, N, &err), err);
    npgnn_graph_free(whole);
    return 0;
}

static int free_graph(void **state)
{
    (void)state;
    npgnn_graph_free(graph);
    return 0;
}

/* score (N, N) of all pairs. */
static void score_all(float *score, const char *method)
{
    static npgnn_pair pairs[N * N];
    const npgnn_method_options options = {.size = sizeof options, .method = method, .seed = 2};
    npgnn_error err = {0};
    for (int i = 0; i < N * N; i++)
        pairs[i] = (npgnn_pair){i / N, i % N};
    assert_ok(npgnn_method_score(score, graph, pairs, N * N, &options, NULL, &err), err);
}

/* Whether the pair is asked for; with links, each once. */
static int wanted(int32_t u, int32_t v, const unsigned char *from, const unsigned char *to, int links, int known)
{
    if (u == v || !from[u] || !to[v] || (!known && npgnn_graph_has_edge(graph, u, v)))
        return 0;
    return !(links && v < u && from[v] && to[u]);
}

/* The best pairs of one node, or of all with `row` negative, by looking at all of them again and again. */
static int slow_best(npgnn_pair *best, const float *score, int32_t row, const unsigned char *from,
                     const unsigned char *to, int known)
{
    static unsigned char used[N * N];
    int count = 0;
    memset(used, 0, sizeof used);
    for (; count < K; count++) {
        int next = -1;
        for (int i = 0; i < N * N; i++)
            if (!used[i] && (row < 0 || i / N == row) && score[i] != 0 &&
                wanted(i / N, i % N, from, to, row < 0, known) && (next < 0 || score[i] > score[next]))
                next = i;
        if (next < 0)
            break;
        used[next] = 1;
        best[count] = (npgnn_pair){next / N, next % N};
    }
    return count;
}

static void check_method(const char *method, int restricted, int known, int threads)
{
    static float score[N * N];
    static npgnn_link links[N * K];
    unsigned char from[N], to[N];
    int32_t found[N], sources[N], targets[N], source_count = 0, target_count = 0;
    npgnn_error err = {0};
    for (int32_t i = 0; i < N; i++) {
        from[i] = !restricted || i % 3 == 0;
        to[i] = !restricted || i % 2 == 0;
        if (from[i])
            sources[source_count++] = i;
        if (to[i])
            targets[target_count++] = i;
    }
    const npgnn_method_options options = {.size = sizeof options, .method = method, .seed = 2};
    const npgnn_top_options top = {.size = sizeof top,
                                   .from = restricted ? sources : NULL,
                                   .to = restricted ? targets : NULL,
                                   .from_count = source_count,
                                   .to_count = target_count,
                                   .known = known};
    const npgnn_env env = {.size = sizeof env, .threads = threads};
    score_all(score, method);
    npgnn_pair best[K];
    assert_ok(npgnn_method_top(links, found, graph, K, 0, &options, &top, &env, &err), err);
    for (int32_t i = 0; i < source_count; i++) {
        assert_int_equal(found[i], slow_best(best, score, sources[i], from, to, known));
        for (int32_t r = 0; r < found[i]; r++) {
            const npgnn_link *link = &links[i * K + r];
            assert_memory_equal(&link->pair, &best[r], sizeof best[r]);
            assert_true(link->prediction.score == score[best[r].u * N + best[r].v]);
            assert_true(isnan(link->prediction.probability) && isnan(link->prediction.low));
            assert_true(isnan(link->prediction.high) && isnan(link->prediction.spread));
            assert_int_equal(link->known, npgnn_graph_has_edge(graph, best[r].u, best[r].v));
        }
    }
    assert_ok(npgnn_method_top(links, found, graph, K, 1, &options, &top, &env, &err), err);
    assert_int_equal(found[0], slow_best(best, score, -1, from, to, known));
    for (int32_t r = 0; r < found[0]; r++)
        assert_memory_equal(&links[r].pair, &best[r], sizeof best[r]);
}

static void test_best(void **state)
{
    (void)state;
    for (size_t m = 0; m < COUNT(methods); m++) {
        check_method(methods[m], 0, 0, 1);
        check_method(methods[m], 1, 1, 3);
    }
}

/* A score by hand: two nodes that share two neighbours. */
static void test_scores(void **state)
{
    (void)state;
    static const npgnn_pair edges[] = {{0, 2}, {1, 2}, {0, 3}, {1, 3}, {3, 4}};
    static const npgnn_pair pairs[] = {{0, 1}, {2, 3}, {0, 4}};
    npgnn_method_options options = {.size = sizeof options, .method = "adamic-adar"};
    npgnn_graph *small = NULL;
    npgnn_error err = {0};
    float score[3];
    assert_ok(npgnn_graph_from_arrays(&small, edges, NULL, 5, 5, 0, NULL, &err), err);
    assert_ok(npgnn_method_score(score, small, pairs, 3, &options, NULL, &err), err);
    assert_near((double)score[0], 1 / log(2) + 1 / log(3), 1e-6);
    assert_near((double)score[1], 2 / log(2), 1e-6);
    options.method = "common-neighbors";
    assert_ok(npgnn_method_score(score, small, pairs, 3, &options, NULL, &err), err);
    assert_true(score[0] == 2 && score[1] == 2 && score[2] == 1);
    npgnn_graph_free(small);
}

static int cancel_soon(void *user, const npgnn_progress *progress)
{
    ++*(int *)user;
    return progress->iteration >= 10;
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const bad[] = {"npgnn", "cnp", "universal", "nonsense", NULL};
    static npgnn_link links[N * K];
    int32_t found[N], twice[] = {4, 4}, outside[] = {N};
    const npgnn_pair pair = {0, N};
    float score = 5;
    npgnn_error err = {0};
    for (size_t i = 0; i < COUNT(bad); i++) {
        const npgnn_method_options options = {.size = sizeof options, .method = bad[i]};
        assert_int_equal(npgnn_method_score(&score, graph, &(npgnn_pair){0, 1}, 1, &options, NULL, &err),
                         NPGNN_E_ARGUMENT);
    }
    const npgnn_method_options options = {.size = sizeof options, .method = "katz"};
    assert_int_equal(npgnn_method_score(&score, graph, &pair, 1, &options, NULL, &err), NPGNN_E_ARGUMENT);
    assert_true(score == 5);
    const npgnn_top_options tops[] = {{.size = sizeof tops[0], .min_probability = 0.5},
                                      {.size = sizeof tops[0], .rank = NPGNN_BY_LOW},
                                      {.size = sizeof tops[0], .from = twice, .from_count = 2},
                                      {.size = sizeof tops[0], .to = outside, .to_count = 1},
                                      {.size = sizeof tops[0], .from = twice, .from_count = -1}};
    for (size_t i = 0; i < COUNT(tops); i++)
        assert_int_equal(npgnn_method_top(links, found, graph, K, 0, &options, &tops[i], NULL, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(npgnn_method_top(links, found, graph, 0, 0, &options, NULL, NULL, &err), NPGNN_E_ARGUMENT);
    int calls = 0;
    const npgnn_env env = {.size = sizeof env, .progress = cancel_soon, .user = &calls};
    assert_int_equal(npgnn_method_top(links, found, graph, K, 0, &options, NULL, &env, &err), NPGNN_E_CANCELLED);
    assert_in_range(calls, 1, 10);
    assert_int_equal(found[N - 1], 0); /* the rest was not searched */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, make_graph, free_graph);
}
