#include "predict/applied.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "graph/negative.h"
#include "graph/pair.h"
#include "process/stack.h"

_Static_assert((int)NPI_ALL_COLUMNS <= (int)NPI_SLOPES_MOST, "every head has slopes");

enum {
    MAX_SET_ASIDE = 4096,   /* links for the stacked fit and the calibration */
    LEAST_SET_ASIDE = 3,    /* below which a context tells nothing */
    LEAST_KNOWN = 10,       /* links that must remain */
    MAX_NON_LINKS = 1 << 14 /* for the calibration, whose interest is in the few that score like links */
};
#define SET_ASIDE 0.1 /* of the known links */

void npi_applied_free(npi_applied *a)
{
    npi_columns_free(&a->columns);
    npi_words_free(&a->env, &a->words);
    npi_words_free(&a->env, &a->projection);
    npi_head_bound_free(&a->env, &a->bound);
    npi_head_free(&a->env, &a->head);
    npi_free(&a->env, a->mean);
    npi_free(&a->env, a->stack);
    memset(a, 0, sizeof *a);
}

/* ---- what a context tells ---- */

/* z and its head, from the first links and the first non-links, equally many. */
static int infer(npi_applied *a, const float *evidence, size_t positives, size_t count, npgnn_error *err)
{
    const float *others = evidence ? evidence + positives * (size_t)a->process->params.size.e : NULL;
    int votes = npi_process_infer(a->mean, a->precision, a->process, evidence, positives, others, count - positives,
                                  &a->env, err);
    npi_process_head(&a->head, a->process, a->mean);
    a->context = votes;
    return votes < 0 ? votes : 0;
}

/* z, the stacked fit and the calibration, from labelled pairs and the evidence that was computed without them. */
static int learn(npi_applied *a, const npi_columns *columns, const npi_held_out *held_out, npgnn_error *err)
{
    int e = a->process->params.size.e;
    size_t count = held_out->count, positives = held_out->positives;
    size_t balanced = 2 * positives < count ? 2 * positives : count; /* with as many non-links as links */
    float *evidence = npi_alloc(&a->env, count * (size_t)e, sizeof *evidence, err);
    float *score = npi_alloc(&a->env, count, sizeof *score, err);
    int code = evidence && score ? npi_columns_pairs(evidence, columns, held_out->pairs, count, err) : NPGNN_E_MEMORY;
    if (!code) {
        npi_process_standardize(evidence, a->process, columns->has_features, count);
        code = infer(a, evidence, positives, count, err);
    }
    if (!code)
        code = npi_head_stack(a->stack, &a->head, evidence, positives, balanced, &a->env, err);
    if (!code) {
        npi_head_apply(&a->head, a->stack);
        for (size_t i = 0; i < count; i++)
            score[i] = npi_head_score(&a->head, evidence + i * (size_t)e);
        code = npi_calibration_fit(&a->calibration, score, positives, count, &a->env, err);
        a->calibrated = !code;
    }
    npi_free(&a->env, evidence);
    npi_free(&a->env, score);
    return code;
}

/* ---- setting links aside ---- */

/* A random choice of `aside` links to the front of edges (m). About `hidden` of these are all links of random nodes, whose role (n)
 * becomes NPI_NODE_VAL: as new as the nodes of the graph that have no links. Returns the number of links that were chosen. */
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

/* Draws up to `count` non-links in random order: pairs that touch a hidden node are `share` of them. Returns how many; negative: an error
 * code. */
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

/* Sets some of the known links aside and learns from them, on the evidence of the others. If there are nodes without links, known by their
 * features, pairs of hidden nodes are as large a part of what is learnt from as pairs of the graph touch such a node. */
