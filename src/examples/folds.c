#include "examples/folds.h"

#include <assert.h>
#include <string.h>

#include "base/comm.h"
#include "base/rng.h"
#include "examples/hidden.h"
#include "examples/near.h"
#include "graph/hold_out.h"
#include "graph/negative.h"
#include "graph/new_nodes.h"
#include "graph/pair.h"

#define BARE_ODDS 0.5 /* odds of pairs of a node with neither links nor features: chosen in docs/results/best.md */

enum {
    FOLDS = NPI_FOLDS_PARTS,
    LEAST_FOLDS = 3,        /* folds of the nodes: with more than a third of them hidden, too few links are left */
    LEAST_LINKS = 30,       /* links that can be hidden; with fewer, none are */
    MAX_PER_FOLD = 1 << 15, /* links of a fold that become pairs, */
    ENOUGH = 1 << 14,       /* and of all folds of a kind: eight times as many gain nothing */
    NON_LINKS_PER_LINK = 3, /* chosen on validation links: docs/results/best.md */
    CALIBRATION_NON_LINKS = 1 << 14, /* random and near ones each, since those that score like links are few */
    MOST_PAIRS = MAX_PER_FOLD * (1 + NON_LINKS_PER_LINK) + 2 * CALIBRATION_NON_LINKS
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
    int32_t *links_left;       /* (n) how many of these each node has */
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
    npi_free(env, f->weight);
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
    float *weight = npi_resize(env, f->weight, capacity, sizeof *weight, err);
    f->weight = weight ? weight : f->weight;
    if (!pair || !evidence || !is_link || !part || !extra || !weight)
        return NPGNN_E_MEMORY;
    f->capacity = capacity;
    return 0;
}

/* What a fold hides, and the pairs that its non-links are drawn from. */
typedef struct fold {
    size_t links;       /* hidden links, at the beginning of maker->pairs */
    int64_t left_count; /* number of links in maker->left */
    const npi_candidate_pairs *candidates;
    int calibrate; /* 1: with non-links to calibrate on, */
    int near;      /* 1: also near ones */
    uint64_t seed;
} fold;

/* The evidence of the pairs of a fold, and the weights of those from `extra` on. */
static int compute_evidence(npi_folds *out, maker *mk, const npi_near *near, size_t links, size_t extra, size_t count,
                            npgnn_error *err)
{
    size_t first = out->count, columns = (size_t)out->columns;
    const npi_hidden hidden = {mk->graph, near->known, mk->pairs, links, count};
    const npi_hidden_features features = {.reduced = &mk->reduced, .project = 1, .project_seed = mk->seed};
    int code = npi_hidden_evidence(out->evidence + first * columns, &hidden, &features, &mk->env, err);
    for (size_t i = 0; !code && i < count; i++)
        out->weight[first + i] =
            i < extra ? 1 : (float)npi_near_weight(near, mk->pairs[i], out->evidence + (first + i) * columns);
    return code;
}

/* Adds a fold: its hidden links, NON_LINKS_PER_LINK times as many candidate pairs without a link and, to calibrate,
 * CALIBRATION_NON_LINKS more, and as many near ones; fewer where the graph has few. The caller sets their parts. The
 * evidence takes nearly all of the time: the processes take turns, and npi_folds_new distributes it. */
static int add_fold(npi_folds *out, maker *mk, const fold *f, npgnn_error *err)
{
    assert(f->links <= MAX_PER_FOLD && f->left_count + (int64_t)f->links <= mk->graph->m && mk->folds < 2 * FOLDS);
    uint64_t available = npi_candidate_pairs_count_non_links(f->candidates);
    size_t to_learn = NON_LINKS_PER_LINK * f->links, random = to_learn + (f->calibrate ? CALIBRATION_NON_LINKS : 0);
    random = random < available / 2 ? random : (size_t)(available / 2);
    size_t first = out->count, extra = f->links + (to_learn < random ? to_learn : random), near = f->links + random;
    npi_rng rng = npi_rng_make(f->seed, NPI_RNG_TUNE, UINT32_MAX - 1);
    npgnn_graph *known = NULL;
    int walked = 0;
    int code = npi_candidate_pairs_draw_non_links(mk->pairs + f->links, f->candidates, random, f->seed, &mk->env, err);
    if (!code)
        code = npi_graph_with_edges(&known, mk->graph, mk->left, f->left_count, err);
    npi_near how = {
        .known = known, .pairs = f->candidates, .uniform = (double)(near - extra) / (double)(available + 1)};
    if (!code && f->near) {
        walked = npi_near_draw(mk->pairs + near, &how, CALIBRATION_NON_LINKS, &rng, &mk->env, err);
        code = walked < 0 ? walked : 0;
    }
    size_t count = near + (size_t)(walked > 0 ? walked : 0);
    if (!code)
        code = reserve(out, count, &mk->env, err);
    if (!code && mk->folds % npi_comm_ranks(mk->comm) == npi_comm_rank(mk->comm))
        code = compute_evidence(out, mk, &how, f->links, extra, count, err);
    npgnn_graph_free(known);
    if (code)
        return code;
    memcpy(out->pair + first, mk->pairs, count * sizeof *mk->pairs);
    for (size_t i = 0; i < count; i++) {
        out->is_link[first + i] = i < f->links;
        out->extra[first + i] = i < extra ? NPI_EXTRA_NO : i < near ? NPI_EXTRA_RANDOM : NPI_EXTRA_NEAR;
    }
    out->count += count;
    mk->fold[mk->folds].first = first;
    mk->fold[mk->folds++].last = out->count;
    return 0;
}

