/* Retrieval: which nodes may be among the best partners of a node u, without scoring all. The sources are
 *
 *   walks    the nodes that walks of two or of three steps from u (evidence/vicinity.h) reach most likely: by P^t_uv, and by
 *            the lift P^t_uv / d_v, which does not prefer nodes with many links
 *   vectors  the nodes whose short vectors (vectors.h) have the largest inner products with that of u, by way of clusters
 *   features the nodes that share the most features to the letter, rare ones above all: of models that compare these
 *   others   the nodes with most links, and those that came after the vectors were made
 *
 * Each gives more nodes than are wanted. A linear fit of the score, which costs a tenth of the evidence, chooses the candidates
 * among them. These are scored from rows, and the best of them are judged like any pair. */
#ifndef NPI_SEARCH_RETRIEVE_H
#define NPI_SEARCH_RETRIEVE_H

#include "search/clusters.h"
#include "search/search.h"
#include "search/vectors.h"

enum {
    NPI_CANDIDATES = 256, /* per node, unless the caller says how many */
    NPI_HUBS = 32,
    NPI_LATEST = 256 /* nodes that came after the vectors */
};

/* What is known of all nodes: made once per predictor. */
typedef struct npi_retriever {
    npi_vectors vectors;
    npi_clusters clusters;
    int32_t hub[NPI_HUBS]; /* (hubs) the nodes with most links */
    int hubs;
} npi_retriever;

/* Gives the predictor a retriever, unless it has one. Its evidence is complete. E_MEMORY, E_CANCELLED. */
int npi_retriever_prepare(npgnn_predictor *predictor, npgnn_error *err);

#endif
