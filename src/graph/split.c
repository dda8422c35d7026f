/* Splitting a graph into training, validation and test data, by one of the protocols of docs/use/evaluate.md.
 *
 * A transductive split assigns edges to sets at random, a temporal one by their time. The other protocols assign
 * every node to a set, and the sets of its two nodes decide that of an edge. Non-links are then added to the held-out
 * sets.
 *
 * A node that has lost its links by the split betrays that it has some to find: a graph that is read from its links has no
 * node without. So such a node is in no held-out pair, and where new nodes are asked about, links and non-links have
 * as many of them (graph/negative.h). */
#include "graph/split.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "base/sized.h"
#include "base/sort.h"
#include "graph/hold_out.h"
#include "graph/negative.h"
#include "graph/pair.h"

/* The set that an edge is assigned to. The first three are also the roles of nodes, NPI_NODE_*. IN_KNOWN: known when
 * predicting, but not in training. IN_NONE: left out. */
enum { IN_TRAIN = NPI_NODE_TRAIN, IN_VAL = NPI_NODE_VAL, IN_TEST = NPI_NODE_TEST, IN_KNOWN, IN_NONE, PLACES };

/* A split under construction. */
typedef struct draft {
    const npgnn_env *env;
    const npgnn_graph *graph;
    npgnn_protocol protocol;
    npgnn_pair
        *edges; /* (m) of the graph. After distribute_edges the first `listed` are the training edges or, in a split by
                          nodes, the IN_KNOWN ones. */
    unsigned char *place; /* (m) IN_* of each edge */
    unsigned char *role;  /* (n) NPI_NODE_*; NULL for a split by links, except transductive: see npi_split_assemble */
    unsigned char *standing; /* (n) as in npgnn_split */
    int64_t listed;
    npgnn_pair *pairs[2]; /* by npgnn_set */
    size_t positives[2], negatives[2];
    size_t links[2][NPI_PAIR_CLASSES]; /* positives by class */
} draft;

/* ---- options ---- */

npgnn_split_options npi_split_defaults(npgnn_protocol protocol)
{
    return (npgnn_split_options){.size = sizeof(npgnn_split_options),
                                 .protocol = protocol,
                                 .test = -1,
                                 .val = -1,
                                 .train_nodes = -1,
                                 .negative_ratio = 1,
                                 .known_links = -1};
}

int npgnn_split_options_default(npgnn_split_options *options, npgnn_protocol protocol, npgnn_error *err)
{
    npgnn_split_options defaults = npi_split_defaults(protocol);
    return npi_sized_write(options, &defaults, sizeof defaults, "npgnn_split_options", err);
}

static double share_or(double share, double fallback)
{
    return share < 0 ? fallback : share;
}

static int is_few_shot(npgnn_protocol protocol)
{
    return protocol == NPGNN_FEW_SHOT || protocol == NPGNN_PAPER_FEW_SHOT;
}

int npi_protocol_hides_nodes(npgnn_protocol protocol)
{
    return protocol != NPGNN_TRANSDUCTIVE && protocol != NPGNN_RANDOM_LINKS && protocol != NPGNN_TEMPORAL;
}

/* Shares of the edges (splits by links) or of the nodes. Few-shot tests all nodes that are left. */
static const struct {
    double test, val;
} default_shares[] = {
    [NPGNN_TRANSDUCTIVE] = {0.1, 0.05},      [NPGNN_INDUCTIVE] = {0.05, 0.025}, [NPGNN_FEW_SHOT] = {0, 0},
    [NPGNN_INDUCTIVE_HIDDEN] = {0.1, 0.1},   [NPGNN_PRODUCTION] = {0.1, 0.05},  [NPGNN_TEMPORAL] = {0.1, 0.05},
    [NPGNN_PAPER_INDUCTIVE] = {0.05, 0.025}, [NPGNN_PAPER_FEW_SHOT] = {0, 0},   [NPGNN_RANDOM_LINKS] = {0.1, 0.05},
};
enum { PROTOCOLS = sizeof default_shares / sizeof default_shares[0] };

