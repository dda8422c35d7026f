/* The nodes that options such as --for name. */
#ifndef CLI_NODE_LIST_H
#define CLI_NODE_LIST_H

#include <npgnn/npgnn.h>

#include "args.h"

typedef struct node_list {
    int32_t *nodes; /* (count), or NULL where no option names any: all nodes */
    int32_t count;
    unsigned char *listed; /* (nodes of the graph): 1 for those in the list */
} node_list;

/* Reads the values of an option. Each is the name of a node, or of a file with one node name per line; "-" is standard
 * input. Blank lines and comments are skipped, and so are nodes that are listed already. Returns 0, or
 * EXIT_FAILED after printing why. */
int node_list_read(node_list *list, const npgnn_graph *graph, const arg_pairs *values);

/* All nodes of the graph. Returns 0 or EXIT_FAILED. */
int node_list_all(node_list *list, const npgnn_graph *graph);
void node_list_free(node_list *list);

#endif
