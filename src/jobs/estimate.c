/* What a job will take, without doing it: a short one of the same kind is run and measured.
 *
 * The short job differs in the number of its iterations, nodes or seeds alone. So it allocates what the whole job would, which
 * a counting allocator sees; its progress tells how long an iteration takes, and the rest is multiplication. */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "graph/graph.h"
#include "jobs/fit.h"
#include "jobs/methods.h"
#include "model/options.h"

/* Of a training: the first iteration warms up, every third is validated, the others are what an iteration takes. */
enum { SHORT = 6, VALIDATE_EVERY = 3 };

enum { BATCH = 1 << 18, ROOM = 1 << 20 }; /* pairs that are predicted, results of a search */

/* Iterations of one training, or nodes of one search. */
typedef struct series {
    int64_t done, all;
    double latest; /* when `done` were */
    int64_t plain; /* steps without validation, */
    double plain_seconds;
    int checks; /* and those with it */
    double check_seconds;
} series;

typedef struct watch {
    npgnn_env env; /* the caller's, resolved */
    size_t bytes, peak;
    int64_t wanted; /* steps of each series in the whole job; 0: as many as it says, and it is stopped early */
    int validate_every;
    double start;
    int stopped; /* by this file, not by the caller */
    series now;
    double left_out;   /* seconds that the whole job takes besides */
    double stepping;   /* seconds of its steps, */
    int64_t all_steps; /* and how many they are */
} watch;

/* ---- memory ---- */

/* In front of every block: how large it is. */
typedef union head {
    size_t size;
    max_align_t alignment;
} head;

static void *count_resize(void *user, void *block, size_t size)
{
    watch *w = user;
    const npgnn_allocator *given = &w->env.allocator;
    head *old = block ? (head *)block - 1 : NULL;
    size_t before = old ? old->size : 0;
    head *fresh = given->resize(given->user, old, size ? size + sizeof *fresh : 0);
    if (size > 0 && !fresh)
        return NULL;
    w->bytes = w->bytes - before + size;
    w->peak = w->bytes > w->peak ? w->bytes : w->peak;
    if (size == 0)
        return NULL;
    fresh->size = size;
    return fresh + 1;
}

/* ---- time ---- */

static int64_t validations(int64_t iterations, int every)
{
    return iterations / every + (iterations % every != 0);
}

/* Adds what the whole series takes besides the part that was run. */
static void series_end(watch *w)
{
    const series *s = &w->now;
    double plain = s->plain > 0 ? s->plain_seconds / (double)s->plain : 0;
    if (s->plain == 0 && s->all > s->done) /* one report says the same, with the preparations */
        plain = s->done > 0 ? (s->latest - w->start) / (double)s->done : 0;
    double check = s->checks > 0 ? fmax(s->check_seconds / s->checks - plain, 0) : 0;
    double checks_left = s->checks > 0 ? (double)(validations(s->all, w->validate_every) - s->checks) : 0;
    if (s->all > s->done)
        w->left_out += (double)(s->all - s->done) * plain + fmax(checks_left, 0) * check;
    w->stepping += (double)s->all * plain;
    w->all_steps += s->all;
    w->now = (series){0};
}

static int on_progress(void *user, const npgnn_progress *p)
{
    watch *w = user;
    series *s = &w->now;
    double now = npi_clock_seconds();
    if (p->iteration <= s->done)
        series_end(w);
    if (s->done > 0 && p->validated) {
        s->checks++;
        s->check_seconds += now - s->latest;
    } else if (s->done > 0) {
        s->plain += p->iteration - s->done;
        s->plain_seconds += now - s->latest;
    }
    s->done = p->iteration;
    s->all = w->wanted ? w->wanted : p->iterations;
    s->latest = npi_clock_seconds();
    if (w->env.progress && w->env.progress(w->env.user, p))
        return 1;
    w->stopped = w->wanted == 0 && p->iteration >= SHORT && p->iteration < p->iterations;
    return w->stopped;
}

static void pass_log(void *user, const char *message)
{
    const watch *w = user;
    w->env.log(w->env.user, message);
}

/* ---- measuring ---- */

/* A short job in an environment that is watched. */
typedef int short_job(const void *what, const npgnn_env *env, npgnn_error *err);

static watch watch_make(int64_t wanted, int validate_every, const npgnn_env *env)
{
    return (watch){.env = npi_env_resolve(env), .wanted = wanted, .validate_every = validate_every};
}

