/* What test_golden and test_gradients build their networks from: graphs with their normalisation, and single parameters
 * by name, row and column. */
#ifndef NPI_TESTS_FIXTURE_H
#define NPI_TESTS_FIXTURE_H

#include <string.h>

#include "check.h"
#include "graph/graph.h"
#include "linalg/adj.h"
#include "model/params.h"

/* The environment of all tests here: one thread, for the networks are tiny. */
static inline const npgnn_env *fixture_env(void)
{
    static npgnn_env env = {.size = sizeof env};
    env = npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = 1});
    return &env;
}

typedef struct fixture_graph {
    npgnn_graph *graph;
    npi_adj adj; /* borrows the pattern of graph */
} fixture_graph;

/* x (n, f) row-major, NULL for a context, whose features are those of the whole graph. */
static inline fixture_graph fixture_graph_new(const npgnn_pair *edges, int64_t m, const float *x, int32_t n, int32_t f)
{
    npgnn_error err = {0};
    fixture_graph g = {0};
    assert_ok(npgnn_graph_from_arrays(&g.graph, edges, x, n, m, f, fixture_env(), &err), err);
    g.adj.a = g.graph->a;
    g.adj.scale = npi_alloc(fixture_env(), (size_t)n, sizeof *g.adj.scale, &err);
    assert_non_null(g.adj.scale);
    npi_adj_normalize(&g.adj, 1);
    if (x)
        assert_ok(npi_features_transpose(g.graph->x, &err), err);
    return g;
}

static inline void fixture_graph_free(fixture_graph *g)
{
    npi_free(fixture_env(), g->adj.scale);
    npgnn_graph_free(g->graph);
}

/* The index of the tensor with this name, -1 where there is none. */
static inline int fixture_tensor(const npi_params *params, const char *name)
{
    for (int t = 0; t < NPI_TENSORS; t++)
        if (strcmp(npi_params_tensor(params, t).name, name) == 0)
            return t;
    return -1;
}

/* Where the element of a tensor lies in the block: npi_params_read gives floats only, and the double build needs
 * more. */
static inline real *fixture_element(const npi_params *p, int tensor, int row, int col)
{
    const char *name = npi_params_tensor(p, tensor).name;
    npi_sizes s = p->size;
    if (strcmp(name, "W1") == 0)
        return p->wx + (size_t)row * (s.h + s.g) + col;
    if (strcmp(name, "W_mu") == 0)
        return p->wr + row * 2 * s.d + col;
    if (strcmp(name, "W_sigma") == 0)
        return p->wr + row * 2 * s.d + s.d + col;
    if (strcmp(name, "W2") == 0)
        return row < s.f ? p->wx + (size_t)row * (s.h + s.g) + s.h + col : p->wz + (row - s.f) * s.g + col;
    if (strcmp(name, "b1") == 0)
        return p->b1 + col;
    if (strcmp(name, "W3") == 0)
        return p->w3 + row * s.k + col;
    assert_string_equal(name, "b2");
    return p->b2 + col;
}

#endif
