/* Non-links: drawn uniformly from the whole graph and from the candidate pairs of a set; additional ones for a split;
 * and degree-matched ones. */
#include <string.h>

#include "check.h"
#include "graph/negative.h"
#include "graph/new_nodes.h"
#include "graph/pair.h"
#include "splitting.h"

/* Every candidate pair is equally likely, both by rejection (few are wanted) and by enumeration (most are wanted), in
 * one-sided and in two-sided graphs. */
static void test_uniform_candidate_pairs(void **state)
{
    (void)state;
    const npgnn_pair edges[3] = {{0, 1}, {1, 5}, {2, 9}};
    const unsigned char role[10] = {NPI_NODE_TEST, NPI_NODE_TEST, NPI_NODE_TEST, NPI_NODE_TEST, NPI_NODE_VAL};
    const unsigned char side[10] = {0, 1, 0, 1, 0, 0, 1, 1, 0, 1};
    const npgnn_env env = npi_env_resolve(NULL);
    for (int two_sided = 0; two_sided < 2; two_sided++) {
        npgnn_graph *graph = build(edges, 10, 3);
        if (two_sided) {
            graph->side = npi_alloc(&graph->env, 10, 1, NULL);
            memcpy(graph->side, side, 10);
        }
        const npi_candidate_pairs field = {graph, role, NPI_NODE_TEST, NPI_PAIRS_TOUCHING};
        size_t available = two_sided ? 4 + 2 * 3 + 2 * 2 - 3 : 6 + 4 * 5 - 3;
        assert_int_equal(npi_candidate_pairs_count_non_links(&field), available);
        for (size_t wanted = 2; wanted < available; wanted += available - 5) {
            int seen[10][10] = {{0}};
            const int rounds = 4000;
            for (int seed = 0; seed < rounds; seed++) {
                npgnn_pair out[24];
                npgnn_error err = {0};
                assert_ok(npi_candidate_pairs_draw_non_links(out, &field, wanted, (uint64_t)seed, &env, &err), err);
                for (size_t i = 0; i < wanted; i++)
                    seen[out[i].u][out[i].v]++;
            }
            double expected = rounds * (double)wanted / (double)available, deviation = sqrt(expected);
            for (int32_t u = 0; u < 10; u++)
                for (int32_t v = u + 1; v < 10; v++) {
                    int inside = u < 4 && v != 4 && !npgnn_graph_has_edge(graph, u, v);
                    inside = inside && (!two_sided || side[u] != side[v]);
                    int count = seen[u][v] + seen[v][u];
                    assert_true(inside ? fabs(count - expected) < 5 * deviation : count == 0);
                }
        }
        npgnn_pair out[24];
        assert_int_equal(npi_candidate_pairs_draw_non_links(out, &field, available + 1, 1, &env, NULL),
                         NPGNN_E_ARGUMENT);
        npgnn_graph_free(graph);
    }
}

/* What a model learns from is not what it is tested on: with the same seed, the non-links of a split come again by
 * chance only. */
static void test_learns_from_other_non_links(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    const npgnn_env env = npi_env_resolve(NULL);
    assert_ok(npgnn_graph_synthetic(&graph, "nodes=500,degree=8", &env, &err), err);
    unsigned char *role = npi_alloc(&env, (size_t)graph->n, 1, NULL);
    npi_candidate_pairs known = npi_known_pairs(role, graph);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        npgnn_pair tested[COUNT], learnt[COUNT], *out[2] = {tested, NULL};
        const size_t count[2] = {COUNT, 0};
        int again = 0;
        assert_ok(npi_graph_draw_non_links(out, graph, count, seed, &env, &err), err);
        assert_ok(npi_candidate_pairs_draw_non_links(learnt, &known, COUNT, seed, &env, &err), err);
        for (int i = 0; i < COUNT; i++)
            for (int j = 0; j < COUNT; j++)
                again += npi_pair_key(tested[i]) == npi_pair_key(learnt[j]);
        assert_true(again < 10); /* 1.3 on average */
    }
    npi_free(&env, role);
    npgnn_graph_free(graph);
}

