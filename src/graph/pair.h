/* A pair of nodes as one number, the same in both directions, that orders like (smaller, larger). */
#ifndef NPI_GRAPH_PAIR_H
#define NPI_GRAPH_PAIR_H

#include "npgnn/npgnn.h"

static inline uint64_t npi_pair_key(npgnn_pair pair)
{
    uint64_t u = (uint32_t)pair.u, v = (uint32_t)pair.v;
    return u < v ? u << 32 | v : v << 32 | u;
}

static inline npgnn_pair npi_key_pair(uint64_t key)
{
    return (npgnn_pair){(int32_t)(key >> 32), (int32_t)(key & 0xFFFFFFFFu)};
}

#endif
