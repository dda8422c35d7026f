#include "train/pretrain.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "linalg/adam.h"
#include "linalg/dense.h"
#include "process/objective.h"

enum {
    TARGETS = 48,      /* links of a task per step, and as many non-links, */
    MATCHED = 16,      /* of which so many are degree-matched */
    MAX_CONTEXT = 256, /* links of a context, and as many non-links */
    LEAST_MATCHED = 6, /* below which a task has none worth drawing */
    DRAWS = 1,         /* of z per task and step */
    MAX_LATENT = 256,
    SAMPLE = 64,   /* links and non-links of a task that units are measured on */
    WARM_UP = 100, /* steps over which the learning rate rises */
};
#define RANK_WEIGHT 1.0
#define NO_CONTEXT 0.15 /* share of the steps without any */
#define NO_LABELS 0.3   /* share of the steps whose contexts have no labels */
#define FEATURED 0.5    /* share of a batch that are tasks of graphs with features */
#define MAX_NORM 1.0    /* of a step's gradient */
#define LAST_RATE 0.02  /* share of the learning rate that is left at the end */
#define PI 3.14159265358979323846

npi_pretrain_options npi_pretrain_defaults(void)
{
    return (npi_pretrain_options){
        .steps = 2500, .batch = 16, .hidden = 48, .latent = 32, .learning_rate = 2e-3, .seed = 1};
}

/* ---- units ---- */

/* Mean and deviation of a stream of numbers. */
typedef struct moments {
    double count, sum, square;
} moments;

static void add_moment(moments *m, double x)
{
    m->count++;
    m->sum += x;
    m->square += x * x;
}

static void take_moments(float *mean, float *deviation, const moments *m)
{
    double middle = m->count > 0 ? m->sum / m->count : 0;
    double variance = m->count > 0 ? m->square / m->count - middle * middle : 0;
    *mean = (float)middle;
    *deviation = (float)(sqrt(variance > 0 ? variance : 0) + 1e-6);
}

/* Measures the units of the columns over the tasks; those of features only where there are features. */
static void measure_units(npi_process *p, const npi_tasks *tasks)
{
    for (int c = 0; c < NPI_COLUMNS; c++) {
        moments m = {0};
        for (size_t t = 0; t < tasks->count; t++) {
            const npi_task_data *task = &tasks->items[t];
            if (c < p->feature_columns && !task->has_features)
                continue;
            int sample = task->links < SAMPLE ? task->links : SAMPLE;
            for (int i = 0; i < sample; i++) {
                add_moment(&m, (double)task->evidence[i * NPI_COLUMNS + c]);
                add_moment(&m, (double)task->evidence[(task->links + i) * NPI_COLUMNS + c]);
            }
        }
        take_moments(&p->mean[c], &p->deviation[c], &m);
    }
}

/* ---- sampling ---- */

/* How tasks are drawn. Families of graphs with features weigh the same, however many tasks they have; among the
 * others a family of k tasks weighs √k, since most of them are single small networks. */
typedef struct sampler {
    int *task;    /* (count) */
    double *upto; /* (count) cumulative weights */
    int count;
} sampler;

static void sampler_free(const npgnn_env *env, sampler *s)
{
    npi_free(env, s->task);
    npi_free(env, s->upto);
}

/* Of the tasks of groups with features (featured 1), or of the others (0). */
static int sampler_new(sampler *out, const npi_tasks *tasks, int featured, const npgnn_env *env, npgnn_error *err)
{
    sampler s = {.task = npi_alloc(env, tasks->count, sizeof *s.task, err),
                 .upto = npi_alloc(env, tasks->count, sizeof *s.upto, err)};
    unsigned char *rich = npi_alloc(env, (size_t)tasks->groups + 1, sizeof *rich, err);
    double *size = npi_alloc(env, (size_t)tasks->groups + 1, sizeof *size, err), sum = 0;
    int code = rich && size && s.task && s.upto ? 0 : NPGNN_E_MEMORY;
    for (size_t t = 0; !code && t < tasks->count; t++) {
        rich[tasks->items[t].group] |= tasks->items[t].has_features != 0; /* so are its tasks without them */
        size[tasks->items[t].group]++;
    }
    for (size_t t = 0; !code && t < tasks->count; t++) {
        int group = tasks->items[t].group;
        if (rich[group] != featured)
            continue;
        sum += 1 / (featured ? size[group] : sqrt(size[group]));
        s.upto[s.count] = sum;
        s.task[s.count++] = (int)t;
    }
    npi_free(env, rich);
    npi_free(env, size);
    if (code)
        sampler_free(env, &s);
    else
        *out = s;
    return code;
}

