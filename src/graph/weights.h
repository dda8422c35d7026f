/* Weights of links. */
#ifndef NPI_GRAPH_WEIGHTS_H
#define NPI_GRAPH_WEIGHTS_H

#include "graph/graph.h"

/* Fills a.val of a graph whose pattern is built. The weight of a link is the sum of all that is given for it, in both
 * directions; but where every link has the same sum in both, each was simply told twice, and one of them counts. */
int npi_graph_sum_weights(npgnn_graph *graph, const npgnn_pair *edges, const float *weights, int64_t count,
                          npgnn_error *err);

/* The weights of edges of a part, for the caller to free; *out stays as it is where the graph has none. Node i of the part is
 * nodes[i] of the graph, or i where that is NULL. A pair that is no link there has weight 1. */
int npi_graph_copy_weights(float **out, const npgnn_graph *graph, const npgnn_pair *edges, int64_t count,
                           const int32_t *nodes, npgnn_error *err);

#endif
