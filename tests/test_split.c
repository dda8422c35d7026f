/* The protocols: sizes, disjoint sets, no leaks, uniform negatives; and the check that finds leaks put in by hand. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "graph/negative.h"
#include "graph/pair.h"
#include "graph/split.h"

static npgnn_graph *build(const npgnn_pair *edges, int32_t n, int64_t count)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, n, count, 0, NULL, &err), err);
    return graph;
}

/* A graph of exactly m random edges. */
static npgnn_graph *random_graph(int32_t n, int64_t m, uint64_t seed)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, 0);
    npgnn_pair *edges = calloc((size_t)m, sizeof *edges);
    npgnn_graph *graph = NULL;
    int64_t count = 0;
    assert_non_null(edges);
    do {
        for (int64_t i = count; i < m; i++) {
            edges[i].u = (int32_t)npi_rng_below(&rng, (uint64_t)n);
            edges[i].v = (int32_t)npi_rng_below(&rng, (uint64_t)n);
        }
        npgnn_graph_free(graph);
        graph = build(edges, n, m);
        count = graph->m;
        npi_graph_edge_list(edges, graph); /* the different ones stay, the rest is drawn again */
    } while (count < m);
    free(edges);
    return graph;
}

static npgnn_split *cut(const npgnn_graph *graph, npgnn_protocol protocol, double test, double val, double train_nodes,
                        uint64_t seed)
{
    npgnn_split_options options = {protocol, test, val, train_nodes, seed, 1, -1};
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_split_new(&split, graph, &options, NULL, &err), err);
    assert_ok(npgnn_split_check(split, &err), err);
    return split;
}

static int refused(const npgnn_graph *graph, npgnn_protocol protocol, double test, double val, double train_nodes,
                   const char *word)
{
    npgnn_split_options options = {protocol, test, val, train_nodes, 1, 1, -1};
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    int code = npgnn_split_new(&split, graph, &options, NULL, &err);
    int ok = code == NPGNN_E_ARGUMENT && !split && strstr(err.text, word);
    if (!ok)
        fprintf(stderr, "expected \"%s\", got %d: %s\n", word, code, err.text);
    npgnn_split_free(split);
    return ok;
}

/* Every property of the sets, counted without the library's own check: each pair of nodes is in one place at most, links
 * are links, non-links are not. */
static void check_sets(const npgnn_split *split)
{
    const npgnn_graph *graph = split->graph;
    unsigned char *seen = calloc((size_t)graph->n * (size_t)graph->n, 1);
    const int32_t *map;
    const npgnn_graph *train = npgnn_split_train(&map, split);
    assert_non_null(seen);
    for (int32_t i = 0; i < train->n; i++)
        for (int64_t p = train->a.ptr[i]; p < train->a.ptr[i + 1]; p++) {
            int32_t u = map ? map[i] : i, v = map ? map[train->a.col[p]] : train->a.col[p];
            assert_true(npgnn_graph_has_edge(graph, u, v));
            seen[u * graph->n + v] = 1;
        }
    for (npgnn_set set = NPGNN_SET_VAL; set <= NPGNN_SET_TEST; set++) {
        const npgnn_pair *pairs;
        size_t positives, count = npgnn_split_pairs(&pairs, &positives, split, set);
        assert_int_equal(count, 2 * positives);
        for (size_t i = 0; i < count; i++) {
            assert_true(pairs[i].u >= 0 && pairs[i].u < pairs[i].v && pairs[i].v < graph->n);
            assert_int_equal(npgnn_graph_has_edge(graph, pairs[i].u, pairs[i].v), i < positives);
            assert_int_equal(seen[pairs[i].u * graph->n + pairs[i].v], 0);
            seen[pairs[i].u * graph->n + pairs[i].v] = 1;
        }
    }
    free(seen);
}

/* ---- the protocols ---- */

