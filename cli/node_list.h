/* The nodes that options such as --for name. */
#ifndef CLI_NODE_LIST_H
#define CLI_NODE_LIST_H

#include <npgnn/npgnn.h>

#include "args.h"

typedef struct node_list {
    int32_t *nodes; /* NULL where none are named: all of them */
    int32_t count;
    unsigned char *listed; /* (nodes of the graph) */
} node_list;

/* Each of `words` is the name of a node, or else of a file with such names, one a line; "-" is standard input. Empty lines and
 * lines that start with # are skipped, and so is a node that is in the list already. Returns 0, or EXIT_FAILED after having
 * said why. */
int node_list_read(node_list *list, const npgnn_graph *graph, const arg_pairs *words);
void node_list_free(node_list *list);

#endif
