/* Edge weights: summing those of the input, and copying them to derived graphs. */
#ifndef NPI_GRAPH_WEIGHTS_H
#define NPI_GRAPH_WEIGHTS_H

#include "graph/graph.h"

/* Fills a.val of a graph whose pattern is built. The weight of an edge is the sum of all weights given for it in
 * both directions, except where the sums of the two directions are equal for every edge: the input then listed each
 * edge in both directions, and only one direction counts. E_FORMAT where a sum is not finite. */
int npi_graph_sum_weights(npgnn_graph *graph, const npgnn_pair *edges, const float *weights, int64_t count,
                          npgnn_error *err);

/* *out (count) = the weights that `edges` have in `graph`, 1 for a pair that is not an edge there; the caller frees
 * it. *out is unchanged where the graph has no weights. `edges` numbers nodes such that node i is nodes[i] of the
 * graph; NULL: it is i. */
int npi_graph_copy_weights(float **out, const npgnn_graph *graph, const npgnn_pair *edges, int64_t count,
                           const int32_t *nodes, npgnn_error *err);

#endif
