/* Graphs: merging of edges, invalid arguments, names, subgraphs, fingerprints, and every possible failure of an
 * allocation. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "graph/graph.h"
#include "meter.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static npgnn_graph *make(const npgnn_pair *edges, int64_t m, const float *x, int32_t n, int32_t f)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_from_arrays(&graph, edges, x, n, m, f, NULL, &err), err);
    return graph;
}

static npgnn_graph_info describe(const npgnn_graph *graph)
{
    npgnn_graph_info info = {.size = sizeof info};
    npgnn_graph_describe(&info, graph, NULL);
    return info;
}

static uint64_t fingerprint(const npgnn_graph *graph)
{
    return describe(graph).fingerprint;
}

static double feature(const npgnn_graph *graph, int32_t node, int32_t col)
{
    const npi_features *x = graph->x;
    if (x->dense)
        return (double)x->dense[(size_t)node * (size_t)x->f + (size_t)col];
    for (int64_t p = x->x.ptr[node]; p < x->x.ptr[node + 1]; p++)
        if (x->x.col[p] == col)
            return x->x.val ? (double)x->x.val[p] : 1;
    return 0;
}

/* Asserts, through every function that reads edges, that the graph has exactly the edges of a symmetric table (n,
 * n). */
static void check_edges(const npgnn_graph *graph, const char *table, int32_t n)
{
    int64_t edges = 0;
    for (int32_t u = 0; u < n; u++) {
        const int32_t *neighbors;
        int64_t degree = npgnn_graph_neighbors(&neighbors, graph, u), seen = 0;
        for (int32_t v = 0; v < n; v++) {
            int linked = table[u * n + v];
            assert_int_equal(npgnn_graph_has_edge(graph, u, v), linked);
            if (!linked)
                continue;
            assert_true(seen < degree);
            assert_int_equal(neighbors[seen++], v);
            edges += u < v;
        }
        assert_int_equal(seen, degree);
    }
    assert_int_equal(npgnn_graph_edges(graph), edges);
}

/* ---- building ---- */

static void test_merged_edges(void **state)
{
    (void)state;
    const npgnn_pair edges[] = {{3, 1}, {0, 1}, {3, 1}, {1, 3}, {2, 2}, {1, 0}, {4, 4}, {3, 1}, {0, 4}};
    const char table[25] = {[1] = 1, [4] = 1, [5] = 1, [8] = 1, [16] = 1, [20] = 1};
    npgnn_graph *graph = make(edges, COUNT(edges), NULL, 5, 0);
    npgnn_graph_info info = describe(graph);
    check_edges(graph, table, 5);
    assert_int_equal(info.nodes, 5);
    assert_int_equal(info.edges, 3);
    assert_int_equal(info.input_edges, 9);
    assert_int_equal(info.merged_duplicates, 2); /* 3 1 twice more */
    assert_int_equal(info.merged_reverse, 2);    /* 1 3 and 1 0 */
    assert_int_equal(info.dropped_self_loops, 2);
    assert_int_equal(info.isolated, 1);
    assert_int_equal(info.max_degree, 2);
    assert_int_equal(info.columns, 0);
    assert_int_equal(info.featureless, 5);
    npgnn_graph_free(graph);
}

/* Many edges on few nodes: the rows are long enough for both sorting algorithms, and most edges are repeated. */
static void test_many_edges(void **state)
{
    (void)state;
    enum { N = 80, M = 4000 };
    static npgnn_pair edges[M];
    static char table[N * N], directed[N * N];
    int64_t loops = 0, same = 0;
    npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, 0);
    for (int e = 0; e < M; e++) {
        /* one end small: those rows are long, the others short */
        int32_t u = (int32_t)npi_rng_below(&rng, 10), v = (int32_t)npi_rng_below(&rng, N);
        edges[e] = e % 2 ? (npgnn_pair){u, v} : (npgnn_pair){v, u};
        loops += u == v;
        char *seen = &directed[edges[e].u * N + edges[e].v];
        same += u != v && *seen;
        *seen = 1;
        table[u * N + v] = table[v * N + u] = u != v;
    }
    npgnn_graph *graph = make(edges, M, NULL, N, 0);
    npgnn_graph_info info = describe(graph);
    check_edges(graph, table, N);
    assert_int_equal(info.dropped_self_loops, loops);
    assert_int_equal(info.merged_duplicates, same);
    assert_int_equal(info.merged_reverse, M - loops - same - info.edges);
    npgnn_graph_free(graph);
}

