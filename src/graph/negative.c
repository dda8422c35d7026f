#include "graph/negative.h"

#include "base/hash.h"
#include "base/rng.h"
#include "graph/pair.h"

/* ---- by rejection: draw pairs until they are new and not linked ---- */

/* An open-addressing set of pair keys. No key is 0: that would be the pair (0, 0). */
typedef struct key_set {
    uint64_t *slots;
    uint64_t mask;
} key_set;

/* At most half full. */
static int key_set_new(key_set *set, size_t count, const npgnn_env *env, npgnn_error *err)
{
    size_t size = 16;
    while (size / 2 < count && size <= SIZE_MAX / 4)
        size *= 2;
    set->mask = size - 1;
    set->slots = npi_alloc(env, size, sizeof *set->slots, err);
    return set->slots ? 0 : NPGNN_E_MEMORY;
}

/* Returns 0 when the key was there already. */
static int key_set_add(key_set *set, uint64_t key)
{
    uint64_t slot = npi_mix(key) & set->mask;
    while (set->slots[slot] != 0) {
        if (set->slots[slot] == key)
            return 0;
        slot = (slot + 1) & set->mask;
    }
    set->slots[slot] = key;
    return 1;
}

static int draw_by_rejection(npgnn_pair *out[2], const npgnn_graph *graph, const size_t count[2], npi_rng *rng,
                             const npgnn_env *env, npgnn_error *err)
{
    key_set seen;
    int code = key_set_new(&seen, count[0] + count[1], env, err);
    if (code)
        return code;
    for (int set = 0; set < 2; set++) {
        for (size_t i = 0; i < count[set];) {
            npgnn_pair pair = {(int32_t)npi_rng_below(rng, (uint64_t)graph->n),
                               (int32_t)npi_rng_below(rng, (uint64_t)graph->n)};
            if (pair.u != pair.v && !npgnn_graph_has_edge(graph, pair.u, pair.v) &&
                key_set_add(&seen, npi_pair_key(pair)))
                out[set][i++] = pair;
        }
    }
    npi_free(env, seen.slots);
    return 0;
}

/* ---- by enumeration, for dense graphs ---- */

/* Shows every non-edge to a selection sampler with two baskets (Knuth's algorithm S, see context.c): exactly count[0] and
 * count[1] are taken, every choice being equally likely. */
static void draw_by_enumeration(npgnn_pair *out[2], const npgnn_graph *graph, const size_t count[2], uint64_t available,
                                npi_rng *rng)
{
    size_t taken[2] = {0, 0};
    for (int32_t u = 0; u < graph->n; u++) {
        const int32_t *neighbors;
        int64_t degree = npgnn_graph_neighbors(&neighbors, graph, u), next = 0;
        for (int32_t v = u + 1; v < graph->n; v++) {
            while (next < degree && neighbors[next] < v)
                next++;
            if (next < degree && neighbors[next] == v)
                continue;
            uint64_t pick = npi_rng_below(rng, available--);
            if (pick < count[0] - taken[0])
                out[0][taken[0]++] = (npgnn_pair){u, v};
            else if (pick < count[0] - taken[0] + count[1] - taken[1])
                out[1][taken[1]++] = (npgnn_pair){u, v};
        }
    }
}

int npi_negatives_draw(npgnn_pair *out[2], const npgnn_graph *graph, const size_t count[2], uint64_t seed,
                       const npgnn_env *env, npgnn_error *err)
{
    uint64_t n = (uint64_t)graph->n, pairs = n > 0 ? n * (n - 1) / 2 : 0;
    uint64_t available = pairs - (uint64_t)graph->m, wanted = count[0] + count[1];
    npi_rng rng = npi_rng_make(seed, NPI_RNG_NEGATIVE, 0);
    if (wanted > available)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "the split needs %llu pairs without a link, but the graph has only %llu: hold out fewer links",
                        (unsigned long long)wanted, (unsigned long long)available);
    /* Rejection takes few tries a pair while most non-edges are still free and non-edges are not rare. Otherwise all pairs
     * are few: wanted <= m, so either condition means pairs < 3 m, and looking at each of them is linear in the graph. */
    if (wanted > available / 2 || available < pairs / 4) {
        draw_by_enumeration(out, graph, count, available, &rng);
        return 0;
    }
    return draw_by_rejection(out, graph, count, &rng, env, err);
}
