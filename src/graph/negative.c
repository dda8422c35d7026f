/* Drawing non-links uniformly and without repetition.
 *
 * Where non-links are common, pairs are drawn at random and rejected when they are edges or were drawn before; a
 * hash set remembers them. Where they are rare, all pairs are enumerated and selected by sequential sampling. Both
 * take time linear in the graph and in the number drawn. */
#include "graph/negative.h"

#include <assert.h>
#include <math.h>

#include "base/rng.h"
#include "graph/pair.h"
#include "graph/pair_set.h"

/* `kind` completes "non-links". */
static int too_few(uint64_t wanted, uint64_t available, const char *kind, npgnn_error *err)
{
    return npi_fail(err, NPGNN_E_ARGUMENT,
                    "the split needs %llu non-links%s, but the graph has only %llu: hold out fewer links or lower the "
                    "negative ratio",
                    (unsigned long long)wanted, kind, (unsigned long long)available);
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
        return too_few(wanted, available, "", err);
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

/* Whether two own nodes make a candidate. */
static int joins_own(const npi_candidate_pairs *c)
{
    return c->kind == NPI_PAIRS_OWN || c->kind == NPI_PAIRS_TOUCHING;
}

/* Whether a node counts as an own one. */
static int is_own(const npi_candidate_pairs *c, int32_t node)
{
    if (c->kind == NPI_PAIRS_OWN_SOURCE || c->kind == NPI_PAIRS_OWN_TARGET)
        return c->role[node] == c->own && c->graph->side[node] == (c->kind == NPI_PAIRS_OWN_TARGET);
    return c->role[node] == c->own;
}

/* Whether a node is a partner of own nodes besides these. */
static int is_partner(const npi_candidate_pairs *c, int32_t node)
{
    return c->kind != NPI_PAIRS_OWN && c->role[node] == NPI_NODE_TRAIN;
}

static int is_candidate(const npi_candidate_pairs *c, int32_t u, int32_t v)
{
    int own_u = is_own(c, u), own_v = is_own(c, v);
    if (!npi_graph_allows(c->graph, u, v))
        return 0;
    if (own_u && own_v)
        return joins_own(c);
    return (own_u && is_partner(c, v)) || (own_v && is_partner(c, u));
}

npi_candidate_pairs npi_known_pairs(unsigned char *role, const npgnn_graph *graph)
{
    for (int32_t i = 0; i < graph->n; i++)
        role[i] = graph->a.ptr[i + 1] > graph->a.ptr[i] ? NPI_NODE_TRAIN : NPI_NODE_TEST;
    return (npi_candidate_pairs){graph, role, NPI_NODE_TRAIN, NPI_PAIRS_OWN};
}

/* own (own - 1) / 2, if two own nodes make a candidate, + own training - edges among these pairs; in a two-sided graph
 * the pairs of each side do not count */
uint64_t npi_candidate_pairs_count_non_links(const npi_candidate_pairs *candidates)
{
    const npi_csr *a = &candidates->graph->a;
    const unsigned char *side = candidates->graph->side;
    uint64_t owns[2] = {0, 0}, trainings[2] = {0, 0}, edges = 0; /* by side */
    for (int32_t u = 0; u < a->rows; u++) {
        owns[side ? side[u] : 0] += is_own(candidates, u);
        trainings[side ? side[u] : 0] += is_partner(candidates, u);
        for (int64_t p = a->ptr[u]; p < a->ptr[u + 1]; p++)
            edges += u < a->col[p] && is_candidate(candidates, u, a->col[p]);
    }
    uint64_t own = owns[0], within = side ? owns[0] * owns[1] : own > 0 ? own * (own - 1) / 2 : 0;
    uint64_t across = side ? owns[0] * trainings[1] + owns[1] * trainings[0] : own * trainings[0];
    return (joins_own(candidates) ? within : 0) + across - edges;
}

/* The same in a two-sided graph, where one end is drawn from each side: first an own node, from side 0 or 1 in
 * proportion to the pairs that it has there, then any node of the other side. Two own nodes would be drawn from either
 * side: they count from side 0 only. */
static int draw_across(npgnn_pair *out, const npi_candidate_pairs *c, size_t count, uint64_t available, npi_rng *rng,
                       const npgnn_env *env, npgnn_error *err)
{
    const npgnn_graph *graph = c->graph;
    size_t own[2] = {0, 0}, total[2] = {0, 0}, partners[2], taken = 0, n = (size_t)graph->n;
    npi_pair_set seen = {0};
    int32_t *nodes[2] = {npi_alloc(env, 2 * n, sizeof **nodes, err)}; /* of each side: own nodes, then training nodes */
    int code = nodes[0] ? 0 : NPGNN_E_MEMORY;
    nodes[1] = nodes[0] ? nodes[0] + n : NULL;
    for (int pass = 0; !code && pass < 2; pass++) {
        for (int32_t i = 0; i < graph->n; i++)
            if (pass ? !is_own(c, i) && is_partner(c, i) : is_own(c, i))
                nodes[graph->side[i]][total[graph->side[i]]++] = i;
        for (int side = 0; side < 2 && pass == 0; side++)
            own[side] = total[side];
    }
    for (int side = 0; side < 2; side++) /* of an own node of the other side; they are the last of their list */
        partners[side] = total[side] - (joins_own(c) ? 0 : own[side]);
    uint64_t from[2] = {own[0] * partners[1], own[1] * partners[0]}, pairs = from[0] + from[1];
    int all = count > available / 2 || available < pairs / 8;
    if (!code && !all)
        code = npi_pair_set_new(&seen, count, env, err);
    for (uint64_t at = 0; !code && taken < count; at++) {
        uint64_t pick = all ? at : npi_rng_below(rng, pairs);
        int side = pick >= from[0];
        pick -= side ? from[0] : 0;
        assert(partners[!side] > 0); /* otherwise from[side] is 0, and no pick is in it */
        size_t i = (size_t)(pick / partners[!side]);
        size_t j = (size_t)(pick % partners[!side]) + total[!side] - partners[!side];
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

/* `kind` is for too_few. */
static int draw_candidates(npgnn_pair *out, const npi_candidate_pairs *candidates, size_t count, const char *kind,
                           npi_rng *rng, const npgnn_env *env, npgnn_error *err)
{
    const npgnn_graph *graph = candidates->graph;
    if (count == 0)
        return 0;
    uint64_t available = npi_candidate_pairs_count_non_links(candidates);
    if (count > available)
        return too_few(count, available, kind, err);
    if (graph->side)
        return draw_across(out, candidates, count, available, rng, env, err);

    /* List the nodes of the set before the training nodes: the candidate pairs are then (nodes[i], nodes[j]) with i
     * < own and i < j < total. */
    size_t own = 0, total, taken = 0;
    int32_t *nodes = npi_alloc(env, (size_t)graph->n, sizeof *nodes, err);
    if (!nodes)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < graph->n; i++)
        if (is_own(candidates, i))
            nodes[own++] = i;
    total = own;
    for (int32_t i = 0; i < graph->n; i++)
        if (!is_own(candidates, i) && is_partner(candidates, i))
            nodes[total++] = i;
    size_t first = joins_own(candidates) ? 0 : own; /* the first partner */

    int code = 0;
    uint64_t pairs = own > 0 ? own * (total - (first ? first : 1))
                             : 0; /* an upper bound, at most twice the number of candidate pairs */
    if (count > available / 2 || available < pairs / 8) {
        /* non-links are rare: visit all pairs and select by sequential sampling */
        for (size_t i = 0; i < own; i++)
            for (size_t j = i < first ? first : i + 1; j < total; j++) {
                npgnn_pair pair = {nodes[i], nodes[j]};
                if (npgnn_graph_has_edge(graph, pair.u, pair.v) || !npi_graph_allows(graph, pair.u, pair.v))
                    continue;
                if (npi_rng_below(rng, available--) < count - taken)
                    out[taken++] = pair;
            }
    } else {
        npi_pair_set seen;
        code = npi_pair_set_new(&seen, count, env, err);
        while (!code && taken < count) {
            uint64_t i = npi_rng_below(rng, own), j = first + npi_rng_below(rng, total - first);
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

int npi_candidate_pairs_draw_non_links(npgnn_pair *out, const npi_candidate_pairs *candidates, size_t count,
                                       uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    /* the role as stream: a stream that npi_graph_draw_non_links does not use */
    npi_rng rng = candidates->own == NPI_NODE_TRAIN ? npi_rng_make(seed, NPI_RNG_TUNE, UINT32_MAX)
                                                    : npi_rng_make(seed, NPI_RNG_NEGATIVE, candidates->own);
    return draw_candidates(out, candidates, count, "", &rng, env, err);
}

/* ---- the pairs that could be in a held-out set ---- */

int npi_protocol_has_population(npgnn_protocol protocol)
{
    return protocol != NPGNN_RANDOM_LINKS && protocol != NPGNN_PAPER_INDUCTIVE && protocol != NPGNN_PAPER_FEW_SHOT;
}

npi_population npi_population_make(const npgnn_graph *graph, const unsigned char *standing, npgnn_protocol protocol,
                                   npgnn_set set)
{
    enum { SOME_NEW = 1 << NPI_SOURCE_NEW | 1 << NPI_TARGET_NEW | 1 << NPI_BOTH_NEW };
    unsigned classes = protocol == NPGNN_TRANSDUCTIVE       ? 1 << NPI_NONE_NEW
                       : protocol == NPGNN_TEMPORAL         ? 1 << NPI_NONE_NEW | SOME_NEW
                       : protocol == NPGNN_INDUCTIVE_HIDDEN ? 1 << NPI_BOTH_NEW
                                                            : SOME_NEW;
    int either = protocol == NPGNN_TEMPORAL || set == NPGNN_SET_TEST; /* nodes that appear later are in both sets */
    return (npi_population){graph, standing, either ? NPI_NODE_TEST : NPI_NODE_VAL, classes};
}

int npi_population_class(const npi_population *population, npgnn_pair pair)
{
    const unsigned char *standing = population->standing, *side = population->graph->side;
    int target = side && side[pair.u] == 1; /* whether u is the target */
    int is_new[2];
    if (!standing)
        return NPI_NONE_NEW;
    for (int i = 0; i < 2; i++) {
        unsigned char own = standing[i ? pair.v : pair.u];
        if (own != population->own && own != NPI_NODE_TRAIN)
            return -1;
        is_new[i] = own == population->own;
    }
    int found = is_new[0] && is_new[1]        ? NPI_BOTH_NEW
                : !is_new[0] && !is_new[1]    ? NPI_NONE_NEW
                : side && is_new[0] == target ? NPI_TARGET_NEW
                                              : NPI_SOURCE_NEW;
    return population->classes & 1u << found ? found : -1;
}

npi_candidate_pairs npi_population_pairs(const npi_population *population, int pair_class)
{
    static const npi_pair_kind kinds[NPI_PAIR_CLASSES] = {
        [NPI_NONE_NEW] = NPI_PAIRS_OWN,
        [NPI_SOURCE_NEW] = NPI_PAIRS_OWN_SOURCE,
        [NPI_TARGET_NEW] = NPI_PAIRS_OWN_TARGET,
        [NPI_BOTH_NEW] = NPI_PAIRS_OWN,
    };
    npi_pair_kind kind = pair_class == NPI_SOURCE_NEW && !population->graph->side ? NPI_PAIRS_MIXED : kinds[pair_class];
    unsigned char own = pair_class == NPI_NONE_NEW ? NPI_NODE_TRAIN : population->own;
    return (npi_candidate_pairs){population->graph, population->standing, own, kind};
}

void npi_population_share(size_t count[NPI_PAIR_CLASSES], const size_t links[NPI_PAIR_CLASSES], double total)
{
    double all = 0, before = 0, sum = 0;
    for (int c = 0; c < NPI_PAIR_CLASSES; c++)
        all += (double)links[c];
    for (int c = 0; c < NPI_PAIR_CLASSES; c++) {
        sum += (double)links[c];
        double after = all > 0 ? floor(total * sum / all) : 0;
        count[c] = (size_t)(after - before);
        before = after;
    }
}

int npi_population_draw(npgnn_pair *out, const npi_population *population, int pair_class, size_t count, npi_rng *rng,
                        const npgnn_env *env, npgnn_error *err)
{
    static const char *const of_kind[NPI_PAIR_CLASSES] = {
        [NPI_NONE_NEW] = " of two nodes that have training links",
        [NPI_SOURCE_NEW] = " of a new source and a known target",
        [NPI_TARGET_NEW] = " of a known source and a new target",
        [NPI_BOTH_NEW] = " of two new nodes",
    };
    int one_sided = pair_class == NPI_SOURCE_NEW && !population->graph->side;
    npi_candidate_pairs pairs = npi_population_pairs(population, pair_class);
    int code = draw_candidates(out, &pairs, count, one_sided ? " of a new node and a known one" : of_kind[pair_class],
                               rng, env, err);
    if (!code)
        npi_pairs_shuffle(out, (int64_t)count, rng);
    return code;
}

npi_population npi_split_population(const npgnn_split *split, npgnn_set set)
{
    return npi_population_make(split->graph, split->standing, split->protocol, set);
}

void npi_split_count_classes(size_t links[NPI_PAIR_CLASSES], const npgnn_split *split, npgnn_set set)
{
    npi_population population = npi_split_population(split, set);
    for (int c = 0; c < NPI_PAIR_CLASSES; c++)
        links[c] = 0;
    for (size_t i = 0; i < split->positives[set]; i++)
        links[npi_population_class(&population, split->pairs[set][i])]++;
}

/* ---- non-links of a split ---- */

uint64_t npi_population_count_non_links(const npi_population *population, int pair_class)
{
    npi_candidate_pairs pairs = npi_population_pairs(population, pair_class);
    int exists = population->classes & 1u << pair_class && (pair_class != NPI_TARGET_NEW || population->graph->side);
    return exists ? npi_candidate_pairs_count_non_links(&pairs) : 0;
}

uint64_t npi_split_count_non_links(const npgnn_split *split, npgnn_set set)
{
    npi_population population = npi_split_population(split, set);
    uint64_t count = 0;
    if (!split->standing)
        return npi_graph_count_pairs(split->graph) - (uint64_t)split->graph->m;
    for (int c = 0; c < NPI_PAIR_CLASSES; c++)
        count += npi_population_count_non_links(&population, c);
    return count;
}

double npi_split_link_rate(const npgnn_split *split, npgnn_set set)
{
    npi_population population = npi_split_population(split, set);
    size_t links[NPI_PAIR_CLASSES];
    double all = (double)split->positives[set], rate = 0;
    if (!split->standing)
        return all / (all + (double)npi_split_count_non_links(split, set));
    npi_split_count_classes(links, split, set);
    for (int c = 0; c < NPI_PAIR_CLASSES; c++) {
        double own = (double)links[c];
        if (own > 0)
            rate += own / all * (own / (own + (double)npi_population_count_non_links(&population, c)));
    }
    return rate;
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
    enum { STREAM = 32 }; /* and the following: those of npgnn_split_new are below */
    uint64_t available = npi_split_count_non_links(split, NPGNN_SET_VAL);
    size_t drawn = available < *count ? (size_t)available : *count, kept = 0;
    int code = 0;
    if (split->standing) {
        npi_population population = npi_split_population(split, NPGNN_SET_VAL);
        size_t links[NPI_PAIR_CLASSES], wanted[NPI_PAIR_CLASSES];
        double total = (double)drawn, all = (double)split->positives[NPGNN_SET_VAL];
        npi_split_count_classes(links, split, NPGNN_SET_VAL);
        for (int c = 0; c < NPI_PAIR_CLASSES; c++)
            if (links[c] > 0)
                total = fmin(total, (double)npi_population_count_non_links(&population, c) * (all / (double)links[c]));
        npi_population_share(wanted, links, total);
        drawn = 0;
        for (int c = 0; !code && c < NPI_PAIR_CLASSES; c++) {
            npi_rng rng = npi_rng_make(split->hash, NPI_RNG_NEGATIVE, (uint32_t)(STREAM + c));
            uint64_t most = links[c] > 0 ? npi_population_count_non_links(&population, c) : 0;
            wanted[c] = wanted[c] < most ? wanted[c] : (size_t)most; /* shares are rounded */
            code = npi_population_draw(out + drawn, &population, c, wanted[c], &rng, env, err);
            drawn += wanted[c];
        }
    } else {
        npgnn_pair *sets[2] = {out, NULL};
        const size_t counts[2] = {drawn, 0};
        code = npi_graph_draw_non_links(sets, split->graph, counts, split->hash, env, err);
    }
    for (size_t i = 0; !code && i < drawn; i++)
        if (!is_held_out(split, out[i]))
            out[kept++] = out[i];
    *count = kept;
    return code;
}

void npi_split_emptied(double *links, double *non_links, const npgnn_split *split)
{
    const int64_t *ptr = npi_split_known(split)->a.ptr;
    size_t positives = split->positives[NPGNN_SET_TEST], count = split->count[NPGNN_SET_TEST], touching[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        npgnn_pair pair = split->pairs[NPGNN_SET_TEST][i];
        touching[i >= positives] += ptr[pair.u] == ptr[pair.u + 1] || ptr[pair.v] == ptr[pair.v + 1];
    }
    *links = positives > 0 ? (double)touching[0] / (double)positives : (double)NAN;
    *non_links = count > positives ? (double)touching[1] / (double)(count - positives) : (double)NAN;
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