/* The folds of the links: those of each tenth whose ends keep another become pairs, with the others known. */
static int hide_links(npi_folds *out, maker *mk, npgnn_error *err)
{
    int64_t m = mk->graph->m, hidden_so_far = 0;
    int code = 0;
    for (int f = 0; !code && f < FOLDS && (f < 2 || hidden_so_far < ENOUGH); f++) {
        int64_t begin = m * f / FOLDS, end = m * (f + 1) / FOLDS;
        npgnn_pair *tenth = mk->left + (m - (end - begin)); /* behind the others: hidden ones first */
        memcpy(mk->left, mk->edges, (size_t)begin * sizeof *mk->left);
        memcpy(mk->left + begin, mk->edges + end, (size_t)(m - end) * sizeof *mk->left);
        memcpy(tenth, mk->edges + begin, (size_t)(end - begin) * sizeof *tenth);
        npi_known_pairs(mk->role, mk->graph);
        npi_count_links(mk->links_left, mk->graph);
        int64_t most = end - begin < MAX_PER_FOLD ? end - begin : MAX_PER_FOLD;
        int64_t links = npi_hide_links(tenth, most, mk->role, NPI_NODE_TEST, mk->links_left, mk->graph->n);
        memcpy(mk->pairs, tenth, (size_t)links * sizeof *mk->pairs);
        memmove(tenth, tenth + links, (size_t)(end - begin - links) * sizeof *tenth);
        const fold this = {(size_t)links, m - links, &mk->known, f == 0, f == 0, mk->seed + (uint64_t)f};
        size_t first = out->count;
        code = add_fold(out, mk, &this, err);
        if (!code)
            memset(out->part + first, f, out->count - first);
        if (!code && f == 0) {
            out->first_links = (size_t)links;
            out->first_count = out->count;
        }
        hidden_so_far += links;
        if (!code && npi_env_stopped(&mk->env))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled after %d tenths of the links", f + 1);
    }
    return code;
}

/* The buffers of the folds of the nodes. */
typedef struct node_folds {
    unsigned char *part; /* (MAX_PER_FOLD) of each link */
    unsigned char *fold; /* (n) which one a node belongs to */
    unsigned char *role; /* (n) NPI_NODE_VAL: hidden; NPI_NODE_TEST: in no pair */
} node_folds;

/* Hides the nodes of fold f: the links that are left, the roles of the nodes, and the hidden links that are examples.
 * Returns how many these are. */
static size_t hide_fold(node_folds *b, int64_t *left, maker *mk, int f)
{
    int64_t m = mk->graph->m;
    size_t links = 0;
    *left = 0;
    memset(mk->links_left, 0, (size_t)mk->graph->n * sizeof *mk->links_left);
    for (int64_t i = 0; i < m; i++) {
        npgnn_pair edge = mk->edges[i];
        if (b->fold[edge.u] == f || b->fold[edge.v] == f)
            continue;
        mk->links_left[edge.u]++;
        mk->links_left[edge.v]++;
        mk->left[(*left)++] = edge;
    }
    for (int32_t i = 0; i < mk->graph->n; i++) {
        int is_known = mk->role[i] == mk->known.own;
        b->role[i] = !is_known               ? mk->role[i]
                     : b->fold[i] == f       ? NPI_NODE_VAL
                     : mk->links_left[i] > 0 ? mk->known.own
                                             : NPI_NODE_TEST;
    }
    for (int64_t i = 0; i < m && links < MAX_PER_FOLD; i++) {
        npgnn_pair edge = mk->edges[i];
        int hidden = b->role[edge.u] == NPI_NODE_VAL || b->role[edge.v] == NPI_NODE_VAL;
        if (!hidden || b->role[edge.u] == NPI_NODE_TEST || b->role[edge.v] == NPI_NODE_TEST)
            continue;
        b->part[links] = (unsigned char)((FOLDS * i + FOLDS - 1) / m);
        mk->pairs[links++] = edge;
    }
    return links;
}

