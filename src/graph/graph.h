/* The graph: undirected, without self loops, with features and names. Immutable once it is built. */
#ifndef NPI_GRAPH_GRAPH_H
#define NPI_GRAPH_GRAPH_H

#include "base/names.h"
#include "features/features.h"

struct npgnn_graph {
    npgnn_env env;
    int32_t n;        /* nodes */
    int64_t m;        /* undirected edges */
    npi_csr a;        /* A (n, n), symmetric, zero diagonal, both directions stored; val: weights, NULL: all 1 */
    npi_features *x;  /* X (n, f), never NULL; f = 0 where there are no features */
    npi_names *names; /* names of the nodes, NULL: their indices */
    int32_t *label;   /* (n) class of each node, -1: none; NULL: there are no labels */
    int32_t classes;
    int64_t input_edges, duplicates, reverse, self_loops; /* what the input had, before merging */
    int normalized, binarized;                            /* how X was prepared */
    unsigned char
        *side;    /* (n) of a two-sided graph: 0 source, 1 target; every edge joins one of each. NULL: one-sided */
    double *time; /* (entries of A) when an edge was first made; NULL: unknown. Graphs that are derived from others
                            have no times, unless npi_graph_copy_times gives them. */
    npi_mapping *mapping; /* the file that a, label, side and time lie in (io/npg.h); NULL: they are allocated */
    int fingerprinted;    /* 1: `fingerprint` was stored with the graph and is right */
    uint64_t fingerprint;
};

/* Whether a pair of nodes could be an edge: in a two-sided graph, one that joins the sides. */
static inline int npi_graph_allows(const npgnn_graph *graph, int32_t u, int32_t v)
{
    return u != v && (!graph->side || graph->side[u] != graph->side[v]);
}

/* How many such pairs there are. O(n). */
uint64_t npi_graph_count_pairs(const npgnn_graph *graph);

/* Code uses i + 1 and i + 2 of a node i as 32-bit numbers. */
#define NPI_MAX_NODES (INT32_MAX - 1)

/* What a graph is built from. npi_graph_build takes ownership of x, names, label and side, also on failure; edges and
 * weights stay the caller's. */
typedef struct npi_graph_content {
    int32_t n;
    const npgnn_pair *edges; /* (edge_count) any order and direction, duplicates and loops allowed; ids are below n */
    const float *weights;    /* (edge_count) positive and finite; NULL: all 1 */
    const double *times;     /* (edge_count) NULL: unknown */
    int64_t edge_count;
    npi_features *x; /* NULL: no features */
    npi_names *names;
    int32_t *label;
    int32_t classes;
    unsigned char *side; /* NULL: one-sided */
} npi_graph_content;

int npi_graph_build(npgnn_graph **out, npi_graph_content *content, const npgnn_env *env, npgnn_error *err);

/* edges (m) = each edge once, u < v, ordered by (u, v). */
void npi_graph_list_edges(npgnn_pair *edges, const npgnn_graph *graph);

/* A graph with the same nodes, features and names and other edges (u < v, unique). It shares features and names. An
 * edge has the weight that it has in `graph`, or 1 where it is not an edge there. */
int npi_graph_with_edges(npgnn_graph **out, const npgnn_graph *graph, const npgnn_pair *edges, int64_t count,
                         npgnn_error *err);

/* Gives a graph the times that its edges have in `source`, if that has times. All its edges must be there. */
int npi_graph_copy_times(npgnn_graph *graph, const npgnn_graph *source, npgnn_error *err);

/* A graph with the same edges and additional nodes, which have no edges. `x` and `names`, which it shares, are those
 * of all nodes. `side` is that of the new nodes of a two-sided graph. */
int npi_graph_with_nodes(npgnn_graph **out, const npgnn_graph *graph, npi_features *x, npi_names *names, int side,
                         npgnn_error *err);

/* A graph with additional nodes and edges. x, which it shares, has the features of all nodes, and so does `names`;
 * `side` (new nodes), NULL unless the graph is two-sided. edges (count): u < v, ordered by (u, v), distinct, none of
 * them in `graph`; they weigh 1. O(nodes + edges), one copy of the adjacency. */
int npi_graph_grow(npgnn_graph **out, const npgnn_graph *graph, npi_features *x, npi_names *names,
                   const unsigned char *side, const npgnn_pair *edges, int64_t count, npgnn_error *err);

/* The subgraph induced by `nodes` (ascending): its node i is nodes[i] of `graph`. */
int npi_graph_induce(npgnn_graph **out, const npgnn_graph *graph, const int32_t *nodes, int32_t count,
                     npgnn_error *err);

/* A hash of edges, weights and features. Names and labels do not count. O(n + m + non-zeros), unless it was stored. */
uint64_t npi_graph_fingerprint(const npgnn_graph *graph);

#endif
