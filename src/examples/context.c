#include "examples/context.h"

#include <assert.h>
#include <string.h>

#include "base/comm.h"
#include "base/rng.h"
#include "examples/hidden.h"
#include "examples/near.h"
#include "graph/hold_out.h"
#include "graph/negative.h"
#include "graph/pair.h"

enum {
    MAX_SET_ASIDE = 4096, /* links at a time */
    LEAST_SET_ASIDE = 3,  /* below which a context tells nothing */
    LEAST_KNOWN = 10      /* links that must remain */
};
#define SET_ASIDE 0.04 /* share of the known links: more would make the graph much thinner than it is */

/* Roles of nodes in a round, besides NPI_NODE_TRAIN: those of nodes that have lost all links. */
enum {
    HIDDEN = NPI_NODE_VAL, /* on purpose, as new nodes */
    BARE = NPI_NODE_TEST   /* in no example: they have no links (npi_known_pairs), or would have lost all of them */
};

void npi_examples_free(npi_examples *x)
{
    npi_free(&x->env, x->link);
    npi_free(&x->env, x->other);
    npi_free(&x->env, x->other_pair);
    npi_free(&x->env, x->other_weight);
    npi_free(&x->env, x->link_kind);
    npi_free(&x->env, x->other_kind);
    *x = (npi_examples){.env = x->env, .process = x->process};
}

/* Appends `more` items of `size` bytes to the first `count` of *items. */
static int append(void *items, const void *added, size_t count, size_t more, size_t size, const npgnn_env *env,
                  npgnn_error *err)
{
    char *old;
    memcpy(&old, items, sizeof old);
    char *grown = npi_resize(env, old, count + more, size, err);
    if (!grown)
        return NPGNN_E_MEMORY;
    memcpy(items, &grown, sizeof grown);
    if (more > 0)
        memcpy(grown + count * size, added, more * size);
    return 0;
}

/* ---- choosing the pairs of a round ---- */

/* The labelled pairs of a round and the links that are left. */
typedef struct round_pairs {
    unsigned char *role; /* (n) */
    npgnn_pair *edges;   /* (m) `hidden` links that are not known in this round, then the others */
    npgnn_graph *known;  /* the graph of the others */
    npgnn_pair *pairs;   /* (links + others) */
    unsigned char *kind; /* (links + others) */
    npi_near near;
    int64_t hidden;
    size_t links, others;
} round_pairs;

int64_t npi_aside_count(const npgnn_graph *graph)
{
    int64_t count = (int64_t)(SET_ASIDE * (double)graph->m + 0.5);
    return count < LEAST_SET_ASIDE ? LEAST_SET_ASIDE : count > MAX_SET_ASIDE ? MAX_SET_ASIDE : count;
}

static int touches(const unsigned char *role, npgnn_pair pair, int which)
{
    return role[pair.u] == which || role[pair.v] == which;
}

/* Moves the edges that touch a node of this role to the front of edges (count). Returns how many. */
static int64_t to_front(npgnn_pair *edges, int64_t count, const unsigned char *role, int which)
{
    int64_t moved = 0;
    for (int64_t i = 0; i < count; i++)
        if (touches(role, edges[i], which)) {
            npgnn_pair pair = edges[i];
            edges[i] = edges[moved];
            edges[moved++] = pair;
        }
    return moved;
}

/* Hides random nodes with all their links, until these are at least `wanted`, and calls nodes BARE that have lost all
 * links by that. */
static void hide_nodes(round_pairs *r, int32_t *left, const npgnn_graph *graph, int64_t wanted, npi_rng *rng)
{
    int64_t links = 0;
    while (links < wanted) {
        int32_t node = (int32_t)npi_rng_below(rng, (uint64_t)graph->n);
        if (r->role[node] == NPI_NODE_TRAIN) {
            r->role[node] = HIDDEN;
            links += left[node];
        }
    }
    r->hidden = wanted > 0 ? to_front(r->edges, graph->m, r->role, HIDDEN) : 0;
    for (int64_t i = 0; i < r->hidden; i++) {
        left[r->edges[i].u]--;
        left[r->edges[i].v]--;
    }
    for (int32_t i = 0; i < graph->n; i++)
        if (left[i] == 0 && r->role[i] == NPI_NODE_TRAIN)
            r->role[i] = BARE;
}

/* Hides links: a share `new_share` of `wanted` are all links of random nodes, the others are such that their ends keep
 * one. Those to BARE nodes are not examples: r->pairs gets the others. */
static void hide(round_pairs *r, int32_t *left, const npi_aside *how, int64_t wanted, npi_rng *rng)
{
    int64_t m = how->graph->m;
    npi_graph_list_edges(r->edges, how->graph);
    npi_pairs_shuffle(r->edges, m, rng);
    npi_count_links(left, how->graph);
    hide_nodes(r, left, how->graph, (int64_t)(how->new_share * (double)wanted), rng);
    if (r->hidden > m - LEAST_KNOWN) { /* a node with nearly all links has been chosen */
        npi_known_pairs(r->role, how->graph);
        npi_count_links(left, how->graph);
        r->hidden = 0;
    }
    int64_t more = wanted > r->hidden ? wanted - r->hidden : 0;
    r->hidden += npi_hide_links(r->edges + r->hidden, more, r->role, BARE, left, how->graph->n);
    for (int64_t i = 0; i < r->hidden; i++)
        if (!touches(r->role, r->edges[i], BARE))
            r->pairs[r->links++] = r->edges[i];
    npi_pairs_shuffle(r->pairs, (int64_t)r->links, rng); /* links of new and of known nodes vote alike */
}