static void test_transductive_counts(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(2708, 5278, 1); /* the size of Cora */
    npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, -1, -1, -1, 1);
    assert_int_equal(split->positives[NPGNN_SET_TEST], 527);
    assert_int_equal(split->positives[NPGNN_SET_VAL], 263);
    assert_int_equal(split->train->m, 4488);
    assert_int_equal(split->train->n, 2708);
    assert_null(split->map);
    assert_int_equal(npgnn_split_protocol(split), NPGNN_TRANSDUCTIVE);
    check_sets(split);
    npgnn_split_free(split);

    split = cut(graph, NPGNN_TRANSDUCTIVE, 0.29, 0, -1, 1);
    assert_int_equal(split->positives[NPGNN_SET_TEST], 1530);
    assert_int_equal(split->count[NPGNN_SET_VAL], 0);
    npgnn_split_free(split);

    split = cut(graph, NPGNN_TRANSDUCTIVE, 0, 0, -1, 1);
    assert_int_equal(split->count[NPGNN_SET_TEST], 0);
    assert_int_equal(split->train->m, graph->m);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* 0.29 * 100 is 28.999999999999996 in double arithmetic; people who ask for 29 % expect 29. */
static void test_shares_of_round_numbers(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(60, 100, 1);
    for (int percent = 1; percent < 100; percent++) {
        npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, percent / 100.0, 0, -1, 1);
        assert_int_equal(split->positives[NPGNN_SET_TEST], percent);
        npgnn_split_free(split);
    }
    npgnn_graph_free(graph);
}

static int count_role(const npgnn_split *split, int role)
{
    int count = 0;
    for (int32_t i = 0; i < split->graph->n; i++)
        count += split->role[i] == role;
    return count;
}

/* Every edge is where the roles of its ends send it: counted from scratch. */
static void check_homes(const npgnn_split *split)
{
    size_t train = 0, val = 0, test = 0;
    const npgnn_graph *graph = split->graph;
    for (int32_t u = 0; u < graph->n; u++)
        for (int64_t p = graph->a.ptr[u]; p < graph->a.ptr[u + 1]; p++) {
            int a = split->role[u], b = split->role[graph->a.col[p]];
            int has_val = a == NPI_NODE_VAL || b == NPI_NODE_VAL, has_test = a == NPI_NODE_TEST || b == NPI_NODE_TEST;
            train += !has_val && !has_test;
            val += has_val && !has_test;
            test += has_test && !has_val;
        }
    assert_int_equal(split->train->m, train / 2);
    assert_int_equal(split->positives[NPGNN_SET_VAL], val / 2);
    assert_int_equal(split->positives[NPGNN_SET_TEST], test / 2);
    for (int set = 0; set < 2; set++)
        for (size_t i = 0; i < split->positives[set]; i++) {
            npgnn_pair pair = split->pairs[set][i];
            int own = set == NPGNN_SET_TEST ? NPI_NODE_TEST : NPI_NODE_VAL;
            assert_true(split->role[pair.u] == own || split->role[pair.v] == own);
        }
}

