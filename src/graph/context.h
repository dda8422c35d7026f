/* The context of an iteration: a random subgraph of the training graph, with its normalised adjacency. */
#ifndef NPI_GRAPH_CONTEXT_H
#define NPI_GRAPH_CONTEXT_H

#include "graph/graph.h"
#include "linalg/adj.h"

typedef struct npi_context npi_context;

/* Allocates for any draw of `kind` (EDGES or NODES) from graph, which must outlive the context. A fraction that
 * rounds to no edge or no node draws one. */
int npi_context_new(npi_context **out, const npgnn_graph *graph, npgnn_context kind, double fraction,
                    const npgnn_env *env, npgnn_error *err);

/* The same for edges where the nodes are divided among processes: `own` is what this process has of the adjacency of
 * graph, and must outlive the context, too. Drawing is then collective, and draws the same edges. */
int npi_context_new_among(npi_context **out, const npgnn_graph *graph, const npi_adj *own, const npi_partition *rows,
                          double fraction, const npgnn_env *env, npgnn_error *err);

/* Draws the context of (seed, iteration): exactly round(fraction * m) edges with all nodes, or round(fraction * n)
 * nodes with the edges among them. Allocates nothing; O(n + m). */
void npi_context_draw(npi_context *context, uint64_t seed, uint32_t iteration);

/* The normalised adjacency of the latest draw. Its node i is nodes[i] of the graph; *nodes is NULL where all nodes
 * are in it. */
const npi_adj *npi_context_get(const int32_t **nodes, const npi_context *context);
void npi_context_free(npi_context *context);

#endif
