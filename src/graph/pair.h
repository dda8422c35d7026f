/* A pair of nodes as one number, the same in both directions, that orders like (smaller, larger); and sorted pairs as sets. */
#ifndef NPI_GRAPH_PAIR_H
#define NPI_GRAPH_PAIR_H

#include "base/env.h"

static inline uint64_t npi_pair_key(npgnn_pair pair)
{
    uint64_t u = (uint32_t)pair.u, v = (uint32_t)pair.v;
    return u < v ? u << 32 | v : v << 32 | u;
}

static inline npgnn_pair npi_pair_from_key(uint64_t key)
{
    return (npgnn_pair){(int32_t)(key >> 32), (int32_t)(key & 0xFFFFFFFFu)};
}

/* Puts pairs into their canonical form and order, u < v and ascending: equal sets become equal arrays. */
int npi_pairs_sort(npgnn_pair *pairs, size_t count, const npgnn_env *env, npgnn_error *err);

/* Whether the pair, in either direction, is among those of a sorted array. */
int npi_pairs_contain(const npgnn_pair *sorted, size_t count, npgnn_pair pair);

#endif
