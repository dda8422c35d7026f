/* Searches by candidates and their parts, against dense matrices, sorting, and the exact search. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "evidence/columns.h"
#include "graph/graph.h"
#include "linalg/select.h"
#include "linalg/symmetric.h"
#include "meter.h"
#include "search/retrieve.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static npgnn_graph *load(const char *data)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_load(&graph, data, NULL, NULL, &err), err);
    return graph;
}

static npgnn_graph *from_pairs(const npgnn_pair *pairs, int32_t count, int32_t n)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_from_arrays(&graph, pairs, NULL, n, count, 0, NULL, &err), err);
    return graph;
}

/* A random graph without features: a few nodes have most links. */
static npgnn_graph *random_graph(int32_t n, int32_t links, uint64_t seed)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, 2);
    npgnn_pair *pairs = malloc((size_t)links * sizeof *pairs);
    for (int32_t i = 0; i < links;) {
        double u = npi_rng_uniform(&rng);
        pairs[i] = (npgnn_pair){(int32_t)(u * u * n), (int32_t)npi_rng_below(&rng, (uint64_t)n)};
        i += pairs[i].u != pairs[i].v;
    }
    npgnn_graph *graph = from_pairs(pairs, links, n);
    free(pairs);
    return graph;
}

/* ---- selection ---- */

static int descending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

static void test_selection(void **state)
{
    (void)state;
    enum { N = 5000 };
    static float value[N], sorted[N];
    npi_rng rng = npi_rng_make(4, NPI_RNG_TEST, 0);
    for (int i = 0; i < N; i++)
        value[i] = i % 7 == 0 ? -INFINITY : (float)(npi_rng_normal_at(&rng, (uint64_t)i) * (i % 3 == 0 ? 1e-6 : 10));
    value[11] = NAN;
    memcpy(sorted, value, sizeof value);
    sorted[11] = -INFINITY;
    qsort(sorted, N, sizeof *sorted, descending);
    for (int most = 1; most < N; most = most * 3 + 1) {
        npi_selection s;
        int taken = 0;
        npi_selection_begin(&s, most);
        for (int i = 0; i < N; i++)
            npi_selection_count(&s, value[i]);
        npi_selection_decide(&s);
        for (int i = 0; i < N; i++)
            if (npi_selection_takes(&s, value[i])) {
                /* the limit is one of leading bits: 4 of the mantissa */
                float least = sorted[most - 1];
                assert_true(value[i] >= least - fabsf(least) / 16 || !(least > -INFINITY));
                taken++;
            } else {
                assert_false(value[i] > sorted[most - 1] + fabsf(sorted[most - 1]) / 16);
            }
        assert_int_equal(taken, most);
    }
}

/* ---- leading eigenvectors ---- */

/* Against all eigenvectors, by Jacobi rotations; and of matrices with fewer, or no, values other than 0. */
static void test_leading(void **state)
{
    (void)state;
    enum { N = 40, K = 12, FOUND = 5 };
    for (int rank = N; rank >= 0; rank -= N / 2) {
        static double a[N * N], copy[N * N], values[N], vectors[N * N], leading[K], q[N * K];
        npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, 9);
        memset(a, 0, sizeof a);
        for (int r = 0; r < rank; r++) /* A = Σ_r ±1.3^-r g_r g_rᵀ */
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    a[i * N + j] += (r % 3 == 1 ? -1 : 1) * pow(1.3, -r) *
                                    npi_rng_normal_at(&rng, (uint64_t)(r * N + i)) *
                                    npi_rng_normal_at(&rng, (uint64_t)(r * N + j));
        memcpy(copy, a, sizeof a);
        npi_symmetric_eigen(values, vectors, copy, N);
        double *scratch = malloc(npi_symmetric_leading_scratch(N, K) * sizeof *scratch);
        npi_symmetric_leading(leading, q, a, N, K, scratch, &rng);
        free(scratch);
        for (int c = 0; c < FOUND; c++) {
            assert_near(leading[c], values[c], 1e-3 * (1 + fabs(values[0])));
            for (int i = 0; rank > 0 && i < N; i++) { /* A q = λ q */
                double product = 0;
                for (int j = 0; j < N; j++)
                    product += a[i * N + j] * q[j * K + c];
                assert_near(product, leading[c] * q[i * K + c], 0.01 * (1 + fabs(values[0])));
            }
        }
        for (int i = 0; i < N * K; i++)
            assert_true(isfinite(q[i]));
    }
}

