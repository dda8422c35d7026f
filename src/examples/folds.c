#include "examples/folds.h"

#include <assert.h>
#include <string.h>

#include "base/comm.h"
#include "base/rng.h"
#include "examples/hidden.h"
#include "graph/negative.h"
#include "graph/new_nodes.h"
#include "graph/pair.h"

#define BARE_ODDS 0.5 /* of pairs of a node with neither links nor features: chosen in docs/results/best.md */

enum {
    FOLDS = NPI_FOLDS_PARTS,
    LEAST_FOLDS = 3,                 /* of the nodes: with more than a third of them hidden, too few links are left */
    LEAST_LINKS = 30,                /* of a graph, below which none are hidden */
    MAX_PER_FOLD = 1 << 15,          /* links of a fold that become pairs, */
    ENOUGH = 1 << 14,                /* and of all folds of a kind: eight times as many gain nothing */
    NON_LINKS_PER_LINK = 3,          /* chosen on validation links: docs/results/best.md */
    CALIBRATION_NON_LINKS = 1 << 14, /* since those that score like links are few */
    MOST_PAIRS = MAX_PER_FOLD * (1 + NON_LINKS_PER_LINK) + CALIBRATION_NON_LINKS
};

/* Inputs shared by all folds, and the buffers of the current one. */
typedef struct maker {
    npgnn_env env;    /* of this process alone */
    npgnn_comm *comm; /* processes that divide the folds; NULL: one */
    uint64_t seed;
    const npgnn_graph *graph;
    npi_reduced reduced;
    npgnn_pair *edges;         /* (m) all links, in random order: fold f is the f-th tenth */
    unsigned char *role;       /* (n) see npi_known_pairs */
    npi_candidate_pairs known; /* the pairs that non-links are drawn from */
    npgnn_pair *left;          /* (m) links that the current fold does not hide */
    npgnn_pair *pairs;         /* (MOST_PAIRS) pairs of the current fold: hidden links first */
    struct {
        size_t first, last;
    } fold[2 * FOLDS]; /* where the pairs of each fold are */
    int folds;         /* number of folds that were made */
} maker;

void npi_folds_free(const npgnn_env *env, npi_folds *f)
{
    npi_free(env, f->pair);
    npi_free(env, f->evidence);
    npi_free(env, f->is_link);
    npi_free(env, f->part);
    npi_free(env, f->extra);
    memset(f, 0, sizeof *f);
}

static int reserve(npi_folds *f, size_t more, const npgnn_env *env, npgnn_error *err)
{
    size_t needed = f->count + more, capacity = needed + needed / 2;
    if (needed <= f->capacity)
        return 0;
    npgnn_pair *pair = npi_resize(env, f->pair, capacity, sizeof *pair, err);
    f->pair = pair ? pair : f->pair;
    float *evidence = npi_resize(env, f->evidence, capacity, (size_t)f->columns * sizeof *evidence, err);
    f->evidence = evidence ? evidence : f->evidence;
    unsigned char *is_link = npi_resize(env, f->is_link, capacity, 1, err);
    f->is_link = is_link ? is_link : f->is_link;
    unsigned char *part = npi_resize(env, f->part, capacity, 1, err);
    f->part = part ? part : f->part;
    unsigned char *extra = npi_resize(env, f->extra, capacity, 1, err);
    f->extra = extra ? extra : f->extra;
    if (!pair || !evidence || !is_link || !part || !extra)
        return NPGNN_E_MEMORY;
    f->capacity = capacity;
    return 0;
}

/* The evidence of the pairs of a fold, from the first left_count links of maker->left. */
static int compute_evidence(float *evidence, maker *mk, size_t links, size_t count, int64_t left_count,
                            npgnn_error *err)
{
    npgnn_graph *known = NULL;
    int code = npi_graph_with_edges(&known, mk->graph, mk->left, left_count, err);
    if (!code) {
        const npi_hidden hidden = {mk->graph, known, mk->pairs, links, count};
        const npi_hidden_features features = {&mk->reduced, 1, mk->seed};
        code = npi_hidden_evidence(evidence, &hidden, &features, &mk->env, err);
    }
    npgnn_graph_free(known);
    return code;
}

/* Adds a fold: the `links` hidden links in maker->pairs, NON_LINKS_PER_LINK times as many candidate pairs without a link
 * and, to calibrate, CALIBRATION_NON_LINKS more; fewer where the graph has few. The caller sets their parts. The evidence
 * takes nearly all of the time: the processes take turns, and npi_folds_new distributes it. */