/* Users 0 to 9, of whom 8 and 9 have no links, and items 10 to 14. Link k is that of user k / 4 at time k, so that the
 * latest tenth, links 28 to 31, are those of user 7, who is new then, but for one of user 0. */
static void test_new_nodes_over_time(void **state)
{
    enum { LINKS = 32 };
    (void)state;
    npgnn_pair edges[LINKS];
    double times[LINKS], odds = 0.25;
    for (int k = 0; k < LINKS; k++) {
        edges[k] = (npgnn_pair){k / 4, 10 + k % 4};
        times[k] = k;
    }
    edges[31] = (npgnn_pair){0, 14};
    edges[0] = (npgnn_pair){1, 14}; /* item 14 is not new at the end */
    npgnn_graph_data data = {
        .size = sizeof data, .nodes = 15, .sources = 10, .edges = edges, .edge_count = LINKS, .times = times};
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    const npgnn_env env = npi_env_resolve(NULL);
    assert_ok(npgnn_graph_new(&graph, &data, &env, &err), err);
    assert_near(npi_new_share(graph), 1 - 8 * 5 / 50.0, 1e-12);
    assert_int_equal(npi_new_odds(&odds, graph, &env, &err), 1);
    /* links 28 to 30 touch user 7, link 31 nobody new; 7 x 5 of the 8 x 5 pairs of linked nodes touch nobody new */
    assert_near(odds, 3.5 / 1.5 * (35.0 / 5), 1e-12);
    npgnn_graph_free(graph);
    edges[31].u = 7; /* now all of them touch user 7 */
    assert_ok(npgnn_graph_new(&graph, &data, &env, &err), err);
    assert_int_equal(npi_new_odds(&odds, graph, &env, &err), 1);
    assert_near(odds, 4.5 / 0.5 * (35.0 / 5), 1e-12);
    npgnn_graph_free(graph);
    data.times = NULL;
    assert_ok(npgnn_graph_new(&graph, &data, &env, &err), err);
    odds = 0.25;
    assert_int_equal(npi_new_odds(&odds, graph, &env, &err), 0);
    assert_true(odds == 0.25);
    npgnn_graph_free(graph);
}

static int is_listed(const npgnn_split *split, npgnn_set set, npgnn_pair pair)
{
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, split, set);
    for (size_t i = 0; i < count; i++)
        if (npi_pair_key(pairs[i]) == npi_pair_key(pair))
            return 1;
    return 0;
}

/* Counts the non-links that could be drawn and are not held out. */
static size_t count_free(const npgnn_split *split, const npi_population *field)
{
    size_t count = 0;
    for (int32_t u = 0; u < split->graph->n; u++)
        for (int32_t v = u + 1; v < split->graph->n; v++) {
            npgnn_pair pair = {u, v};
            count += !npgnn_graph_has_edge(split->graph, u, v) && !is_listed(split, NPGNN_SET_VAL, pair) &&
                     !is_listed(split, NPGNN_SET_TEST, pair) && npi_population_class(field, pair) >= 0;
        }
    return count;
}

/* Additional non-links are not edges, not held out, not repeated, of the kinds of the validation links, and complete where
 * all are wanted of the only kind. */
