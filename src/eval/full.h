/* The rank of held-out links among all nodes: what a user sees who asks for the best partners of a node.
 *
 * A test link (u, v) has two ends. From end u, its partner v competes with all nodes w that u is not linked to in the
 * complete graph; other partners, known or held out, are left out, and so are nodes that end u cannot be held out with
 * (graph/negative.h): they would tell by that alone that they are no partners. With s the score of a method,
 *
 *     rank(u, v) = 1 + #{w : s(u, w) > s(u, v)} + #{w : s(u, w) = s(u, v)} / 2
 *
 * and the same from end v. MRR is the mean of 1 / rank over the ends, hits@10 the share of ranks up to 10. */
#ifndef NPI_EVAL_FULL_H
#define NPI_EVAL_FULL_H

#include "graph/negative.h"

/* Zero-initialise it; npi_full_free may then be called at any time. */
typedef struct npi_full {
    npi_population among; /* the pairs that could be test links */
    int32_t *node;        /* (nodes) the ends that are ranked from, ascending */
    int64_t *start;       /* (nodes + 1) where the partners of each begin */
    int32_t *partner;     /* (count) */
    double *rank;         /* (count) */
    unsigned char *taken; /* (n) scratch: nodes that do not compete; zero between two calls */
    int32_t nodes;
    int64_t count, available; /* ends that are ranked, and ends of all links */
} npi_full;

typedef struct npi_full_metrics {
    double mrr, hits10;
    double mrr_se, hits10_se; /* standard errors of the sample of ends; 0 where all ends are ranked */
} npi_full_metrics;

/* Chooses the ends of the `links` that are ranked: all, or a random sample where these are many and the graph is large
 * (NPI_FULL_PAIRS). A function of the arguments. */
int npi_full_new(npi_full *out, const npi_population *among, const npgnn_pair *links, size_t count, uint64_t seed,
                 const npgnn_env *env, npgnn_error *err);
void npi_full_free(const npgnn_env *env, npi_full *full);

/* The sample has so many ends that the pairs to be scored are about as many as this, and at least NPI_FULL_ENDS. */
#define NPI_FULL_PAIRS ((int64_t)1 << 24)
#define NPI_FULL_ENDS 500

/* Ranks the partners of node[index], given its scores with all nodes. Returns 0 where one that competes is NaN. */
int npi_full_rank(npi_full *full, int32_t index, const float *score /* (n) */);

/* After every node was ranked. */
npi_full_metrics npi_full_measure(const npi_full *full);

#endif