static void test_inductive(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(2708, 5278, 1);
    npgnn_split *split = cut(graph, NPGNN_INDUCTIVE, -1, -1, -1, 1);
    assert_int_equal(count_role(split, NPI_NODE_TEST), 135);
    assert_int_equal(count_role(split, NPI_NODE_VAL), 67);
    assert_int_equal(split->train->n, 2708 - 135 - 67);
    check_homes(split);
    check_sets(split);
    npgnn_split_free(split);

    split = cut(graph, NPGNN_INDUCTIVE, 0.3, 0.3, -1, 1); /* many edges between validation and test */
    assert_true((size_t)split->train->m + split->positives[0] + split->positives[1] < (size_t)graph->m);
    check_homes(split);
    check_sets(split);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

static void test_few_shot(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(1001, 3000, 1);
    const double shares[] = {0.3, 0.5, 0.7};
    for (int i = 0; i < 3; i++) {
        npgnn_split *split = cut(graph, NPGNN_FEW_SHOT, -1, -1, shares[i], 1);
        assert_int_equal(split->train->n, (int)(shares[i] * 1001));
        assert_int_equal(count_role(split, NPI_NODE_VAL), 0);
        assert_int_equal(count_role(split, NPI_NODE_TEST), 1001 - split->train->n);
        check_homes(split);
        check_sets(split);
        npgnn_split_free(split);
    }
    npgnn_split *split = cut(graph, NPGNN_FEW_SHOT, -1, 0.1, -1, 1);
    assert_int_equal(split->train->n, 300);
    assert_int_equal(count_role(split, NPI_NODE_VAL), 100);
    check_homes(split);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* ---- protocols of new nodes ---- */

static int own_role(int set)
{
    return set == NPGNN_SET_TEST ? NPI_NODE_TEST : NPI_NODE_VAL;
}

/* Every link between two hidden nodes of a set is tested, no other is, and the non-links are of the same kind. */
static void test_inductive_hidden(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 4000, 1);
    npgnn_split *split = cut(graph, NPGNN_INDUCTIVE_HIDDEN, -1, -1, -1, 1);
    size_t between[2] = {0};
    check_sets(split);
    assert_int_equal(count_role(split, NPI_NODE_TEST), 30);
    assert_int_equal(count_role(split, NPI_NODE_VAL), 30);
    assert_int_equal(split->known->m, split->train->m);
    for (int set = 0; set < 2; set++) {
        for (int32_t u = 0; u < graph->n; u++)
            for (int64_t p = graph->a.ptr[u]; p < graph->a.ptr[u + 1]; p++)
                between[set] += u < graph->a.col[p] && split->role[u] == own_role(set) &&
                                split->role[graph->a.col[p]] == own_role(set);
        assert_int_equal(split->positives[set], between[set]);
        for (size_t i = 0; i < split->count[set]; i++) {
            assert_int_equal(split->role[split->pairs[set][i].u], own_role(set));
            assert_int_equal(split->role[split->pairs[set][i].v], own_role(set));
        }
    }
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* The links of a new node are known or tested, half and half; training knows neither. */
static void test_production(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 2000, 1);
    npgnn_split *split = cut(graph, NPGNN_PRODUCTION, -1, -1, -1, 1);
    int64_t touching = 0, across = 0;
    check_sets(split);
    for (int32_t u = 0; u < graph->n; u++)
        for (int64_t p = graph->a.ptr[u]; p < graph->a.ptr[u + 1]; p++) {
            int a = split->role[u], b = split->role[graph->a.col[p]];
            touching += u < graph->a.col[p] && (a != NPI_NODE_TRAIN || b != NPI_NODE_TRAIN);
            across += a == NPI_NODE_TEST && b == NPI_NODE_VAL;
        }
    int64_t held_out = (int64_t)(split->positives[0] + split->positives[1]);
    int64_t revealed = split->known->m - split->train->m;
    assert_int_equal(held_out + revealed + across, touching);
    assert_in_range(held_out - revealed, 0, 2); /* halves, rounded down in each set */
    for (int set = 0; set < 2; set++) {
        for (size_t i = 0; i < split->count[set]; i++) {
            int a = split->role[split->pairs[set][i].u], b = split->role[split->pairs[set][i].v];
            assert_false(npgnn_graph_has_edge(split->known, split->pairs[set][i].u, split->pairs[set][i].v));
            assert_true(a == own_role(set) || b == own_role(set));
            assert_true(a != own_role(!set) && b != own_role(!set));
        }
    }
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

static size_t negatives_at(const npgnn_graph *graph, npgnn_protocol protocol, double ratio, size_t *positives)
{
    npgnn_split_options options;
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    npgnn_split_options_default(&options, protocol);
    options.negative_ratio = ratio;
    assert_ok(npgnn_split_new(&split, graph, &options, NULL, &err), err);
    *positives = split->positives[NPGNN_SET_TEST];
    size_t negatives = split->count[NPGNN_SET_TEST] - *positives;
    npgnn_split_free(split);
    return negatives;
}

static void test_ratio(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 2000, 1); /* 44850 pairs: 21.425 non-links to a link */
    size_t positives;
    for (npgnn_protocol protocol = NPGNN_TRANSDUCTIVE; protocol <= NPGNN_PRODUCTION; protocol++) {
        size_t negatives = negatives_at(graph, protocol, 0, &positives);
        assert_int_equal(negatives, positives);
        negatives = negatives_at(graph, protocol, 7.5, &positives);
        assert_int_equal(negatives, 15 * positives / 2);
        negatives = negatives_at(graph, protocol, NPGNN_RATIO_FULL, &positives);
        if (protocol != NPGNN_INDUCTIVE_HIDDEN) /* which may have fewer pairs than that */
            assert_int_equal(negatives, (size_t)(21.425 * (double)positives));
        assert_true(negatives + positives <= 435 || protocol != NPGNN_INDUCTIVE_HIDDEN); /* of 30 nodes */
        assert_true(negatives > 15 * positives);
    }
    npgnn_split_options options = {NPGNN_TRANSDUCTIVE, -1, -1, -1, 1, 400, -1};
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    assert_int_equal(npgnn_split_new(&split, graph, &options, NULL, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "has only 42850"));
    options.negative_ratio = 0.5;
    assert_int_equal(npgnn_split_new(&split, graph, &options, NULL, &err), NPGNN_E_ARGUMENT);
    options.negative_ratio = 1e9;
    assert_int_equal(npgnn_split_new(&split, graph, &options, NULL, &err), NPGNN_E_ARGUMENT);
    npgnn_graph_free(graph);
}

/* All pairs of a field come up equally often, by rejection (few wanted) and by enumeration (most wanted). */
static void test_uniform_fields(void **state)
{
    (void)state;
    const npgnn_pair edges[3] = {{0, 1}, {1, 5}, {2, 9}};
    const unsigned char role[10] = {NPI_NODE_TEST, NPI_NODE_TEST, NPI_NODE_TEST, NPI_NODE_TEST, NPI_NODE_VAL};
    const npgnn_env env = npi_env(NULL);
    npgnn_graph *graph = build(edges, 10, 3);
    const npi_field field = {graph, role, NPI_NODE_TEST, 1};
    assert_int_equal(npi_field_available(&field), 6 + 4 * 5 - 3);
    for (size_t wanted = 2; wanted <= 20; wanted += 18) {
        int seen[10][10] = {{0}};
        const int rounds = 4000;
        for (int seed = 0; seed < rounds; seed++) {
            npgnn_pair out[20];
            npgnn_error err = {0};
            assert_ok(npi_field_draw(out, &field, wanted, (uint64_t)seed, &env, &err), err);
            for (size_t i = 0; i < wanted; i++)
                seen[out[i].u][out[i].v]++;
        }
        double expected = rounds * (double)wanted / 23, deviation = sqrt(expected);
        for (int32_t u = 0; u < 10; u++)
            for (int32_t v = u + 1; v < 10; v++) {
                int inside = u < 4 && v != 4 && !npgnn_graph_has_edge(graph, u, v);
                int count = seen[u][v] + seen[v][u];
                assert_true(inside ? fabs(count - expected) < 5 * deviation : count == 0);
            }
    }
    npgnn_pair out[24];
    assert_int_equal(npi_field_draw(out, &field, 24, 1, &env, NULL), NPGNN_E_ARGUMENT);
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

/* More non-links than a split has itself: no links, none that is tested, none twice, and no more than there are. */
static void test_more_non_links(void **state)
{
    (void)state;
    enum { MOST = 2000 };
    static npgnn_pair more[MOST], again[MOST];
    const npgnn_env env = npi_env(NULL);
    npgnn_graph *graph = random_graph(60, 150, 3);
    const size_t there = 60 * 59 / 2 - 150;
    for (int protocol = 0; protocol <= NPGNN_PRODUCTION; protocol++) {
        npgnn_split *split = cut(graph, (npgnn_protocol)protocol, 0.2, 0.2, 0.3, 1);
        size_t count = MOST, few = 5;
        npgnn_error err = {0};
        assert_ok(npi_split_more_non_links(more, &count, split, NPGNN_SET_VAL, &env, &err), err);
        for (size_t i = 0; i < count; i++) {
            assert_true(more[i].u != more[i].v && !npgnn_graph_has_edge(graph, more[i].u, more[i].v));
            assert_false(is_listed(split, NPGNN_SET_TEST, more[i]));
            for (size_t j = 0; j < i; j++)
                assert_true(npi_pair_key(more[i]) != npi_pair_key(more[j]));
        }
        size_t tested = split->count[NPGNN_SET_TEST] - split->positives[NPGNN_SET_TEST];
        assert_true(protocol >= NPGNN_INDUCTIVE_HIDDEN ? count > 0 : count == there - tested);
        assert_ok(npi_split_more_non_links(more, &few, split, NPGNN_SET_VAL, &env, &err), err);
        few = 5;
        assert_ok(npi_split_more_non_links(again, &few, split, NPGNN_SET_VAL, &env, &err), err);
        assert_memory_equal(more, again, few * sizeof *more);
        npgnn_split_free(split);
    }
    npgnn_graph_free(graph);
}

static void test_refusals(void **state)
{
    (void)state;
    const npgnn_pair star[6] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}};
    npgnn_graph *graph = random_graph(100, 200, 1), *small = build(star, 8, 6);
    assert_true(refused(graph, NPGNN_TRANSDUCTIVE, 0.6, 0.4, -1, "leave some training"));
    assert_true(refused(graph, NPGNN_TRANSDUCTIVE, (double)NAN, 0.4, -1, "leave some training"));
    assert_true(refused(graph, NPGNN_INDUCTIVE, 1.5, 0.1, -1, "leave some training"));
    assert_true(refused(graph, NPGNN_FEW_SHOT, -1, -1, 1, "for the test"));
    assert_true(refused(graph, NPGNN_FEW_SHOT, -1, -1, 0, "for the test"));
    assert_true(refused(graph, NPGNN_FEW_SHOT, -1, 0.7, 0.3, "for the test"));
    assert_true(refused(graph, NPGNN_FEW_SHOT, -1, -1, (double)NAN, "for the test"));
    assert_true(refused(graph, (npgnn_protocol)7, -1, -1, -1, "protocol"));
    assert_true(refused(graph, NPGNN_FEW_SHOT, -1, -1, 0.011, "no link for training")); /* one training node */
    assert_true(refused(small, NPGNN_TRANSDUCTIVE, 0.1, 0, -1, "test set would be empty"));
    assert_true(refused(small, NPGNN_TRANSDUCTIVE, 0.2, 0.1, -1, "validation set would be empty"));
    npgnn_graph_free(small);
    npgnn_graph_free(graph);
}