static int add_fold(npi_folds *out, maker *mk, size_t links, int64_t left_count, const npi_candidate_pairs *candidates,
                    int calibrate, uint64_t seed, npgnn_error *err)
{
    assert(links <= MAX_PER_FOLD && left_count + (int64_t)links <= mk->graph->m && mk->folds < 2 * FOLDS);
    uint64_t most = npi_candidate_pairs_count_non_links(candidates) / 2;
    size_t to_learn = NON_LINKS_PER_LINK * links, others = to_learn + (calibrate ? CALIBRATION_NON_LINKS : 0);
    others = others < most ? others : (size_t)most;
    size_t count = links + others, first = out->count;
    int code = npi_candidate_pairs_draw_non_links(mk->pairs + links, candidates, others, seed, &mk->env, err);
    if (!code)
        code = reserve(out, count, &mk->env, err);
    if (!code && mk->folds % npi_comm_ranks(mk->comm) == npi_comm_rank(mk->comm))
        code = compute_evidence(out->evidence + first * (size_t)out->columns, mk, links, count, left_count, err);
    if (code)
        return code;
    memcpy(out->pair + first, mk->pairs, count * sizeof *mk->pairs);
    for (size_t i = 0; i < count; i++) {
        out->is_link[first + i] = i < links;
        out->extra[first + i] = i >= links + to_learn;
    }
    out->count += count;
    mk->fold[mk->folds].first = first;
    mk->fold[mk->folds++].last = out->count;
    return 0;
}

/* The folds of the links: each tenth becomes pairs, with the others known. */
static int hide_links(npi_folds *out, maker *mk, npgnn_error *err)
{
    int64_t m = mk->graph->m, hidden_so_far = 0;
    int code = 0;
    for (int f = 0; !code && f < FOLDS && (f < 2 || hidden_so_far < ENOUGH); f++) {
        int64_t begin = m * f / FOLDS, end = m * (f + 1) / FOLDS;
        size_t links = (size_t)(end - begin < MAX_PER_FOLD ? end - begin : MAX_PER_FOLD), first = out->count;
        memcpy(mk->left, mk->edges, (size_t)begin * sizeof *mk->left);
        memcpy(mk->left + begin, mk->edges + end, (size_t)(m - end) * sizeof *mk->left);
        memcpy(mk->pairs, mk->edges + begin, links * sizeof *mk->pairs);
        code = add_fold(out, mk, links, m - (end - begin), &mk->known, f == 0, mk->seed + (uint64_t)f, err);
        if (!code)
            memset(out->part + first, f, out->count - first);
        if (!code && f == 0) {
            out->first_links = links;
            out->first_count = out->count;
        }
        hidden_so_far += (int64_t)links;
        if (!code && npi_env_stopped(&mk->env))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled after %d tenths of the links", f + 1);
    }
    return code;
}

/* The folds of the nodes: the links of each become pairs, with those of the other nodes known. A link keeps the part
 * that it has among the folds of the links; non-links take parts in turn. */
static int hide_nodes(npi_folds *out, maker *mk, int folds, npi_rng *rng, npgnn_error *err)
{
    int64_t m = mk->graph->m, hidden_so_far = 0;
    int32_t n = mk->graph->n;
    unsigned char *part = npi_alloc(&mk->env, MAX_PER_FOLD, 1, err); /* of each link */
    unsigned char *fold = npi_alloc(&mk->env, (size_t)n, 1, err);    /* which one a node belongs to */
    unsigned char *role = npi_alloc(&mk->env, (size_t)n, 1, err);
    const npi_candidate_pairs touching = {mk->graph, role, NPI_NODE_VAL, 1}; /* the hidden nodes */
    int code = part && fold && role ? 0 : NPGNN_E_MEMORY;
    int calibrate = out->new_share > 0; /* the non-links of one fold are enough */
    for (int32_t i = 0; !code && i < n; i++)
        fold[i] = (unsigned char)npi_rng_below(rng, (uint64_t)folds);
    for (int f = 0; !code && f < folds && (f < 2 || hidden_so_far < ENOUGH); f++) {
        size_t links = 0, first = out->count;
        int64_t left = 0;
        for (int64_t i = 0; i < m; i++) {
            npgnn_pair edge = mk->edges[i];
            if (fold[edge.u] != f && fold[edge.v] != f) {
                mk->left[left++] = edge;
            } else if (links < MAX_PER_FOLD) {
                part[links] = (unsigned char)((FOLDS * i + FOLDS - 1) / m);
                mk->pairs[links++] = edge;
            }
        }
        if (links == 0 || left < LEAST_LINKS / 2)
            continue;
        for (int32_t i = 0; i < n; i++)
            role[i] = fold[i] == f && mk->role[i] == mk->known.own ? NPI_NODE_VAL : mk->role[i];
        code = add_fold(out, mk, links, left, &touching, calibrate, mk->seed + (uint64_t)(FOLDS + f), err);
        for (size_t i = first; !code && i < out->count; i++)
            out->part[i] =
                i - first < links ? part[i - first] : (unsigned char)(out->extra[i] ? 0 : (i - first) % FOLDS);
        calibrate = 0;
        hidden_so_far += (int64_t)links;
        if (!code && npi_env_stopped(&mk->env))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled after %d of %d parts of the nodes", f + 1, folds);
    }
    npi_free(&mk->env, part);
    npi_free(&mk->env, fold);
    npi_free(&mk->env, role);
    return code;
}