/* ---- the vicinity ---- */

enum { SMALL = 60 };

/* P² and P³ of a graph, its dense twin. */
static void dense_walks(double two[SMALL][SMALL], double three[SMALL][SMALL], const npgnn_graph *graph)
{
    static double p[SMALL][SMALL];
    int32_t n = graph->n;
    memset(p, 0, sizeof p);
    for (int32_t i = 0; i < n; i++)
        for (int64_t q = graph->a.ptr[i]; q < graph->a.ptr[i + 1]; q++)
            p[i][graph->a.col[q]] = 1.0 / (double)(graph->a.ptr[i + 1] - graph->a.ptr[i]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            two[i][j] = 0;
            for (int k = 0; k < n; k++)
                two[i][j] += p[i][k] * p[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            three[i][j] = 0;
            for (int k = 0; k < n; k++)
                three[i][j] += two[i][k] * p[k][j];
        }
}

static double *inverse_degrees(const npgnn_graph *graph)
{
    double *inverse = calloc((size_t)graph->n + 1, sizeof *inverse);
    for (int32_t i = 0; i < graph->n; i++) {
        int64_t degree = graph->a.ptr[i + 1] - graph->a.ptr[i];
        inverse[i] = degree > 0 ? 1.0 / (double)degree : 0;
    }
    return inverse;
}

static void test_vicinity(void **state)
{
    (void)state;
    static double two[SMALL][SMALL], three[SMALL][SMALL];
    npgnn_error err = {0};
    npgnn_graph *graph = random_graph(SMALL, 150, 5);
    double *inverse = inverse_degrees(graph);
    int32_t *steps = malloc(SMALL * sizeof *steps);
    npi_vicinity near;
    npi_walker walker;
    for (int i = 0; i < SMALL; i++)
        steps[i] = -1;
    assert_ok(npi_vicinity_new(&near, &graph->a, inverse, graph->n, &graph->env, &err), err);
    assert_ok(npi_walker_new(&walker, &graph->a, inverse, steps, graph->n, &graph->env, &err), err);
    dense_walks(two, three, graph);
    for (int32_t u = 0; u < SMALL; u++) {
        npi_vicinity_move(&near, u);
        assert_int_equal(near.is_estimated, 0);
        for (int32_t v = 0; v < SMALL; v++) {
            const npi_near_node *at = &near.of[v];
            double lift[NPI_WALK_LIFTS];
            float common;
            assert_near((double)at->two, two[u][v], 1e-6);
            assert_near((double)at->three, three[u][v] * inverse[v], 1e-6);
            assert_int_equal(at->is_neighbor, npgnn_graph_has_edge(graph, u, v));
            npi_vicinity_walks(&common, lift, &near, v);
            npi_walks walks = npi_walks_pair(&walker, (npgnn_pair){u, v});
            assert_int_equal((int)common, (int)walks.common);
            for (int t = 0; t < NPI_WALK_LIFTS; t++)
                assert_near(lift[t], walks.lift[t], 1e-5);
        }
    }
    npi_vicinity_free(&graph->env, &near);
    npi_walker_free(&graph->env, &walker);
    free(steps);
    free(inverse);
    npgnn_graph_free(graph);
}

/* A node beside a hub with more links than a step follows, and the hub itself: estimates, but no more work than the bound. */
static void test_hub(void **state)
{
    (void)state;
    enum { LEAVES = 3 * NPI_VICINITY_LINKS };
    npgnn_error err = {0};
    npgnn_pair *pairs = malloc((LEAVES + 2) * sizeof *pairs);
    for (int32_t i = 0; i < LEAVES; i++)
        pairs[i] = (npgnn_pair){0, i + 1};
    pairs[LEAVES] = (npgnn_pair){1, 2};
    pairs[LEAVES + 1] = (npgnn_pair){2, 3};
    npgnn_graph *graph = from_pairs(pairs, LEAVES + 2, LEAVES + 1);
    double *inverse = inverse_degrees(graph), lift[NPI_WALK_LIFTS], sum = 0;
    float common;
    npi_vicinity near;
    assert_ok(npi_vicinity_new(&near, &graph->a, inverse, graph->n, &graph->env, &err), err);
    npi_vicinity_move(&near, 1); /* neighbours: the hub and 2 */
    assert_true(near.is_sampled && near.is_estimated);
    assert_true(near.second_count <= NPI_VICINITY_LINKS + 8 && near.second_count > NPI_VICINITY_LINKS / 4);
    for (int32_t i = 0; i < near.second_count; i++)
        sum += (double)near.of[near.second[i]].two;
    assert_near(sum, 1, 1e-3);                   /* the sample stands for all walks */
    npi_vicinity_walks(&common, lift, &near, 3); /* by way of the hub and of 2: counted, though the hub is sampled */
    assert_int_equal((int)common, 2);
    double links = 2.0 * (LEAVES + 2);
    assert_near(lift[0], links * (inverse[0] + inverse[2]) * inverse[1] * inverse[3], 1e-5);
    npi_vicinity_walks(&common, lift, &near, LEAVES);
    assert_int_equal((int)common, 1);
    npi_vicinity_move(&near, 0);
    npi_vicinity_move(&near, LEAVES); /* nothing is left over of other nodes */
    assert_true(near.of[1].is_neighbor == 0 && near.of[0].is_neighbor == 1);
    npi_vicinity_free(&graph->env, &near);
    free(inverse);
    free(pairs);
    npgnn_graph_free(graph);
}

/* ---- clusters ---- */

static void test_clusters(void **state)
{
    (void)state;
    enum { N = 3000, WIDTH = 16 };
    npi_rng rng = npi_rng_make(6, NPI_RNG_TEST, 1);
    npgnn_error err = {0};
    npgnn_env one = {.size = sizeof one, .threads = 1}, three = {.size = sizeof three, .threads = 3};
    npgnn_env env[] = {npi_env_resolve(&one), npi_env_resolve(&three)};
    real *row = malloc(N * WIDTH * sizeof *row);
    for (int i = 0; i < N; i++) /* forty groups */
        for (int j = 0; j < WIDTH; j++)
            row[i * WIDTH + j] = (real)(npi_rng_normal_at(&rng, (uint64_t)(N * WIDTH + i % 40 * WIDTH + j)) +
                                        0.2 * npi_rng_normal_at(&rng, (uint64_t)(i * WIDTH + j)));
    npi_clusters c[2];
    for (int i = 0; i < 2; i++)
        assert_ok(npi_clusters_new(&c[i], row, WIDTH, NULL, N, 7, &env[i], &err), err);
    assert_int_equal(c[0].count, c[1].count);
    assert_memory_equal(c[0].centre, c[1].centre, (size_t)c[0].count * WIDTH * sizeof *row);
    assert_memory_equal(c[0].node, c[1].node, N * sizeof *c[0].node);
    npi_probe probe;
    assert_ok(npi_probe_new(&probe, &c[0], N, &env[0], &err), err);
    static int seen[N];
    assert_int_equal(npi_clusters_probe(&probe, &c[0], row), N); /* all of them, each once, with its product */
    for (int i = 0; i < N; i++) {
        double product = 0;
        for (int j = 0; j < WIDTH; j++)
            product += (double)row[j] * (double)row[probe.node[i] * WIDTH + j];
        assert_near((double)probe.product[i], product, 1e-4);
        assert_int_equal(seen[probe.node[i]]++, 0);
    }
    /* a tenth of the nodes contains the node with the largest product */
    npi_probe_free(&env[0], &probe);
    assert_ok(npi_probe_new(&probe, &c[0], N / 10, &env[0], &err), err);
    int hits = 0;
    for (int q = 0; q < 50; q++) {
        int32_t count = npi_clusters_probe(&probe, &c[0], row + q * WIDTH);
        double best = 0, found = 0;
        for (int i = 0; i < N; i++) {
            double product = 0;
            for (int j = 0; j < WIDTH; j++)
                product += (double)row[q * WIDTH + j] * (double)row[i * WIDTH + j];
            best = product > best ? product : best;
        }
        for (int32_t i = 0; i < count; i++)
            found = (double)probe.product[i] > found ? (double)probe.product[i] : found;
        hits += found > best - 1e-4;
    }
    assert_true(hits >= 45);
    npi_probe_free(&env[0], &probe);
    for (int i = 0; i < 2; i++)
        npi_clusters_free(&env[0], &c[i]);
    free(row);
}

/* ---- searches ---- */

static npgnn_predictor *predictor_of(const npgnn_graph *graph, npgnn_model **model, int threads)
{
    npgnn_env env = {.size = sizeof env, .threads = threads};
    npgnn_predictor *p = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_model_universal(model, NULL, &err), err);
    assert_ok(npgnn_predictor_new(&p, *model, graph, NULL, &env, &err), err);
    return p;
}