static void test_seeds(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 900, 1);
    for (npgnn_protocol protocol = NPGNN_TRANSDUCTIVE; protocol <= NPGNN_PRODUCTION; protocol++) {
        npgnn_split *a = cut(graph, protocol, -1, -1, -1, 5), *b = cut(graph, protocol, -1, -1, -1, 5);
        npgnn_split *c = cut(graph, protocol, -1, -1, -1, 6);
        assert_int_equal(a->count[1], b->count[1]);
        assert_memory_equal(a->pairs[1], b->pairs[1], a->count[1] * sizeof *a->pairs[1]);
        assert_true(npgnn_split_hash(a) == npgnn_split_hash(b));
        assert_true(npgnn_split_hash(a) != npgnn_split_hash(c));
        npgnn_split_free(a);
        npgnn_split_free(b);
        npgnn_split_free(c);
    }
    npgnn_graph_free(graph);
}

/* The same content in another order and direction is the same split. */
static void test_assembled_hash(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 900, 1);
    npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, -1, -1, -1, 5), *again = NULL;
    npgnn_env env = npi_env(NULL);
    npgnn_error err = {0};
    npgnn_pair *edges = calloc((size_t)split->train->m, sizeof *edges), *pairs[2];
    assert_non_null(edges);
    npi_graph_edge_list(edges, split->train);
    for (int set = 0; set < 2; set++) {
        pairs[set] = npi_alloc(&env, split->count[set], sizeof *pairs[set], NULL);
        assert_non_null(pairs[set]);
        for (size_t i = 0; i < split->count[set]; i++) {
            size_t half = split->positives[set];
            size_t from = i < half ? half - 1 - i : split->count[set] - 1 - (i - half);
            pairs[set][i] = (npgnn_pair){split->pairs[set][from].v, split->pairs[set][from].u};
        }
    }
    assert_ok(npi_split_assemble(&again, graph, NPGNN_TRANSDUCTIVE, edges, split->train->m, NULL, pairs, split->count,
                                 split->positives, &env, &err),
              err);
    assert_true(npgnn_split_hash(split) == npgnn_split_hash(again));
    npgnn_split_free(again);
    npgnn_split_free(split);
    free(edges);
    npgnn_graph_free(graph);
}

