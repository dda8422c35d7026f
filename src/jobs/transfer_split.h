/* Two subgraphs of a graph for `npgnn adapt`: one to train on, one to adapt to and to be tested on. */
#ifndef NPI_JOBS_TRANSFER_SPLIT_H
#define NPI_JOBS_TRANSFER_SPLIT_H

#include "graph/split.h"

typedef struct npi_transfer_split {
    npgnn_split *first;  /* its training graph is the first subgraph; NULL: the model comes from elsewhere */
    npgnn_split *second; /* of the second subgraph: known links, and test links */
    /* graphs that the two are made from, and refer to; either may be NULL */
    npgnn_graph *rest; /* the nodes that are not in the first subgraph */
    npgnn_split *cut;  /* its training graph is the second subgraph, where that is not all of what it is chosen from */
} npi_transfer_split;

/* The second subgraph has the fraction `context_nodes` of the nodes. The first has `train_nodes`: other nodes or, with
 * `grow`, some of the same, and then none of the test links. */
int npi_transfer_split_new(npi_transfer_split *out, const npgnn_graph *graph, const npgnn_transfer_options *options,
                           uint64_t seed, const npgnn_env *env, npgnn_error *err);

/* All of the graph is the second subgraph, and there is no first. */
int npi_transfer_split_whole(npi_transfer_split *out, const npgnn_graph *graph, const npgnn_transfer_options *options,
                             uint64_t seed, const npgnn_env *env, npgnn_error *err);
void npi_transfer_split_free(npi_transfer_split *parts);

#endif