static int draw_task(const sampler *s, npi_rng *rng)
{
    double point = npi_rng_uniform(rng) * s->upto[s->count - 1];
    int low = 0, high = s->count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (s->upto[middle] > point)
            high = middle;
        else
            low = middle + 1;
    }
    return s->task[low];
}

/* What one task of a batch is made of; owned by the batch. */
typedef struct sample {
    float *evidence; /* (2 MAX_CONTEXT, e) context, then (2 TARGETS, e) targets */
    float *label;    /* (2 MAX_CONTEXT) */
    real epsilon[DRAWS * MAX_LATENT];
    npi_process_task task;
    double loss;
} sample;

/* `count` different numbers below n, in random order, at the front of order (n). */
static void draw_some(int *order, int count, int n, npi_rng *rng)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = 0; i < count; i++) {
        int j = i + (int)npi_rng_below(rng, (uint64_t)(n - i)), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
}

/* Draws context and targets of a task: different hidden links, different non-links. */
static void fill_sample(sample *s, const npi_task_data *task, int context, int labelled, int d, npi_rng *rng)
{
    enum { MOST = 1024 };
    int order[MOST], n = task->links;
    const size_t row = NPI_COLUMNS * sizeof(float);
    context = context < n / 2 ? context : n / 2;
    int targets = n - context < TARGETS ? n - context : TARGETS;
    int matched = task->matched >= LEAST_MATCHED ? MATCHED : 0, plain = TARGETS - matched;
    plain = plain < n - context ? plain : n - context;
    matched = matched < task->matched ? matched : task->matched;

    draw_some(order, context + targets, n, rng); /* links */
    for (int i = 0; i < context; i++) {
        memcpy(s->evidence + i * NPI_COLUMNS, task->evidence + order[i] * NPI_COLUMNS, row);
        s->label[i] = labelled ? 1 : 0;
    }
    float *target = s->evidence + 2 * MAX_CONTEXT * NPI_COLUMNS;
    for (int i = 0; i < targets; i++)
        memcpy(target + i * NPI_COLUMNS, task->evidence + order[context + i] * NPI_COLUMNS, row);

    draw_some(order, context + plain, n, rng); /* non-links */
    for (int i = 0; i < context; i++) {
        memcpy(s->evidence + (context + i) * NPI_COLUMNS, task->evidence + (n + order[i]) * NPI_COLUMNS, row);
        s->label[context + i] = labelled ? -1 : 0;
    }
    for (int i = 0; i < plain; i++)
        memcpy(target + (targets + i) * NPI_COLUMNS, task->evidence + (n + order[context + i]) * NPI_COLUMNS, row);
    if (matched > 0)
        draw_some(order, matched, task->matched, rng);
    for (int i = 0; i < matched; i++)
        memcpy(target + (targets + plain + i) * NPI_COLUMNS, task->evidence + (2 * n + order[i]) * NPI_COLUMNS, row);

    for (int i = 0; i < DRAWS * d; i++)
        s->epsilon[i] = (real)npi_rng_normal_at(rng, rng->next++);
    s->task = (npi_process_task){{s->evidence, s->label, 2 * context}, target, targets, plain + matched};
}

/* ---- steps ---- */

typedef struct batch {
    int size, threads;
    npgnn_comm *comm;
    int first, last;              /* the samples whose gradients this process computes */
    sample *samples;              /* (size) */
    npi_process_params *gradient; /* (size) */
    real *total;                  /* (gradient[].count) their sum */
    double loss;
    npi_process_workspace *workspace; /* (threads) */
    const npi_process *process;
} batch;

static void batch_free(const npgnn_env *env, batch *b)
{
    for (int i = 0; b->samples && i < b->size; i++) {
        npi_free(env, b->samples[i].evidence);
        npi_free(env, b->samples[i].label);
    }
    for (int i = 0; b->gradient && i < b->size; i++)
        npi_process_params_free(env, &b->gradient[i]);
    for (int t = 0; b->workspace && t < b->threads; t++)
        npi_process_workspace_free(env, &b->workspace[t]);
    npi_free(env, b->samples);
    npi_free(env, b->gradient);
    npi_free(env, b->total);
    npi_free(env, b->workspace);
    memset(b, 0, sizeof *b);
}