static void test_edge_list(void **state)
{
    (void)state;
    const npgnn_pair edges[] = {{3, 1}, {0, 2}, {1, 0}};
    npgnn_pair listed[3];
    npgnn_graph *graph = make(edges, 3, NULL, 4, 0);
    npi_graph_list_edges(listed, graph);
    const npgnn_pair want[] = {{0, 1}, {0, 2}, {1, 3}};
    assert_memory_equal(listed, want, sizeof want);
    npgnn_graph_free(graph);
}

static void test_small_graphs(void **state)
{
    (void)state;
    const npgnn_pair loop = {0, 0};
    const float one = 1;
    npgnn_graph *empty = make(NULL, 0, NULL, 0, 0), *alone = make(&loop, 1, &one, 1, 1);
    npgnn_graph *edgeless = make(NULL, 0, NULL, 3, 0);
    assert_int_equal(npgnn_graph_nodes(empty), 0);
    assert_int_equal(describe(empty).max_degree, 0);
    assert_int_equal(npgnn_graph_find(empty, "0"), -1);
    check_edges(alone, "", 1);
    assert_int_equal(describe(alone).dropped_self_loops, 1);
    assert_int_equal(describe(alone).featureless, 0);
    check_edges(edgeless, "\0\0\0\0\0\0\0\0", 3);
    assert_int_equal(describe(edgeless).isolated, 3);
    npgnn_graph_free(empty);
    npgnn_graph_free(alone);
    npgnn_graph_free(edgeless);
    npgnn_graph_free(NULL);
}

static void test_describe_features(void **state)
{
    (void)state;
    const float sparse[4 * 5] = {[1] = 1, [12] = 0.5f}, dense[4 * 2] = {1, 2, 0, 0, 3, 0, 0, 0};
    npgnn_graph *a = make(NULL, 0, sparse, 4, 5), *b = make(NULL, 0, dense, 4, 2);
    npgnn_graph_info of_a = describe(a), of_b = describe(b);
    assert_int_equal(of_a.columns, 5);
    assert_int_equal(of_a.nonzeros, 2);
    assert_int_equal(of_a.featureless, 2);
    assert_false(of_a.features_dense);
    assert_int_equal(of_b.nonzeros, 3);
    assert_int_equal(of_b.featureless, 2);
    assert_true(of_b.features_dense);
    npgnn_graph_free(a);
    npgnn_graph_free(b);
}

/* ---- invalid arguments ---- */

static void refuse_arrays(const npgnn_pair *edges, int64_t m, const float *x, int32_t n, int32_t f, const char *says)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    meter memory = {.allow = -1};
    npgnn_env env = metered_env(&memory);
    assert_int_equal(npgnn_graph_from_arrays(&graph, edges, x, n, m, f, &env, &err), NPGNN_E_ARGUMENT);
    if (!strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
    assert_null(graph);
    assert_int_equal(memory.blocks, 0);
}

static void test_invalid_arrays(void **state)
{
    (void)state;
    const npgnn_pair high[] = {{0, 1}, {0, 3}}, low[] = {{-1, 0}}, minimum[] = {{1, INT32_MIN}};
    const float not_a_number[] = {0, 1, 2, NAN, 4, 5}, infinite[] = {0, 1, 2, 3, 4, -INFINITY};
    refuse_arrays(high, 2, NULL, 3, 0, "edge 1 joins nodes 0 and 3");
    refuse_arrays(low, 1, NULL, 3, 0, "edge 0 joins nodes -1 and 0");
    refuse_arrays(minimum, 1, infinite, 3, 1, "edge 0");
    refuse_arrays(high, 1, NULL, 0, 0, "edge 0");
    refuse_arrays(NULL, 0, not_a_number, 3, 2, "node 1 in column 1");
    refuse_arrays(NULL, 0, infinite, 3, 2, "node 2 in column 1");
    refuse_arrays(NULL, 0, NULL, -1, 0, "negative");
    refuse_arrays(NULL, -1, NULL, 1, 0, "negative");
    refuse_arrays(NULL, 0, NULL, 1, -1, "negative");
}

