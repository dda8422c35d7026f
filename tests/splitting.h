/* What the tests of the protocols, of non-links and of leaks share: random graphs, and splits of them. */
#ifndef NPI_TESTS_SPLITTING_H
#define NPI_TESTS_SPLITTING_H

#include "base/rng.h"
#include "check.h"
#include "graph/split.h"

static inline npgnn_graph *build(const npgnn_pair *edges, int32_t n, int64_t count)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, n, count, 0, NULL, &err), err);
    return graph;
}

/* A graph of exactly m random edges. */
static inline npgnn_graph *random_graph(int32_t n, int64_t m, uint64_t seed)
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
        npi_graph_list_edges(edges, graph); /* the different ones stay, the rest is drawn again */
    } while (count < m);
    free(edges);
    return graph;
}

static inline npgnn_split *cut(const npgnn_graph *graph, npgnn_protocol protocol, double test, double val,
                               double train_nodes, uint64_t seed)
{
    npgnn_split_options options = {.size = sizeof options, protocol, test, val, train_nodes, seed, 1, -1};
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_split_new(&split, graph, &options, NULL, &err), err);
    assert_ok(npgnn_split_check(split, &err), err);
    return split;
}

#endif