/* Replaces every default (-1, 0, NPGNN_RATIO_FULL) with its value. */
static npgnn_split_options resolve_options(const npgnn_split_options *options, const npgnn_graph *graph)
{
    npgnn_split_options o = *options;
    if ((unsigned)o.protocol >= PROTOCOLS)
        return o; /* check_options reports it */
    double m = (double)graph->m;
    o.train_nodes = share_or(o.train_nodes, 0.3);
    o.val = share_or(o.val, default_shares[o.protocol].val);
    o.test = share_or(o.test, default_shares[o.protocol].test);
    if (is_few_shot(o.protocol))
        o.test = 1 - o.train_nodes - o.val;
    o.known_links = o.protocol == NPGNN_PRODUCTION ? share_or(o.known_links, 0.5) : 0;
    if (o.negative_ratio == NPGNN_RATIO_FULL && m > 0)
        o.negative_ratio = fmax(1, ((double)npi_graph_count_pairs(graph) - m) / m);
    else if (o.negative_ratio == 0)
        o.negative_ratio = 1;
    return o;
}

static int check_options(const npgnn_split_options *o, npgnn_error *err)
{
    if ((unsigned)o->protocol >= PROTOCOLS)
        return npi_fail(err, NPGNN_E_ARGUMENT, "unknown protocol %d", (int)o->protocol);
    if (is_few_shot(o->protocol) && !(o->train_nodes > 0 && o->val >= 0 && o->test > 0))
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "the shares of training nodes (%g) and validation nodes (%g) must leave some nodes to test",
                        o->train_nodes, o->val);
    if (!(o->test >= 0 && o->val >= 0 && o->test + o->val < 1))
        return npi_fail(
            err, NPGNN_E_ARGUMENT,
            "the test share (%g) and the validation share (%g) must not be negative and must add up to less than 1",
            o->test, o->val);
    if (!(o->known_links >= 0 && o->known_links < 1))
        return npi_fail(err, NPGNN_E_ARGUMENT, "the share of known links must be at least 0 and below 1, got %g",
                        o->known_links);
    if (!(o->negative_ratio >= 1 && o->negative_ratio <= 1e9))
        return npi_fail(err, NPGNN_E_ARGUMENT, "the negative ratio must be from 1 to 1e9, got %g", o->negative_ratio);
    return 0;
}

/* floor(share * total). The factor makes up for rounding: 0.29, which no double represents exactly, gives 29 of 100. */
static int64_t count_of(double share, int64_t total)
{
    return (int64_t)floor(share * (double)total * (1 + 0x1p-50));
}

/* ---- assigning edges and nodes to sets ---- */

/* Assigns exactly `test` of `total` items to the test set, `val` to the validation set and the rest to training; every
 * choice is equally likely (selection sampling, see context.c, for two sets). */
static void assign(unsigned char *place, int64_t total, int64_t test, int64_t val, uint64_t seed)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_SPLIT, 0);
    for (int64_t i = 0; i < total; i++) {
        int64_t pick = (int64_t)npi_rng_below(&rng, (uint64_t)(total - i));
        place[i] = pick < test ? IN_TEST : pick < test + val ? IN_VAL : IN_TRAIN;
        test -= place[i] == IN_TEST;
        val -= place[i] == IN_VAL;
    }
}

/* The set of an edge whose nodes have these roles. An edge between a validation node and a test node is left out: in
 * either set it would reveal something about the other one. */
static unsigned char place_of(unsigned char a, unsigned char b, npgnn_protocol protocol)
{
    if (a == b)
        return a;
    if (protocol == NPGNN_INDUCTIVE_HIDDEN || (a != NPI_NODE_TRAIN && b != NPI_NODE_TRAIN))
        return IN_NONE;
    return a == NPI_NODE_TRAIN ? b : a;
}

/* Makes a share of the edges of each held-out set known when predicting, chosen by selection sampling. */
static void reveal_edges(draft *d, double share, uint64_t seed)
{
    for (int set = IN_VAL; set <= IN_TEST; set++) {
        npi_rng rng = npi_rng_make(seed, NPI_RNG_REVEAL, (uint32_t)set);
        int64_t left = 0;
        for (int64_t e = 0; e < d->graph->m; e++)
            left += d->place[e] == set;
        int64_t known = count_of(share, left);
        for (int64_t e = 0; known > 0 && e < d->graph->m; e++) {
            if (d->place[e] != set || (int64_t)npi_rng_below(&rng, (uint64_t)left--) >= known)
                continue;
            d->place[e] = IN_KNOWN;
            known--;
        }
    }
}

/* The number of the last `count` of `total` sorted times that has no time in common with the others: the nearest to
 * count. */