int npi_folds_possible(const npgnn_graph *graph)
{
    uint64_t nodes[2] = {0, 0}; /* by side, that npi_known_pairs pairs */
    for (int32_t i = 0; i < graph->n; i++)
        nodes[graph->side ? graph->side[i] : 0] += graph->a.ptr[i + 1] > graph->a.ptr[i];
    uint64_t pairs = graph->side ? nodes[0] * nodes[1] : nodes[0] * (nodes[0] > 0 ? nodes[0] - 1 : 0) / 2;
    return graph->m >= LEAST_LINKS && pairs - (uint64_t)graph->m >= LEAST_LINKS;
}

static void maker_free(maker *mk)
{
    npi_reduced_free(&mk->env, &mk->reduced);
    npi_free(&mk->env, mk->edges);
    npi_free(&mk->env, mk->role);
    npi_free(&mk->env, mk->left);
    npi_free(&mk->env, mk->pairs);
}

static int maker_new(maker *mk, const npgnn_graph *graph, uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    size_t m = (size_t)graph->m;
    *mk = (maker){.env = *env, .comm = env->comm, .seed = seed, .graph = graph};
    mk->env.comm = NULL;
    mk->edges = npi_alloc(&mk->env, m, sizeof *mk->edges, err);
    mk->left = npi_alloc(&mk->env, m, sizeof *mk->left, err);
    mk->pairs = npi_alloc(&mk->env, MOST_PAIRS, sizeof *mk->pairs, err);
    mk->role = npi_alloc(&mk->env, (size_t)graph->n, 1, err);
    if (!mk->edges || !mk->left || !mk->pairs || !mk->role)
        return NPGNN_E_MEMORY;
    mk->known = npi_known_pairs(mk->role, graph);
    int code = npi_reduced_new(&mk->reduced, graph->x, NULL, &mk->env, err);
    return code ? code : npi_reduced_keep_tfidf(&mk->reduced, graph->x, &mk->env, err);
}

/* Number of folds of the nodes: tenths, or shares as large as that of the new nodes of the graph, up to thirds. */
static int folds_of_nodes(const npgnn_graph *graph)
{
    int32_t new_nodes = 0;
    for (int32_t i = 0; i < graph->n; i++)
        new_nodes += graph->a.ptr[i + 1] == graph->a.ptr[i];
    double share = (double)new_nodes / (double)graph->n;
    int folds = share > 0.1 ? (int)(1 / share + 0.5) : FOLDS;
    return folds < LEAST_FOLDS ? LEAST_FOLDS : folds;
}

int npi_folds_new(npi_folds *out, const npgnn_graph *graph, uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TUNE, 0);
    npi_folds folds = {.has_features = graph->x->nonzeros > 0};
    maker mk;
    folds.new_odds = folds.has_features ? 1 : BARE_ODDS;
    folds.columns = folds.has_features ? NPI_ALL_COLUMNS : NPI_COLUMNS;
    int code = maker_new(&mk, graph, seed, env, err);
    if (!code) {
        npi_graph_list_edges(mk.edges, graph);
        npi_pairs_shuffle(mk.edges, graph->m, &rng);
        code = hide_links(&folds, &mk, err);
    }
    if (!code) {
        int told = npi_new_odds(&folds.new_odds, graph, &mk.env, err);
        folds.dated = told > 0;
        code = told < 0 ? told : 0;
    }
    if (!code) {
        folds.new_share = npi_new_share(graph);
        folds.new_from = folds.count;
        code = hide_nodes(&folds, &mk, folds_of_nodes(graph), &rng, err);
    }
    code = npi_comm_agree(mk.comm, code, err);
    for (int f = 0; !code && f < mk.folds; f++) /* the evidence of a fold, from the process that has it to all */
        npi_comm_broadcast(mk.comm, folds.evidence + mk.fold[f].first * (size_t)folds.columns,
                           (mk.fold[f].last - mk.fold[f].first) * (size_t)folds.columns * sizeof *folds.evidence,
                           f % npi_comm_ranks(mk.comm));
    maker_free(&mk);
    if (code)
        npi_folds_free(env, &folds);
    else
        *out = folds;
    return code;
}
