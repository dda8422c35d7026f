/* A scatter plot of node embeddings: two directions of the space of the embeddings, and the nodes along them. */
#ifndef CLI_EMBEDDING_PLOT_H
#define CLI_EMBEDDING_PLOT_H

#include <jansson.h>
#include <npgnn/npgnn.h>

/* {"nodes": N, "x": [...], "y": [...], "label": [...], "projection": "classes", "nearest": s, "share": [a, b]}: at most
 * 3000 nodes, evenly spaced, and the class of each, -1 where it has none. Coordinates are from -1 to 1.
 *
 * Where there are three classes or more, the directions are those that separate their means most ("classes": linear
 * discriminant analysis), and `nearest` is the share of nodes whose own class has the nearest mean in this plane.
 * Otherwise they are the first two principal components ("components"), and `nearest` is null. `share`: of the
 * variance, along each. NULL when out of memory or where the model does not fit the graph. */
json_t *embedding_plot(const npgnn_model *model, const npgnn_graph *graph, const npgnn_env *env);

#endif
