#include "predict/applied.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "graph/new_nodes.h"
#include "process/stack.h"

_Static_assert((int)NPI_ALL_COLUMNS <= (int)NPI_HEAD_MOST, "a head has room for all columns");

enum {
    MAX_NON_LINKS = 1 << 14, /* for the calibration, whose interest is in the few that score like links */
    ENOUGH = 2048,           /* links for the stacked fit: chosen in docs/understand/process.md */
    MOST_ROUNDS = 10         /* of setting links aside */
};

void npi_applied_free(npi_applied *a)
{
    npi_columns_free(&a->columns);
    npi_reduced_free(&a->env, &a->reduced);
    npi_reduced_free(&a->env, &a->projection);
    npi_head_bound_free(&a->env, &a->bound);
    npi_head_free(&a->env, &a->head);
    npi_free(&a->env, a->mean);
    npi_free(&a->env, a->stack);
    memset(a, 0, sizeof *a);
}

/* ---- what a context tells ---- */

/* z and its head, from the first links and the first non-links, equally many. */
static int infer(npi_applied *a, const float *links, size_t link_count, const float *others, size_t other_count,
                 npgnn_error *err)
{
    int votes =
        npi_process_infer(a->mean, a->precision, a->process, links, link_count, others, other_count, &a->env, err);
    npi_process_head(&a->head, a->process, a->mean);
    a->context = votes;
    return votes < 0 ? votes : 0;
}

/* The stacked fit, from all links of x and as many non-links. */
static int fit_stack(npi_applied *a, const npi_examples *x, npgnn_error *err)
{
    size_t e = (size_t)a->process->params.size.e, others = x->others < x->links ? x->others : x->links;
    float *evidence = npi_alloc(&a->env, (x->links + others) * e, sizeof *evidence, err);
    if (!evidence)
        return NPGNN_E_MEMORY;
    memcpy(evidence, x->link, x->links * e * sizeof *evidence);
    memcpy(evidence + x->links * e, x->other, others * e * sizeof *evidence);
    int code = npi_head_stack(a->stack, &a->head, evidence, x->links, x->links + others, &a->env, err);
    npi_free(&a->env, evidence);
    return code;
}

/* The calibration of the head, from these links and non-links. */
static int calibrate(npi_applied *a, const float *links, size_t link_count, const float *others, size_t other_count,
                     npgnn_error *err)
{
    size_t e = (size_t)a->process->params.size.e, count = link_count + other_count;
    float *score = npi_resize(&a->env, NULL, count, sizeof *score, err);
    if (!score)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        score[i] = npi_head_score(&a->head, i < link_count ? links + i * e : others + (i - link_count) * e);
    int code = npi_calibration_fit(&a->calibration, score, link_count, count, &a->env, err);
    a->calibrated = !code;
    npi_free(&a->env, score);
    return code;
}

/* z from the last `links` and `others` of x, then the stacked fit from all of them. The calibration is from all of
 * them, too, unless the last ones were `given`: the evidence of these is computed from all known links, as it will be
 * for the pairs to score, and that of links that were set aside from fewer. */
static int learn(npi_applied *a, const npi_examples *x, size_t links, size_t others, int given, npgnn_error *err)
{
    size_t e = (size_t)a->process->params.size.e;
    const float *link = x->link + (x->links - links) * e, *other = x->other + (x->others - others) * e;
    int code = infer(a, link, links, other, others, err);
    if (!code)
        code = fit_stack(a, x, err);
    if (code)
        return code;
    npi_head_apply(&a->head, a->stack);
    return given ? calibrate(a, link, links, other, others, err)
                 : calibrate(a, x->link, x->links, x->other, x->others, err);
}

/* Sets links aside and learns from them or, where held-out pairs are `given` to learn from, prepares what the stacked
 * fit can use besides these. Small graphs do it several times, each time with another tenth of their links. */
