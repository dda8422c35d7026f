#include "examples/folds.h"

#include <string.h>

#include "base/comm.h"
#include "base/rng.h"
#include "graph/negative.h"
#include "graph/new_nodes.h"
#include "graph/pair.h"
#include "examples/project.h"

#define BARE_ODDS 0.5 /* of pairs of a node with neither links nor features: chosen in docs/results/best.md */

enum {
    FOLDS = NPI_FOLDS_PARTS,
    LEAST_FOLDS = 3,                 /* of the nodes: with more than a third of them hidden, too few links are left */
    LEAST_LINKS = 30,                /* of a graph, below which none are hidden */
    MAX_PER_FOLD = 1 << 15,          /* links of a fold that become pairs, */
    ENOUGH = 1 << 14,                /* and of all folds of a kind: eight times as many gain nothing */
    NON_LINKS_PER_LINK = 3,          /* chosen on validation links: docs/results/best.md */
    CALIBRATION_NON_LINKS = 1 << 14, /* since those that score like links are few */
};

/* What the pairs are made from. */
typedef struct source {
    npgnn_env env;    /* of this process alone */
    npgnn_comm *comm; /* the processes that divide the folds; NULL: one */
    struct {
        size_t first, last;
    } fold[2 * FOLDS]; /* their pairs */
    int folds;
    uint64_t seed;
    const npgnn_graph *graph;
    npi_reduced reduced;
    npgnn_pair *edges;         /* (m) all links, in random order: fold f is the f-th tenth */
    unsigned char *role;       /* (n) of */
    npi_candidate_pairs known; /* the pairs that non-links are drawn from */
} source;

void npi_folds_free(const npgnn_env *env, npi_folds *f)
{
    npi_free(env, f->pair);
    npi_free(env, f->evidence);
    npi_free(env, f->is_link);
    npi_free(env, f->part);
    npi_free(env, f->extra);
    memset(f, 0, sizeof *f);
}

static int reserve(npi_folds *f, size_t more, const source *s, npgnn_error *err)
{
    size_t needed = f->count + more, capacity = needed + needed / 2;
    if (needed <= f->capacity)
        return 0;
    npgnn_pair *pair = npi_resize(&s->env, f->pair, capacity, sizeof *pair, err);
    f->pair = pair ? pair : f->pair;
    float *evidence = npi_resize(&s->env, f->evidence, capacity, (size_t)f->columns * sizeof *evidence, err);
    f->evidence = evidence ? evidence : f->evidence;
    unsigned char *is_link = npi_resize(&s->env, f->is_link, capacity, 1, err);
    f->is_link = is_link ? is_link : f->is_link;
    unsigned char *part = npi_resize(&s->env, f->part, capacity, 1, err);
    f->part = part ? part : f->part;
    unsigned char *extra = npi_resize(&s->env, f->extra, capacity, 1, err);
    f->extra = extra ? extra : f->extra;
    if (!pair || !evidence || !is_link || !part || !extra)
        return NPGNN_E_MEMORY;
    f->capacity = capacity;
    return 0;
}

/* Adds a fold: pairs, `links` of them first, with their evidence on the known links edges (known), which one process
 * computes: that takes nearly all of the time. */
static int add_pairs(npi_folds *out, source *s, const npgnn_pair *pairs, size_t links, size_t count, npgnn_pair *edges,
                     int64_t known, npgnn_error *err)
{
    npgnn_graph *rest = NULL;
    npi_columns columns = {0};
    npi_projection projection = {0};
    npi_reduced projected = {0};
    int code = reserve(out, count, s, err), mine = s->folds % npi_comm_ranks(s->comm) == npi_comm_rank(s->comm);
    if (!code && mine)
        code = npi_graph_with_edges(&rest, s->graph, edges, known, err);
    if (!code && mine)
        code = npi_project(&projection, rest, s->seed, &s->env, err);
    if (!code && mine)
        code = npi_reduced_project(&projected, rest->x, &projection, &s->env, err);
    if (!code && mine)
        code = npi_columns_new(&columns, &rest->a, &s->reduced, &projected, 0, &s->env, err);
    if (!code && mine)
        code = npi_columns_pairs(out->evidence + out->count * (size_t)out->columns, &columns, pairs, count, err);
    if (!code) {
        memcpy(out->pair + out->count, pairs, count * sizeof *pairs);
        for (size_t i = 0; i < count; i++)
            out->is_link[out->count + i] = i < links;
        s->fold[s->folds].first = out->count;
        out->count += count;
        s->fold[s->folds++].last = out->count;
    }
    npi_columns_free(&columns);
    npi_reduced_free(&s->env, &projected);
    npi_projection_free(&s->env, &projection);
    npgnn_graph_free(rest);
    return code;
}

