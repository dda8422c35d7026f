/* Drawing non-links uniformly and without repetition.
 *
 * Where non-links are common, pairs are drawn at random and rejected when they are edges or were drawn before; a
 * hash set remembers them. Where they are rare, all pairs are enumerated and selected by sequential sampling. Both
 * take time linear in the graph and in the number drawn. */
#include "graph/negative.h"

#include "base/rng.h"
#include "graph/pair_set.h"

static int too_few(uint64_t wanted, uint64_t available, npgnn_error *err)
{
    return npi_fail(err, NPGNN_E_ARGUMENT,
                    "the split needs %llu non-links, but the graph has only %llu: hold out fewer links or lower the "
                    "negative ratio",
                    (unsigned long long)wanted, (unsigned long long)available);
}

/* ---- from all pairs ---- */

/* nodes (n): the sources of a two-sided graph, then its targets. Returns the number of sources. */
static int32_t order_by_side(int32_t *nodes, const npgnn_graph *graph)
{
    int32_t sources = 0, at = 0;
    for (int side = 0; side < 2; side++) {
        for (int32_t i = 0; i < graph->n; i++)
            if (graph->side[i] == side)
                nodes[at++] = i;
        sources = side == 0 ? at : sources;
    }
    return sources;
}

static int draw_by_rejection(npgnn_pair *out[2], const npgnn_graph *graph, const size_t count[2], npi_rng *rng,
                             const npgnn_env *env, npgnn_error *err)
{
    npi_pair_set seen;
    int32_t *nodes = NULL, sources = 0; /* of a two-sided graph, in which one end is drawn from each side */
    int code = npi_pair_set_new(&seen, count[0] + count[1], env, err);
    if (code == 0 && graph->side && !(nodes = npi_alloc(env, (size_t)graph->n, sizeof *nodes, err))) {
        npi_pair_set_free(env, &seen);
        code = NPGNN_E_MEMORY;
    }
    if (code)
        return code;
    if (nodes)
        sources = order_by_side(nodes, graph);
    for (int set = 0; set < 2; set++) {
        for (size_t i = 0; i < count[set];) {
            npgnn_pair pair;
            if (nodes) {
                pair.u = nodes[npi_rng_below(rng, (uint64_t)sources)];
                pair.v = nodes[sources + (int32_t)npi_rng_below(rng, (uint64_t)(graph->n - sources))];
            } else {
                pair.u = (int32_t)npi_rng_below(rng, (uint64_t)graph->n);
                pair.v = (int32_t)npi_rng_below(rng, (uint64_t)graph->n);
            }
            if (pair.u != pair.v && !npgnn_graph_has_edge(graph, pair.u, pair.v) && npi_pair_set_add(&seen, pair))
                out[set][i++] = pair;
        }
    }
    npi_free(env, nodes);
    npi_pair_set_free(env, &seen);
    return 0;
}

/* Visits every non-link and selects exactly count[0] for the first set and count[1] for the second; every choice is
 * equally likely (Knuth's algorithm S, see context.c, for two sets). */