static int learn_from_set_aside(npi_applied *a, const npgnn_graph *graph, uint64_t seed, npgnn_comm *comm,
                                npgnn_error *err)
{
    const npgnn_env *env = &a->env;
    int64_t m = graph->m, aside = (int64_t)(SET_ASIDE * (double)m + 0.5);
    aside = aside < LEAST_SET_ASIDE ? LEAST_SET_ASIDE : aside > MAX_SET_ASIDE ? MAX_SET_ASIDE : aside;
    int32_t new_nodes = 0;
    for (int32_t i = 0; i < graph->n && a->words.width > 0; i++)
        new_nodes += graph->a.ptr[i + 1] == graph->a.ptr[i];
    double known_share = 1 - (double)new_nodes / (double)graph->n, share = 1 - known_share * known_share;
    unsigned char *role = npi_alloc(env, (size_t)graph->n, 1, err);
    int code = npi_comm_agree(comm, role ? 0 : NPGNN_E_MEMORY, err), others = 0;
    if (code) {
        npi_free(env, role);
        return code;
    }
    npi_candidate_pairs known = npi_known_pairs(role, graph);
    uint64_t without = npi_candidate_pairs_count_non_links(&known);
    if (m < aside + LEAST_KNOWN || without / 2 < LEAST_SET_ASIDE) { /* a complete graph has no non-links */
        npi_log(env, "the graph has too few %s to set some aside: its probabilities are not calibrated",
                m < aside + LEAST_KNOWN ? "links" : "pairs without a link");
        npi_free(env, role);
        return infer(a, NULL, 0, 0, err);
    }
    npgnn_pair *edges = npi_alloc(env, (size_t)m, sizeof *edges, err);
    npgnn_pair *pairs = npi_alloc(env, (size_t)m + MAX_NON_LINKS, sizeof *pairs, err);
    npgnn_graph *rest = NULL;
    npi_columns columns = {0};
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TUNE, 0);
    code = edges && pairs ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        npi_graph_list_edges(edges, graph);
        aside = choose_aside(edges, role, graph, aside, (int64_t)(share * (double)aside), &rng);
        memcpy(pairs, edges, (size_t)aside * sizeof *pairs);
        npi_pairs_shuffle(pairs, aside, &rng); /* links of new and of known nodes vote alike */
        int64_t hidden = 0;
        for (int64_t i = 0; i < aside; i++)
            hidden += role[pairs[i].u] == NPI_NODE_VAL || role[pairs[i].v] == NPI_NODE_VAL;
        others =
            draw_non_links(pairs + aside, MAX_NON_LINKS, (double)hidden / (double)aside, &known, seed, &rng, env, err);
        if (others >= 0 && others < LEAST_SET_ASIDE) { /* hidden nodes that are linked to all others: any non-links */
            npi_known_pairs(role, graph);
            others = draw_non_links(pairs + aside, MAX_NON_LINKS, 0, &known, seed, &rng, env, err);
        }
        code = others < 0 ? others : 0;
    }
    if (!code)
        code = npi_graph_with_edges(&rest, graph, edges + aside, m - aside, err);
    npi_free(env, edges);
    code = npi_comm_agree(comm, code, err);
    npgnn_env shared = *env;
    shared.comm = comm;
    if (!code)
        code = npi_columns_new(&columns, &rest->a, &a->words, NULL, 0, &shared, err);
    const npi_held_out held_out = {pairs, (size_t)aside, (size_t)(aside + others)};
    if (!code)
        code = learn(a, &columns, &held_out, err);
    npi_columns_free(&columns);
    npgnn_graph_free(rest);
    npi_free(env, role);
    npi_free(env, pairs);
    return code;
}

int npi_applied_new(npi_applied *out, const npi_process *process, const npgnn_graph *graph, npi_features *x,
                    const npi_held_out *held_out, uint64_t seed, size_t memory, const npgnn_env *env, npgnn_error *err)
{
    npi_process_sizes size = process->params.size;
    npi_applied a = {.env = *env, .process = process};
    npgnn_comm *comm = env->comm;
    const npgnn_env shared = *env;
    a.env.comm = NULL;
    env = &a.env;
    a.mean = npi_alloc(env, 2 * (size_t)size.d, sizeof *a.mean, err);
    a.stack = npi_alloc(env, (size_t)process->columns + 2, sizeof *a.stack, err);
    int code = a.mean && a.stack ? npi_head_new(&a.head, process->columns, size.h, env, err) : NPGNN_E_MEMORY;
    if (!code) {
        a.precision = a.mean + size.d;
        a.stack[0] = 1;
        /* the process is trained on as many non-links as links: its scores are log-odds at even odds */
        a.calibration = npi_calibration_unfitted(NPGNN_WEIGHTED, 0.5);
        code = npi_words_new(&a.words, x, NULL, env, err);
    }
    int tuned = process->z != NULL;
    int given = !tuned && held_out && held_out->positives > 0 && held_out->count > held_out->positives;
    if (!code && tuned) { /* on the graph that it was trained on it has learnt all that this one could tell */
        memcpy(a.mean, process->z, 2 * (size_t)size.d * sizeof *a.mean);
        npi_process_head(&a.head, process, a.mean);
    }
    code = npi_comm_agree(comm, code, err);
    if (!code && !tuned && !given)
        code = learn_from_set_aside(&a, graph, seed, comm, err);
    if (!code)
        code = npi_words_project(&a.projection, x, &process->projection, env, err);
    if (!code && a.projection.width > 0)
        code = npi_words_keep_exact(&a.words, x, env, err);
    code = npi_comm_agree(comm, code, err);
    if (!code)
        code = npi_columns_new(&a.columns, &graph->a, &a.words, &a.projection,
                               npi_columns_size(graph->n, &a.words) <= (memory ? memory : npi_machine_memory() / 2),
                               &shared, err);
    if (!code && given)
        code = learn(&a, &a.columns, held_out, err);
    if (code)
        npi_applied_free(&a);
    else
        *out = a;
    return code;
}