/* The folds of the links: each becomes pairs, with the others known. */
static int hide_links(npi_folds *out, source *s, npgnn_error *err)
{
    int64_t m = s->graph->m;
    uint64_t without = npi_candidate_pairs_count_non_links(&s->known);
    npgnn_pair *rest = npi_alloc(&s->env, (size_t)m, sizeof *rest, err);
    npgnn_pair *pairs =
        npi_alloc(&s->env, (size_t)MAX_PER_FOLD * (1 + NON_LINKS_PER_LINK) + CALIBRATION_NON_LINKS, sizeof *pairs, err);
    int code = rest && pairs ? 0 : NPGNN_E_MEMORY;
    int64_t hidden_so_far = 0;
    for (int f = 0; !code && f < FOLDS && (f < 2 || hidden_so_far < ENOUGH); f++) {
        int64_t begin = m * f / FOLDS, end = m * (f + 1) / FOLDS;
        size_t links = (size_t)(end - begin < MAX_PER_FOLD ? end - begin : MAX_PER_FOLD);
        size_t others = NON_LINKS_PER_LINK * links + (f == 0 ? CALIBRATION_NON_LINKS : 0);
        others = others < without / 2 ? others : (size_t)(without / 2);
        memcpy(rest, s->edges, (size_t)begin * sizeof *rest);
        memcpy(rest + begin, s->edges + end, (size_t)(m - end) * sizeof *rest);
        memcpy(pairs, s->edges + begin, links * sizeof *pairs);
        size_t first = out->count;
        code =
            npi_candidate_pairs_draw_non_links(pairs + links, &s->known, others, s->seed + (uint64_t)f, &s->env, err);
        if (!code)
            code = add_pairs(out, s, pairs, links, links + others, rest, m - (end - begin), err);
        for (size_t i = 0; !code && i < links + others; i++) {
            out->part[first + i] = (unsigned char)f;
            out->extra[first + i] = i >= (1 + NON_LINKS_PER_LINK) * links;
        }
        if (!code && f == 0) {
            out->first_links = links;
            out->first_count = links + others;
        }
        hidden_so_far += (int64_t)links;
        if (!code && npi_env_stopped(&s->env))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled after %d tenths of the links", f + 1);
    }
    npi_free(&s->env, rest);
    npi_free(&s->env, pairs);
    return code;
}