/* Draws up to `count` non-links in random order: pairs that touch a hidden node are `share` of them. Returns how many;
 * negative: an error code. */
static int draw_non_links(npgnn_pair *out, int count, double share, const npi_candidate_pairs *known, uint64_t seed,
                          npi_rng *rng, const npgnn_env *env, npgnn_error *err)
{
    const npi_candidate_pairs touching = {known->graph, known->role, HIDDEN, 1};
    const npi_candidate_pairs *const kinds[2] = {&touching, known};
    int drawn = 0;
    for (int kind = 0; kind < 2; kind++) {
        uint64_t most = npi_candidate_pairs_count_non_links(kinds[kind]) / 2;
        double wanted = (kind == 0 ? share : 1 - share) * count;
        size_t some = wanted < (double)most ? (size_t)wanted : (size_t)most;
        int code = npi_candidate_pairs_draw_non_links(out + drawn, kinds[kind], some, seed, env, err);
        if (code)
            return code;
        drawn += (int)some;
    }
    npi_pairs_shuffle(out, drawn, rng);
    return drawn;
}

/* Chooses the links of a round, and as many random non-links. Returns an error code. */
static int choose_pairs(round_pairs *r, const npi_candidate_pairs *known, const npi_aside *how, int round,
                        int non_links, const npgnn_env *env, npgnn_error *err)
{
    uint64_t seed = how->seed + 0x9e3779b97f4a7c15u * (uint64_t)round, fresh = 0;
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TUNE, 0);
    int32_t *left = npi_alloc(env, (size_t)how->graph->n, sizeof *left, err);
    if (!left)
        return NPGNN_E_MEMORY;
    hide(r, left, how, npi_aside_count(how->graph), &rng);
    npi_free(env, left);
    int code = npi_graph_with_edges(&r->known, how->graph, r->edges + r->hidden, how->graph->m - r->hidden, err);
    if (code)
        return code;
    for (size_t i = 0; i < r->links; i++)
        fresh += touches(r->role, r->pairs[i], HIDDEN);
    double share = r->links > 0 ? (double)fresh / (double)r->links : 0;
    int random = draw_non_links(r->pairs + r->links, non_links / 2, share, known, seed, &rng, env, err);
    if (random < 0)
        return random;
    r->near = (npi_near){.known = r->known, .pairs = known};
    uint64_t available = npi_candidate_pairs_count_non_links(known);
    r->near.uniform = (1 - share) * random / (available > 0 ? (double)available : 1);
    int near = npi_near_draw(r->pairs + r->links + random, &r->near, non_links / 2, &rng, env, err);
    if (near < 0)
        return near;
    r->others = (size_t)random + (size_t)near;
    for (size_t i = 0; i < r->links + r->others; i++)
        r->kind[i] = touches(r->role, r->pairs[i], HIDDEN) ? NPI_EXAMPLE_NEW
                     : i < r->links + (size_t)random       ? NPI_EXAMPLE_RANDOM
                                                           : NPI_EXAMPLE_NEAR;
    return 0;
}

/* ---- a round ---- */

static void round_free(round_pairs *r, const npgnn_env *env)
{
    npi_free(env, r->role);
    npi_free(env, r->edges);
    npi_free(env, r->pairs);
    npi_free(env, r->kind);
    npgnn_graph_free(r->known);
}

static int round_new(round_pairs *r, const npgnn_graph *graph, int non_links, const npgnn_env *env, npgnn_error *err)
{
    size_t most = (size_t)graph->m + (size_t)non_links; /* seldom more than a tenth of it is used: not zeroed */
    r->role = npi_alloc(env, (size_t)graph->n, 1, err);
    r->edges = npi_alloc(env, (size_t)graph->m, sizeof *r->edges, err);
    r->pairs = npi_resize(env, NULL, most, sizeof *r->pairs, err);
    r->kind = npi_resize(env, NULL, most, 1, err);
    return r->role && r->edges && r->pairs && r->kind ? 0 : NPGNN_E_MEMORY;
}

static size_t count_kind(const unsigned char *kind, size_t count, npi_example_kind which)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += kind[i] == which;
    return found;
}

/* weight (others): how many pairs each stands for, those of known nodes and those of new ones in the proportion of the
 * links. The sum is 1. */
