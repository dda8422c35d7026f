/* The rows of the ends of pairs, where the rows of all nodes are divided among processes: fetched for a batch of pairs
 * at a time, each node's once. */
#ifndef NPI_EVIDENCE_ENDPOINTS_H
#define NPI_EVIDENCE_ENDPOINTS_H

#include "linalg/fetch.h"

enum { NPI_ENDPOINTS_BATCH = 8192 }; /* pairs of a batch */

typedef struct npi_endpoints {
    npgnn_env env;
    npi_fetch fetch;
    int32_t most;       /* nodes that a batch has, at most */
    int32_t count;      /* nodes of the batch at hand, */
    int32_t *node;      /* (count) ascending, */
    uint64_t *bits;     /* (n / 64 + 1) one bit per node of the graph: 1 for those, */
    int32_t *below;     /* (n / 64 + 1) and how many there are before each word */
    npgnn_pair *places; /* (pairs of the batch) where in `node` the ends of each pair are */
} npi_endpoints;

/* For rows of at most `width` numbers. Not collective; what follows is. */
int npi_endpoints_new(npi_endpoints *out, const npi_partition *rows, int width, const npgnn_env *env, npgnn_error *err);
void npi_endpoints_free(npi_endpoints *ends);

/* Begins with a batch of at most NPI_ENDPOINTS_BATCH pairs, each process with its own. All return the same code. */
int npi_endpoints_plan(npi_endpoints *ends, const npgnn_pair *pairs, size_t count, npgnn_error *err);

/* to (ends->count, width) = the rows of the batch's nodes; row (to - from, width): those of this process. */
void npi_endpoints_fetch(real *to, npi_endpoints *ends, const real *row, int width);

#endif
