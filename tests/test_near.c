/* Samples of pairs without a link, drawn in part where pairs are near each other, stand for all pairs. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "evidence/columns.h"
#include "examples/context.h"
#include "examples/near.h"
#include "model/model.h"

enum { RANDOM = 4000, NEAR = 4000 };

/* Communities of ten, each with a hub; two-sided: users and items in groups. The last nodes have no links. */
static npgnn_graph *make(int two_sided)
{
    enum { NODES = 200, UNLINKED = 10, MOST = 4000, SOURCES = 100 };
    npgnn_pair edges[MOST];
    int64_t count = 0;
    npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, (uint32_t)two_sided);
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    for (int u = 0; u < NODES - UNLINKED; u++)
        for (int v = 0; v < u; v++) {
            int group = two_sided ? u % 10 == v % 10 : u / 10 == v / 10;
            double rate = group ? 0.5 : v % 40 == 0 ? 0.1 : 0.01;
            if ((!two_sided || (v < SOURCES) != (u < SOURCES)) && npi_rng_uniform(&rng) < rate)
                edges[count++] = two_sided ? (npgnn_pair){v, u} : (npgnn_pair){u, v};
        }
    const npgnn_graph_data data = {
        .size = sizeof data, .nodes = NODES, .edges = edges, .edge_count = count, .sources = two_sided ? SOURCES : 0};
    assert_ok(npgnn_graph_new(&graph, &data, NULL, &err), err);
    return graph;
}

static int common_neighbors(const npgnn_graph *graph, npgnn_pair pair)
{
    int count = 0;
    for (int64_t p = graph->a.ptr[pair.u]; p < graph->a.ptr[pair.u + 1]; p++)
        count += npgnn_graph_has_edge(graph, graph->a.col[p], pair.v);
    return count;
}

static int walks_of_three(const npgnn_graph *graph, npgnn_pair pair)
{
    int count = 0;
    for (int64_t p = graph->a.ptr[pair.u]; p < graph->a.ptr[pair.u + 1]; p++)
        count += common_neighbors(graph, (npgnn_pair){graph->a.col[p], pair.v});
    return count;
}

/* What is added up over pairs: 1, and whether they are near in one of two ways. */
static void measure(double sum[3], double weight, const npgnn_graph *graph, npgnn_pair pair)
{
    sum[0] += weight;
    sum[1] += weight * (common_neighbors(graph, pair) >= 3);
    sum[2] += weight * (walks_of_three(graph, pair) >= 8);
}

/* Sums over the sample are sums over all pairs, and the pairs that are near are not few in it. */
static void check_sample(int two_sided)
{
    npgnn_graph *graph = make(two_sided);
    npgnn_env env = npi_env_resolve(NULL);
    npgnn_error err = {0};
    unsigned char *role = calloc((size_t)graph->n, 1);
    npgnn_pair *pairs = calloc(RANDOM + NEAR, sizeof *pairs);
    float *evidence = calloc((RANDOM + NEAR) * (size_t)NPI_COLUMNS, sizeof *evidence);
    npi_candidate_pairs candidates = npi_known_pairs(role, graph);
    double all[3] = {0}, sampled[3] = {0}, plain[3] = {0};
    for (int32_t u = 0; u < graph->n; u++)
        for (int32_t v = 0; v < u; v++)
            if (role[u] == candidates.own && role[v] == candidates.own && npi_graph_allows(graph, u, v) &&
                !npgnn_graph_has_edge(graph, u, v))
                measure(all, 1, graph, (npgnn_pair){u, v});
    uint64_t available = npi_candidate_pairs_count_non_links(&candidates);
    assert_int_equal((uint64_t)all[0], available);

    npi_rng rng = npi_rng_make(4, NPI_RNG_TEST, 0);
    npi_near near = {.known = graph, .pairs = &candidates, .uniform = (double)RANDOM / (double)available};
    assert_ok(npi_candidate_pairs_draw_non_links(pairs, &candidates, RANDOM, 1, &env, &err), err);
    int drawn = npi_near_draw(pairs + RANDOM, &near, NEAR, &rng, &env, &err);
    assert_true(drawn > NEAR / 2);
    npi_columns columns = {0};
    assert_ok(npi_columns_new(&columns, &graph->a, NULL, NULL, 0, &env, &err), err);
    assert_ok(npi_columns_pairs(evidence, &columns, pairs, (size_t)(RANDOM + drawn), 1, &err), err);
    for (int i = 0; i < RANDOM + drawn; i++) {
        assert_false(npgnn_graph_has_edge(graph, pairs[i].u, pairs[i].v));
        assert_true(npi_graph_allows(graph, pairs[i].u, pairs[i].v));
        measure(sampled, npi_near_weight(&near, pairs[i], evidence + (size_t)i * NPI_COLUMNS), graph, pairs[i]);
        measure(plain, 1, graph, pairs[i]);
    }
    for (int k = 0; k < 3; k++)
        if (all[k] > 0) {
            assert_true(fabs(sampled[k] / all[k] - 1) < 0.1);
            assert_true(k == 0 || plain[k] / plain[0] > 2 * all[k] / all[0]);
        }
    assert_true(two_sided ? all[1] == 0 : all[1] > 50);
    assert_true(all[2] > 50);
    npi_columns_free(&columns);
    free(role);
    free(pairs);
    free(evidence);
    npgnn_graph_free(graph);
}

static void test_sample(void **state)
{
    (void)state;
    check_sample(0);
    check_sample(1);
}

/* The weights of the examples of a round add up to 1, with each kind in its proportion; all non-links that are not near come
 * first where random ones are asked for. */
static void test_examples(void **state)
{
    (void)state;
    npgnn_graph *graph = make(0);
    npgnn_model *universal = NULL;
    npgnn_error err = {0};
    npi_reduced none = {0};
    assert_ok(npgnn_model_universal(&universal, NULL, &err), err);
    for (int share = 0; share < 2; share++) {
        npi_examples x = {.env = graph->env, .process = &universal->process};
        const npi_aside how = {.graph = graph, .reduced = &none, .new_share = 0.3 * share, .seed = 1};
        assert_ok(npi_examples_set_aside(&x, &how, 0, 2000, &err), err);
        double sum = 0, fresh = 0, links = 0, weight_of_new = 0;
        size_t near = 0, e = (size_t)universal->process.params.size.e;
        for (size_t i = 0; i < x.others; i++) {
            sum += (double)x.other_weight[i];
            weight_of_new += x.other_kind[i] == NPI_EXAMPLE_NEW ? (double)x.other_weight[i] : 0;
            near += x.other_kind[i] == NPI_EXAMPLE_NEAR;
            assert_false(npgnn_graph_has_edge(graph, x.other_pair[i].u, x.other_pair[i].v));
        }
        for (size_t i = 0; i < x.links; i++) {
            fresh += x.link_kind[i] == NPI_EXAMPLE_NEW;
            links++;
        }
        assert_near(sum, 1, 1e-4);
        assert_true(near > 500);
        assert_near(weight_of_new, fresh / links, 0.02);
        assert_true(share ? fresh > 0 : fresh == 0);
        float *taken = calloc(x.others * e, sizeof *taken);
        assert_int_equal(npi_examples_take_random(taken, &x, x.others), x.others - near);
        free(taken);
        npi_examples_free(&x);
    }
    npgnn_model_free(universal);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sample), cmocka_unit_test(test_examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
