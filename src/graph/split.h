/* A split in memory. */
#ifndef NPI_GRAPH_SPLIT_H
#define NPI_GRAPH_SPLIT_H

#include "graph/graph.h"

enum { NPI_NODE_TRAIN, NPI_NODE_VAL, NPI_NODE_TEST };

struct npgnn_split {
    npgnn_env env;
    const npgnn_graph *graph; /* complete, borrowed */
    npgnn_protocol protocol;
    npgnn_graph *train;
    npgnn_graph *known;   /* all nodes with the edges that prediction knows; NULL: train itself is that */
    int32_t *map;         /* (train->n) node of the complete graph; NULL: the same nodes */
    unsigned char *role;  /* (graph->n) NPI_NODE_*; NULL: all are training nodes */
    npgnn_pair *pairs[2]; /* by npgnn_set: positives, then negatives */
    size_t count[2], positives[2];
    uint64_t hash;
};

/* All nodes with the training edges and, in the production protocol, the known links of new nodes: what a method may look at
 * when it predicts. */
const npgnn_graph *npi_split_known(const npgnn_split *split);

/* Builds a split from its sets: training edges (transductive) or node roles decide what is known in training. Takes over
 * role and pairs[*], also on failure. Checks for leaks. Used by the protocols and by the split file reader.
 * edges (u < v, ordered): those of training for a transductive split; with `role`, which tells these, the ones that are known
 * besides when predicting. */
int npi_split_assemble(npgnn_split **out, const npgnn_graph *graph, npgnn_protocol protocol, const npgnn_pair *edges,
                       int64_t edge_count, unsigned char *role, npgnn_pair *pairs[2], const size_t count[2],
                       const size_t positives[2], const npgnn_env *env, npgnn_error *err);

#endif
