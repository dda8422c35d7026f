#include "examples/context.h"

#include <string.h>

#include "base/comm.h"
#include "base/rng.h"
#include "examples/hidden.h"
#include "graph/negative.h"
#include "graph/pair.h"

enum {
    MAX_SET_ASIDE = 4096, /* links at a time */
    LEAST_SET_ASIDE = 3,  /* below which a context tells nothing */
    LEAST_KNOWN = 10      /* links that must remain */
};
#define SET_ASIDE 0.1 /* of the known links */

void npi_examples_free(npi_examples *x)
{
    npi_free(&x->env, x->link);
    npi_free(&x->env, x->other);
    x->link = x->other = NULL;
    x->links = x->others = 0;
}

/* Makes room for `more` rows after the first `count` of *rows. */
static int grow(float **rows, const npi_examples *x, size_t count, size_t more, npgnn_error *err)
{
    float *grown = npi_resize(&x->env, *rows, (count + more) * (size_t)x->process->params.size.e, sizeof *grown, err);
    *rows = grown ? grown : *rows;
    return grown ? 0 : NPGNN_E_MEMORY;
}

/* Makes room for held-out pairs, and for their evidence before it is standardized: *evidence (count, e). */
static int reserve(float **evidence, npi_examples *x, const npi_held_out *held_out, npgnn_error *err)
{
    *evidence = npi_alloc(&x->env, held_out->count * (size_t)x->process->params.size.e, sizeof **evidence, err);
    int code = *evidence ? grow(&x->link, x, x->links, held_out->positives, err) : NPGNN_E_MEMORY;
    return code ? code : grow(&x->other, x, x->others, held_out->count - held_out->positives, err);
}

/* Standardizes evidence (count, e), and appends it where reserve has made room. */
static void append(npi_examples *x, float *evidence, const npi_held_out *held_out, int has_features)
{
    size_t e = (size_t)x->process->params.size.e, links = held_out->positives, others = held_out->count - links;
    npi_process_standardize(evidence, x->process, has_features, held_out->count);
    memcpy(x->link + x->links * e, evidence, links * e * sizeof *evidence);
    memcpy(x->other + x->others * e, evidence + links * e, others * e * sizeof *evidence);
    x->links += links;
    x->others += others;
}

int npi_examples_add(npi_examples *x, const npi_columns *columns, const npi_held_out *held_out, npgnn_error *err)
{
    float *evidence = NULL;
    int code = npi_comm_agree(columns->rows.comm, reserve(&evidence, x, held_out, err), err);
    if (!code)
        code = npi_evidence_shared(evidence, columns, held_out->pairs, held_out->count, err);
    if (!code)
        append(x, evidence, held_out, columns->has_features);
    npi_free(&x->env, evidence);
    return code;
}

/* ---- setting links aside ---- */

int64_t npi_aside_count(const npgnn_graph *graph)
{
    int64_t count = (int64_t)(SET_ASIDE * (double)graph->m + 0.5);
    return count < LEAST_SET_ASIDE ? LEAST_SET_ASIDE : count > MAX_SET_ASIDE ? MAX_SET_ASIDE : count;
}

/* A random choice of `aside` links to the front of edges (m). About `hidden` of these are all links of random nodes,
 * whose role (n) becomes NPI_NODE_VAL: as new as the nodes of the graph that have no links. Returns the number of links
 * that were chosen. */
static int64_t choose_aside(npgnn_pair *edges, unsigned char *role, const npgnn_graph *graph, int64_t aside,
                            int64_t hidden, npi_rng *rng)
{
    int64_t m = graph->m, chosen = 0;
    npi_pairs_shuffle(edges, m, rng);
    while (chosen < hidden) {
        int32_t node = (int32_t)npi_rng_below(rng, (uint64_t)graph->n);
        if (role[node] == NPI_NODE_TRAIN) {
            role[node] = NPI_NODE_VAL;
            chosen += graph->a.ptr[node + 1] - graph->a.ptr[node];
        }
    }
    chosen = 0;
    for (int64_t i = 0; hidden > 0 && i < m; i++)
        if (role[edges[i].u] == NPI_NODE_VAL || role[edges[i].v] == NPI_NODE_VAL) {
            npgnn_pair pair = edges[i];
            edges[i] = edges[chosen];
            edges[chosen++] = pair;
        }
    aside = chosen > aside ? chosen : aside;
    return aside < m - LEAST_KNOWN ? aside : m - LEAST_KNOWN; /* a node with nearly all links may have been chosen */
}