static void test_additional_non_links(void **state)
{
    (void)state;
    enum { MOST = 2000, FEW = 5 };
    static npgnn_pair more[MOST], again[FEW];
    const npgnn_env env = npi_env_resolve(NULL);
    npgnn_graph *graph = random_graph(60, 150, 3);
    for (int protocol = 0; protocol <= NPGNN_PRODUCTION; protocol++) {
        npgnn_split *split = cut(graph, (npgnn_protocol)protocol, 0.2, 0.2, 0.3, 1);
        npi_population field = npi_split_population(split, NPGNN_SET_VAL);
        int one_kind = protocol == NPGNN_TRANSDUCTIVE || protocol == NPGNN_INDUCTIVE_HIDDEN;
        size_t count = MOST, few = FEW, same = FEW, links[NPI_PAIR_CLASSES], found[NPI_PAIR_CLASSES] = {0};
        npgnn_error err = {0};
        assert_ok(npi_split_draw_non_links(more, &count, split, &env, &err), err);
        assert_true(one_kind ? count == count_free(split, &field) : count < count_free(split, &field));
        for (size_t i = 0; i < count; i++) {
            assert_true(more[i].u != more[i].v && !npgnn_graph_has_edge(graph, more[i].u, more[i].v));
            assert_false(is_listed(split, NPGNN_SET_TEST, more[i]) || is_listed(split, NPGNN_SET_VAL, more[i]));
            assert_true(npi_population_class(&field, more[i]) >= 0);
            found[npi_population_class(&field, more[i])]++;
            for (size_t j = 0; j < i; j++)
                assert_true(npi_pair_key(more[i]) != npi_pair_key(more[j]));
        }
        npi_split_count_classes(links, split, NPGNN_SET_VAL);
        for (int c = 0; c < NPI_PAIR_CLASSES; c++) /* but for those that are held out */
            assert_near((double)found[c], (double)links[c] / (double)split->positives[NPGNN_SET_VAL] * (double)count,
                        2.0 * (double)(split->count[0] + split->count[1]) / 3);
        assert_ok(npi_split_draw_non_links(more, &few, split, &env, &err), err);
        assert_ok(npi_split_draw_non_links(again, &same, split, &env, &err), err);
        assert_true(few == same && few <= FEW);
        assert_memory_equal(more, again, few * sizeof *more);
        npgnn_split_free(split);
    }
    npgnn_graph_free(graph);
}

/* Over many seeds every non-link is equally frequent; `n` and `m` choose between rejection and enumeration. */
static void check_uniform(int32_t n, int64_t m, size_t first, size_t second)
{
    npgnn_graph *graph = random_graph(n, m, 3);
    const size_t count[2] = {first, second};
    const int draws = 3000;
    npgnn_pair pairs[2][512], *out[2] = {pairs[0], pairs[1]};
    npgnn_env env = npi_env_resolve(NULL);
    double share = (double)second / (double)(n * (n - 1) / 2 - m), sum = 0;
    int64_t *drawn = calloc((size_t)n * (size_t)n, sizeof *drawn), kinds = 0;
    assert_non_null(drawn);
    for (int seed = 0; seed < draws; seed++) {
        assert_int_equal(npi_graph_draw_non_links(out, graph, count, (uint64_t)seed, &env, NULL), 0);
        for (size_t i = 0; i < second; i++) {
            npgnn_pair pair = npi_pair_from_key(npi_pair_key(pairs[1][i]));
            drawn[pair.u * n + pair.v]++;
        }
    }
    for (int32_t u = 0; u < n; u++)
        for (int32_t v = u + 1; v < n; v++) {
            if (npgnn_graph_has_edge(graph, u, v)) {
                assert_int_equal(drawn[u * n + v], 0);
                continue;
            }
            double off = (double)drawn[u * n + v] - draws * share;
            sum += off * off / (draws * share * (1 - share));
            kinds++;
        }
    assert_true(fabs(sum - (double)kinds) <= 5 * sqrt(2 * (double)kinds)); /* five standard deviations */
    free(drawn);
    npgnn_graph_free(graph);
}

static void test_uniform_negatives(void **state)
{
    (void)state;
    check_uniform(60, 120, 30, 90);  /* sparse: rejection */
    check_uniform(30, 200, 80, 120); /* most non-edges wanted: enumeration */
    check_uniform(30, 400, 4, 8);    /* few non-edges exist: enumeration */
}

/* Degree-matched non-links against their definition: the probability of (u, v), for every pair of nodes, is first(u)
 * second(v) over the sum of these products over all non-links. */