static int64_t cut_between_times(const uint64_t *sorted, int64_t total, int64_t count)
{
    int64_t more = count, fewer = count;
    if (count == 0 || count >= total)
        return count;
    uint64_t time = sorted[total - count];
    while (more < total && sorted[total - more - 1] == time)
        more++;
    while (fewer > 0 && sorted[total - fewer] == time)
        fewer--;
    return more == total || (fewer > 0 && count - fewer < more - count) ? fewer : more;
}

/* Assigns the latest `test` edges to the test set, the latest `val` of the others to the validation set, and the rest
 * to training. Edges of the same time are not torn apart: sets can be larger or smaller than asked for. */
static int assign_by_time(draft *d, int64_t test, int64_t val, npgnn_error *err)
{
    int64_t m = d->graph->m;
    if (!d->graph->time)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "the temporal protocol needs the times of the links: say which column of the "
                        "edge file has them (time)");
    uint64_t *keys = npi_resize(d->env, NULL, (size_t)m, 3 * sizeof *keys, err);
    if (!keys)
        return NPGNN_E_MEMORY;
    uint64_t *own = keys + 2 * m;
    for (int64_t e = 0; e < m; e++) {
        /* doubles in their order as integers: negative ones have all bits flipped, the others the sign bit */
        double time = d->graph->time[npi_csr_find(&d->graph->a, d->edges[e].u, d->edges[e].v)] + 0.0;
        memcpy(&keys[e], &time, sizeof time);
        keys[e] = keys[e] >> 63 ? ~keys[e] : keys[e] | (uint64_t)1 << 63;
        own[e] = keys[e];
    }
    npi_u64_sort(keys, keys + m, (size_t)m);
    test = cut_between_times(keys, m, test);
    val = cut_between_times(keys, m - test, val);
    uint64_t test_from = test > 0 ? keys[m - test] : UINT64_MAX, val_from = val > 0 ? keys[m - test - val] : test_from;
    for (int64_t e = 0; e < m; e++)
        d->place[e] = own[e] >= test_from ? IN_TEST : own[e] >= val_from ? IN_VAL : IN_TRAIN;
    npi_free(d->env, keys);
    return 0;
}

/* Holds out `test` + `val` random edges, or fewer, such that no held-out pair has a node whose edges were all drawn. */
static int assign_by_chance(draft *d, int64_t test, int64_t val, const npgnn_split_options *o, npgnn_error *err)
{
    int64_t wanted = test + val, drawn, held, at = 0;
    npi_rng rng = npi_rng_make(o->seed, NPI_RNG_SPLIT, 0);
    int32_t *left = npi_alloc(d->env, (size_t)d->graph->n, sizeof *left, err);
    d->role = npi_alloc(d->env, (size_t)d->graph->n, 1, err);
    if (!left || !d->role) {
        npi_free(d->env, left);
        return NPGNN_E_MEMORY;
    }
    npi_pairs_shuffle(d->edges, d->graph->m, &rng);
    held = npi_draw_links(&drawn, d->role, left, d->graph, d->edges, wanted);
    npi_free(d->env, left);
    if (wanted > 0 && held == 0)
        return npi_fail(
            err, NPGNN_E_ARGUMENT,
            "no link of this graph can be held out such that both ends keep others: a node without links "
            "would betray its held-out one; protocol random-links holds out any, and says what that betrays");
    if (held < wanted) {
        test = (int64_t)((double)test / (double)wanted * (double)held);
        npi_log(d->env,
                "the split holds out %lld of the %lld links asked for: the nodes of the others would lose all links",
                (long long)held, (long long)wanted);
    }
    for (int64_t e = 0; e < drawn; e++)
        if (!d->role[d->edges[e].u] && !d->role[d->edges[e].v])
            d->place[e] = at++ < test ? IN_TEST : IN_VAL;
    for (int32_t i = 0; i < d->graph->n; i++)
        d->role[i] = d->role[i] ? NPI_NODE_UNTESTED : NPI_NODE_TRAIN;
    return 0;
}

