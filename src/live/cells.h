/* The features of new nodes from cells of text, as a row of the table would have them. */
#ifndef NPI_LIVE_CELLS_H
#define NPI_LIVE_CELLS_H

#include "graph/graph.h"

/* *out (count, f): one row per node, prepared as the features of the graph were (encoding, binarize, normalize).
 * E_ARGUMENT names the node and the column at fault. */
int npi_cells_encode(npi_features **out, const npgnn_graph *graph, const npgnn_new_node *nodes, size_t count,
                     npgnn_error *err);

#endif
