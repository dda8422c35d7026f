/* A hash set of unordered pairs of two different nodes, with open addressing. */
#ifndef NPI_GRAPH_PAIR_SET_H
#define NPI_GRAPH_PAIR_SET_H

#include <assert.h>

#include "base/hash.h"
#include "graph/pair.h"

typedef struct npi_pair_set {
    uint64_t *keys; /* (mask + 1) npi_pair_key; 0, which would be the key of (0, 0), marks an empty slot */
    uint64_t mask;
} npi_pair_set;

/* A set for up to `count` pairs; with all of them it is at most half full. */
static inline int npi_pair_set_new(npi_pair_set *set, size_t count, const npgnn_env *env, npgnn_error *err)
{
    size_t size = 16;
    while (size / 2 < count && size <= SIZE_MAX / 4)
        size *= 2;
    set->mask = size - 1;
    set->keys = npi_alloc(env, size, sizeof *set->keys, err);
    return set->keys ? 0 : NPGNN_E_MEMORY;
}

/* Returns 1, or 0 where the set has the pair already, in either direction. */
static inline int npi_pair_set_add(npi_pair_set *set, npgnn_pair pair)
{
    assert(pair.u != pair.v);
    uint64_t key = npi_pair_key(pair), slot = npi_hash_mix(key) & set->mask;
    while (set->keys[slot] != 0) {
        if (set->keys[slot] == key)
            return 0;
        slot = (slot + 1) & set->mask;
    }
    set->keys[slot] = key;
    return 1;
}

static inline void npi_pair_set_free(const npgnn_env *env, npi_pair_set *set)
{
    npi_free(env, set->keys);
}

#endif