/* Fills edges, place and role. */
static int assign_all(draft *d, const npgnn_split_options *o, npgnn_error *err)
{
    int64_t n = d->graph->n, m = d->graph->m;
    d->edges = npi_alloc(d->env, (size_t)m, sizeof *d->edges, err);
    d->place = npi_alloc(d->env, (size_t)m, 1, err);
    if (!d->edges || !d->place)
        return NPGNN_E_MEMORY;
    npi_graph_list_edges(d->edges, d->graph);
    if (o->protocol == NPGNN_TEMPORAL)
        return assign_by_time(d, count_of(o->test, m), count_of(o->val, m), err);
    if (o->protocol == NPGNN_TRANSDUCTIVE)
        return assign_by_chance(d, count_of(o->test, m), count_of(o->val, m), o, err);
    if (o->protocol == NPGNN_RANDOM_LINKS) {
        assign(d->place, m, count_of(o->test, m), count_of(o->val, m), o->seed);
        return 0;
    }
    int64_t val = count_of(o->val, n);
    int64_t test = is_few_shot(o->protocol) ? n - count_of(o->train_nodes, n) - val : count_of(o->test, n);
    d->role = npi_alloc(d->env, (size_t)n, 1, err);
    if (!d->role)
        return NPGNN_E_MEMORY;
    assign(d->role, n, test, val, o->seed);
    for (int64_t e = 0; e < m; e++)
        d->place[e] = place_of(d->role[d->edges[e].u], d->role[d->edges[e].v], o->protocol);
    reveal_edges(d, o->known_links, o->seed);
    return 0;
}

/* ---- which nodes can be in held-out pairs ---- */

/* Fills standing (n) from the roles and the number of known links of each node. */
static void find_standing(unsigned char *standing, const int32_t *links, const unsigned char *role, int32_t n,
                          npgnn_protocol protocol)
{
    for (int32_t i = 0; i < n; i++) {
        int own = role ? role[i] : NPI_NODE_TRAIN;
        /* new nodes are asked about as they come: with no links known or, in production, with some */
        int may_lack = own != NPI_NODE_TRAIN && protocol != NPGNN_PRODUCTION;
        if (links[i] == 0 && !may_lack)
            own = protocol == NPGNN_TEMPORAL ? NPI_NODE_TEST : NPI_NODE_UNTESTED;
        standing[i] = (unsigned char)own;
    }
}

/* Finds the standing of all nodes, and takes links out of the held-out sets that have a node that is in no pair. */
static int exclude_betrayed(draft *d, npgnn_error *err)
{
    int32_t n = d->graph->n;
    if (!npi_protocol_has_population(d->protocol))
        return 0;
    int32_t *links = npi_alloc(d->env, (size_t)n, sizeof *links, err); /* known when predicting */
    d->standing = npi_alloc(d->env, (size_t)n, 1, err);
    if (!links || !d->standing) {
        npi_free(d->env, links);
        return NPGNN_E_MEMORY;
    }
    for (int64_t e = 0; e < d->graph->m; e++) {
        int known = d->place[e] == IN_TRAIN || d->place[e] == IN_KNOWN;
        links[d->edges[e].u] += known;
        links[d->edges[e].v] += known;
    }
    find_standing(d->standing, links, d->role, n, d->protocol);
    npi_free(d->env, links);
    for (int set = 0; set < 2; set++) {
        npi_population population = npi_population_make(d->graph, d->standing, d->protocol, (npgnn_set)set);
        for (int64_t e = 0; e < d->graph->m; e++) {
            if (d->place[e] != (set == NPGNN_SET_TEST ? IN_TEST : IN_VAL))
                continue;
            int found = npi_population_class(&population, d->edges[e]);
            if (found < 0)
                d->place[e] = IN_NONE;
            else
                d->links[set][found]++;
        }
    }
    return 0;
}

/* ---- filling the held-out sets ---- */

/* Whether the non-links of both sets are drawn from the same pairs. */
static int shares_pairs(npgnn_protocol protocol)
{
    return !npi_protocol_hides_nodes(protocol);
}

/* Takes random links with new nodes out of the held-out sets where their class has too few non-links for all of them:
 * two new nodes that are linked, say, where these are all new nodes. */
