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
    uint64_t slot = npi_hash_mix(key) & set->mask;
    while (set->slots[slot] != 0) {
        if (set->slots[slot] == key)
            return 0;
        slot = (slot + 1) & set->mask;
    }
    set->slots[slot] = key;
    return 1;
}

static int too_few(uint64_t wanted, uint64_t available, npgnn_error *err)
{
    return npi_fail(err, NPGNN_E_ARGUMENT,
                    "the split needs %llu pairs without a link, but the graph has only %llu: hold out fewer links, or "
                    "ask for fewer pairs to each",
                    (unsigned long long)wanted, (unsigned long long)available);
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

int npi_graph_draw_non_links(npgnn_pair *out[2], const npgnn_graph *graph, const size_t count[2], uint64_t seed,
                             const npgnn_env *env, npgnn_error *err)
{
    uint64_t n = (uint64_t)graph->n, pairs = n > 0 ? n * (n - 1) / 2 : 0;
    uint64_t available = pairs - (uint64_t)graph->m, wanted = count[0] + count[1];
    npi_rng rng = npi_rng_make(seed, NPI_RNG_NEGATIVE, 0);
    if (wanted > available)
        return too_few(wanted, available, err);
    /* Rejection takes few tries a pair while most non-edges are still free and non-edges are not rare. Otherwise all pairs
     * are few: either condition means pairs < 2 wanted + 3 m, and looking at each of them is linear in graph and result. */
    if (wanted > available / 2 || available < pairs / 4) {
        draw_by_enumeration(out, graph, count, available, &rng);
        return 0;
    }
    return draw_by_rejection(out, graph, count, &rng, env, err);
}

/* ---- a part of the pairs ---- */

static int in_field(const npi_candidate_pairs *field, int32_t u, int32_t v)
{
    unsigned char a = field->role[u], b = field->role[v], own = field->own;
    if (a == own && b == own)
        return 1;
    return field->with_training && ((a == own && b == NPI_NODE_TRAIN) || (a == NPI_NODE_TRAIN && b == own));
}

uint64_t npi_candidate_pairs_count_non_links(const npi_candidate_pairs *field)
{
    const npi_csr *a = &field->graph->a;
    uint64_t own = 0, training = 0, edges = 0;
    for (int32_t u = 0; u < a->rows; u++) {
        own += field->role[u] == field->own;
        training += field->with_training && field->role[u] == NPI_NODE_TRAIN;
        for (int64_t p = a->ptr[u]; p < a->ptr[u + 1]; p++)
            edges += u < a->col[p] && in_field(field, u, a->col[p]);
    }
    return (own > 0 ? own * (own - 1) / 2 : 0) + own * training - edges;
}

int npi_protocol_has_candidates(npgnn_protocol protocol)
{
    return protocol == NPGNN_INDUCTIVE_HIDDEN || protocol == NPGNN_PRODUCTION;
}

npi_candidate_pairs npi_split_candidates(const npgnn_split *split, npgnn_set set)
{
    return (npi_candidate_pairs){split->graph, split->role, set == NPGNN_SET_TEST ? NPI_NODE_TEST : NPI_NODE_VAL,
                                 split->protocol != NPGNN_INDUCTIVE_HIDDEN};
}

uint64_t npi_split_count_non_links(const npgnn_split *split, npgnn_set set)
{
    npi_candidate_pairs field = npi_split_candidates(split, set);
    uint64_t n = (uint64_t)split->graph->n;
    return split->role ? npi_candidate_pairs_count_non_links(&field) : n * (n - 1) / 2 - (uint64_t)split->graph->m;
}

/* Its own nodes in front of the others: every pair of the field is one of nodes[i] and nodes[j], i < own, i < j. */
typedef struct field_nodes {
    int32_t *nodes;
    size_t own, count;
} field_nodes;

static int list_nodes(field_nodes *out, const npi_candidate_pairs *field, const npgnn_env *env, npgnn_error *err)
{
    int32_t n = field->graph->n;
    *out = (field_nodes){.nodes = npi_alloc(env, (size_t)n, sizeof *out->nodes, err)};
    if (!out->nodes)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < n; i++)
        if (field->role[i] == field->own)
            out->nodes[out->own++] = i;
    out->count = out->own;
    for (int32_t i = 0; field->with_training && i < n; i++)
        if (field->role[i] == NPI_NODE_TRAIN)
            out->nodes[out->count++] = i;
    return 0;
}