enum { K = 5 };

/* The candidates of a graph that is larger than their number find nearly all of the best; what they find is true, and the
 * report agrees with it. */
static void check_recall(npgnn_graph *graph, double least)
{
    npgnn_model *model = NULL;
    npgnn_predictor *p = predictor_of(graph, &model, 2);
    npgnn_error err = {0};
    size_t n = (size_t)npgnn_graph_nodes(graph), hits = 0, all = 0;
    npgnn_link *exact = calloc(n * K, sizeof *exact), *mine = calloc(n * K, sizeof *mine);
    int32_t *wanted = calloc(n, sizeof *wanted), *found = calloc(n, sizeof *found);
    npgnn_search_info info = {.size = sizeof info};
    npgnn_top_options o = {.size = sizeof o, .search = NPGNN_SEARCH_AUTO, .info = &info};
    assert_ok(npgnn_predictor_top(exact, wanted, p, K, &o, &err), err);
    assert_true(info.candidates == 0 && info.checked == 0 && isnan(info.recall));
    o.search = NPGNN_SEARCH_CANDIDATES;
    o.candidates = 64;
    assert_ok(npgnn_predictor_top(mine, found, p, K, &o, &err), err);
    for (size_t i = 0; i < n; i++) {
        int32_t hit = 0;
        for (int32_t j = 0; j < found[i]; j++) {
            const npgnn_link *link = &mine[i * K + (size_t)j];
            npgnn_prediction own;
            assert_int_equal(link->pair.u, (int)i);
            assert_false(npgnn_graph_has_edge(graph, link->pair.u, link->pair.v));
            assert_ok(npgnn_predictor_run(&own, p, &link->pair, 1, &err), err);
            assert_memory_equal(&own, &link->prediction, sizeof own);
            assert_true(j == 0 || link->prediction.score <= link[-1].prediction.score);
            hit += wanted[i] > 0 && link->prediction.score >= exact[i * K + (size_t)wanted[i] - 1].prediction.score;
        }
        hits += (size_t)(hit < wanted[i] ? hit : wanted[i]);
        all += (size_t)wanted[i];
    }
    double recall = (double)hits / (double)all;
    assert_true(recall >= least);
    assert_int_equal(info.candidates, 64);
    assert_int_equal(info.checked, n < NPGNN_CHECKED_NODES ? (int)n : NPGNN_CHECKED_NODES);
    assert_int_equal(info.best, K);
    assert_true(info.low <= info.recall && info.recall <= info.high);
    assert_true(recall >= info.low - 0.01 && recall <= info.high + 0.01);
    free(exact);
    free(mine);
    free(wanted);
    free(found);
    npgnn_predictor_free(p);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

static void test_recall(void **state)
{
    (void)state;
    check_recall(load("synthetic:nodes=1500,degree=4,words=200,seed=3"), 0.97);
    check_recall(random_graph(1500, 6000, 4), 0.9);
    check_recall(load("debian-python"), 0.97);
}

/* The same bits for any number of threads, in whatever company a node is searched. */
static void test_threads(void **state)
{
    (void)state;
    enum { N = 900 };
    static npgnn_link a[N * K], b[N * K];
    static int32_t found[N], again[N];
    npgnn_error err = {0};
    npgnn_graph *graph = load("synthetic:nodes=900,degree=4,seed=8");
    npgnn_model *model = NULL, *other = NULL;
    npgnn_predictor *one = predictor_of(graph, &model, 1), *four = predictor_of(graph, &other, 4);
    npgnn_top_options o = {.size = sizeof o, .search = NPGNN_SEARCH_CANDIDATES, .candidates = 32, .unchecked = 1};
    assert_ok(npgnn_predictor_top(a, found, one, K, &o, &err), err);
    assert_ok(npgnn_predictor_top(b, again, four, K, &o, &err), err);
    assert_memory_equal(found, again, sizeof found);
    assert_memory_equal(a, b, sizeof a);
    for (int32_t node = 0; node < N; node += 97) {
        o.from = &node;
        o.from_count = 1;
        assert_ok(npgnn_predictor_top(b, again, four, K, &o, &err), err);
        assert_memory_equal(a + node * K, b, K * sizeof *b);
    }
    o.from = NULL;
    static npgnn_link links[2][200];
    int32_t count[2];
    assert_ok(npgnn_predictor_top_links(links[0], &count[0], one, 200, &o, &err), err);
    assert_ok(npgnn_predictor_top_links(links[1], &count[1], four, 200, &o, &err), err);
    assert_int_equal(count[0], 200);
    assert_int_equal(count[1], 200);
    assert_memory_equal(links[0], links[1], sizeof links[0]);
    /* those that only their larger node finds are not missed */
    static npgnn_link exact[200];
    int32_t wanted, hits = 0;
    const npgnn_top_options all = {.size = sizeof all, .search = NPGNN_SEARCH_EXACT};
    assert_ok(npgnn_predictor_top_links(exact, &wanted, one, 200, &all, &err), err);
    assert_int_equal(wanted, 200);
    for (int i = 0; i < 200; i++)
        hits += links[0][i].prediction.score >= exact[199].prediction.score;
    assert_true(hits >= 198);
    for (int i = 0; i < 200; i++) { /* each pair once, smaller node first */
        assert_true(links[0][i].pair.u < links[0][i].pair.v);
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(&links[0][i].pair, &links[0][j].pair, sizeof links[0][0].pair);
    }
    npgnn_predictor_free(one);
    npgnn_predictor_free(four);
    npgnn_model_free(model);
    npgnn_model_free(other);
    npgnn_graph_free(graph);
}

/* Graphs in which there is little or nothing to retrieve. */
static void test_ugly(void **state)
{
    (void)state;
    static const npgnn_pair star[] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}}, none[1] = {{0, 0}};
    static const struct {
        const npgnn_pair *pairs;
        int32_t count, n;
    } cases[] = {{star, 7, 8}, {star, 3, 40}, {star, 1, 2}, {none, 0, 5}, {none, 0, 1}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        npgnn_link out[40 * K];
        int32_t found[40];
        npgnn_error err = {0};
        npgnn_graph *graph = from_pairs(cases[c].pairs, cases[c].count, cases[c].n);
        npgnn_model *model = NULL;
        npgnn_predictor *p = predictor_of(graph, &model, 2);
        npgnn_top_options o = {.size = sizeof o, .search = NPGNN_SEARCH_CANDIDATES};
        assert_ok(npgnn_predictor_top(out, found, p, K, &o, &err), err);
        for (int32_t i = 0; i < cases[c].n; i++) {
            int32_t degree = (int32_t)(graph->a.ptr[i + 1] - graph->a.ptr[i]), others = cases[c].n - 1 - degree;
            assert_int_equal(found[i], others < K ? others : K);
        }
        npgnn_predictor_free(p);
        npgnn_model_free(model);
        npgnn_graph_free(graph);
    }
}

