/* npgnn_split_check finds leaks that are planted in pairs, training graphs, held-out nodes and known links. */
#include "check.h"

#include <string.h>

#include "graph/negative.h"
#include "splitting.h"

static void expect_leak(const npgnn_split *split, const char *word)
{
    npgnn_error err = {0};
    int code = npgnn_split_check(split, &err);
    if (code != NPGNN_E_MISMATCH || !strstr(err.text, word))
        fail_msg("expected \"%s\", got %d: %s", word, code, err.text);
}

/* Replaces one pair, expects the check to fail, and restores the pair. */
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
    expect_pair_leak(split, NPGNN_SET_TEST, 3, test[negative], "is not a link of the graph");
    expect_pair_leak(split, NPGNN_SET_TEST, negative, known, "a link of the graph");
    expect_pair_leak(split, NPGNN_SET_VAL, split->positives[NPGNN_SET_VAL], test[0], "a link of the graph");
    expect_pair_leak(split, NPGNN_SET_VAL, 0, test[0], "in the validation set and in the test set");
    expect_pair_leak(split, NPGNN_SET_VAL, 0, reversed(test[0]), "in the validation set and in the test set");
    expect_pair_leak(split, NPGNN_SET_TEST, negative, reversed(val[split->positives[NPGNN_SET_VAL]]), "held out twice");
    expect_pair_leak(split, NPGNN_SET_TEST, negative + 1, test[negative], "in the test set and in the test set");
    expect_pair_leak(split, NPGNN_SET_TEST, 0, (npgnn_pair){7, 7}, "pair of different nodes");
    expect_pair_leak(split, NPGNN_SET_TEST, 0, (npgnn_pair){-1, 7}, "pair of different nodes");
    expect_pair_leak(split, NPGNN_SET_TEST, 0, (npgnn_pair){7, 300}, "pair of different nodes");
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

/* A link between two training nodes cannot be a test link, even where the training graph lacks it. */
static void test_link_of_training_nodes(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 900, 1), *less = NULL, *less_known = NULL;
    npgnn_split *split = cut(graph, NPGNN_INDUCTIVE, -1, -1, -1, 5);
    npgnn_graph *good = split->train, *known = split->known;
    npgnn_pair edges[900];
    npi_graph_list_edges(edges, good);
    assert_int_equal(npi_graph_with_edges(&less, good, edges + 1, good->m - 1, NULL), 0);
    npi_graph_list_edges(edges, known);
    assert_int_equal(npi_graph_with_edges(&less_known, known, edges + 1, known->m - 1, NULL), 0);
    split->train = less;
    expect_leak(split, "are not the training links");
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
    expect_pair_leak(split, NPGNN_SET_TEST, 0, between, "no node of the other");
    expect_pair_leak(split, NPGNN_SET_VAL, 0, between, "no node of the other");
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

/* Production: a known link is not tested, and no other links are known. */
static void test_leaking_known(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 2000, 1), *more = NULL;
    npgnn_split *split = cut(graph, NPGNN_PRODUCTION, -1, -1, -1, 5);
    npgnn_graph *good = split->known;
    npgnn_pair edges[2001] = {split->pairs[NPGNN_SET_TEST][0]};
    npi_graph_list_edges(edges + 1, good);
    assert_int_equal(npi_graph_with_edges(&more, good, edges, good->m + 1, NULL), 0);
    split->known = more;
    expect_leak(split, "known when predicting");
    split->known = graph; /* all links */
    expect_leak(split, "known when predicting");
    split->known = good;
    split->protocol = NPGNN_INDUCTIVE;
    expect_leak(split, "leaks: it has a held-out node");
    split->protocol = NPGNN_INDUCTIVE_HIDDEN;
    expect_leak(split, "must join two");
    split->protocol = NPGNN_PRODUCTION;
    expect_pair_leak(split, NPGNN_SET_VAL, 0, split->pairs[NPGNN_SET_TEST][0], "must touch a validation node");
    npgnn_graph_free(more);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* A held-out pair of a node that has lost its links, and non-links with fewer new nodes than the links have. */
static void test_betrayed(void **state)
{
    (void)state;
    npgnn_graph *graph = random_graph(300, 900, 1);
    npgnn_split *split = cut(graph, NPGNN_TRANSDUCTIVE, -1, -1, -1, 5);
    size_t last = split->count[NPGNN_SET_TEST] - 1;
    npgnn_pair *pair = &split->pairs[NPGNN_SET_TEST][last];
    split->standing[pair->v] = NPI_NODE_UNTESTED;
    expect_leak(split, "random-links");
    npgnn_split_free(split);

    split = cut(graph, NPGNN_FEW_SHOT, -1, -1, -1, 5);
    npi_population field = npi_split_population(split, NPGNN_SET_TEST);
    size_t count[NPI_PAIR_CLASSES], changed = 0;
    npi_split_count_classes(count, split, NPGNN_SET_TEST);
    for (size_t i = split->positives[NPGNN_SET_TEST]; i < split->count[NPGNN_SET_TEST]; i++) {
        npgnn_pair *other = &split->pairs[NPGNN_SET_TEST][i];
        if (npi_population_class(&field, *other) != NPI_BOTH_NEW)
            continue;
        /* one end becomes the next training node that fits */
        for (int32_t v = 0; v < graph->n; v++) {
            npgnn_pair mixed = {other->u, v};
            if (npi_population_class(&field, mixed) == NPI_SOURCE_NEW && !npgnn_graph_has_edge(graph, other->u, v) &&
                (v + (int32_t)i) % 3 == 0) {
                *other = mixed;
                changed++;
                break;
            }
        }
    }
    assert_true(changed > count[NPI_BOTH_NEW] / 2);
    npgnn_error err = {0};
    assert_int_equal(npgnn_split_check(split, &err), NPGNN_E_MISMATCH);
    assert_true(strstr(err.text, "betray") || strstr(err.text, "twice"));
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaking_pairs),          cmocka_unit_test(test_leaking_training_graph),
        cmocka_unit_test(test_link_of_training_nodes), cmocka_unit_test(test_leaking_nodes),
        cmocka_unit_test(test_leaking_known),          cmocka_unit_test(test_betrayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
