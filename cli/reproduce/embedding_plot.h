/* A scatter plot of node embeddings: their projection on the first two principal components. */
#ifndef CLI_EMBEDDING_PLOT_H
#define CLI_EMBEDDING_PLOT_H

#include <jansson.h>
#include <npgnn/npgnn.h>

/* {"nodes": N, "x": [...], "y": [...], "label": [...], "share": [a, b]}: at most 3000 nodes, evenly spaced; coordinates
 * from -1 to 1; the class of each node, -1 where it has none; and the share of the variance that each component
 * explains. NULL when out of memory or where the model does not fit the graph. */
json_t *embedding_plot(const npgnn_model *model, const npgnn_graph *graph, const npgnn_env *env);

#endif