/* `times` such jobs, one after the other, are the whole. */
static int measure(npgnn_cost *out, watch *w, short_job *job, const void *what, int times, npgnn_error *err)
{
    npgnn_env watched = {.size = sizeof watched,
                         .threads = w->env.threads,
                         .progress = on_progress,
                         .log = w->env.log ? pass_log : NULL,
                         .user = w,
                         .stop = w->env.stop,
                         .allocator = {count_resize, w}};
    npgnn_error why = {0};
    int code = npi_sized_check(out, "npgnn_cost", err);
    if (code)
        return code;
    w->start = npi_clock_seconds();
    code = job(what, &watched, &why);
    double seconds = npi_clock_seconds() - w->start;
    if (code && !(code == NPGNN_E_CANCELLED && w->stopped)) {
        if (err)
            *err = why;
        return code;
    }
    series_end(w);
    const npgnn_cost cost = {.size = sizeof cost,
                             .bytes = (int64_t)w->peak,
                             .seconds = times * (seconds + w->left_out),
                             .steps = times * w->all_steps,
                             .step_seconds = w->all_steps > 0 ? w->stepping / (double)w->all_steps : 0};
    return npi_sized_write(out, &cost, sizeof cost, "npgnn_cost", err);
}

static void shorten(npgnn_options *options)
{
    options->iterations = options->iterations < SHORT ? options->iterations : SHORT;
    options->validate_every = VALIDATE_EVERY;
}

/* ---- training ---- */

typedef struct fit_job {
    const npgnn_graph *graph;
    const npgnn_split *split;
    npgnn_options options;
} fit_job;

static int fit_short(const void *what, const npgnn_env *env, npgnn_error *err)
{
    const fit_job *job = what;
    npgnn_model *model = NULL;
    int code = npi_fit(&model, NULL, job->graph, job->split, &job->options, env, err);
    npgnn_model_free(model);
    return code;
}

int npgnn_estimate_fit(npgnn_cost *out, const npgnn_graph *graph, const npgnn_split *split,
                       const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    fit_job job = {.graph = graph, .split = split};
    if (npi_env_check(env, err) || npi_options_read(&job.options, options, err))
        return NPGNN_E_ARGUMENT;
    watch w = watch_make(job.options.iterations, job.options.validate_every, env);
    shorten(&job.options);
    return measure(out, &w, fit_short, &job, 1, err);
}

/* ---- evaluation ---- */

typedef struct eval_job {
    const npgnn_graph *graph;
    npgnn_eval_options options;
    npgnn_options model;
} eval_job;

static int evaluate_short(const void *what, const npgnn_env *env, npgnn_error *err)
{
    const eval_job *job = what;
    npgnn_eval_run run = {.size = sizeof run};
    return npgnn_evaluate(&run, job->graph, 1, &job->options, env, err);
}

int npgnn_estimate_evaluate(npgnn_cost *out, const npgnn_graph *graph, int seeds, const npgnn_eval_options *options,
                            const npgnn_env *env, npgnn_error *err)
{
    eval_job job = {.graph = graph};
    if (npi_env_check(env, err) ||
        npi_sized_read(&job.options, sizeof job.options, options, "npgnn_eval_options", err) ||
        npi_options_read(&job.model, job.options.model, err))
        return NPGNN_E_ARGUMENT;
    job.options.scores = NULL;
    job.options.model = &job.model;
    watch w =
        watch_make(npi_method_is_model(job.options.method) ? job.model.iterations : 0, job.model.validate_every, env);
    shorten(&job.model);
    return measure(out, &w, evaluate_short, &job, seeds, err);
}

/* ---- transfer ---- */

typedef struct transfer_job {
    const npgnn_graph *graph;
    const npgnn_model *model;
    npgnn_transfer_options options;
    npgnn_options training;
} transfer_job;

static int transfer_short(const void *what, const npgnn_env *env, npgnn_error *err)
{
    const transfer_job *job = what;
    npgnn_eval_run way[NPGNN_TRANSFER_WAYS] = {{.size = sizeof way[0]}};
    return npgnn_transfer(way, NULL, job->graph, job->model, 1, &job->options, env, err);
}

int npgnn_estimate_transfer(npgnn_cost *out, const npgnn_graph *graph, const npgnn_model *model, int seeds,
                            const npgnn_transfer_options *options, const npgnn_env *env, npgnn_error *err)
{
    transfer_job job = {.graph = graph, .model = model};
    if (npi_env_check(env, err) ||
        npi_sized_read(&job.options, sizeof job.options, options, "npgnn_transfer_options", err) ||
        npi_options_read(&job.training, job.options.model, err))
        return NPGNN_E_ARGUMENT;
    job.options.model = &job.training;
    watch w = watch_make(job.training.iterations, job.training.validate_every, env);
    shorten(&job.training);
    return measure(out, &w, transfer_short, &job, seeds, err);
}

/* ---- prediction ---- */

typedef struct predict_job {
    const npgnn_model *model;
    const npgnn_graph *graph;
    const npgnn_predict_options *options;
    const npgnn_pair *pairs;
    npgnn_prediction *out;
    size_t count;
    double *seconds; /* of the pairs alone */
} predict_job;

static int predict_short(const void *what, const npgnn_env *env, npgnn_error *err)
{
    const predict_job *job = what;
    npgnn_predictor *predictor = NULL;
    int code = npgnn_predictor_new(&predictor, job->model, job->graph, job->options, env, err);
    double start = npi_clock_seconds();
    if (!code)
        code = npgnn_predictor_run(job->out, predictor, job->pairs, job->count, err);
    *job->seconds = npi_clock_seconds() - start;
    npgnn_predictor_free(predictor);
    return code;
}

