/* The graph: undirected, no self loops, both directions stored, features and names beside it. Immutable once made. */
#ifndef NPI_GRAPH_GRAPH_H
#define NPI_GRAPH_GRAPH_H

#include "base/names.h"
#include "features/features.h"

struct npgnn_graph {
    npgnn_env env;
    int32_t n;
    int64_t m;        /* undirected edges */
    npi_csr a;        /* (n, n), symmetric, no diagonal; val: the weights of the links, NULL: all 1 */
    npi_features *x;  /* (n, f); never NULL: f = 0 when there are none */
    npi_names *names; /* NULL: names are the indices */
    int32_t *label;   /* (n) or NULL */
    int32_t classes;
    int64_t input_edges, duplicates, reverse, self_loops; /* as read */
    int normalized, binarized;                            /* how x was prepared */
};

/* What a graph is built from. build takes over x, names and label, also on failure; the edges stay the caller's. */
typedef struct npi_graph_content {
    int32_t n;
    const npgnn_pair *edges; /* any order, direction, with duplicates and loops; ids already checked against n */
    const float *weights;    /* (edge_count), positive and finite; NULL: all 1 */
    int64_t edge_count;
    npi_features *x; /* NULL: no features */
    npi_names *names;
    int32_t *label;
    int32_t classes;
} npi_graph_content;

int npi_graph_build(npgnn_graph **out, npi_graph_content *parts, const npgnn_env *env, npgnn_error *err);

/* Each edge once, u < v, ordered by (u, v). `edges` has room for graph->m. */
void npi_graph_list_edges(npgnn_pair *edges, const npgnn_graph *graph);

/* The same nodes, features and names with others of its edges (u < v, unique), sharing what is equal. Weights are those that the
 * links have in `graph`; 1 for one that is not there. */
int npi_graph_with_edges(npgnn_graph **out, const npgnn_graph *graph, const npgnn_pair *edges, int64_t count,
                         npgnn_error *err);

/* The same links with further nodes, which have none: x and names, both shared, are those of all nodes. */
int npi_graph_with_nodes(npgnn_graph **out, const npgnn_graph *graph, npi_features *x, npi_names *names,
                         npgnn_error *err);

/* The part of the graph on `nodes` (ascending), with the edges among them; node i of it is nodes[i] of `graph`. */
int npi_graph_induce(npgnn_graph **out, const npgnn_graph *graph, const int32_t *nodes, int32_t count,
                     npgnn_error *err);

uint64_t npi_graph_fingerprint(const npgnn_graph *graph);

#endif