static void exclude_excess(draft *d, double ratio, uint64_t seed)
{
    int64_t excluded = 0;
    int together = shares_pairs(d->protocol);
    for (int pass = 0; npi_protocol_has_population(d->protocol) && pass < 2 - together; pass++) {
        npi_population population = npi_population_make(d->graph, d->standing, d->protocol, (npgnn_set)pass);
        for (int c = NPI_NONE_NEW + 1; c < NPI_PAIR_CLASSES; c++) {
            size_t left = together ? d->links[0][c] + d->links[1][c] : d->links[pass][c];
            double most = left > 0 ? (double)npi_population_count_non_links(&population, c) / ratio : 0;
            size_t excess = (double)left > most ? left - (size_t)most : 0;
            npi_rng rng = npi_rng_make(seed, NPI_RNG_REVEAL, (uint32_t)(8 + NPI_PAIR_CLASSES * pass + c));
            excluded += (int64_t)excess;
            for (int64_t e = 0; excess > 0 && e < d->graph->m; e++) {
                int set = d->place[e] == IN_TEST ? NPGNN_SET_TEST : NPGNN_SET_VAL;
                if ((d->place[e] != IN_TEST && d->place[e] != IN_VAL) || (!together && set != pass) ||
                    npi_population_class(&population, d->edges[e]) != c || npi_rng_below(&rng, left--) >= excess)
                    continue;
                d->place[e] = IN_NONE;
                d->links[set][c]--;
                excess--;
            }
        }
    }
    if (excluded > 0)
        npi_log(d->env, "held-out links that are in no set, since there are too few non-links of their kind: %lld",
                (long long)excluded);
}

/* The negative ratio of the whole graph, or as much of it as the non-links allow, class by class: links can be more
 * frequent among the pairs of a set. */
static double largest_ratio(const draft *d, int set, double ratio)
{
    npi_population population = npi_population_make(d->graph, d->standing, d->protocol, (npgnn_set)set);
    for (int c = 0; npi_protocol_has_population(d->protocol) && c < NPI_PAIR_CLASSES; c++) {
        size_t links = shares_pairs(d->protocol) ? d->links[0][c] + d->links[1][c] : d->links[set][c];
        if (links > 0)
            ratio = fmin(ratio, (double)npi_population_count_non_links(&population, c) / (double)links);
    }
    return fmax(ratio, 1);
}

/* The non-links of the sets, class by class: they go behind the links of each set. */
static int draw_from_population(draft *d, uint64_t seed, npgnn_error *err)
{
    size_t wanted[2][NPI_PAIR_CLASSES], done[2] = {d->positives[0], d->positives[1]};
    int together = shares_pairs(d->protocol), code = 0;
    for (int set = 0; set < 2; set++)
        npi_population_share(wanted[set], d->links[set], (double)d->negatives[set]);
    for (int pass = 0; pass < 2 - together; pass++) {
        npi_population population = npi_population_make(d->graph, d->standing, d->protocol, (npgnn_set)pass);
        for (int c = 0; !code && c < NPI_PAIR_CLASSES; c++) {
            npi_rng rng = npi_rng_make(seed, NPI_RNG_NEGATIVE, (uint32_t)(8 + NPI_PAIR_CLASSES * pass + c));
            size_t count = together ? wanted[0][c] + wanted[1][c] : wanted[pass][c], at = 0;
            npgnn_pair *drawn = npi_resize(d->env, NULL, count, sizeof *drawn, err);
            if (!drawn)
                return NPGNN_E_MEMORY;
            code = npi_population_draw(drawn, &population, c, count, &rng, d->env, err);
            for (int set = 0; !code && set < 2; set++)
                if (together || set == pass) {
                    if (wanted[set][c] > 0)
                        memcpy(d->pairs[set] + done[set], drawn + at, wanted[set][c] * sizeof *drawn);
                    at += wanted[set][c];
                    done[set] += wanted[set][c];
                }
            npi_free(d->env, drawn);
        }
    }
    return code;
}

/* Allocates a held-out set, or explains why it cannot have the size that the options ask for. */
static int reserve_set(draft *d, npgnn_set set, size_t positives, double share, const npgnn_split_options *o, int full,
                       npgnn_error *err)
{
    if (positives == 0 && share > 0)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "the %s set would be empty: a share of %g gives none of the %lld links of this graph%s",
                        set == NPGNN_SET_TEST ? "test" : "validation", share, (long long)d->graph->m,
                        set == NPGNN_SET_TEST ? "; choose a larger one"
                                              : "; choose a larger one, or 0 for no validation");
    d->positives[set] = positives;
    d->negatives[set] =
        (size_t)((full ? largest_ratio(d, set, o->negative_ratio) : o->negative_ratio) * (double)positives);
    if ((double)d->negatives[set] > (double)d->graph->n * (double)d->graph->n)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "a negative ratio of %g with %zu held-out links needs more non-links than the graph has",
                        o->negative_ratio, positives);
    d->pairs[set] = npi_alloc(d->env, positives + d->negatives[set], sizeof *d->pairs[set], err);
    return d->pairs[set] ? 0 : NPGNN_E_MEMORY;
}