static void refuse_csr(const int64_t ptr[4], const int32_t *col, const float *val, const char *says)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    meter memory = {.allow = -1};
    npgnn_env env = metered_env(&memory);
    assert_int_equal(npgnn_graph_from_csr(&graph, NULL, ptr, col, val, 3, 0, 4, &env, &err), NPGNN_E_ARGUMENT);
    if (!strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
    assert_int_equal(memory.blocks, 0);
}

static void test_invalid_csr(void **state)
{
    (void)state;
    const int64_t good[] = {0, 2, 2, 3}, late[] = {1, 2, 2, 3}, down[] = {0, 2, 1, 3}, negative[] = {0, -1, 2, 3};
    const int32_t col[] = {0, 3, 2}, high[] = {0, 4, 2}, low[] = {-1, 3, 2}, twice[] = {1, 1, 2}, back[] = {3, 0, 2};
    const float val[] = {1, NAN, 2}, infinite[] = {1, 2, INFINITY};
    refuse_csr(late, col, NULL, "begin with 0");
    refuse_csr(down, col, NULL, "decrease, but they do after row 1");
    refuse_csr(negative, col, NULL, "decrease, but they do after row 0");
    refuse_csr(good, high, NULL, "columns of row 0");
    refuse_csr(good, low, NULL, "columns of row 0");
    refuse_csr(good, twice, NULL, "strictly ascending");
    refuse_csr(good, back, NULL, "strictly ascending");
    refuse_csr(good, col, val, "node 0 in column 3");
    refuse_csr(good, col, infinite, "node 2 in column 2");
}

/* ---- names and labels ---- */

static void test_nodes_without_names(void **state)
{
    (void)state;
    const char *absent[] = {"", "12", "-1", "01", "+1", " 1", "1 ", "1x", "4294967297", "99999999999999999999"};
    char buffer[12];
    npgnn_graph *graph = make(NULL, 0, NULL, 12, 0);
    assert_string_equal(npgnn_graph_name(graph, 11, buffer), "11");
    assert_int_equal(npgnn_graph_find(graph, "11"), 11);
    assert_int_equal(npgnn_graph_find(graph, "0"), 0);
    assert_int_equal(npgnn_graph_label(graph, 3), -1);
    for (size_t i = 0; i < COUNT(absent); i++)
        assert_int_equal(npgnn_graph_find(graph, absent[i]), -1);
    npgnn_graph_free(graph);
}

static void test_many_names(void **state)
{
    (void)state;
    enum { NAMES = 100000 };
    npgnn_env env = npi_env_resolve(NULL);
    npgnn_error err = {0};
    npi_names *names = NULL;
    char name[32];
    assert_ok(npi_names_new(&names, &env, &err), err);
    assert_int_equal(npi_names_find(names, "x", 1), -1);
    for (int pass = 0; pass < 2; pass++) /* the second time all are there */
        for (int32_t i = 0; i < NAMES; i++) {
            int32_t index = -1;
            int length = snprintf(name, sizeof name, "node %d", i * 7);
            assert_ok(npi_names_add(&index, names, name, (size_t)length, &err), err);
            assert_int_equal(index, i);
        }
    assert_int_equal(npi_names_count(names), NAMES);
    for (int32_t i = 0; i < NAMES; i++) {
        int length = snprintf(name, sizeof name, "node %d", i * 7);
        assert_string_equal(npi_names_get(names, i), name);
        assert_int_equal(npi_names_find(names, name, (size_t)length), i);
    }
    /* each of these is a prefix of existing names */
    for (int32_t i = 0; i < NAMES; i++) {
        int length = snprintf(name, sizeof name, "node %d", i);
        assert_int_equal(npi_names_find(names, name, (size_t)length), i % 7 ? -1 : i / 7);
    }
    npi_names_free(names);
}

