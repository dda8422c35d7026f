/* Context draws: exact sizes, valid subgraphs, every edge and node equally likely. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "graph/context.h"

static size_t allocations;

static void *counting_resize(void *user, void *block, size_t size)
{
    (void)user;
    allocations += size > 0;
    if (size > 0)
        return realloc(block, size);
    free(block);
    return NULL;
}

static const npgnn_env counting = {.size = sizeof counting, .threads = 1, .allocator = {counting_resize, NULL}};

/* A random graph with skewed degrees; node n - 1 has no edge. */
static npgnn_graph *random_graph(int32_t n, int64_t edge_count, uint64_t seed)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, 0);
    npgnn_pair *edges = calloc((size_t)edge_count, sizeof *edges);
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_non_null(edges);
    for (int64_t i = 0; i < edge_count; i++) {
        double skewed = npi_rng_uniform(&rng);
        edges[i].u = (int32_t)(skewed * skewed * (n - 1));
        edges[i].v = (int32_t)npi_rng_below(&rng, (uint64_t)n - 1);
    }
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, n, edge_count, 0, NULL, &err), err);
    free(edges);
    return graph;
}

static npi_context *new_context(const npgnn_graph *graph, npgnn_context kind, double fraction)
{
    npi_context *context = NULL;
    npgnn_error err = {0};
    assert_ok(npi_context_new(&context, graph, kind, fraction, &counting, &err), err);
    return context;
}

static int32_t original(const int32_t *nodes, int32_t i)
{
    return nodes ? nodes[i] : i;
}

/* Asserts that rows are sorted, in range and without self loops, that the adjacency is symmetric and a subset of the
 * graph, and that its scale matches the degrees. */
static void check_adj(const npi_adj *adj, const int32_t *nodes, const npgnn_graph *graph)
{
    const npi_csr *a = &adj->a;
    assert_int_equal(a->ptr[0], 0);
    for (int32_t i = 0; i < a->rows; i++) {
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
            int32_t j = a->col[p];
            int found = 0;
            assert_in_range(j, 0, a->rows - 1);
            assert_true(p == a->ptr[i] || a->col[p - 1] < j);
            assert_true(npgnn_graph_has_edge(graph, original(nodes, i), original(nodes, j)));
            for (int64_t q = a->ptr[j]; q < a->ptr[j + 1]; q++)
                found += a->col[q] == i;
            assert_int_equal(found, 1);
        }
        assert_near((double)adj->scale[i], 1 / sqrt(1 + (double)(a->ptr[i + 1] - a->ptr[i])), 1e-6);
    }
}

static void test_edges(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(200, 900, 1);
    const double fractions[] = {1e-9, 0.1, 0.5, 0.999, 1};
    for (size_t f = 0; f < 5; f++) {
        npi_context *context = new_context(graph, NPGNN_CONTEXT_EDGES, fractions[f]);
        int64_t want = llround(fractions[f] * (double)graph->m);
        for (uint32_t iteration = 0; iteration < 5; iteration++) {
            const int32_t *nodes;
            npi_context_draw(context, 3, iteration);
            const npi_adj *adj = npi_context_get(&nodes, context);
            assert_null(nodes);
            assert_int_equal(adj->a.rows, graph->n);
            assert_int_equal(adj->a.ptr[adj->a.rows], 2 * (want > 0 ? want : 1));
            check_adj(adj, nodes, graph);
        }
        npi_context_free(context);
    }
    npgnn_graph_free(graph);
}

static int64_t edges_among(const npgnn_graph *graph, const int32_t *nodes, int32_t count)
{
    int64_t edges = 0;
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = i + 1; j < count; j++)
            edges += npgnn_graph_has_edge(graph, nodes[i], nodes[j]);
    return edges;
}

static void test_nodes(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(150, 900, 2);
    const double fractions[] = {1e-9, 0.1, 0.5, 1};
    for (size_t f = 0; f < 4; f++) {
        npi_context *context = new_context(graph, NPGNN_CONTEXT_NODES, fractions[f]);
        int32_t want = (int32_t)llround(fractions[f] * graph->n);
        for (uint32_t iteration = 0; iteration < 5; iteration++) {
            const int32_t *nodes;
            npi_context_draw(context, 3, iteration);
            const npi_adj *adj = npi_context_get(&nodes, context);
            assert_int_equal(adj->a.rows, want > 0 ? want : 1);
            for (int32_t i = 0; i < adj->a.rows; i++)
                assert_in_range(nodes[i], i > 0 ? nodes[i - 1] + 1 : 0, graph->n - 1);
            assert_int_equal(adj->a.ptr[adj->a.rows], 2 * edges_among(graph, nodes, adj->a.rows));
            check_adj(adj, nodes, graph);
        }
        npi_context_free(context);
    }
    npgnn_graph_free(graph);
}