/* The folds of the nodes: the links of each become pairs, with those of the other nodes known. */
static int hide_nodes(npi_folds *out, source *s, int folds, npi_rng *rng, npgnn_error *err)
{
    int64_t m = s->graph->m, hidden_so_far = 0, hidden;
    int32_t n = s->graph->n;
    npgnn_pair *rest = npi_alloc(&s->env, (size_t)m, sizeof *rest, err);
    npgnn_pair *pairs =
        npi_alloc(&s->env, (size_t)MAX_PER_FOLD * (1 + NON_LINKS_PER_LINK) + CALIBRATION_NON_LINKS, sizeof *pairs, err);
    unsigned char *part = npi_alloc(&s->env, MAX_PER_FOLD, 1, err); /* of each link */
    unsigned char *fold = npi_alloc(&s->env, (size_t)n, 1, err);    /* which one a node belongs to */
    unsigned char *role = npi_alloc(&s->env, (size_t)n, 1, err);
    const npi_candidate_pairs touching = {s->graph, role, NPI_NODE_VAL, 1}; /* the hidden nodes */
    int code = rest && pairs && part && fold && role ? 0 : NPGNN_E_MEMORY, calibrate = out->new_share > 0;
    for (int32_t i = 0; !code && i < n; i++)
        fold[i] = (unsigned char)npi_rng_below(rng, (uint64_t)folds);
    for (int f = 0; !code && f < folds && (f < 2 || hidden_so_far < ENOUGH); f++) {
        size_t links = 0, first = out->count;
        int64_t known = 0;
        hidden = 0;
        for (int64_t i = 0; i < m; i++) {
            npgnn_pair edge = s->edges[i];
            if (fold[edge.u] != f && fold[edge.v] != f) {
                rest[known++] = edge;
            } else if (hidden++, links < MAX_PER_FOLD) {
                part[links] = (unsigned char)((FOLDS * i + FOLDS - 1) / m); /* its fold of the links */
                pairs[links++] = edge;
            }
        }
        if (hidden == 0 || known < LEAST_LINKS / 2)
            continue;
        for (int32_t i = 0; i < n; i++)
            role[i] = fold[i] == f && s->role[i] == s->known.own ? NPI_NODE_VAL : s->role[i];
        uint64_t without = npi_candidate_pairs_count_non_links(&touching);
        size_t to_learn = NON_LINKS_PER_LINK * links;
        size_t others = to_learn + (calibrate ? CALIBRATION_NON_LINKS : 0);
        others = others < without / 2 ? others : (size_t)(without / 2);
        code = npi_candidate_pairs_draw_non_links(pairs + links, &touching, others, s->seed + (uint64_t)(FOLDS + f),
                                                  &s->env, err);
        if (!code)
            code = add_pairs(out, s, pairs, links, links + others, rest, known, err);
        for (size_t i = 0; !code && i < links + others; i++) {
            out->extra[first + i] = i >= links + to_learn;
            out->part[first + i] = i < links ? part[i] : (unsigned char)(out->extra[first + i] ? 0 : i % FOLDS);
        }
        calibrate = 0; /* the non-links of one fold are enough */
        hidden_so_far += (int64_t)links;
        if (!code && npi_env_stopped(&s->env))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled after %d of %d parts of the nodes", f + 1, folds);
    }
    npi_free(&s->env, rest);
    npi_free(&s->env, pairs);
    npi_free(&s->env, part);
    npi_free(&s->env, fold);
    npi_free(&s->env, role);
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

int npi_folds_new(npi_folds *out, const npgnn_graph *graph, uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TUNE, 0);
    npi_folds folds = {.has_features = graph->x->nonzeros > 0};
    folds.new_odds = folds.has_features ? 1 : BARE_ODDS;
    folds.columns = folds.has_features ? NPI_ALL_COLUMNS : NPI_COLUMNS;
    source s = {.env = *env, .comm = env->comm, .seed = seed, .graph = graph};
    s.env.comm = NULL;
    s.edges = npi_alloc(env, (size_t)graph->m, sizeof *s.edges, err);
    s.role = npi_alloc(env, (size_t)graph->n, 1, err);
    int code = s.edges && s.role ? npi_reduced_new(&s.reduced, graph->x, NULL, &s.env, err) : NPGNN_E_MEMORY;
    if (!code)
        code = npi_reduced_keep_tfidf(&s.reduced, graph->x, &s.env, err);
    if (!code) {
        s.known = npi_known_pairs(s.role, graph);
        npi_graph_list_edges(s.edges, graph);
        npi_pairs_shuffle(s.edges, graph->m, &rng);
        code = hide_links(&folds, &s, err);
    }
    if (!code) {
        int told = npi_new_odds(&folds.new_odds, graph, &s.env, err);
        folds.dated = told > 0;
        code = told < 0 ? told : 0;
    }
    if (!code) {
        int32_t new_nodes = 0;
        for (int32_t i = 0; i < graph->n; i++)
            new_nodes += graph->a.ptr[i + 1] == graph->a.ptr[i];
        double share = (double)new_nodes / (double)graph->n;
        int parts = share > 0.1 ? (int)(1 / share + 0.5) : FOLDS;
        folds.new_share = npi_new_share(graph);
        folds.new_from = folds.count;
        code = hide_nodes(&folds, &s, parts < LEAST_FOLDS ? LEAST_FOLDS : parts, &rng, err);
    }
    code = npi_comm_agree(s.comm, code, err);
    for (int f = 0; !code && f < s.folds; f++) /* the evidence of a fold, from the process that has it to all */
        npi_comm_broadcast(s.comm, folds.evidence + s.fold[f].first * (size_t)folds.columns,
                           (s.fold[f].last - s.fold[f].first) * (size_t)folds.columns * sizeof *folds.evidence,
                           f % npi_comm_ranks(s.comm));
    npi_reduced_free(env, &s.reduced);
    npi_free(env, s.edges);
    npi_free(env, s.role);
    if (code)
        npi_folds_free(env, &folds);
    else
        *out = folds;
    return code;
}
