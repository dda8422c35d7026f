/* Random walks over a graph, each a function of the seed and its index: any thread may take any walk, twice if
 * need be. */
#ifndef NPI_BASELINES_WALKS_H
#define NPI_BASELINES_WALKS_H

#include "linalg/sparse.h"

/* Steps of a walk, the start included. A multiple of 4: that many random numbers come at once. */
#define NPI_WALK_LENGTH 80

/* Nodes with an edge get a place in random order; walks are made of places. */
typedef struct npi_walks {
    const npi_csr *a; /* borrowed */
    uint64_t seed;
    int32_t linked; /* nodes with an edge */
    int32_t *node;  /* (linked) by place */
    int32_t *place; /* (n) by node, -1 without an edge */
} npi_walks;

int npi_walks_new(npi_walks *out, const npi_csr *a, uint64_t seed, const npgnn_env *env, npgnn_error *err);
void npi_walks_free(const npgnn_env *env, npi_walks *walks);

/* The places that walk `index` visits; it starts at place index % linked. */
void npi_walks_get(int32_t places[NPI_WALK_LENGTH], const npi_walks *walks, int64_t index);

/* For every step of a walk, a number from 1 to `most`, uniform: how far its window reaches. */
void npi_walks_windows(int windows[NPI_WALK_LENGTH], const npi_walks *walks, int64_t index, int most);

#endif
