/* The context of an iteration: a random part of the training graph, with its normalisation. */
#ifndef NPI_GRAPH_CONTEXT_H
#define NPI_GRAPH_CONTEXT_H

#include "graph/graph.h"
#include "linalg/adj.h"

typedef struct npi_context npi_context;

/* Room for any draw of `kind` (EDGES or NODES) from graph, which must outlive it. A fraction that leaves no edge, or no
 * node, takes one. */
int npi_context_new(npi_context **out, const npgnn_graph *graph, npgnn_context kind, double fraction,
                    const npgnn_env *env, npgnn_error *err);

/* The context of (seed, iteration): exactly round(fraction * m) edges with all nodes, or round(fraction * n) nodes with the
 * edges among them. Allocates nothing; O(n + m). */
void npi_context_draw(npi_context *context, uint64_t seed, uint32_t iteration);

/* The drawn adjacency, and its nodes: node i of it is nodes[i] of the graph; NULL: the same nodes. */
const npi_adj *npi_context_get(const int32_t **nodes, const npi_context *context);
void npi_context_free(npi_context *context);

#endif
