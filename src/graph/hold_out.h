/* Which links can be hidden such that a node without links does not betray them.
 *
 * In a graph that is read from a list of links, every node has one. If a node loses its only link, having none tells that
 * it has one to find, which is true of no pair that is ever predicted. So a link is hidden only if both ends keep one. */
#ifndef NPI_GRAPH_HOLD_OUT_H
#define NPI_GRAPH_HOLD_OUT_H

#include "graph/graph.h"

/* left (n): the number of links of each node. */
void npi_count_links(int32_t *left, const npgnn_graph *graph);

/* Moves up to `wanted` of edges (count) to the front, the first ones whose ends both keep a link, and returns how many.
 * left (n): links of each node that are not hidden; those that are moved are subtracted. O(count). */
int64_t npi_hold_out(npgnn_pair *edges, int64_t count, int64_t wanted, int32_t *left);

#endif
