#include "predict/applied.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "graph/new_nodes.h"
#include "predict/fit.h"

_Static_assert((int)NPI_ALL_COLUMNS <= (int)NPI_HEAD_MOST, "a head has room for all columns");

enum {
    NON_LINKS = 1 << 16, /* for the calibration, whose interest is in the few that score like links */
    ENOUGH = 2048,       /* links for the stacked fit: chosen in docs/understand/process.md */
    MOST_ROUNDS = 25,    /* of setting links aside */
    MOST_DRAWN = 1 << 14 /* non-links that a draw is calibrated on */
};

void npi_applied_free(npi_applied *a)
{
    npi_columns_free(&a->columns);
    npi_reduced_free(&a->env, &a->reduced);
    npi_reduced_free(&a->env, &a->projection);
    npi_head_bound_free(&a->env, &a->bound);
    npi_head_free(&a->env, &a->head);
    for (int draw = 0; a->draw_head && draw < a->draws; draw++)
        npi_head_free(&a->env, &a->draw_head[draw]);
    npi_free(&a->env, a->draw_head);
    npi_free(&a->env, a->draw_calibration);
    npi_free(&a->env, a->mean);
    memset(a, 0, sizeof *a);
}

/* ---- what examples tell ---- */

/* z, from the links of x and as many random non-links. */
static int infer(npi_applied *a, const npi_examples *x, npgnn_error *err)
{
    size_t e = (size_t)a->process->params.size.e;
    float *random = npi_alloc(&a->env, x->links, e * sizeof *random, err);
    if (!random)
        return NPGNN_E_MEMORY;
    /* near non-links look unlike the non-links that the process has met in training */
    size_t others = npi_examples_take_random(random, x, x->links);
    a->context = npi_process_infer(a->mean, a->precision, a->process, x->link, x->links, random, others, &a->env, err);
    npi_process_head(&a->head, a->process, a->mean);
    npi_free(&a->env, random);
    return a->context < 0 ? a->context : 0;
}

/* Sets links aside, several times, each time others, until they are ENOUGH. */
static int set_aside(npi_examples *x, const npi_aside *how, npgnn_error *err)
{
    int rounds = 1 + (int)((ENOUGH - 1) / npi_aside_count(how->graph)), code = 0;
    rounds = rounds < MOST_ROUNDS ? rounds : MOST_ROUNDS;
    /* a graph that gave nothing in round 0 gives nothing in the others */
    for (int round = 0; !code && round < rounds && (round == 0 || x->links > 0); round++)
        code = npi_examples_set_aside(x, how, round, NON_LINKS / rounds, err);
    return code;
}

/* The head of a draw of z. */
static int draw_z(npi_head *head, const npi_applied *a, uint64_t seed, int draw, npgnn_error *err)
{
    int d = a->process->params.size.d;
    npi_rng rng = npi_rng_make(seed, NPI_RNG_PREDICT, (uint32_t)draw);
    real *z = npi_alloc(&a->env, (size_t)d, sizeof *z, err);
    if (!z)
        return NPGNN_E_MEMORY;
    /* z_c = mean_c + ε_c / √precision_c */
    for (int c = 0; c < d; c++)
        z[c] = (real)((double)a->mean[c] + npi_rng_normal_at(&rng, (uint64_t)c) / sqrt((double)a->precision[c]));
    npi_process_head(head, a->process, z);
    npi_free(&a->env, z);
    return 0;
}

/* What the examples tell, and what samples of them tell with draws of z. `again`: see npi_fit_calibration. */
static int fit(npi_applied *a, const npi_examples *x, const float *again, uint64_t seed, npgnn_error *err)
{
    npi_picked all = {0};
    int code = npi_picked_all(&all, x, &a->env, err);
    if (!code)
        code = npi_fit_head(&a->head, x, &all, &a->env, err);
    if (!code)
        code = npi_fit_calibration(&a->calibration, &a->head, x, &all, again, &a->env, err);
    a->calibrated = !code;
    /* a draw repeats all of it with other examples: begin_draws has made its head from a draw of z */
    for (int draw = 0; !code && draw < a->draws; draw++) {
        npi_picked some = {0};
        code = npi_picked_draw(&some, &all, MOST_DRAWN, seed, draw, &a->env, err);
        if (!code)
            code = npi_fit_head(&a->draw_head[draw], x, &some, &a->env, err);
        if (!code)
            code = npi_fit_calibration(&a->draw_calibration[draw], &a->draw_head[draw], x, &some, again, &a->env, err);
        npi_picked_free(&a->env, &some);
    }
    npi_picked_free(&a->env, &all);
    return code;
}