static void test_matched_non_links(void **state)
{
    (void)state;
    enum { N = 100, DRAWS = 400000 };
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_pair *pairs = calloc(DRAWS, sizeof *pairs), *again = calloc(DRAWS, sizeof *again);
    assert_ok(npgnn_graph_synthetic(&graph, "nodes=100,degree=6,seed=4", NULL, &err), err);
    for (npgnn_protocol protocol = NPGNN_TRANSDUCTIVE; protocol <= NPGNN_PRODUCTION; protocol++) {
        npgnn_split *split = NULL;
        npgnn_split_options how = {.size = sizeof how};
        double first[N] = {0}, second[N] = {0}, total = 0, sum = 0, kinds = 0;
        static double seen[N][N];
        memset(seen, 0, sizeof seen);
        npgnn_split_options_default(&how, protocol, NULL);
        how.test = protocol == NPGNN_TRANSDUCTIVE ? 0.1 : 0.3;
        assert_ok(npgnn_split_new(&split, graph, &how, NULL, &err), err);
        for (size_t i = 0; i < split->positives[NPGNN_SET_TEST]; i++) {
            npgnn_pair link = split->pairs[NPGNN_SET_TEST][i];
            int u_new = !split->role || split->role[link.u] == NPI_NODE_TEST;
            int v_new = !split->role || split->role[link.v] == NPI_NODE_TEST;
            double share = u_new && v_new ? 0.5 : u_new; /* how often u is the held-out end */
            first[link.u] += share;
            first[link.v] += 1 - share;
            second[link.u] += 1 - share;
            second[link.v] += share;
        }
        assert_int_equal(npi_split_draw_matched(pairs, DRAWS, split), DRAWS);
        assert_int_equal(npi_split_draw_matched(again, DRAWS, split), DRAWS);
        assert_memory_equal(pairs, again, DRAWS * sizeof *pairs);
        for (int i = 0; i < DRAWS; i++)
            seen[pairs[i].u][pairs[i].v]++;
        for (int32_t u = 0; u < N; u++)
            for (int32_t v = 0; v < N; v++)
                total += u == v || npgnn_graph_has_edge(graph, u, v) ? 0 : first[u] * second[v];
        for (int32_t u = 0; u < N; u++)
            for (int32_t v = 0; v < N; v++) {
                double expected = DRAWS * first[u] * second[v] / total;
                if (u == v || npgnn_graph_has_edge(graph, u, v) || expected == 0) {
                    assert_true(seen[u][v] == 0);
                    continue;
                }
                sum += (seen[u][v] - expected) * (seen[u][v] - expected) / expected;
                kinds++;
            }
        assert_true(kinds > 10 && fabs(sum - kinds) <= 5 * sqrt(2 * kinds)); /* five standard deviations */
        npgnn_split_free(split);
    }
    free(pairs);
    free(again);
    npgnn_graph_free(graph);
}

/* A graph without any pair to draw ends the drawing. */
static void test_matched_in_complete_graph(void **state)
{
    (void)state;
    npgnn_pair edges[15], out[3];
    int count = 0;
    for (int32_t u = 0; u < 6; u++)
        for (int32_t v = u + 1; v < 6; v++)
            edges[count++] = (npgnn_pair){u, v};
    npgnn_graph *graph = build(edges, 6, 15);
    npgnn_split split = {.graph = graph, .train = graph, .hash = 7, .pairs = {NULL, edges}, .positives = {0, 15}};
    assert_int_equal(npi_split_draw_matched(out, 3, &split), 0);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns_from_other_non_links), cmocka_unit_test(test_new_nodes_over_time),
        cmocka_unit_test(test_uniform_candidate_pairs),     cmocka_unit_test(test_additional_non_links),
        cmocka_unit_test(test_uniform_negatives),           cmocka_unit_test(test_matched_non_links),
        cmocka_unit_test(test_matched_in_complete_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
