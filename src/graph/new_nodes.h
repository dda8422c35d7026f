/* New nodes: those that have no links yet. How many pairs touch one, and how likely such a pair is to be linked next. */
#ifndef NPI_GRAPH_NEW_NODES_H
#define NPI_GRAPH_NEW_NODES_H

#include "graph/graph.h"

/* The share of all pairs of the graph (across the sides of a two-sided one) that touch a node without links. O(n). */
double npi_new_share(const npgnn_graph *graph);

/* The odds ratio of being linked next, of pairs that touch a new node against the others, as the latest tenth of the
 * links tells it. Nodes whose first link is among these L links were new. If T of them touch such a node, and a share s
 * of all pairs does,
 *
 *     odds = (T + 1/2) / (L - T + 1/2) · (1 - s) / s
 *
 * Returns 1, or 0 where nothing tells it: the graph has no times, or there were no new nodes or no others. *odds is
 * left alone then. O(m log m). E_MEMORY. */
int npi_new_odds(double *odds, const npgnn_graph *graph, const npgnn_env *env, npgnn_error *err);

#endif