/* A name is any sequence of bytes: a prefix of another name, empty, in any encoding. */
static void test_unusual_names(void **state)
{
    (void)state;
    const char *strange[] = {"", "a", "ab", "a b", "\xc3\xa9", "\xff", "A"};
    npgnn_env env = npi_env_resolve(NULL);
    npgnn_error err = {0};
    npi_names *names = NULL;
    assert_ok(npi_names_new(&names, &env, &err), err);
    for (size_t i = 0; i < COUNT(strange); i++) {
        int32_t index;
        assert_ok(npi_names_add(&index, names, strange[i], strlen(strange[i]), &err), err);
        assert_int_equal(index, i);
    }
    for (size_t i = 0; i < COUNT(strange); i++)
        assert_int_equal(npi_names_find(names, strange[i], strlen(strange[i])), i);
    assert_int_equal(npi_names_find(names, "abc", 3), -1);

    npi_names *copy = NULL, *empty = NULL; /* which grows on its own */
    int32_t index;
    assert_ok(npi_names_copy(&copy, names, &err), err);
    assert_ok(npi_names_add(&index, copy, "abc", 3, &err), err);
    assert_int_equal(index, COUNT(strange));
    assert_int_equal(npi_names_find(names, "abc", 3), -1);
    npi_names_free(names);
    for (size_t i = 0; i < COUNT(strange); i++)
        assert_string_equal(npi_names_get(copy, npi_names_find(copy, strange[i], strlen(strange[i]))), strange[i]);
    npi_names_free(copy);
    assert_ok(npi_names_new(&names, &env, &err), err);
    assert_ok(npi_names_copy(&empty, names, &err), err);
    assert_ok(npi_names_add(&index, empty, "a", 1, &err), err);
    assert_int_equal(npi_names_count(names) + index, 0);
    npi_names_free(names);
    npi_names_free(empty);
}

/* ---- a graph with names, labels, weights and features, built with limited memory ---- */

enum { NODES = 6, COLUMNS = 9 };

static const npgnn_pair web[] = {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 3}, {0, 4}, {5, 5}, {0, 1}};
static const float words[NODES * COLUMNS] = {[1] = 2, [2 * COLUMNS] = 1, [3 * COLUMNS + 8] = -1, [5 * COLUMNS] = 4};

static int named_parts(npi_graph_content *parts, const npgnn_env *env, npgnn_error *err)
{
    const char *names[NODES] = {"ann", "bob", "cid", "dan", "eve", "fay"};
    int code = npi_names_new(&parts->names, env, err);
    for (int32_t i = 0, index; !code && i < NODES; i++)
        code = npi_names_add(&index, parts->names, names[i], 3, err);
    if (!code && !(parts->label = npi_alloc(env, NODES, sizeof *parts->label, err)))
        code = NPGNN_E_MEMORY;
    for (int32_t i = 0; !code && i < NODES; i++)
        parts->label[i] = i % 3 - 1;
    return code ? code : npi_features_from_dense(&parts->x, words, NODES, COLUMNS, env, err);
}

static int make_named(npgnn_graph **out, const npgnn_env *env, npgnn_error *err)
{
    npi_graph_content parts = {.n = NODES, .edges = web, .edge_count = COUNT(web), .classes = 2};
    npgnn_env resolved = npi_env_resolve(env);
    int code = named_parts(&parts, &resolved, err);
    if (!code)
        return npi_graph_build(out, &parts, &resolved, err);
    npi_names_free(parts.names);
    npi_free(&resolved, parts.label);
    return code;
}

static const int32_t picked[] = {0, 2, 3, 4};

static void check_induced(const npgnn_graph *part)
{
    char buffer[12];
    const char table[16] = {[1] = 1, [3] = 1, [4] = 1, [6] = 1, [9] = 1, [11] = 1, [12] = 1, [14] = 1};
    check_edges(part, table, 4);
    assert_string_equal(npgnn_graph_name(part, 2, buffer), "dan");
    assert_int_equal(npgnn_graph_find(part, "eve"), 3);
    assert_int_equal(npgnn_graph_find(part, "bob"), -1);
    for (int32_t i = 0; i < 4; i++) {
        assert_int_equal(npgnn_graph_label(part, i), picked[i] % 3 - 1);
        for (int32_t c = 0; c < COLUMNS; c++)
            assert_true(feature(part, i, c) == (double)words[picked[i] * COLUMNS + c]);
    }
}