/* ---- negatives ---- */

/* Every non-edge equally often, over many seeds; `n` and `m` choose between rejection and enumeration. */
static void check_uniform(int32_t n, int64_t m, size_t first, size_t second)
{
    npgnn_graph *graph = random_graph(n, m, 3);
    const size_t count[2] = {first, second};
    const int draws = 3000;
    npgnn_pair pairs[2][512], *out[2] = {pairs[0], pairs[1]};
    npgnn_env env = npi_env(NULL);
    double share = (double)second / (double)(n * (n - 1) / 2 - m), sum = 0;
    int64_t *drawn = calloc((size_t)n * (size_t)n, sizeof *drawn), kinds = 0;
    assert_non_null(drawn);
    for (int seed = 0; seed < draws; seed++) {
        assert_int_equal(npi_negatives_draw(out, graph, count, (uint64_t)seed, &env, NULL), 0);
        for (size_t i = 0; i < second; i++) {
            npgnn_pair pair = npi_key_pair(npi_pair_key(pairs[1][i]));
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

static void test_dense_graphs(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(30, 335, 1); /* 100 non-edges */
    assert_true(refused(graph, NPGNN_TRANSDUCTIVE, 0.3, 0.1, -1, "has only 100"));
    npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, 0.2, 0.0986, -1, 1); /* 67 + 33: all of them */
    assert_int_equal(split->positives[0] + split->positives[1], 100);
    check_sets(split);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* ---- leaks put in by hand ---- */

static void expect_leak(const npgnn_split *split, const char *word)
{
    npgnn_error err = {0};
    int code = npgnn_split_check(split, &err);
    if (code != NPGNN_E_MISMATCH || !strstr(err.text, word))
        fail_msg("expected \"%s\", got %d: %s", word, code, err.text);
}

/* Checks with one pair replaced, then puts it back. */
static void expect_pair_leak(npgnn_split *split, int set, size_t index, npgnn_pair bad, const char *word)
{
    npgnn_pair good = split->pairs[set][index];
    split->pairs[set][index] = bad;
    expect_leak(split, word);
    split->pairs[set][index] = good;
    assert_int_equal(npgnn_split_check(split, NULL), 0);
}

static npgnn_pair some_edge(const npgnn_graph *graph)
{
    npgnn_pair edge = {0, 0};
    while (graph->a.ptr[edge.u] == graph->a.ptr[edge.u + 1])
        edge.u++;
    edge.v = graph->a.col[graph->a.ptr[edge.u]];
    return edge;
}

static npgnn_pair reversed(npgnn_pair pair)
{
    return (npgnn_pair){pair.v, pair.u};
}

static void test_leaking_pairs(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 900, 1);
    npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, -1, -1, -1, 5);
    npgnn_pair *val = split->pairs[NPGNN_SET_VAL], *test = split->pairs[NPGNN_SET_TEST];
    size_t negative = split->positives[NPGNN_SET_TEST];
    npgnn_pair known = some_edge(split->train);
    expect_pair_leak(split, NPGNN_SET_TEST, 3, known, "leaks");
    expect_pair_leak(split, NPGNN_SET_TEST, 3, reversed(known), "leaks");
    expect_pair_leak(split, NPGNN_SET_TEST, 3, test[negative], "not in the graph");
    expect_pair_leak(split, NPGNN_SET_TEST, negative, known, "a link of the graph");
    expect_pair_leak(split, NPGNN_SET_VAL, split->positives[NPGNN_SET_VAL], test[0], "a link of the graph");
    expect_pair_leak(split, NPGNN_SET_VAL, 0, test[0], "in the validation set and in the test set");
    expect_pair_leak(split, NPGNN_SET_VAL, 0, reversed(test[0]), "in the validation set and in the test set");
    expect_pair_leak(split, NPGNN_SET_TEST, negative, reversed(val[split->positives[NPGNN_SET_VAL]]), "occurs twice");
    expect_pair_leak(split, NPGNN_SET_TEST, negative + 1, test[negative], "in the test set and in the test set");
    expect_pair_leak(split, NPGNN_SET_TEST, 0, (npgnn_pair){7, 7}, "pair of two");
    expect_pair_leak(split, NPGNN_SET_TEST, 0, (npgnn_pair){-1, 7}, "pair of two");
    expect_pair_leak(split, NPGNN_SET_TEST, 0, (npgnn_pair){7, 300}, "pair of two");
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

static void test_leaking_training_graph(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 900, 1), *bad = NULL;
    npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, -1, -1, -1, 5);
    npgnn_graph *good = split->train;
    npgnn_pair edges[2] = {some_edge(good), split->pairs[NPGNN_SET_VAL][0]};

    assert_int_equal(npi_graph_with_edges(&bad, graph, edges, 2, NULL), 0); /* a validation link in training */
    split->train = bad;
    expect_leak(split, "also a training link");
    npgnn_graph_free(bad);

    edges[1] = split->pairs[NPGNN_SET_TEST][split->positives[NPGNN_SET_TEST]]; /* a non-link in training */
    assert_int_equal(npi_graph_with_edges(&bad, graph, edges, 2, NULL), 0);
    split->train = bad;
    expect_leak(split, "is not a link of the graph");
    npgnn_graph_free(bad);

    split->train = good;
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* A link between two training nodes is no test link, even when the training graph was made to do without it. */
static void test_link_of_training_nodes(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 900, 1), *less = NULL, *less_known = NULL;
    npgnn_split *split = cut(graph, NPGNN_INDUCTIVE, -1, -1, -1, 5);
    npgnn_graph *good = split->train, *known = split->known;
    npgnn_pair edges[900];
    npi_graph_edge_list(edges, good);
    assert_int_equal(npi_graph_with_edges(&less, good, edges + 1, good->m - 1, NULL), 0);
    npi_graph_edge_list(edges, known);
    assert_int_equal(npi_graph_with_edges(&less_known, known, edges + 1, known->m - 1, NULL), 0);
    split->train = less;
    expect_leak(split, "has other links among training nodes");
    split->known = less_known;
    expect_pair_leak(split, NPGNN_SET_TEST, 0, edges[0], "must touch a test node");
    split->train = good;
    split->known = known;
    npgnn_graph_free(less);
    npgnn_graph_free(less_known);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

static void test_leaking_nodes(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 900, 1);
    npgnn_split *split = cut(graph, NPGNN_INDUCTIVE, 0.2, 0.2, -1, 5);
    npgnn_graph *good = split->train;
    npgnn_pair between = {0, 0};
    for (int32_t u = 0; u < graph->n; u++)
        for (int64_t p = graph->a.ptr[u]; p < graph->a.ptr[u + 1]; p++)
            if (split->role[u] == NPI_NODE_TEST && split->role[graph->a.col[p]] == NPI_NODE_VAL)
                between = (npgnn_pair){u, graph->a.col[p]};
    expect_pair_leak(split, NPGNN_SET_TEST, 0, between, "none of the other");
    expect_pair_leak(split, NPGNN_SET_VAL, 0, between, "none of the other");
    expect_pair_leak(split, NPGNN_SET_VAL, 0, split->pairs[NPGNN_SET_TEST][0], "must touch a validation node");

    split->train = graph; /* every node is known */
    expect_leak(split, "held-out nodes leak");
    split->train = good;

    int32_t known = split->map[5], held_out = split->pairs[NPGNN_SET_TEST][0].u;
    if (split->role[held_out] != NPI_NODE_TEST)
        held_out = split->pairs[NPGNN_SET_TEST][0].v;
    split->role[known] = NPI_NODE_TEST; /* a test node in the training graph, in exchange for another one */
    split->role[held_out] = NPI_NODE_TRAIN;
    expect_leak(split, "is in the training graph");
    split->role[known] = NPI_NODE_TRAIN;
    split->role[held_out] = NPI_NODE_TEST;
    split->map[5] = split->map[4];
    expect_leak(split, "ascending");
    split->map[5] = known;
    split->protocol = NPGNN_TRANSDUCTIVE;
    expect_leak(split, "roles");
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* A link of the production protocol that is known is not tested, and nothing else becomes known. */
static void test_leaking_known(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 2000, 1), *more = NULL;
    npgnn_split *split = cut(graph, NPGNN_PRODUCTION, -1, -1, -1, 5);
    npgnn_graph *good = split->known;
    npgnn_pair edges[2001] = {split->pairs[NPGNN_SET_TEST][0]};
    npi_graph_edge_list(edges + 1, good);
    assert_int_equal(npi_graph_with_edges(&more, good, edges, good->m + 1, NULL), 0);
    split->known = more;
    expect_leak(split, "known when predicting");
    split->known = graph; /* all links */
    expect_leak(split, "known when predicting");
    split->known = good;
    split->protocol = NPGNN_INDUCTIVE;
    expect_leak(split, "leaks: one of its nodes is held out");
    split->protocol = NPGNN_INDUCTIVE_HIDDEN;
    expect_leak(split, "must join two");
    split->protocol = NPGNN_PRODUCTION;
    expect_pair_leak(split, NPGNN_SET_VAL, 0, split->pairs[NPGNN_SET_TEST][0], "must touch a validation node");
    npgnn_graph_free(more);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* ---- memory ---- */

static int allocations_left;

static void *failing_resize(void *user, void *block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return allocations_left-- > 0 ? realloc(block, size) : NULL;
}

/* Lets 0, 1, 2... allocations succeed: always a clean E_MEMORY, until all are enough. */
static void test_out_of_memory(void **state)
{
    (void)state;
    const npgnn_env env = {.allocator = {failing_resize, NULL}};
    const npgnn_pair ring[10] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 0}};
    const npgnn_protocol protocols[] = {NPGNN_TRANSDUCTIVE, NPGNN_INDUCTIVE, NPGNN_PRODUCTION};
    for (int i = 0; i < 3; i++) {
        npgnn_split_options options = {protocols[i], 0.2, 0, -1, 1, 1, -1};
        npgnn_graph *graph = NULL;
        npgnn_split *split = NULL;
        int code = NPGNN_E_MEMORY;
        allocations_left = 1000;
        assert_int_equal(npgnn_graph_from_arrays(&graph, ring, NULL, 10, 10, 0, &env, NULL), 0);
        for (int allowed = 0; code == NPGNN_E_MEMORY; allowed++) {
            assert_in_range(allowed, 0, 100);
            allocations_left = allowed;
            code = npgnn_split_new(&split, graph, &options, &env, NULL);
            assert_true(code == 0 || (code == NPGNN_E_MEMORY && !split));
        }
        assert_int_equal(code, 0);
        npgnn_split_free(split);
        npgnn_graph_free(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transductive_counts),
        cmocka_unit_test(test_shares_of_round_numbers),
        cmocka_unit_test(test_inductive),
        cmocka_unit_test(test_few_shot),
        cmocka_unit_test(test_inductive_hidden),
        cmocka_unit_test(test_production),
        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_uniform_fields),
        cmocka_unit_test(test_more_non_links),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_assembled_hash),
        cmocka_unit_test(test_uniform_negatives),
        cmocka_unit_test(test_dense_graphs),
        cmocka_unit_test(test_leaking_pairs),
        cmocka_unit_test(test_leaking_training_graph),
        cmocka_unit_test(test_link_of_training_nodes),
        cmocka_unit_test(test_leaking_nodes),
        cmocka_unit_test(test_leaking_known),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