/* Copies every edge to the set that it is assigned to. */
static int distribute_edges(draft *d, const npgnn_split_options *o, int full, npgnn_error *err)
{
    size_t count[PLACES] = {0};
    unsigned char listed = npi_protocol_hides_nodes(o->protocol) ? IN_KNOWN : IN_TRAIN;
    for (int64_t e = 0; e < d->graph->m; e++)
        count[d->place[e]]++;
    int code = reserve_set(d, NPGNN_SET_TEST, count[IN_TEST], o->test, o, full, err);
    if (!code)
        code = reserve_set(d, NPGNN_SET_VAL, count[IN_VAL], o->val, o, full, err);
    /* edges is compacted in place: `listed` never overtakes e */
    npgnn_pair *val = d->pairs[NPGNN_SET_VAL], *test = d->pairs[NPGNN_SET_TEST];
    assert(code || (val && test));
    for (int64_t e = 0; !code && e < d->graph->m; e++) {
        if (d->place[e] == listed)
            d->edges[d->listed++] = d->edges[e];
        else if (d->place[e] == IN_VAL)
            *val++ = d->edges[e];
        else if (d->place[e] == IN_TEST)
            *test++ = d->edges[e];
    }
    if (!code && o->protocol == NPGNN_TRANSDUCTIVE) /* they were shuffled */
        code = npi_pairs_sort(d->edges, (size_t)d->listed, d->env, err);
    return code;
}

int npgnn_split_new(npgnn_split **out, const npgnn_graph *graph, const npgnn_split_options *options,
                    const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    const npgnn_env resolved = npi_env_resolve(env);
    npgnn_split_options given = npi_split_defaults(NPGNN_TRANSDUCTIVE);
    int code = npi_sized_read(&given, sizeof given, options, "npgnn_split_options", err);
    if (code)
        return code;
    const npgnn_split_options o = resolve_options(&given, graph);
    int full = given.negative_ratio == NPGNN_RATIO_FULL;
    draft d = {.env = &resolved, .graph = graph, .protocol = o.protocol};
    code = check_options(&o, err);
    if (!code && graph->m == 0)
        code = npi_fail(err, NPGNN_E_ARGUMENT, "cannot split a graph without edges");
    if (!code)
        code = assign_all(&d, &o, err);
    if (!code)
        code = exclude_betrayed(&d, err);
    if (!code)
        exclude_excess(&d, full ? 1 : o.negative_ratio, o.seed);
    if (!code)
        code = distribute_edges(&d, &o, full, err);
    if (!code && npi_protocol_has_population(o.protocol)) {
        code = draw_from_population(&d, o.seed, err);
    } else if (!code) {
        npgnn_pair *behind[2] = {d.pairs[0] + d.positives[0], d.pairs[1] + d.positives[1]};
        code = npi_graph_draw_non_links(behind, graph, d.negatives, o.seed, &resolved, err);
    }

    if (!code) {
        const size_t count[2] = {d.positives[0] + d.negatives[0], d.positives[1] + d.negatives[1]};
        code = npi_split_assemble(out, graph, o.protocol, d.edges, d.listed, d.role, d.pairs, count, d.positives,
                                  &resolved, err);
        d.role = NULL; /* the split owns these now */
        d.pairs[0] = d.pairs[1] = NULL;
    }
    npi_free(&resolved, d.edges);
    npi_free(&resolved, d.place);
    npi_free(&resolved, d.role);
    npi_free(&resolved, d.standing);
    npi_free(&resolved, d.pairs[0]);
    npi_free(&resolved, d.pairs[1]);
    return code;
}

/* ---- building the split from its sets ---- */

/* The training graph of a split by nodes: the subgraph of the training nodes. */
static int train_from_roles(npgnn_split *split, npgnn_error *err)
{
    int32_t count = 0;
    split->map = npi_alloc(&split->env, (size_t)split->graph->n, sizeof *split->map, err);
    if (!split->map)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < split->graph->n; i++)
        if (split->role[i] == NPI_NODE_TRAIN)
            split->map[count++] = i;
    return npi_graph_induce(&split->train, split->graph, split->map, count, err);
}

