/* A flat picture of node embeddings: the two directions in which they differ most. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include <jansson.h>
#include <npgnn/npgnn.h>

/* {"nodes": N, "x": [...], "y": [...], "label": [...], "share": [a, b]}: at most 3000 nodes, evenly taken; coordinates from -1 to 1;
 * the class of each, -1 where it has none; and the share of the variance that each direction explains. NULL where memory
 * is out or the model does not fit the graph. */
json_t *picture_embedding(const npgnn_model *model, const npgnn_graph *graph, const npgnn_env *env);

#endif
