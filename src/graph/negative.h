/* Pairs of nodes that are not linked, for the held-out sets. */
#ifndef NPI_GRAPH_NEGATIVE_H
#define NPI_GRAPH_NEGATIVE_H

#include "graph/graph.h"

/* count[0] + count[1] different non-edges of the graph, uniform over all of them, into out[0] and out[1] (which have that
 * room), in any order and direction. A function of the graph, the counts and the seed. E_ARGUMENT when the graph has
 * fewer non-edges. O(m + count) expected time. */
int npi_negatives_draw(npgnn_pair *out[2], const npgnn_graph *graph, const size_t count[2], uint64_t seed,
                       const npgnn_env *env, npgnn_error *err);

#endif