/* Chi-square: Σ over the items of (count - mean)² / variance, where each of `draws` rounds takes a share of the
 * items. About one per item where all are equally likely. */
static double chi_square(const int64_t *drawn, int64_t items, double draws, double share)
{
    double sum = 0;
    for (int64_t i = 0; i < items; i++) {
        double off = (double)drawn[i] - draws * share;
        sum += off * off / (draws * share * (1 - share));
    }
    return sum;
}

/* Within five standard deviations of the mean of a chi-square variable. */
static void assert_plausible(double chi, double items)
{
    assert_true(fabs(chi - items) <= 5 * sqrt(2 * items));
}

static void test_uniform_edges(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(60, 300, 4);
    const int draws = 4000;
    npi_context *context = new_context(graph, NPGNN_CONTEXT_EDGES, 0.1);
    int64_t *drawn = calloc((size_t)graph->n * (size_t)graph->n, sizeof *drawn);
    int64_t kept = 0;
    assert_non_null(drawn);
    for (int draw = 0; draw < draws; draw++) {
        const int32_t *nodes;
        npi_context_draw(context, 5, (uint32_t)draw);
        const npi_csr *a = &npi_context_get(&nodes, context)->a;
        for (int32_t u = 0; u < a->rows; u++)
            for (int64_t p = a->ptr[u]; p < a->ptr[u + 1]; p++)
                if (u < a->col[p])
                    drawn[u * a->rows + a->col[p]]++;
    }
    for (int64_t i = 0; i < (int64_t)graph->n * graph->n; i++)
        if (drawn[i] > 0)
            drawn[kept++] = drawn[i];
    assert_int_equal(kept, graph->m);
    assert_plausible(chi_square(drawn, kept, draws, (double)llround(0.1 * (double)kept) / (double)kept), (double)kept);
    free(drawn);
    npi_context_free(context);
    npgnn_graph_free(graph);
}

static void test_uniform_nodes(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 500, 4);
    const int draws = 4000;
    npi_context *context = new_context(graph, NPGNN_CONTEXT_NODES, 0.2);
    int64_t drawn[300] = {0};
    for (int draw = 0; draw < draws; draw++) {
        const int32_t *nodes;
        npi_context_draw(context, (uint64_t)draw, 7);
        int32_t rows = npi_context_get(&nodes, context)->a.rows;
        for (int32_t i = 0; i < rows; i++)
            drawn[nodes[i]]++;
    }
    assert_plausible(chi_square(drawn, 300, draws, 0.2), 300);
    npi_context_free(context);
    npgnn_graph_free(graph);
}

static int same_draw(const npi_context *a, const npi_context *b)
{
    const int32_t *nodes;
    const npi_csr *x = &npi_context_get(&nodes, a)->a, *y = &npi_context_get(&nodes, b)->a;
    size_t entries = (size_t)x->ptr[x->rows];
    return memcmp(x->ptr, y->ptr, ((size_t)x->rows + 1) * sizeof *x->ptr) == 0 &&
           memcmp(x->col, y->col, entries * sizeof *x->col) == 0;
}

/* A draw is a function of seed and iteration, does not depend on earlier draws, and allocates nothing. */
static void test_draws_are_reproducible(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(200, 900, 1);
    const npgnn_context kinds[] = {NPGNN_CONTEXT_EDGES, NPGNN_CONTEXT_NODES};
    for (int k = 0; k < 2; k++) {
        npi_context *a = new_context(graph, kinds[k], 0.5), *b = new_context(graph, kinds[k], 0.5);
        size_t before = allocations;
        npi_context_draw(a, 1, 1);
        npi_context_draw(b, 1, 2);
        assert_false(same_draw(a, b));
        npi_context_draw(b, 2, 1);
        assert_false(same_draw(a, b));
        npi_context_draw(b, 1, 1);
        assert_true(same_draw(a, b));
        assert_int_equal(allocations, before);
        npi_context_free(a);
        npi_context_free(b);
    }
    npgnn_graph_free(graph);
}

static void test_invalid_arguments(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(20, 30, 1);
    npi_context *context = NULL;
    const double bad[] = {0, -0.1, 1.01, (double)NAN};
    for (int i = 0; i < 4; i++)
        assert_int_equal(npi_context_new(&context, graph, NPGNN_CONTEXT_EDGES, bad[i], NULL, NULL), NPGNN_E_ARGUMENT);
    assert_int_equal(npi_context_new(&context, graph, NPGNN_CONTEXT_AUTO, 0.1, NULL, NULL), NPGNN_E_ARGUMENT);
    assert_null(context);
    npi_context_free(NULL);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_uniform_edges),
        cmocka_unit_test(test_uniform_nodes),
        cmocka_unit_test(test_draws_are_reproducible),
        cmocka_unit_test(test_invalid_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