static void weigh(float *weight, const round_pairs *r, const float *evidence)
{
    const unsigned char *kind = r->kind + r->links;
    size_t fresh = count_kind(kind, r->others, NPI_EXAMPLE_NEW);
    double share = fresh > 0 ? (double)count_kind(r->kind, r->links, NPI_EXAMPLE_NEW) / (double)r->links : 0, sum = 0;
    share = fresh == r->others ? 1 : share;
    for (size_t i = 0; i < r->others; i++) {
        weight[i] = (float)npi_near_weight(&r->near, r->pairs[r->links + i], evidence + i * NPI_COLUMNS);
        sum += kind[i] == NPI_EXAMPLE_NEW ? 0 : (double)weight[i];
    }
    for (size_t i = 0; i < r->others; i++)
        weight[i] = (float)(kind[i] == NPI_EXAMPLE_NEW ? share / (double)fresh : (1 - share) * (double)weight[i] / sum);
}

/* Appends the pairs of a round with their evidence (links + others, e), which is standardized on the way. */
static int append_round(npi_examples *x, const round_pairs *r, float *evidence, int has_features, npgnn_error *err)
{
    const npgnn_env *env = &x->env;
    size_t row = (size_t)x->process->params.size.e, links = r->links, others = r->others;
    float *weight = npi_alloc(env, others, sizeof *weight, err);
    if (!weight)
        return NPGNN_E_MEMORY;
    weigh(weight, r, evidence + links * row);
    npi_process_standardize(evidence, x->process, has_features, links + others);
    int code = append(&x->link, evidence, x->links, links, row * sizeof *evidence, env, err);
    if (!code)
        code = append(&x->other, evidence + links * row, x->others, others, row * sizeof *evidence, env, err);
    if (!code)
        code = append(&x->other_pair, r->pairs + links, x->others, others, sizeof *r->pairs, env, err);
    if (!code)
        code = append(&x->other_weight, weight, x->others, others, sizeof *weight, env, err);
    if (!code)
        code = append(&x->link_kind, r->kind, x->links, links, 1, env, err);
    if (!code)
        code = append(&x->other_kind, r->kind + links, x->others, others, 1, env, err);
    npi_free(env, weight);
    x->links += code ? 0 : links;
    x->others += code ? 0 : others;
    return code;
}

int npi_examples_set_aside(npi_examples *x, const npi_aside *how, int round, int non_links, npgnn_error *err)
{
    const npgnn_env *env = &x->env;
    const npgnn_graph *graph = how->graph;
    int64_t needed = npi_aside_count(graph) + LEAST_KNOWN;
    round_pairs r = {0};
    float *evidence = NULL;
    int code = round_new(&r, graph, non_links, env, err), enough = 0;
    if (!code) {
        npi_candidate_pairs candidates = npi_known_pairs(r.role, graph);
        /* a complete graph has no non-links */
        enough = graph->m >= needed && npi_candidate_pairs_count_non_links(&candidates) / 2 >= LEAST_SET_ASIDE;
        if (enough)
            code = choose_pairs(&r, &candidates, how, round, non_links, env, err);
        enough = enough && r.links >= LEAST_SET_ASIDE && r.others >= LEAST_SET_ASIDE;
        if (!code && !enough && round == 0)
            npi_log(env, "the graph has too few %s to set some aside: its probabilities are not calibrated",
                    graph->m < needed           ? "links"
                    : r.links < LEAST_SET_ASIDE ? "links between nodes that have others"
                                                : "pairs without a link");
    }
    if (!code && enough) {
        evidence = npi_alloc(env, r.links + r.others, (size_t)x->process->params.size.e * sizeof *evidence, err);
        code = evidence ? 0 : NPGNN_E_MEMORY;
    }
    code = npi_comm_agree(how->comm, code, err);
    if (!code && enough) {
        npgnn_env shared = *env;
        shared.comm = how->comm;
        const npi_hidden hidden = {graph, r.known, r.pairs, r.links, r.links + r.others};
        const npi_hidden_features features = {.reduced = how->reduced};
        code = npi_hidden_evidence(evidence, &hidden, &features, &shared, err);
        if (!code)
            code = append_round(x, &r, evidence, how->reduced->width > 0, err);
    }
    code = npi_comm_agree(how->comm, code, err); /* no process begins another round alone */
    npi_free(env, evidence);
    round_free(&r, env);
    return code;
}

size_t npi_examples_take_random(float *evidence, const npi_examples *x, size_t most)
{
    size_t e = (size_t)x->process->params.size.e, taken = 0;
    for (size_t i = 0; i < x->others && taken < most; i++)
        if (x->other_kind[i] != NPI_EXAMPLE_NEAR)
            memcpy(evidence + taken++ * e, x->other + i * e, e * sizeof *evidence);
    return taken;
}

int npi_examples_again(float *evidence, const npi_examples *x, const npi_columns *columns, npgnn_error *err)
{
    size_t e = (size_t)x->process->params.size.e;
    assert(columns->plan.columns == x->process->params.size.e);
    int code = npi_evidence_shared(evidence, columns, x->other_pair, x->others, err);
    if (!code)
        npi_process_standardize(evidence, x->process, columns->has_features, x->others);
    for (size_t i = 0; !code && i < x->others; i++)
        if (x->other_kind[i] == NPI_EXAMPLE_NEW)
            memcpy(evidence + i * e, x->other + i * e, e * sizeof *evidence);
    return code;
}