static void test_subgraphs(void **state)
{
    (void)state;
    const npgnn_pair other[] = {{1, 5}};
    const char table[NODES * NODES] = {[1 * NODES + 5] = 1, [5 * NODES + 1] = 1};
    npgnn_error err = {0};
    npgnn_graph *graph = NULL, *induced = NULL, *sparser = NULL, *none = NULL;
    assert_ok(make_named(&graph, NULL, &err), err);
    graph->normalized = graph->binarized = 1;
    assert_ok(npi_graph_induce(&induced, graph, picked, 4, &err), err);
    assert_ok(npi_graph_with_edges(&sparser, graph, other, 1, &err), err);
    assert_ok(npi_graph_induce(&none, graph, NULL, 0, &err), err);
    npgnn_graph_free(graph); /* parts stand on their own */
    check_induced(induced);
    check_edges(sparser, table, NODES);
    assert_int_equal(npgnn_graph_find(sparser, "fay"), 5);
    assert_int_equal(npgnn_graph_label(sparser, 5), 1);
    assert_true(feature(sparser, 1, 0) == 0 && feature(sparser, 0, 1) == 2);
    assert_true(induced->normalized && induced->binarized && sparser->normalized && sparser->binarized);
    assert_int_equal(npgnn_graph_nodes(none), 0);
    npgnn_graph_free(induced);
    npgnn_graph_free(sparser);
    npgnn_graph_free(none);
}

/* ---- fingerprints ---- */

static void test_fingerprint(void **state)
{
    (void)state;
    npgnn_pair edges[] = {{0, 1}, {1, 2}, {2, 3}}, turned[] = {{3, 2}, {1, 0}, {2, 1}, {0, 1}};
    float x[8] = {1, 0, 0, 2, 0, 0, 3, 0};
    npgnn_graph *graph = make(edges, 3, x, 4, 2), *same = make(turned, 4, x, 4, 2);
    uint64_t print = fingerprint(graph);
    assert_true(fingerprint(same) == print);
    npgnn_graph *fewer = make(edges, 2, x, 4, 2), *wider = make(edges, 3, NULL, 4, 0), *other;
    assert_true(fingerprint(fewer) != print);
    assert_true(fingerprint(wider) != print);
    x[3] = 2.0000002f;
    other = make(edges, 3, x, 4, 2);
    assert_true(fingerprint(other) != print);
    npgnn_graph_free(other);
    x[3] = 0;
    x[5] = 2; /* moved to the next row, same column */
    other = make(edges, 3, x, 4, 2);
    assert_true(fingerprint(other) != print);
    npgnn_graph_free(other);
    npgnn_graph_free(graph);
    npgnn_graph_free(same);
    npgnn_graph_free(fewer);
    npgnn_graph_free(wider);
}

/* The fingerprint does not depend on how the features were given or are stored. */
static void test_fingerprint_ignores_storage(void **state)
{
    (void)state;
    const npgnn_pair edges[] = {{0, 1}};
    const float x[] = {1, 0, 0, -0.0f, 0, 0, 0, 0, 1, 0, 1, 0}; /* the last rows are dense on their own */
    const int64_t ptr[] = {0, 2, 2, 3, 4}, tight[] = {0, 1, 1, 2, 3};
    const int32_t col[] = {0, 1, 2, 1}, tight_col[] = {0, 2, 1}, last[] = {2, 3};
    const float val[] = {1, 0, 1, 1};
    npgnn_error err = {0};
    npgnn_graph *array = make(edges, 1, x, 4, 3), *csr = NULL, *ones = NULL, *part = NULL;
    assert_ok(npgnn_graph_from_csr(&csr, edges, ptr, col, val, 4, 1, 3, NULL, &err), err);
    assert_ok(npgnn_graph_from_csr(&ones, edges, tight, tight_col, NULL, 4, 1, 3, NULL, &err), err);
    assert_true(fingerprint(array) == fingerprint(csr));
    assert_true(fingerprint(array) == fingerprint(ones));
    const float wide[4 * 6] = {[3 * 6] = 1, [3 * 6 + 1] = 2, [3 * 6 + 2] = 3, [3 * 6 + 4] = 4};
    npgnn_graph *whole = make(edges, 1, wide, 4, 6), *direct = make(NULL, 0, wide + 12, 2, 6);
    assert_ok(npi_graph_induce(&part, whole, last, 2, &err), err);
    assert_true(!part->x->dense && direct->x->dense);
    assert_true(fingerprint(part) == fingerprint(direct));
    npgnn_graph *all[] = {array, csr, ones, part, whole, direct};
    for (size_t i = 0; i < COUNT(all); i++)
        npgnn_graph_free(all[i]);
}