/* Learns from examples, once the evidence of all known links is there. Collective. */
static int learn(npi_applied *a, const npi_examples *x, uint64_t seed, npgnn_error *err)
{
    size_t e = (size_t)a->head.e;
    float *again = npi_resize(&a->env, NULL, x->others, e * sizeof *again, err); /* (others, e) */
    int code = npi_comm_agree(a->columns.rows.comm, again ? 0 : NPGNN_E_MEMORY, err);
    if (!code)
        code = npi_examples_again(again, x, &a->columns, err);
    if (!code)
        code = npi_comm_agree(a->columns.rows.comm, fit(a, x, again, seed, err), err);
    npi_free(&a->env, again);
    return code;
}

/* The draws before anything is learnt: heads of draws of z and, of a tuned process, what samples of its own examples told. */
static int begin_draws(npi_applied *a, const npi_applied_options *o, npgnn_error *err)
{
    const npi_process_sizes size = a->process->params.size;
    int code = 0;
    for (int draw = 0; !code && draw < o->draws; draw++) {
        code = npi_head_new(&a->draw_head[draw], a->process->columns, size.h, &a->env, err);
        a->draws = draw + 1; /* to be freed, also if it is not complete */
        if (!code)
            code = draw_z(&a->draw_head[draw], a, o->seed, draw, err);
        /* of a process that is not tuned, it holds until examples tell more; a graph may have too few to tell anything */
        a->draw_calibration[draw] =
            o->scorer->resampled > 0 ? o->scorer->sample[draw % o->scorer->resampled] : a->calibration;
    }
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
static int begin(npi_applied *a, const npi_applied_options *o, npgnn_error *err)
{
    const npi_process *process = a->process;
    npi_process_sizes size = process->params.size;
    a->mean = npi_alloc(&a->env, 2 * (size_t)size.d, sizeof *a->mean, err);
    a->draw_head = npi_alloc(&a->env, (size_t)o->draws, sizeof *a->draw_head, err);
    a->draw_calibration = npi_alloc(&a->env, (size_t)o->draws, sizeof *a->draw_calibration, err);
    int code = a->mean && a->draw_head && a->draw_calibration ? 0 : NPGNN_E_MEMORY;
    if (!code)
        code = npi_head_new(&a->head, process->columns, size.h, &a->env, err);
    if (code)
        return code;
    a->precision = a->mean + size.d;
    /* the process is trained on as many non-links as links: its scores are log-odds at even odds */
    a->calibration = npi_calibration_unfitted(NPGNN_WEIGHTED, 0.5);
    if (process->z) { /* tuned: on the graph that it was trained on it has learnt all that this one could tell */
        memcpy(a->mean, process->z, 2 * (size_t)size.d * sizeof *a->mean);
        npi_process_head(&a->head, process, a->mean);
        a->calibration = o->scorer->calibration;
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
    /* all processes keep the evidence or none does: otherwise some would wait for what the others never send */
    size_t bytes = npi_columns_size(rows.to - rows.from, &a->reduced);
    int keep = !npi_comm_any(shared->comm, bytes > (memory ? memory : npi_memory() / 2));
    if (a->projection.width > 0)
        code = npi_comm_agree(shared->comm, prepare_tfidf(a, x, keep, &rows, err), err);
    return code ? code : npi_columns_new(&a->columns, &graph->a, &a->reduced, &a->projection, keep, shared, err);
}

int npi_applied_new(npi_applied *out, const npi_process *process, const npgnn_graph *graph, npi_features *x,
                    const npi_applied_options *options, const npgnn_env *env, npgnn_error *err)
{
    npi_applied *a = out;
    npgnn_comm *comm = env->comm;
    const npgnn_env shared = *env;
    *a = (npi_applied){.env = *env, .process = process};
    a->env.comm = NULL;
    npi_examples examples = {.env = a->env, .process = process};
    /* examples first: their evidence is of a graph with fewer links, and is gone before that of all links takes memory */
    int code = npi_comm_agree(comm, begin(a, options, err), err);
    if (!code)
        code = npi_reduced_new(&a->reduced, x, NULL, &shared, err);
    if (!code && !process->z) {
        const npi_aside aside = {graph, &a->reduced, npi_new_share(graph), options->seed, comm};
        code = set_aside(&examples, &aside, err);
        code = npi_comm_agree(comm, code ? code : infer(a, &examples, err), err);
    }
    if (!code)
        code = npi_comm_agree(comm, begin_draws(a, options, err), err);
    if (!code)
        code = prepare_evidence(a, graph, x, options->memory, &shared, err);
    if (!code && examples.links > 0)
        code = learn(a, &examples, options->seed, err);
    npi_examples_free(&examples);
    if (code)
        npi_applied_free(a);
    return code;
}

int npi_applied_complete(npi_applied *a, npgnn_error *err)
{
    return npi_columns_complete(&a->columns, err);
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