/* The folds of the nodes: the links of each become pairs, with those of the other nodes known. A link keeps the part
 * that it has among the folds of the links; non-links take parts in turn. */
static int hide_nodes(npi_folds *out, maker *mk, int folds, npi_rng *rng, npgnn_error *err)
{
    int64_t hidden_so_far = 0;
    size_t n = (size_t)mk->graph->n;
    npi_known_pairs(mk->role, mk->graph);
    node_folds b = {npi_alloc(&mk->env, MAX_PER_FOLD, 1, err), npi_alloc(&mk->env, n, 1, err),
                    npi_alloc(&mk->env, n, 1, err)};
    const npi_candidate_pairs touching = {mk->graph, b.role, NPI_NODE_VAL, 1}; /* the hidden nodes */
    int code = b.part && b.fold && b.role ? 0 : NPGNN_E_MEMORY;
    int calibrate = out->new_share > 0; /* the non-links of one fold are enough */
    for (size_t i = 0; !code && i < n; i++)
        b.fold[i] = (unsigned char)npi_rng_below(rng, (uint64_t)folds);
    for (int f = 0; !code && f < folds && (f < 2 || hidden_so_far < ENOUGH); f++) {
        int64_t left;
        size_t links = hide_fold(&b, &left, mk, f), first = out->count;
        if (links == 0 || left < LEAST_LINKS / 2)
            continue;
        const fold this = {links, left, &touching, calibrate, 0, mk->seed + (uint64_t)(FOLDS + f)};
        code = add_fold(out, mk, &this, err);
        for (size_t i = first; !code && i < out->count; i++)
            out->part[i] =
                i - first < links ? b.part[i - first] : (unsigned char)(out->extra[i] ? 0 : (i - first) % FOLDS);
        calibrate = 0;
        hidden_so_far += (int64_t)links;
        if (!code && npi_env_stopped(&mk->env))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled after %d of %d parts of the nodes", f + 1, folds);
    }
    npi_free(&mk->env, b.part);
    npi_free(&mk->env, b.fold);
    npi_free(&mk->env, b.role);
    return code;
}

int npi_folds_possible(const npgnn_graph *graph)
{
    const npi_csr *a = &graph->a;
    uint64_t nodes[2] = {0, 0}; /* by side, that npi_known_pairs pairs */
    int64_t can_be_hidden = 0;
    for (int32_t i = 0; i < graph->n; i++) {
        int64_t degree = a->ptr[i + 1] - a->ptr[i];
        nodes[graph->side ? graph->side[i] : 0] += degree > 0;
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1] && degree > 1; p++)
            can_be_hidden += a->col[p] > i && a->ptr[a->col[p] + 1] - a->ptr[a->col[p]] > 1;
    }
    uint64_t pairs = graph->side ? nodes[0] * nodes[1] : nodes[0] * (nodes[0] > 0 ? nodes[0] - 1 : 0) / 2;
    return can_be_hidden >= LEAST_LINKS && pairs - (uint64_t)graph->m >= LEAST_LINKS;
}

static void maker_free(maker *mk)
{
    npi_reduced_free(&mk->env, &mk->reduced);
    npi_free(&mk->env, mk->edges);
    npi_free(&mk->env, mk->role);
    npi_free(&mk->env, mk->left);
    npi_free(&mk->env, mk->links_left);
    npi_free(&mk->env, mk->pairs);
}

static int maker_new(maker *mk, const npgnn_graph *graph, uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    size_t m = (size_t)graph->m;
    *mk = (maker){.env = *env, .comm = env->comm, .seed = seed, .graph = graph};
    mk->env.comm = NULL;
    mk->edges = npi_alloc(&mk->env, m, sizeof *mk->edges, err);
    mk->left = npi_alloc(&mk->env, m, sizeof *mk->left, err);
    mk->links_left = npi_alloc(&mk->env, (size_t)graph->n, sizeof *mk->links_left, err);
    mk->pairs = npi_alloc(&mk->env, MOST_PAIRS, sizeof *mk->pairs, err);
    mk->role = npi_alloc(&mk->env, (size_t)graph->n, 1, err);
    if (!mk->edges || !mk->left || !mk->links_left || !mk->pairs || !mk->role)
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
    for (int f = 0; !code && f < mk.folds; f++) { /* the evidence of a fold, from the process that has it to all */
        size_t first = mk.fold[f].first, count = mk.fold[f].last - first, columns = (size_t)folds.columns;
        int owner = f % npi_comm_ranks(mk.comm);
        npi_comm_broadcast(mk.comm, folds.evidence + first * columns, count * columns * sizeof *folds.evidence, owner);
        npi_comm_broadcast(mk.comm, folds.weight + first, count * sizeof *folds.weight, owner);
    }
    maker_free(&mk);
    if (code)
        npi_folds_free(env, &folds);
    else
        *out = folds;
    return code;
}
