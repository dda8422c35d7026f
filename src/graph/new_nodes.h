/* New nodes: those that have no links yet. How many pairs touch one, and how likely such pairs are to be linked next. */
#ifndef NPI_GRAPH_NEW_NODES_H
#define NPI_GRAPH_NEW_NODES_H

#include "graph/graph.h"

/* The share of all pairs of the graph (across the sides of a two-sided one) that touch a node without links. O(n). */
double npi_new_share(const npgnn_graph *graph);

/* The odds ratio of being linked next, of pairs that touch a new node against the others. *odds is what it is taken for
 * unless the graph has times. Then the latest tenth of the links tells it: nodes whose first link is among these were new, and
 *
 *     odds = f / (1 - f) · (1 - s) / s,   f and s: the shares of these links, and of all pairs, that touch one.
 *
 * *odds stays as it is where all or none of these links do. O(m log m). E_MEMORY. */
int npi_new_odds(double *odds, const npgnn_graph *graph, const npgnn_env *env, npgnn_error *err);

#endif