static int set_aside(npi_applied *a, npi_examples *x, const npi_aside *how, const npi_held_out *given, npgnn_error *err)
{
    size_t per_round = (size_t)npi_aside_count(how->graph), last = given ? given->positives : per_round;
    int code = 0, non_links = given ? (int)per_round : MAX_NON_LINKS;
    for (int round = 1; !code && round < MOST_ROUNDS && (size_t)(round - 1) * per_round + last < ENOUGH; round++)
        code = npi_examples_set_aside(x, how, round, non_links, err);
    if (code || given)
        return code;
    size_t links = x->links, others = x->others;
    code = npi_examples_set_aside(x, how, 0, non_links, err);
    if (code)
        return code;
    return x->links > links ? learn(a, x, x->links - links, x->others - others, 0, err)
                            : infer(a, NULL, 0, NULL, 0, err);
}

/* The share of held-out links that touch a node without known links. */
static double new_share_of(const npi_held_out *held_out, const npi_csr *known)
{
    size_t new = 0;
    for (size_t i = 0; i < held_out->positives; i++) {
        npgnn_pair pair = held_out->pairs[i];
        new += known->ptr[pair.u] == known->ptr[pair.u + 1] || known->ptr[pair.v] == known->ptr[pair.v + 1];
    }
    return (double)new / (double)held_out->positives;
}

/* The tf-idf rows of the features: prepared and, if they are to be kept, whole or, in one of several processes, those of its
 * nodes. */
static int prepare_tfidf(npi_applied *a, npi_features *x, int keep, const npi_partition *rows, npgnn_error *err)
{
    if (keep && !rows->comm)
        return npi_reduced_keep_tfidf(&a->reduced, x, &a->env, err);
    int code = a->reduced.width > 0 ? npi_tfidf_new(&a->reduced.tfidf, x, &a->env, err) : 0;
    return code || !keep ? code : npi_tfidf_index(&a->reduced.tfidf, rows, &a->env, err);
}

/* Allocates what does not depend on the graph, and sets what holds before anything is learnt. */
static int begin(npi_applied *a, npgnn_error *err)
{
    const npi_process *process = a->process;
    npi_process_sizes size = process->params.size;
    a->mean = npi_alloc(&a->env, 2 * (size_t)size.d, sizeof *a->mean, err);
    a->stack = npi_alloc(&a->env, (size_t)process->columns + 2, sizeof *a->stack, err);
    int code = a->mean && a->stack ? npi_head_new(&a->head, process->columns, size.h, &a->env, err) : NPGNN_E_MEMORY;
    if (code)
        return code;
    a->precision = a->mean + size.d;
    a->stack[0] = 1;
    /* the process is trained on as many non-links as links: its scores are log-odds at even odds */
    a->calibration = npi_calibration_unfitted(NPGNN_WEIGHTED, 0.5);
    if (process->z) { /* tuned: on the graph that it was trained on it has learnt all that this one could tell */
        memcpy(a->mean, process->z, 2 * (size_t)size.d * sizeof *a->mean);
        npi_process_head(&a->head, process, a->mean);
    }
    return 0;
}

/* The evidence of all known links. Collective. */
static int prepare_evidence(npi_applied *a, const npgnn_graph *graph, npi_features *x, size_t memory,
                            const npgnn_env *shared, npgnn_error *err)
{
    npi_partition rows = npi_partition_tall(graph->n, shared->comm);
    int code = npi_reduced_project(&a->projection, x, &a->process->projection, shared, err);
    if (code)
        return code;
    size_t bytes = npi_columns_size(rows.to - rows.from, &a->reduced);
    int keep = !npi_comm_any(shared->comm, bytes > (memory ? memory : npi_memory() / 2));
    if (a->projection.width > 0)
        code = npi_comm_agree(shared->comm, prepare_tfidf(a, x, keep, &rows, err), err);
    return code ? code : npi_columns_new(&a->columns, &graph->a, &a->reduced, &a->projection, keep, shared, err);
}