static int batch_new(batch *out, const npi_process *process, int size, const npgnn_env *env, npgnn_error *err)
{
    int rank = npi_comm_rank(env->comm), ranks = npi_comm_ranks(env->comm);
    batch b = {.size = size, .threads = env->threads, .comm = env->comm, .process = process};
    b.first = size * rank / ranks;
    b.last = size * (rank + 1) / ranks;
    b.samples = npi_alloc(env, (size_t)size, sizeof *b.samples, err);
    b.gradient = npi_alloc(env, (size_t)size, sizeof *b.gradient, err);
    b.workspace = npi_alloc(env, (size_t)b.threads, sizeof *b.workspace, err);
    b.total = npi_alloc(env, process->params.count, sizeof *b.total, err);
    int code = b.samples && b.gradient && b.workspace && b.total ? 0 : NPGNN_E_MEMORY;
    for (int i = 0; !code && i < size; i++) {
        sample *s = &b.samples[i];
        s->evidence = npi_alloc(env, (2 * MAX_CONTEXT + 2 * TARGETS) * NPI_COLUMNS, sizeof *s->evidence, err);
        s->label = npi_alloc(env, 2 * MAX_CONTEXT, sizeof *s->label, err);
        code = s->evidence && s->label ? npi_process_params_new(&b.gradient[i], process->params.size, env, err)
                                       : NPGNN_E_MEMORY;
    }
    for (int t = 0; !code && t < b.threads; t++)
        code = npi_process_workspace_new(&b.workspace[t], process->params.size, 2 * MAX_CONTEXT, 2 * TARGETS, env, err);
    *out = b;
    if (code)
        batch_free(env, out);
    return code;
}

/* Loss and gradient of each task of a batch, by itself: the sums do not depend on which thread does what. */
static void run_samples(const void *arg, int64_t first, int64_t last)
{
    const batch *b = arg;
    for (int64_t i = b->first + first; i < b->first + last; i++) {
        sample *s = &b->samples[i];
        memset(b->gradient[i].block, 0, b->gradient[i].count * sizeof(real));
        s->loss = npi_process_loss(&b->gradient[i], &b->workspace[npi_worker()], &b->process->params, &s->task,
                                   s->epsilon, DRAWS, RANK_WEIGHT);
    }
}

/* Draws the tasks of a step. Contexts of all its tasks have the same size, log-uniform: small ones matter most. */
static void draw_batch(batch *b, const npi_tasks *tasks, const sampler samplers[2], uint64_t seed, int step)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_PRETRAIN, (uint32_t)step);
    int without = npi_rng_uniform(&rng) < NO_CONTEXT, labelled = npi_rng_uniform(&rng) >= NO_LABELS;
    int context = (int)floor(exp(npi_rng_uniform(&rng) * log(MAX_CONTEXT)) + 0.5);
    for (int i = 0; i < b->size; i++) {
        int featured = i < (int)(FEATURED * b->size + 0.5);
        const sampler *s = &samplers[featured];
        if (s->count == 0)
            s = &samplers[!featured]; /* a corpus of one kind only */
        const npi_task_data *task = &tasks->items[draw_task(s, &rng)];
        fill_sample(&b->samples[i], task, without ? 0 : context, labelled, b->process->params.size.d, &rng);
    }
}

/* Adds this process's gradients of the parameters [first, last) to those of the samples before. */
static void add_gradients(void *arg, int64_t first, int64_t last)
{
    batch *b = arg;
    for (int i = b->first; i < b->last; i++)
        for (int64_t c = first; c < last; c++)
            b->total[c] = i == 0 ? b->gradient[i].block[c] : b->total[c] + b->gradient[i].block[c];
}

static void add_losses(void *arg, int64_t first, int64_t last)
{
    batch *b = arg;
    (void)first;
    (void)last;
    for (int i = b->first; i < b->last; i++)
        b->loss += b->samples[i].loss / b->size;
}

/* total: the mean of the gradients, cut to a length of MAX_NORM; loss: the mean of the losses. Both are sums in the
 * order of the samples. Returns whether the gradient is finite. */
static int sum_gradients(batch *b)
{
    real *total = b->total;
    size_t count = b->gradient[0].count;
    double square = 0;
    b->loss = 0;
    npi_comm_chain(b->comm, &b->loss, 1, sizeof b->loss, 1, add_losses, b);
    npi_comm_chain(b->comm, total, (int64_t)count, sizeof *total, (int64_t)count / npi_comm_ranks(b->comm) + 1,
                   add_gradients, b);
    for (size_t c = 0; c < count; c++) {
        total[c] /= (real)b->size;
        square += (double)total[c] * (double)total[c];
    }
    double factor = square > MAX_NORM * MAX_NORM ? MAX_NORM / sqrt(square) : 1;
    for (size_t c = 0; c < count; c++)
        total[c] = (real)((double)total[c] * factor);
    return isfinite(square);
}