static int field_by_rejection(npgnn_pair *out, const npgnn_graph *graph, const field_nodes *f, size_t count,
                              npi_rng *rng, const npgnn_env *env, npgnn_error *err)
{
    key_set seen;
    int code = key_set_new(&seen, count, env, err);
    for (size_t taken = 0; !code && taken < count;) {
        uint64_t i = npi_rng_below(rng, f->own), j = npi_rng_below(rng, f->count);
        npgnn_pair pair = {f->nodes[i], f->nodes[j]};
        if (i < j && !npgnn_graph_has_edge(graph, pair.u, pair.v) && key_set_add(&seen, npi_pair_key(pair)))
            out[taken++] = pair;
    }
    npi_free(env, seen.slots);
    return code;
}

static void field_by_enumeration(npgnn_pair *out, const npgnn_graph *graph, const field_nodes *f, size_t count,
                                 uint64_t available, npi_rng *rng)
{
    size_t taken = 0;
    for (size_t i = 0; i < f->own; i++) {
        for (size_t j = i + 1; j < f->count; j++) {
            npgnn_pair pair = {f->nodes[i], f->nodes[j]};
            if (npgnn_graph_has_edge(graph, pair.u, pair.v))
                continue;
            if (npi_rng_below(rng, available--) < count - taken)
                out[taken++] = pair;
        }
    }
}

int npi_candidate_pairs_draw_non_links(npgnn_pair *out, const npi_candidate_pairs *field, size_t count, uint64_t seed,
                                       const npgnn_env *env, npgnn_error *err)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_NEGATIVE, field->own); /* a stream that whole graphs do not use */
    uint64_t available = npi_candidate_pairs_count_non_links(field);
    field_nodes nodes;
    if (count > available)
        return too_few(count, available, err);
    int code = list_nodes(&nodes, field, env, err);
    if (code)
        return code;
    uint64_t pairs = nodes.own > 0 ? nodes.own * (nodes.count - 1) : 0; /* at most twice as many as there are */
    if (count > available / 2 || available < pairs / 8)
        field_by_enumeration(out, field->graph, &nodes, count, available, &rng);
    else
        code = field_by_rejection(out, field->graph, &nodes, count, &rng, env, err);
    npi_free(env, nodes.nodes);
    return code;
}

/* ---- more of those that a split has ---- */

static int is_held_out(const npgnn_split *split, npgnn_pair pair)
{
    for (int set = 0; set < 2; set++) {
        size_t positives = split->positives[set];
        if (npi_pairs_contain(split->pairs[set] + positives, split->count[set] - positives, pair))
            return 1;
    }
    return 0;
}

int npi_split_draw_non_links(npgnn_pair *out, size_t *count, const npgnn_split *split, int in_field,
                             const npgnn_env *env, npgnn_error *err)
{
    npi_candidate_pairs field = npi_split_candidates(split, NPGNN_SET_VAL);
    uint64_t n = (uint64_t)split->graph->n;
    uint64_t available =
        in_field ? npi_candidate_pairs_count_non_links(&field) : n * (n - 1) / 2 - (uint64_t)split->graph->m;
    size_t drawn = available < *count ? (size_t)available : *count, kept = 0;
    npgnn_pair *both[2] = {out, NULL};
    const size_t counts[2] = {drawn, 0};
    int code = in_field ? npi_candidate_pairs_draw_non_links(out, &field, drawn, split->hash, env, err)
                        : npi_graph_draw_non_links(both, split->graph, counts, split->hash, env, err);
    for (size_t i = 0; !code && i < drawn; i++)
        if (!is_held_out(split, out[i]))
            out[kept++] = out[i];
    *count = kept;
    return code;
}
