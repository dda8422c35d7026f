/* Unordered pairs of nodes as 64-bit keys, and sorted arrays of pairs used as sets. */
#ifndef NPI_GRAPH_PAIR_H
#define NPI_GRAPH_PAIR_H

#include "base/env.h"
#include "base/rng.h"

/* key = min(u, v) 2^32 + max(u, v): the same for both directions, and ordered like (smaller, larger). */
static inline uint64_t npi_pair_key(npgnn_pair pair)
{
    uint64_t u = (uint32_t)pair.u, v = (uint32_t)pair.v;
    return u < v ? u << 32 | v : v << 32 | u;
}

/* The pair with a key, u < v. */
static inline npgnn_pair npi_pair_from_key(uint64_t key)
{
    return (npgnn_pair){(int32_t)(key >> 32), (int32_t)(key & 0xFFFFFFFFu)};
}

/* Sorts the pairs by key and gives each the form u < v: equal sets become equal arrays. O(count). */
int npi_pairs_sort(npgnn_pair *pairs, size_t count, const npgnn_env *env, npgnn_error *err);

/* Puts the pairs into a random order. */
void npi_pairs_shuffle(npgnn_pair *pairs, int64_t count, npi_rng *rng);

/* Whether the pair, in either direction, is in an array sorted by npi_pairs_sort. O(log count). */
int npi_pairs_contain(const npgnn_pair *sorted, size_t count, npgnn_pair pair);

#endif