/* The learning rate: up in WARM_UP steps, then down along a cosine. */
static double rate_at(int step, const npi_pretrain_options *o)
{
    double rise = step + 1 < WARM_UP ? (double)(step + 1) / WARM_UP : 1;
    double fall = (1 + cos(PI * step / o->steps)) / 2;
    return o->learning_rate * rise * (fall * (1 - LAST_RATE) + LAST_RATE);
}

static uint64_t hash_of(const npi_pretrain_state *state)
{
    const size_t bytes = state->count * sizeof(real);
    uint64_t hash = npi_hash_bytes(NPI_HASH_START, &state->step, sizeof state->step);
    hash = npi_hash_bytes(hash, state->params, bytes);
    hash = npi_hash_bytes(hash, state->m, bytes);
    return npi_hash_bytes(hash, state->v, bytes);
}

static void save_state(const npi_pretrain_hooks *hooks, const npi_pretrain_state *state, const npgnn_env *env)
{
    npgnn_error why = {0};
    if (hooks->save(hooks->user, state, &why) != 0)
        npi_log(env, "the checkpoint was not saved: %s", why.text);
}

int npi_pretrain(npi_process *out, npi_tasks *tasks, const npi_pretrain_options *o, const npi_pretrain_hooks *hooks,
                 const npgnn_env *env, npgnn_error *err)
{
    const npi_process_sizes size = {NPI_COLUMNS, o->hidden, o->latent};
    npi_process process = {0};
    sampler samplers[2] = {{0}};
    batch b = {0};
    real *m = NULL, *v = NULL;
    if (tasks->count == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the corpus has no graph with enough links to learn from");
    if (o->latent > MAX_LATENT || o->hidden < 2 || o->hidden > NPI_HEAD_MOST || o->steps < 1 || o->batch < 1)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the process has a width, or the number of its steps, out of range");
    int code = npi_blas_open_among(env, err);
    if (code)
        return code;
    code = npi_process_new(&process, size, NPI_FEATURE_COLUMNS, env, err);
    if (!code) {
        npi_process_params_init(&process.params, o->seed);
        measure_units(&process, tasks);
        for (size_t t = 0; t < tasks->count; t++) {
            npi_task_data *task = &tasks->items[t];
            npi_process_standardize(task->evidence, &process, task->has_features, npi_task_pairs(task));
        }
    }
    for (int featured = 0; !code && featured < 2; featured++)
        code = sampler_new(&samplers[featured], tasks, featured, env, err);
    if (!code)
        code = batch_new(&b, &process, o->batch, env, err);
    m = npi_alloc(env, process.params.count, sizeof *m, err);
    v = npi_alloc(env, process.params.count, sizeof *v, err);
    if (!code && (!m || !v))
        code = NPGNN_E_MEMORY;
    npgnn_progress progress = {.size = sizeof progress, .runs = 1, .iterations = o->steps};
    progress.kl = progress.val_auc = progress.val_ap = (double)NAN;
    npi_pretrain_state state = {0, process.params.count, process.params.block, m, v};
    if (!code && hooks && hooks->restore)
        code = hooks->restore(hooks->user, &state, err);
    code = npi_comm_agree(env->comm, code, err);
    if (!code && env->comm)
        code = npi_comm_same(env->comm, hash_of(&state), "the checkpoint", err);
    double start = npi_clock_seconds();
    for (int step = state.step; !code && step < o->steps; step++) {
        draw_batch(&b, tasks, samplers, o->seed, step);
        npi_blas_begin(env->threads);
        npi_parallel(env->threads, b.last - b.first, 1, run_samples, &b);
        npi_blas_end(env->threads);
        if (!sum_gradients(&b))
            code =
                npi_fail(err, NPGNN_E_DIVERGED, "pretraining diverged at step %d: try a smaller learning rate than %g",
                         step + 1, o->learning_rate);
        if (code)
            break;
        npi_adam_rates rates = {rate_at(step, o), 0.9, 0.999, 1e-8};
        npi_adam_move(process.params.block, m, v, b.total, (int64_t)process.params.count,
                      npi_adam_corrected(rates, step + 1));
        progress.iteration = state.step = step + 1;
        progress.loss = b.loss;
        progress.seconds = npi_clock_seconds() - start;
        int stop = npi_env_stopped(env) || (env->progress && env->progress(env->user, &progress));
        if (npi_comm_any(env->comm, stop))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled after step %d", step + 1);
        if (hooks && hooks->save && (code || (step + 1) % hooks->every == 0))
            save_state(hooks, &state, env);
    }
    npi_free(env, m);
    npi_free(env, v);
    batch_free(env, &b);
    sampler_free(env, &samplers[0]);
    sampler_free(env, &samplers[1]);
    if (code)
        npi_process_free(env, &process);
    else
        *out = process;
    return code;
}