/* The graph known when predicting: all nodes, the training edges and `more` known edges. */
static int known_from_train(npgnn_split *split, const npgnn_pair *more, int64_t more_count, npgnn_error *err)
{
    int64_t count = split->train->m;
    for (int64_t e = 0; e < more_count; e++)
        if (split->role[more[e].u] == NPI_NODE_TRAIN && split->role[more[e].v] == NPI_NODE_TRAIN)
            return npi_fail(err, NPGNN_E_MISMATCH, "the known link %d - %d joins two training nodes", more[e].u,
                            more[e].v);
    size_t total = (size_t)(count + more_count);
    npgnn_pair *edges = npi_alloc(&split->env, total, sizeof *edges, err);
    if (!edges)
        return NPGNN_E_MEMORY;
    /* training edges in the numbers of the complete graph, then the others */
    npi_graph_list_edges(edges, split->train);
    for (int64_t e = 0; e < count; e++) {
        edges[e].u = split->map[edges[e].u];
        edges[e].v = split->map[edges[e].v];
    }
    if (more_count > 0)
        memcpy(edges + count, more, (size_t)more_count * sizeof *edges);
    int code = npi_pairs_sort(edges, total, &split->env, err);
    if (!code)
        code = npi_graph_with_edges(&split->known, split->graph, edges, (int64_t)total, err);
    npi_free(&split->env, edges);
    return code;
}

const npgnn_graph *npi_split_known(const npgnn_split *split)
{
    return split->known ? split->known : split->train;
}

int npi_split_is_set_aside(const npgnn_split *split, int32_t node)
{
    const int64_t *ptr = split->train->a.ptr;
    return split->standing[node] == NPI_NODE_UNTESTED && ptr[node + 1] > ptr[node];
}

/* Fills standing. marks (n): see npi_split_assemble; NULL: none. */
static int stand(npgnn_split *split, const unsigned char *marks, npgnn_error *err)
{
    const npgnn_graph *known = npi_split_known(split);
    int32_t n = split->graph->n;
    int32_t *links = npi_alloc(&split->env, (size_t)n, sizeof *links, err);
    split->standing = npi_alloc(&split->env, (size_t)n, 1, err);
    if (!links || !split->standing) {
        npi_free(&split->env, links);
        return NPGNN_E_MEMORY;
    }
    for (int32_t i = 0; i < n; i++)
        links[i] = (int32_t)(known->a.ptr[i + 1] - known->a.ptr[i]);
    find_standing(split->standing, links, split->role ? split->role : marks, n, split->protocol);
    npi_free(&split->env, links);
    return 0;
}

/* Hashes each edge in canonical order. Node i is map[i] of the complete graph; NULL: it is i. */
static uint64_t hash_edges(uint64_t hash, const npgnn_graph *graph, const int32_t *map)
{
    const npi_csr *a = &graph->a;
    for (int32_t i = 0; i < a->rows; i++) {
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
            npgnn_pair edge = {map ? map[i] : i, map ? map[a->col[p]] : a->col[p]};
            if (edge.u < edge.v)
                hash = npi_hash_u64(hash, npi_pair_key(edge));
        }
    }
    return hash;
}

/* A hash of the content in canonical order: it does not depend on how the split was made. */
static uint64_t hash_split(const npgnn_split *split)
{
    /* splits of random links were called transductive once: they keep their hashes */
    npgnn_protocol protocol = split->protocol == NPGNN_RANDOM_LINKS   ? NPGNN_TRANSDUCTIVE
                              : split->protocol == NPGNN_TRANSDUCTIVE ? NPGNN_RANDOM_LINKS
                                                                      : split->protocol;
    uint64_t hash = npi_hash_u64(NPI_HASH_START, (uint64_t)protocol);
    hash = hash_edges(hash, split->train, split->map);
    if (split->protocol == NPGNN_PRODUCTION)
        hash = hash_edges(hash, split->known, NULL);
    for (int set = 0; set < 2; set++) {
        hash = npi_hash_u64(hash, split->positives[set]);
        for (size_t i = 0; i < split->count[set]; i++)
            hash = npi_hash_u64(hash, npi_pair_key(split->pairs[set][i]));
    }
    for (int32_t i = 0; i < split->graph->n; i++) /* the other standings follow from the links */
        if (split->protocol == NPGNN_TRANSDUCTIVE && npi_split_is_set_aside(split, i))
            hash = npi_hash_u64(hash, (uint64_t)i);
    return hash;
}