/* Draws up to `count` non-links in random order: pairs that touch a hidden node are `share` of them. Returns how many;
 * negative: an error code. */
static int draw_non_links(npgnn_pair *out, int count, double share, const npi_candidate_pairs *known, uint64_t seed,
                          npi_rng *rng, const npgnn_env *env, npgnn_error *err)
{
    const npi_candidate_pairs touching = {known->graph, known->role, NPI_NODE_VAL, 1};
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

/* Chooses the links of a round to the front of edges (m), and appends non-links to them in pairs: *out. Returns an
 * error code. */
static int choose_pairs(npi_held_out *out, npgnn_pair *pairs, npgnn_pair *edges, const npi_candidate_pairs *known,
                        unsigned char *role, const npi_aside *how, int round, int non_links, const npgnn_env *env,
                        npgnn_error *err)
{
    uint64_t seed = how->seed + 0x9e3779b97f4a7c15u * (uint64_t)round;
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TUNE, 0);
    int64_t wanted = npi_aside_count(how->graph), hidden = 0;
    npi_graph_list_edges(edges, how->graph);
    int64_t links = choose_aside(edges, role, how->graph, wanted, (int64_t)(how->new_share * (double)wanted), &rng);
    memcpy(pairs, edges, (size_t)links * sizeof *pairs);
    npi_pairs_shuffle(pairs, links, &rng); /* links of new and of known nodes vote alike */
    for (int64_t i = 0; i < links; i++)
        hidden += role[pairs[i].u] == NPI_NODE_VAL || role[pairs[i].v] == NPI_NODE_VAL;
    int others = draw_non_links(pairs + links, non_links, (double)hidden / (double)links, known, seed, &rng, env, err);
    if (others >= 0 && others < LEAST_SET_ASIDE) { /* hidden nodes that are linked to all others: any non-links */
        npi_known_pairs(role, how->graph);
        others = draw_non_links(pairs + links, non_links, 0, known, seed, &rng, env, err);
    }
    if (others >= 0)
        *out = (npi_held_out){pairs, (size_t)links, (size_t)(links + others)};
    return others < 0 ? others : 0;
}

int npi_examples_set_aside(npi_examples *x, const npi_aside *how, int round, int non_links, npgnn_error *err)
{
    const npgnn_env *env = &x->env;
    const npgnn_graph *graph = how->graph;
    int64_t m = graph->m, needed = npi_aside_count(graph) + LEAST_KNOWN;
    unsigned char *role = npi_alloc(env, (size_t)graph->n, 1, err);
    npgnn_pair *edges = npi_alloc(env, (size_t)m, sizeof *edges, err);
    /* seldom more than a tenth of it is used: not zeroed */
    npgnn_pair *pairs = npi_resize(env, NULL, (size_t)m + (size_t)non_links, sizeof *pairs, err);
    npgnn_graph *known = NULL;
    npi_held_out held_out = {0};
    float *evidence = NULL;
    int code = role && edges && pairs ? 0 : NPGNN_E_MEMORY, enough = 0;
    if (!code) {
        npi_candidate_pairs candidates = npi_known_pairs(role, graph);
        /* a complete graph has no non-links */
        enough = m >= needed && npi_candidate_pairs_count_non_links(&candidates) / 2 >= LEAST_SET_ASIDE;
        if (!enough && round == 0)
            npi_log(env, "the graph has too few %s to set some aside: its probabilities are not calibrated",
                    m < needed ? "links" : "pairs without a link");
        if (enough)
            code = choose_pairs(&held_out, pairs, edges, &candidates, role, how, round, non_links, env, err);
    }
    if (!code && enough)
        code = npi_graph_with_edges(&known, graph, edges + held_out.positives, m - (int64_t)held_out.positives, err);
    npi_free(env, edges);
    npi_free(env, role);
    if (!code && enough)
        code = reserve(&evidence, x, &held_out, err);
    code = npi_comm_agree(how->comm, code, err);
    if (!code && enough) {
        npgnn_env shared = *env;
        shared.comm = how->comm;
        const npi_hidden hidden = {graph, known, pairs, held_out.positives, held_out.count};
        const npi_hidden_features features = {.reduced = how->reduced};
        code = npi_hidden_evidence(evidence, &hidden, &features, &shared, err);
        if (!code)
            append(x, evidence, &held_out, how->reduced->width > 0);
    }
    code = npi_comm_agree(how->comm, code, err); /* no process begins another round alone */
    npgnn_graph_free(known);
    npi_free(env, evidence);
    npi_free(env, pairs);
    return code;
}
