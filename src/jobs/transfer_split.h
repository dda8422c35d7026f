/* Two parts of a graph: one to train on, one to be tried on. */
#ifndef NPI_JOBS_TRANSFER_SPLIT_H
#define NPI_JOBS_TRANSFER_SPLIT_H

#include "graph/split.h"

typedef struct npi_transfer_split {
    npgnn_split *first;  /* its training part is what a model is trained on; NULL: the model comes from elsewhere */
    npgnn_split *second; /* of the other part: known links, and links to test */
    npgnn_graph *rest;   /* what lies between them and the graph they are cut from; any may be NULL */
    npgnn_split *cut;
} npi_transfer_split;

/* The second part has `context_nodes` of the nodes. The first has `train_nodes`: others or, with `grow`, some of the same, and
 * then none of the links that are tested. */
int npi_transfer_split_new(npi_transfer_split *out, const npgnn_graph *graph, const npgnn_transfer_options *options,
                           uint64_t seed, const npgnn_env *env, npgnn_error *err);

/* All of the graph is the second part, and there is no first. */
int npi_transfer_split_whole(npi_transfer_split *out, const npgnn_graph *graph, const npgnn_transfer_options *options,
                             uint64_t seed, const npgnn_env *env, npgnn_error *err);
void npi_transfer_split_free(npi_transfer_split *parts);

#endif