int npi_applied_new(npi_applied *out, const npi_process *process, const npgnn_graph *graph, npi_features *x,
                    const npi_held_out *held_out, uint64_t seed, size_t memory, const npgnn_env *env, npgnn_error *err)
{
    npi_applied *a = out;
    npgnn_comm *comm = env->comm;
    const npgnn_env shared = *env;
    int tuned = process->z != NULL;
    *a = (npi_applied){.env = *env, .process = process};
    a->env.comm = NULL;
    if (held_out && (held_out->positives == 0 || held_out->count == held_out->positives))
        held_out = NULL;
    npi_examples examples = {.env = a->env, .process = process};
    int code = npi_comm_agree(comm, begin(a, err), err);
    if (!code)
        code = npi_reduced_new(&a->reduced, x, NULL, &shared, err);
    if (!code && !tuned) {
        npi_aside aside = {.graph = graph, .reduced = &a->reduced, .seed = seed, .comm = comm};
        aside.new_share = held_out ? new_share_of(held_out, &graph->a) : npi_new_share(graph);
        code = npi_comm_agree(comm, set_aside(a, &examples, &aside, held_out, err), err);
    }
    if (!code)
        code = prepare_evidence(a, graph, x, memory, &shared, err);
    if (!code && !tuned && held_out) {
        code = npi_examples_add(&examples, &a->columns, held_out, err);
        if (!code)
            code = learn(a, &examples, held_out->positives, held_out->count - held_out->positives, 1, err);
    }
    npi_examples_free(&examples);
    if (code)
        npi_applied_free(a);
    return code;
}

int npi_applied_complete(npi_applied *a, npgnn_error *err)
{
    return npi_columns_complete(&a->columns, err);
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

int npi_applied_prepare_bounds(npi_applied *a, uint64_t seed, npgnn_error *err)
{
    enum { SAMPLE = 2048 }; /* random pairs, most of them far apart as those that a search can leave out */
    npgnn_pair pairs[SAMPLE];
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TUNE, 1);
    float *evidence = npi_alloc(&a->env, SAMPLE * (size_t)a->columns.plan.columns, sizeof *evidence, err);
    int code = evidence ? 0 : NPGNN_E_MEMORY;
    for (int i = 0; i < SAMPLE && a->columns.n > 0; i++)
        pairs[i] = (npgnn_pair){(int32_t)npi_rng_below(&rng, (uint64_t)a->columns.n),
                                (int32_t)npi_rng_below(&rng, (uint64_t)a->columns.n)};
    size_t count = a->columns.n > 0 ? SAMPLE : 0;
    if (!code)
        code = npi_applied_complete(a, err);
    if (!code)
        code = npi_columns_pairs(evidence, &a->columns, pairs, count, err);
    if (!code) {
        npi_process_standardize(evidence, a->process, a->columns.has_features, count);
        code = npi_head_bound_new(&a->bound, &a->head, evidence, count, &a->env, err);
    }
    if (!code) /* now rather than when the first node is added, which would wait for it */
        code = npi_columns_reserve(&a->columns, a->columns.n + 1, err);
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
    for (int c = 0; c < a->columns.plan.columns; c++)
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
    float *evidence = npi_alloc(&a->env, count * (size_t)a->columns.plan.columns, sizeof *evidence, err);
    int code = npi_comm_agree(a->columns.rows.comm, evidence ? 0 : NPGNN_E_MEMORY, err);
    if (!code)
        code = npi_columns_pairs(evidence, &a->columns, pairs, count, err);
    if (!code) {
        npi_process_standardize(evidence, a->process, a->columns.has_features, count);
        scores_loop loop = {score, evidence, heads, head_count, count};
        npi_parallel(a->env.threads, (int64_t)count, 256, score_range, &loop);
    }
    npi_free(&a->env, evidence);
    return code;
}
