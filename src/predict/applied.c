#include "predict/applied.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "graph/new_nodes.h"
#include "model/carry.h"
#include "process/stack.h"

_Static_assert((int)NPI_ALL_COLUMNS <= (int)NPI_HEAD_MOST, "a head has room for all columns");

enum {
    NON_LINKS = 1 << 16, /* for the calibration, whose interest is in the few that score like links */
    ENOUGH = 2048,       /* links for the stacked fit: chosen in docs/understand/process.md */
    MOST_ROUNDS = 25     /* of setting links aside */
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

/* z and its head, and the stacked fit, from the links of x and as many random non-links. */
static int fit_head(npi_applied *a, const npi_examples *x, npgnn_error *err)
{
    size_t e = (size_t)a->process->params.size.e;
    float *evidence = npi_alloc(&a->env, 2 * x->links, e * sizeof *evidence, err);
    if (!evidence)
        return NPGNN_E_MEMORY;
    if (x->links > 0)
        memcpy(evidence, x->link, x->links * e * sizeof *evidence);
    float *other = evidence + x->links * e;
    size_t others = npi_examples_take_random(other, x, x->links);
    a->context = npi_process_infer(a->mean, a->precision, a->process, evidence, x->links, other, others, &a->env, err);
    int code = a->context < 0 ? a->context : 0;
    npi_process_head(&a->head, a->process, a->mean);
    if (!code && x->links > 0)
        code = npi_head_stack(a->stack, &a->head, evidence, x->links, x->links + others, &a->env, err);
    if (!code)
        npi_head_apply(&a->head, a->stack);
    npi_free(&a->env, evidence);
    return code;
}

/* Sets links aside, several times, each time others, until they are ENOUGH. They tell z, and the stacked fit. */
static int learn(npi_applied *a, npi_examples *x, const npi_aside *how, npgnn_error *err)
{
    int rounds = 1 + (int)((ENOUGH - 1) / npi_aside_count(how->graph)), code = 0;
    rounds = rounds < MOST_ROUNDS ? rounds : MOST_ROUNDS;
    for (int round = 0; !code && round < rounds && (round == 0 || x->links > 0); round++)
        code = npi_examples_set_aside(x, how, round, NON_LINKS / rounds, err);
    return code ? code : fit_head(a, x, err);
}

/* score (count) of evidence (count, e) */
static void score_all(float *score, const npi_head *head, const float *evidence, size_t count)
{
    for (size_t i = 0; i < count; i++)
        score[i] = npi_head_score(head, evidence + i * (size_t)head->e);
}

/* The calibration of the head, from all examples. Those of known nodes have scores from fewer links than there are: they
 * are carried to the graph with all links. */
static int calibrate(npi_applied *a, const npi_examples *x, npgnn_error *err)
{
    size_t e = (size_t)a->head.e;
    float *again = npi_resize(&a->env, NULL, x->others, e * sizeof *again, err); /* (others, e) from all links */
    float *link = npi_resize(&a->env, NULL, x->links + 2 * x->others, sizeof *link, err);
    float *thin = link ? link + x->links : NULL, *full = link ? thin + x->others : NULL; /* (others) each */
    int code = npi_comm_agree(a->columns.rows.comm, again && link ? 0 : NPGNN_E_MEMORY, err);
    if (!code)
        code = npi_examples_again(again, x, &a->columns, err);
    if (!code) {
        score_all(link, &a->head, x->link, x->links);
        score_all(thin, &a->head, x->other, x->others);
        score_all(full, &a->head, again, x->others);
        npi_carry carry;
        code = npi_carry_make(&carry, thin, full, x->other_weight, x->others, &a->env, err);
        for (size_t i = 0; !code && i < x->links; i++)
            if (x->link_kind[i] != NPI_EXAMPLE_NEW)
                link[i] = (float)npi_carry_score(&carry, (double)link[i]);
    }
    if (!code)
        code = npi_calibration_fit(&a->calibration, link, x->links, full, x->other_weight, x->others, &a->env, err);
    a->calibrated = !code;
    npi_free(&a->env, again);
    npi_free(&a->env, link);
    return code;
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
                    uint64_t seed, size_t memory, const npgnn_env *env, npgnn_error *err)
{
    npi_applied *a = out;
    npgnn_comm *comm = env->comm;
    const npgnn_env shared = *env;
    *a = (npi_applied){.env = *env, .process = process};
    a->env.comm = NULL;
    npi_examples examples = {.env = a->env, .process = process};
    int code = npi_comm_agree(comm, begin(a, err), err);
    if (!code)
        code = npi_reduced_new(&a->reduced, x, NULL, &shared, err);
    if (!code && !process->z) {
        const npi_aside aside = {graph, &a->reduced, npi_new_share(graph), seed, comm};
        code = npi_comm_agree(comm, learn(a, &examples, &aside, err), err);
    }
    if (!code)
        code = prepare_evidence(a, graph, x, memory, &shared, err);
    if (!code && examples.links > 0)
        code = calibrate(a, &examples, err);
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
        code = npi_columns_pairs(evidence, &a->columns, pairs, count, a->env.threads, err);
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
                       const npgnn_pair *pairs, size_t count, int threads, npgnn_error *err)
{
    float *evidence = npi_alloc(&a->env, count * (size_t)a->columns.plan.columns, sizeof *evidence, err);
    int code = npi_comm_agree(a->columns.rows.comm, evidence ? 0 : NPGNN_E_MEMORY, err);
    if (!code)
        code = npi_columns_pairs(evidence, &a->columns, pairs, count, threads, err);
    if (!code) {
        npi_process_standardize(evidence, a->process, a->columns.has_features, count);
        scores_loop loop = {score, evidence, heads, head_count, count};
        npi_parallel(threads, (int64_t)count, 256, score_range, &loop);
    }
    npi_free(&a->env, evidence);
    return code;
}