/* ---- out of memory ---- */

typedef int maker(npgnn_graph **out, const npgnn_env *env, npgnn_error *err);

static int make_arrays(npgnn_graph **out, const npgnn_env *env, npgnn_error *err)
{
    return npgnn_graph_from_arrays(out, web, words, NODES, COUNT(web), COLUMNS, env, err);
}

static int make_dense(npgnn_graph **out, const npgnn_env *env, npgnn_error *err)
{
    const float x[NODES] = {1, 2, 3, 4, 5, 6};
    return npgnn_graph_from_arrays(out, web, x, NODES, COUNT(web), 1, env, err);
}

static int make_csr(npgnn_graph **out, const npgnn_env *env, npgnn_error *err)
{
    const int64_t ptr[NODES + 1] = {0, 1, 1, 2, 2, 2, 3};
    const int32_t col[] = {3, 0, 8};
    const float val[] = {2, 3, 0};
    return npgnn_graph_from_csr(out, web, ptr, col, val, NODES, COUNT(web), COLUMNS, env, err);
}

static int make_induced(npgnn_graph **out, const npgnn_env *env, npgnn_error *err)
{
    npgnn_graph *graph = NULL;
    int code = make_named(&graph, env, err);
    if (!code)
        code = npi_graph_induce(out, graph, picked, 4, err);
    npgnn_graph_free(graph);
    return code;
}

static int make_other_edges(npgnn_graph **out, const npgnn_env *env, npgnn_error *err)
{
    npgnn_graph *graph = NULL;
    int code = make_named(&graph, env, err);
    if (!code)
        code = npi_graph_with_edges(out, graph, web, 2, err);
    npgnn_graph_free(graph);
    return code;
}

/* Lets 0, 1, 2... allocations succeed until the graph is built. */
static void check_out_of_memory(maker *make_one)
{
    int code = NPGNN_E_MEMORY;
    long allow = 0;
    for (; code; allow++) {
        meter memory = {.allow = allow};
        npgnn_env env = metered_env(&memory);
        npgnn_graph *graph = NULL;
        npgnn_error err = {0};
        code = make_one(&graph, &env, &err);
        if (code) {
            assert_int_equal(code, NPGNN_E_MEMORY);
            assert_int_equal(err.code, NPGNN_E_MEMORY);
            assert_null(graph);
        }
        npgnn_graph_free(graph);
        assert_int_equal(memory.blocks, 0);
    }
    assert_true(allow > 3);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    maker *makers[] = {make_arrays, make_dense, make_csr, make_named, make_induced, make_other_edges};
    for (size_t i = 0; i < COUNT(makers); i++)
        check_out_of_memory(makers[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merged_edges),
        cmocka_unit_test(test_many_edges),
        cmocka_unit_test(test_edge_list),
        cmocka_unit_test(test_small_graphs),
        cmocka_unit_test(test_describe_features),
        cmocka_unit_test(test_invalid_arrays),
        cmocka_unit_test(test_invalid_csr),
        cmocka_unit_test(test_nodes_without_names),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_unusual_names),
        cmocka_unit_test(test_subgraphs),
        cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_fingerprint_ignores_storage),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