int npi_applied_draw(npi_head *out, const npi_applied *a, uint64_t seed, int draw, npgnn_error *err)
{
    npi_process_sizes size = a->process->params.size;
    npi_rng rng = npi_rng_make(seed, NPI_RNG_PREDICT, (uint32_t)draw);
    real *z = npi_alloc(&a->env, (size_t)size.d, sizeof *z, err);
    int code = z ? npi_head_new(out, a->process->columns, size.h, &a->env, err) : NPGNN_E_MEMORY;
    if (!code) {
        for (int c = 0; c < size.d; c++)
            z[c] = (real)((double)a->mean[c] + npi_rng_normal_at(&rng, (uint64_t)c) / sqrt((double)a->precision[c]));
        npi_process_head(out, a->process, z);
        npi_head_apply(out, a->stack);
    }
    npi_free(&a->env, z);
    return code;
}

/* ---- scores ---- */

int npi_applied_hasten(npi_applied *a, uint64_t seed, npgnn_error *err)
{
    enum { SAMPLE = 512 }; /* random pairs, most of them far apart as those that a search can leave out */
    npgnn_pair pairs[SAMPLE];
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TUNE, 1);
    float *evidence = npi_alloc(&a->env, SAMPLE * (size_t)a->columns.count, sizeof *evidence, err);
    int code = evidence ? 0 : NPGNN_E_MEMORY;
    for (int i = 0; i < SAMPLE && a->columns.n > 0; i++)
        pairs[i] = (npgnn_pair){(int32_t)npi_rng_below(&rng, (uint64_t)a->columns.n),
                                (int32_t)npi_rng_below(&rng, (uint64_t)a->columns.n)};
    size_t count = a->columns.n > 0 ? SAMPLE : 0;
    if (!code)
        code = npi_columns_complete(&a->columns, err);
    if (!code)
        code = npi_columns_pairs(evidence, &a->columns, pairs, count, err);
    if (!code) {
        npi_process_standardize(evidence, a->process, a->columns.has_features, count);
        code = npi_head_bound_new(&a->bound, &a->head, evidence, count, &a->env, err);
    }
    if (!code) /* now rather than when the first node is added, which would wait for it */
        code = npi_columns_reserve(&a->columns, &a->words, &a->projection, a->columns.n + 1, err);
    if (!code && a->bound.block)
        code = npi_columns_round(&a->columns, err);
    npi_free(&a->env, evidence);
    return code;
}

double npi_applied_error(const npi_applied *a, const npi_head *head, const npi_slopes *slopes, int rounded)
{
    double rounding[NPI_ALL_COLUMNS], sum = 0;
    /* twice what floats need, since that is an estimate; what integers need is exact */
    npi_columns_rounding(rounding, &a->columns, 2 * NPI_FLOAT_UNIT + (rounded ? NPI_ROUNDED_UNIT : 0));
    for (int c = 0; c < a->columns.count; c++)
        sum += slopes->column[c] * rounding[c] / (double)a->process->deviation[c];
    /* and that of the head itself: every sum of e or h terms */
    double most = slopes->terms * NPI_CLIP + fabs((double)head->shift[0]) + 1;
    return sum + 2 * (head->e + 2 * head->h) * (double)FLT_EPSILON * most;
}

double npi_applied_error_along(const npi_applied *a, const npi_slopes *slopes, int32_t u, int rounded)
{
    static const int columns[] = {NPI_COLUMN_SPECTRAL, NPI_COLUMN_PAGERANK};
    double sum = 0, unit = 2 * NPI_FLOAT_UNIT + (rounded ? NPI_ROUNDED_UNIT : 0);
    for (int i = 0; i < 2; i++)
        sum += slopes->column[columns[i]] * npi_columns_rounding_along(&a->columns, columns[i], u, unit) /
               (double)a->process->deviation[columns[i]];
    return sum;
}

typedef struct scores_loop {
    float *score;
    const float *evidence;
    const npi_head *heads;
    int head_count;
    size_t count;
} scores_loop;

static void score_range(const void *arg, int64_t first, int64_t last)
{
    const scores_loop *l = arg;
    for (int h = 0; h < l->head_count; h++)
        for (int64_t i = first; i < last; i++)
            l->score[(size_t)h * l->count + (size_t)i] = npi_head_score(&l->heads[h], l->evidence + i * l->heads[h].e);
}

int npi_applied_scores(float *score, const npi_applied *a, const npi_head *heads, int head_count,
                       const npgnn_pair *pairs, size_t count, npgnn_error *err)
{
    float *evidence = npi_alloc(&a->env, count * (size_t)a->columns.count, sizeof *evidence, err);
    int code = evidence ? npi_columns_pairs(evidence, &a->columns, pairs, count, err) : NPGNN_E_MEMORY;
    if (!code) {
        npi_process_standardize(evidence, a->process, a->columns.has_features, count);
        scores_loop loop = {score, evidence, heads, head_count, count};
        npi_parallel(a->env.threads, (int64_t)count, 256, score_range, &loop);
    }
    npi_free(&a->env, evidence);
    return code;
}