/* Pairs that are nowhere near each other, as those of a user may be. */
static void scatter(npgnn_pair *pairs, size_t count, int32_t nodes)
{
    uint64_t stride = UINT64_C(2654435761);
    for (size_t i = 0; i < count; i++)
        pairs[i] =
            (npgnn_pair){(int32_t)(i * stride % (uint64_t)nodes), (int32_t)((i * stride >> 7) % (uint64_t)nodes)};
}

int npgnn_estimate_predict(npgnn_cost *out, const npgnn_model *model, const npgnn_graph *graph, int64_t count,
                           const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    watch w = watch_make(0, 1, env);
    if (count < 0 || graph->n < 1)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no pair to predict");
    double seconds = 0;
    size_t batch = count < BATCH ? (size_t)count : BATCH;
    npgnn_cost cost = {.size = sizeof cost};
    npgnn_pair *pairs = npi_alloc(&w.env, batch, sizeof *pairs, err);
    npgnn_prediction *predictions = pairs ? npi_alloc(&w.env, batch, sizeof *predictions, err) : NULL;
    int code = NPGNN_E_MEMORY;
    if (predictions) {
        scatter(pairs, batch, graph->n);
        predict_job job = {model, graph, options, pairs, predictions, batch, &seconds};
        code = measure(&cost, &w, predict_short, &job, 1, err);
    }
    npi_free(&w.env, pairs);
    npi_free(&w.env, predictions);
    if (code)
        return code;
    cost.steps = count;
    cost.step_seconds = batch > 0 ? seconds / (double)batch : 0;
    cost.seconds += (double)(count - (int64_t)batch) * cost.step_seconds;
    return npi_sized_write(out, &cost, sizeof cost, "npgnn_cost", err);
}

/* ---- search ---- */

typedef struct top_job {
    const npgnn_model *model;
    const npgnn_graph *graph;
    const npgnn_predict_options *predict;
    npgnn_top_options options; /* `from` are some of the nodes */
    int32_t k;
    int links; /* 1: k in all */
    npgnn_link *out;
    int32_t *found;
} top_job;

static int top_short(const void *what, const npgnn_env *env, npgnn_error *err)
{
    const top_job *job = what;
    npgnn_predictor *predictor = NULL;
    int code = npgnn_predictor_new(&predictor, job->model, job->graph, job->predict, env, err);
    if (!code)
        code = (job->links ? npgnn_predictor_top_links : npgnn_predictor_top)(job->out, job->found, predictor, job->k,
                                                                              &job->options, err);
    npgnn_predictor_free(predictor);
    return code;
}

/* Nodes that are searched: enough for several reports of a search on so many threads, since the first is warming up; but k
 * results for each of them must not take more memory than a user would give them. */
static int32_t sample_size(int32_t rows, int32_t k, int threads)
{
    int64_t enough = 2048 * (int64_t)threads, most = ROOM / k > 0 ? ROOM / k : 1;
    enough = enough < most ? enough : most;
    return rows < enough ? rows : (int32_t)enough;
}

/* Some nodes of `all` (NULL: of those that there are), evenly spread. */
static void pick(int32_t *some, const int32_t *all, int32_t count, int32_t rows)
{
    for (int32_t i = 0; i < count; i++) {
        int32_t at = (int32_t)((int64_t)i * rows / count);
        some[i] = all ? all[at] : at;
    }
}

int npgnn_estimate_top(npgnn_cost *out, const npgnn_model *model, const npgnn_graph *graph, int32_t k, int links,
                       const npgnn_predict_options *predict, const npgnn_top_options *options, const npgnn_env *env,
                       npgnn_error *err)
{
    top_job job = {.model = model, .graph = graph, .predict = predict, .k = k, .links = links};
    if (npi_env_check(env, err) || npi_sized_read(&job.options, sizeof job.options, options, "npgnn_top_options", err))
        return NPGNN_E_ARGUMENT;
    if (k < 1 || graph->n < 1)
        return npi_fail(err, NPGNN_E_ARGUMENT, "%d results of %d nodes are asked for", k, graph->n);
    int32_t rows = job.options.from ? job.options.from_count : graph->n;
    watch w = watch_make(rows, 1, env);
    int32_t count = sample_size(rows, links ? 1 : k, w.env.threads);
    int32_t *from = npi_alloc(&w.env, (size_t)count, sizeof *from, err);
    job.found = from ? npi_alloc(&w.env, (size_t)count + 1, sizeof *job.found, err) : NULL;
    job.out = job.found ? npi_alloc(&w.env, (size_t)k * (links ? 1 : (size_t)count), sizeof *job.out, err) : NULL;
    int code = NPGNN_E_MEMORY;
    if (job.out) {
        pick(from, job.options.from, count, rows);
        job.options.from = from;
        job.options.from_count = count;
        code = measure(out, &w, top_short, &job, 1, err);
    }
    npi_free(&w.env, from);
    npi_free(&w.env, job.found);
    npi_free(&w.env, job.out);
    return code;
}