int npi_split_assemble(npgnn_split **out, const npgnn_graph *graph, npgnn_protocol protocol, const npgnn_pair *edges,
                       int64_t edge_count, unsigned char *role, npgnn_pair *pairs[2], const size_t count[2],
                       const size_t positives[2], const npgnn_env *env, npgnn_error *err)
{
    int hides = npi_protocol_hides_nodes(protocol);
    const npgnn_split content = {.env = npi_env_resolve(env),
                                 .graph = graph,
                                 .protocol = protocol,
                                 .role = hides ? role : NULL,
                                 .pairs = {pairs[0], pairs[1]},
                                 .count = {count[0], count[1]},
                                 .positives = {positives[0], positives[1]}};
    npgnn_split *split = npi_alloc(&content.env, 1, sizeof *split, err);
    if (!split) {
        npi_free(&content.env, role);
        npi_free(&content.env, pairs[0]);
        npi_free(&content.env, pairs[1]);
        return NPGNN_E_MEMORY;
    }
    *split = content;
    int code = 0;
    /* canonical order, so that equal splits have equal hashes */
    for (int set = 0; !code && set < 2; set++) {
        if (count[set] == 0)
            continue; /* the pairs may be NULL then */
        code = npi_pairs_sort(pairs[set], positives[set], &content.env, err);
        if (!code)
            code = npi_pairs_sort(pairs[set] + positives[set], count[set] - positives[set], &content.env, err);
    }
    for (int32_t i = 0; !code && !hides && role && i < graph->n; i++)
        if (role[i] != NPI_NODE_TRAIN && (role[i] != NPI_NODE_UNTESTED || protocol != NPGNN_TRANSDUCTIVE))
            code = npi_fail(err, NPGNN_E_MISMATCH, "the node roles of the split do not match its protocol");
    for (int64_t e = 0; !code && e < edge_count; e++)
        if (edges[e].u < 0 || edges[e].u >= graph->n || edges[e].v < 0 || edges[e].v >= graph->n)
            code = npi_fail(err, NPGNN_E_MISMATCH,
                            "training link %d - %d has a node that is not in the graph: nodes are numbered 0 to %d",
                            edges[e].u, edges[e].v, graph->n - 1);
    if (!code)
        code = split->role ? train_from_roles(split, err)
                           : npi_graph_with_edges(&split->train, graph, edges, edge_count, err);
    if (!code && split->map)
        code = known_from_train(split, edges, edge_count, err);
    if (!code && split->train->m == 0)
        code = npi_fail(err, NPGNN_E_ARGUMENT, "the split leaves no training links: hold out fewer");
    if (!code && npi_protocol_has_population(protocol))
        code = stand(split, role, err);
    if (!hides)
        npi_free(&content.env, role);
    if (!code)
        code = npgnn_split_check(split, err);
    if (!code && split->protocol == NPGNN_TEMPORAL) /* the links are now known to be in the graph, with these numbers */
        code = npi_graph_copy_times(split->train, graph, err);
    if (code) {
        npgnn_split_free(split);
        return code;
    }
    split->hash = hash_split(split);
    *out = split;
    return 0;
}

/* ---- reading ---- */

size_t npgnn_split_pairs(const npgnn_pair **pairs, size_t *positives, const npgnn_split *split, npgnn_set set)
{
    *pairs = split->pairs[set];
    *positives = split->positives[set];
    return split->count[set];
}

const npgnn_graph *npgnn_split_train(const int32_t **map, const npgnn_split *split)
{
    if (map)
        *map = split->map;
    return split->train;
}

npgnn_protocol npgnn_split_protocol(const npgnn_split *split)
{
    return split->protocol;
}

uint64_t npgnn_split_hash(const npgnn_split *split)
{
    return split->hash;
}

void npgnn_split_free(npgnn_split *split)
{
    if (!split)
        return;
    const npgnn_env env = split->env;
    npgnn_graph_free(split->train);
    npgnn_graph_free(split->known);
    npi_free(&env, split->map);
    npi_free(&env, split->role);
    npi_free(&env, split->standing);
    npi_free(&env, split->pairs[0]);
    npi_free(&env, split->pairs[1]);
    npi_free(&env, split);
}