/* ---- log, progress, memory ---- */

typedef struct heard {
    char text[512];
    int logs, calls, stop_at;
} heard;

static void on_log(void *user, const char *text)
{
    heard *h = user;
    snprintf(h->text, sizeof h->text, "%s", text);
    h->logs++;
}

static int on_progress(void *user, const npgnn_progress *progress)
{
    heard *h = user;
    (void)progress;
    return ++h->calls == h->stop_at;
}

static void test_log(void **state)
{
    (void)state;
    enum { N = 400 };
    static npgnn_link out[N];
    static int32_t found[N];
    npgnn_error err = {0};
    npgnn_graph *graph = load("synthetic:nodes=400,degree=4,seed=8");
    npgnn_model *model = NULL;
    npgnn_predictor *p = NULL;
    heard h = {0};
    npgnn_env env = {.size = sizeof env, .threads = 1, .log = on_log, .progress = on_progress, .user = &h};
    assert_ok(npgnn_model_universal(&model, NULL, &err), err);
    assert_ok(npgnn_predictor_new(&p, model, graph, NULL, &env, &err), err);
    npgnn_top_options o = {.size = sizeof o, .search = NPGNN_SEARCH_CANDIDATES};
    h.logs = 0;
    assert_ok(npgnn_predictor_top(out, found, p, 1, &o, &err), err);
    assert_int_equal(h.logs, 1);
    assert_non_null(strstr(h.text, "candidates: 256 per node"));
    o.unchecked = 1;
    assert_ok(npgnn_predictor_top(out, found, p, 1, &o, &err), err);
    assert_int_equal(h.logs, 1);
    o.unchecked = 0;
    h.calls = 0; /* cancelled wherever progress is reported: by the search that checks, and by the other one */
    int code = NPGNN_E_CANCELLED;
    for (h.stop_at = 1; code == NPGNN_E_CANCELLED; h.stop_at++, h.calls = 0)
        code = npgnn_predictor_top(out, found, p, 1, &o, &err);
    assert_int_equal(code, 0);
    assert_true(h.stop_at > 3);
    npgnn_predictor_free(p);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

/* Whichever allocation fails, nothing leaks, and the predictor searches as before. */
static void test_memory(void **state)
{
    (void)state;
    enum { N = 60 };
    static npgnn_link out[N], want[N];
    static int32_t found[N];
    npgnn_error err = {0};
    npgnn_graph *graph = random_graph(N, 100, 2);
    npgnn_model *model = NULL;
    npgnn_top_options o = {.size = sizeof o, .search = NPGNN_SEARCH_CANDIDATES, .candidates = 16, .unchecked = 1};
    assert_ok(npgnn_model_universal(&model, NULL, &err), err);
    long allow = 0;
    for (int code = NPGNN_E_MEMORY; code != 0; allow++) {
        meter m = {.allow = -1};
        npgnn_env env = metered_env(&m);
        npgnn_predictor *p = NULL;
        assert_ok(npgnn_predictor_new(&p, model, graph, NULL, &env, &err), err);
        m.allow = allow;
        code = npgnn_predictor_top(out, found, p, 1, &o, &err);
        assert_true(code == 0 || code == NPGNN_E_MEMORY);
        m.allow = -1;
        assert_ok(npgnn_predictor_top(want, found, p, 1, &o, &err), err);
        if (code == 0)
            assert_memory_equal(out, want, sizeof out);
        npgnn_predictor_free(p);
        assert_int_equal(m.blocks, 0);
    }
    assert_true(allow > 30);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

/* A few nodes, those with the lowest numbers, are in most of the best pairs: more than they have candidates. The other ends find
 * these. */
static void test_both_ends(void **state)
{
    (void)state;
    enum { LINKS = 400 };
    static npgnn_link exact[LINKS], found[LINKS];
    int32_t wanted, count, hits = 0;
    npgnn_error err = {0};
    npgnn_graph *graph = random_graph(900, 5000, 8);
    npgnn_model *model = NULL;
    npgnn_predictor *p = predictor_of(graph, &model, 2);
    npgnn_top_options o = {.size = sizeof o, .search = NPGNN_SEARCH_EXACT};
    assert_ok(npgnn_predictor_top_links(exact, &wanted, p, LINKS, &o, &err), err);
    o.search = NPGNN_SEARCH_CANDIDATES;
    o.candidates = 1;
    o.unchecked = 1;
    assert_ok(npgnn_predictor_top_links(found, &count, p, LINKS, &o, &err), err);
    for (int32_t i = 0; i < count; i++)
        hits += found[i].prediction.score >= exact[wanted - 1].prediction.score;
    if (hits < 0.9 * LINKS)
        fail_msg("%d of %d", hits, LINKS);
    npgnn_predictor_free(p);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection), cmocka_unit_test(test_leading),  cmocka_unit_test(test_vicinity),
        cmocka_unit_test(test_hub),       cmocka_unit_test(test_clusters), cmocka_unit_test(test_recall),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_ugly),     cmocka_unit_test(test_both_ends),
        cmocka_unit_test(test_log),       cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
