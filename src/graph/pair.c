/* Sorting and searching pairs by their keys. */
#include "graph/pair.h"

#include "base/sort.h"

int npi_pairs_sort(npgnn_pair *pairs, size_t count, const npgnn_env *env, npgnn_error *err)
{
    uint64_t *keys = npi_resize(env, NULL, count, 2 * sizeof *keys, err); /* the second half is scratch memory */
    if (!keys)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        keys[i] = npi_pair_key(pairs[i]);
    npi_u64_sort(keys, keys + count, count);
    for (size_t i = 0; i < count; i++)
        pairs[i] = npi_pair_from_key(keys[i]);
    npi_free(env, keys);
    return 0;
}

int npi_pairs_contain(const npgnn_pair *sorted, size_t count, npgnn_pair pair)
{
    uint64_t key = npi_pair_key(pair);
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (npi_pair_key(sorted[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && npi_pair_key(sorted[low]) == key;
}

void npi_pairs_shuffle(npgnn_pair *pairs, int64_t count, npi_rng *rng)
{
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)npi_rng_below(rng, (uint64_t)i + 1);
        npgnn_pair pair = pairs[i];
        pairs[i] = pairs[j];
        pairs[j] = pair;
    }
}