static void draw_by_enumeration(npgnn_pair *out[2], const npgnn_graph *graph, const size_t count[2], uint64_t available,
                                npi_rng *rng)
{
    size_t taken[2] = {0, 0};
    for (int32_t u = 0; u < graph->n; u++) {
        const int32_t *neighbors;
        int64_t degree = npgnn_graph_neighbors(&neighbors, graph, u), next = 0;
        for (int32_t v = u + 1; v < graph->n; v++) {
            /* v and the neighbours of u both ascend: skip v where it is the next neighbour */
            while (next < degree && neighbors[next] < v)
                next++;
            if ((next < degree && neighbors[next] == v) || !npi_graph_allows(graph, u, v))
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
    uint64_t pairs = npi_graph_count_pairs(graph);
    uint64_t available = pairs - (uint64_t)graph->m, wanted = count[0] + count[1];
    npi_rng rng = npi_rng_make(seed, NPI_RNG_NEGATIVE, 0);
    if (wanted > available)
        return too_few(wanted, available, err);
    /* Rejection needs few attempts per pair unless more than half of the non-links are wanted or three quarters of
     * all pairs are edges. In these cases pairs < 2 wanted + 3 m, so that enumerating all pairs is linear in the
     * graph and the result. */
    if (wanted > available / 2 || available < pairs / 4) {
        draw_by_enumeration(out, graph, count, available, &rng);
        return 0;
    }
    return draw_by_rejection(out, graph, count, &rng, env, err);
}

/* ---- from the candidate pairs of a held-out set ---- */

static int is_candidate(const npi_candidate_pairs *c, int32_t u, int32_t v)
{
    unsigned char a = c->role[u], b = c->role[v], own = c->own;
    if (!npi_graph_allows(c->graph, u, v))
        return 0;
    if (a == own && b == own)
        return 1;
    return c->with_training && ((a == own && b == NPI_NODE_TRAIN) || (a == NPI_NODE_TRAIN && b == own));
}

npi_candidate_pairs npi_known_pairs(unsigned char *role, const npgnn_graph *graph)
{
    for (int32_t i = 0; i < graph->n; i++)
        role[i] = graph->a.ptr[i + 1] > graph->a.ptr[i] ? NPI_NODE_TRAIN : NPI_NODE_TEST;
    return (npi_candidate_pairs){graph, role, NPI_NODE_TRAIN, 0};
}

/* own (own - 1) / 2 + own training - edges among these pairs; in a two-sided graph the pairs of each side do not
 * count */
uint64_t npi_candidate_pairs_count_non_links(const npi_candidate_pairs *candidates)
{
    const npi_csr *a = &candidates->graph->a;
    const unsigned char *side = candidates->graph->side;
    uint64_t owns[2] = {0, 0}, trainings[2] = {0, 0}, edges = 0; /* by side */
    for (int32_t u = 0; u < a->rows; u++) {
        owns[side ? side[u] : 0] += candidates->role[u] == candidates->own;
        trainings[side ? side[u] : 0] += candidates->with_training && candidates->role[u] == NPI_NODE_TRAIN;
        for (int64_t p = a->ptr[u]; p < a->ptr[u + 1]; p++)
            edges += u < a->col[p] && is_candidate(candidates, u, a->col[p]);
    }
    if (side)
        return owns[0] * owns[1] + owns[0] * trainings[1] + owns[1] * trainings[0] - edges;
    uint64_t own = owns[0];
    return (own > 0 ? own * (own - 1) / 2 : 0) + own * trainings[0] - edges;
}

/* The same in a two-sided graph, where one end is drawn from each side: first an own node, from side 0 or 1 in
 * proportion to the pairs that it has there, then any node of the other side. Two own nodes would be drawn from either
 * side: they count from side 0 only. */
static int draw_across(npgnn_pair *out, const npi_candidate_pairs *c, size_t count, uint64_t available, npi_rng *rng,
                       const npgnn_env *env, npgnn_error *err)
{
    const npgnn_graph *graph = c->graph;
    size_t own[2] = {0, 0}, total[2] = {0, 0}, taken = 0, n = (size_t)graph->n;
    npi_pair_set seen = {0};
    int32_t *nodes[2] = {npi_alloc(env, 2 * n, sizeof **nodes, err)}; /* of each side: own nodes, then training nodes */
    int code = nodes[0] ? 0 : NPGNN_E_MEMORY;
    nodes[1] = nodes[0] ? nodes[0] + n : NULL;
    for (int pass = 0; !code && pass < 1 + (c->with_training != 0); pass++) {
        for (int32_t i = 0; i < graph->n; i++)
            if (c->role[i] == (pass ? NPI_NODE_TRAIN : c->own))
                nodes[graph->side[i]][total[graph->side[i]]++] = i;
        for (int side = 0; side < 2 && pass == 0; side++)
            own[side] = total[side];
    }
    uint64_t from[2] = {own[0] * total[1], own[1] * total[0]}, pairs = from[0] + from[1];
    int all = count > available / 2 || available < pairs / 8;
    if (!code && !all)
        code = npi_pair_set_new(&seen, count, env, err);
    for (uint64_t at = 0; !code && taken < count; at++) {
        uint64_t pick = all ? at : npi_rng_below(rng, pairs);
        int side = pick >= from[0];
        pick -= side ? from[0] : 0;
        size_t i = (size_t)(pick / total[!side]), j = (size_t)(pick % total[!side]);
        npgnn_pair pair = {nodes[side][i], nodes[!side][j]};
        if ((side == 1 && j < own[0]) || npgnn_graph_has_edge(graph, pair.u, pair.v))
            continue;
        if (all ? npi_rng_below(rng, available--) < count - taken : npi_pair_set_add(&seen, pair))
            out[taken++] = pair;
    }
    npi_pair_set_free(env, &seen);
    npi_free(env, nodes[0]);
    return code;
}

int npi_candidate_pairs_draw_non_links(npgnn_pair *out, const npi_candidate_pairs *candidates, size_t count,
                                       uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    const npgnn_graph *graph = candidates->graph;
    /* the role as stream: a stream that npi_graph_draw_non_links does not use */
    npi_rng rng = candidates->own == NPI_NODE_TRAIN ? npi_rng_make(seed, NPI_RNG_TUNE, UINT32_MAX)
                                                    : npi_rng_make(seed, NPI_RNG_NEGATIVE, candidates->own);
    uint64_t available = npi_candidate_pairs_count_non_links(candidates);
    if (count > available)
        return too_few(count, available, err);
    if (graph->side)
        return draw_across(out, candidates, count, available, &rng, env, err);

    /* List the nodes of the set before the training nodes: the candidate pairs are then (nodes[i], nodes[j]) with i
     * < own and i < j < total. */
    size_t own = 0, total, taken = 0;
    int32_t *nodes = npi_alloc(env, (size_t)graph->n, sizeof *nodes, err);
    if (!nodes)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < graph->n; i++)
        if (candidates->role[i] == candidates->own)
            nodes[own++] = i;
    total = own;
    for (int32_t i = 0; candidates->with_training && i < graph->n; i++)
        if (candidates->role[i] == NPI_NODE_TRAIN)
            nodes[total++] = i;

    int code = 0;
    uint64_t pairs = own > 0 ? own * (total - 1) : 0; /* an upper bound, at most twice the number of candidate pairs */
    if (count > available / 2 || available < pairs / 8) {
        /* non-links are rare: visit all pairs and select by sequential sampling */
        for (size_t i = 0; i < own; i++)
            for (size_t j = i + 1; j < total; j++) {
                npgnn_pair pair = {nodes[i], nodes[j]};
                if (npgnn_graph_has_edge(graph, pair.u, pair.v) || !npi_graph_allows(graph, pair.u, pair.v))
                    continue;
                if (npi_rng_below(&rng, available--) < count - taken)
                    out[taken++] = pair;
            }
    } else {
        npi_pair_set seen;
        code = npi_pair_set_new(&seen, count, env, err);
        while (!code && taken < count) {
            uint64_t i = npi_rng_below(&rng, own), j = npi_rng_below(&rng, total);
            npgnn_pair pair = {nodes[i], nodes[j]};
            if (i < j && npi_graph_allows(graph, pair.u, pair.v) && !npgnn_graph_has_edge(graph, pair.u, pair.v) &&
                npi_pair_set_add(&seen, pair))
                out[taken++] = pair;
        }
        npi_pair_set_free(env, &seen);
    }
    npi_free(env, nodes);
    return code;
}

/* ---- non-links of a split ---- */

int npi_protocol_has_candidates(npgnn_protocol protocol)
{
    return protocol == NPGNN_INDUCTIVE || protocol == NPGNN_FEW_SHOT || protocol == NPGNN_INDUCTIVE_HIDDEN ||
           protocol == NPGNN_PRODUCTION;
}

npi_candidate_pairs npi_split_candidates(const npgnn_split *split, npgnn_set set)
{
    return (npi_candidate_pairs){split->graph, split->role, set == NPGNN_SET_TEST ? NPI_NODE_TEST : NPI_NODE_VAL,
                                 split->protocol != NPGNN_INDUCTIVE_HIDDEN};
}

uint64_t npi_split_count_non_links(const npgnn_split *split, npgnn_set set)
{
    npi_candidate_pairs candidates = npi_split_candidates(split, set);
    return split->role ? npi_candidate_pairs_count_non_links(&candidates)
                       : npi_graph_count_pairs(split->graph) - (uint64_t)split->graph->m;
}

/* Whether a pair is one of the held-out non-links. */
static int is_held_out(const npgnn_split *split, npgnn_pair pair)
{
    for (int set = 0; set < 2; set++) {
        size_t positives = split->positives[set];
        if (npi_pairs_contain(split->pairs[set] + positives, split->count[set] - positives, pair))
            return 1;
    }
    return 0;
}

int npi_split_draw_non_links(npgnn_pair *out, size_t *count, const npgnn_split *split, const npgnn_env *env,
                             npgnn_error *err)
{
    npi_candidate_pairs candidates = npi_split_candidates(split, NPGNN_SET_VAL);
    uint64_t available = npi_split_count_non_links(split, NPGNN_SET_VAL);
    size_t drawn = available < *count ? (size_t)available : *count, kept = 0;
    npgnn_pair *sets[2] = {out, NULL};
    const size_t counts[2] = {drawn, 0};
    int code = split->role ? npi_candidate_pairs_draw_non_links(out, &candidates, drawn, split->hash, env, err)
                           : npi_graph_draw_non_links(sets, split->graph, counts, split->hash, env, err);
    for (size_t i = 0; !code && i < drawn; i++)
        if (!is_held_out(split, out[i]))
            out[kept++] = out[i];
    *count = kept;
    return code;
}

/* ---- degree-matched non-links ---- */

/* An end of a random test link. In a split by nodes: with `held_out` 1 one that is a test node, with 0 the other
 * one. */
static int32_t draw_test_end(const npgnn_split *split, int held_out, npi_rng *rng)
{
    npgnn_pair link = split->pairs[NPGNN_SET_TEST][npi_rng_below(rng, split->positives[NPGNN_SET_TEST])];
    int u_new = !split->role || split->role[link.u] == NPI_NODE_TEST;
    int v_new = !split->role || split->role[link.v] == NPI_NODE_TEST;
    int first = u_new && v_new ? npi_rng_below(rng, 2) == 0 : u_new; /* whether u counts as the held-out end */
    return first == held_out ? link.u : link.v;
}

size_t npi_split_draw_matched(npgnn_pair *out, size_t count, const npgnn_split *split)
{
    enum { ATTEMPTS = 200 }; /* per pair, before the graph counts as complete */
    npi_rng rng = npi_rng_make(split->hash, NPI_RNG_MATCHED, 0);
    size_t drawn = 0;
    if (split->positives[NPGNN_SET_TEST] == 0)
        return 0;
    for (size_t attempt = 0; drawn < count && attempt < ATTEMPTS * count; attempt++) {
        npgnn_pair pair = {.u = draw_test_end(split, 1, &rng)};
        pair.v = draw_test_end(split, 0, &rng);
        if (npi_graph_allows(split->graph, pair.u, pair.v) && !npgnn_graph_has_edge(split->graph, pair.u, pair.v))
            out[drawn++] = pair;
    }
    return drawn;
}
