#include "train/tune.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "linalg/blas.h"
#include "linalg/kernels.h"
#include "process/layers.h"
#include "train/folds.h"
#include "train/project.h"

enum {
    BATCH = 512,
    CHUNK = 128, /* of a batch: the part that one thread computes at a time */
    CHUNKS = BATCH / CHUNK
};
#define LAST_RATE 0.01 /* share of the learning rate that is left at the end */
#define PI 3.14159265358979323846

/* A head and the state of Adam; a batch is computed in chunks, each with a gradient of its own, which are added up in
 * order: the same bits whichever thread computes which. */
typedef struct tuner {
    npi_head head;
    npi_head *gradient;            /* (CHUNKS) */
    npi_head_workspace *workspace; /* (CHUNKS) */
    real *m, *v;                   /* (head.count) */
    size_t *order;                 /* (count) the pairs that are used, in random order */
    size_t count;
    npgnn_env env;
    const npi_folds *folds;
    size_t first, last;   /* of the current batch, in `order` */
    int chunk, chunk_end; /* those that this process computes */
    real *total;          /* (head.count) the sum of the gradients of all chunks */
    double *losses;       /* (CHUNKS, batches) of one pass */
} tuner;

static void tuner_free(const npgnn_env *env, tuner *t)
{
    npi_head_free(env, &t->head);
    for (int c = 0; t->gradient && t->workspace && c < CHUNKS; c++) {
        npi_head_free(env, &t->gradient[c]);
        npi_head_workspace_free(env, &t->workspace[c]);
    }
    npi_free(env, t->gradient);
    npi_free(env, t->workspace);
    npi_free(env, t->m);
    npi_free(env, t->v);
    npi_free(env, t->order);
    npi_free(env, t->total);
    npi_free(env, t->losses);
}

static size_t batches_of(size_t pairs)
{
    return (pairs + BATCH - 1) / BATCH;
}

static int tuner_new(tuner *t, const npi_folds *folds, const npi_process *p, const npgnn_env *env, npgnn_error *err)
{
    int h = p->params.size.h;
    t->env = *env;
    t->folds = folds;
    t->gradient = npi_alloc(env, CHUNKS, sizeof *t->gradient, err);
    t->workspace = npi_alloc(env, CHUNKS, sizeof *t->workspace, err);
    int code = t->gradient && t->workspace ? npi_head_new(&t->head, p->columns, h, env, err) : NPGNN_E_MEMORY;
    for (int c = 0; !code && c < CHUNKS; c++) {
        code = npi_head_new(&t->gradient[c], p->columns, h, env, err);
        if (!code)
            code = npi_head_workspace_new(&t->workspace[c], &t->head, CHUNK, env, err);
    }
    t->m = npi_alloc(env, t->head.count, sizeof *t->m, err);
    t->v = npi_alloc(env, t->head.count, sizeof *t->v, err);
    t->order = npi_alloc(env, folds->count, sizeof *t->order, err);
    t->total = npi_alloc(env, t->head.count, sizeof *t->total, err);
    t->losses = npi_alloc(env, batches_of(folds->count) * CHUNKS, sizeof *t->losses, err);
    t->chunk = (int)npi_comm_share_start(env->comm, CHUNKS, npi_comm_rank(env->comm));
    t->chunk_end = (int)npi_comm_share_start(env->comm, CHUNKS, npi_comm_rank(env->comm) + 1);
    return !code && t->m && t->v && t->order && t->total && t->losses ? 0 : NPGNN_E_MEMORY;
}

/* Loss and gradient of some chunks of the current batch. */
static void run_chunks(const void *arg, int64_t first_chunk, int64_t last_chunk)
{
    const tuner *t = arg;
    size_t e = (size_t)t->head.e;
    for (int64_t c = t->chunk + first_chunk; c < t->chunk + last_chunk; c++) {
        size_t first = t->first + (size_t)c * CHUNK, last = first + CHUNK < t->last ? first + CHUNK : t->last;
        float evidence[CHUNK * NPI_ALL_COLUMNS];
        real score[CHUNK], dscore[CHUNK];
        int count = first < last ? (int)(last - first) : 0;
        double *loss = t->losses + (size_t)c * batches_of(t->count) + t->first / BATCH;
        memset(t->gradient[c].block, 0, t->gradient[c].count * sizeof(real));
        *loss = 0;
        for (int i = 0; i < count; i++)
            memcpy(evidence + (size_t)i * e, t->folds->evidence + t->order[first + (size_t)i] * e,
                   e * sizeof *evidence);
        if (count == 0)
            continue;
        npi_head_scores(score, &t->workspace[c], &t->head, evidence, count);
        for (int i = 0; i < count; i++) { /* d softplus(∓s) / ds = sigmoid(s) - y */
            int y = t->folds->is_link[t->order[first + (size_t)i]];
            *loss += npi_softplus(y ? -(double)score[i] : (double)score[i]);
            dscore[i] = (real)((npi_logistic_of((double)score[i]) - y) / (double)(t->last - t->first));
        }
        npi_head_scores_backward(&t->gradient[c], &t->workspace[c], &t->head, dscore, count);
    }
}

/* Adds this process's gradients of the numbers [first, last) to those of the chunks before. */
static void add_gradients(void *arg, int64_t first, int64_t last)
{
    tuner *t = arg;
    for (int c = t->chunk; c < t->chunk_end; c++)
        for (int64_t i = first; i < last; i++)
            t->total[i] = c == 0 ? t->gradient[c].block[i] : t->total[i] + t->gradient[c].block[i];
}

static double rate_at(int64_t step, int64_t steps, double rate)
{
    return rate * ((1 + cos(PI * (double)step / (double)steps)) / 2 + LAST_RATE);
}

/* Tunes the head on the pairs whose use is at most `use`. progress: of both tunings together. */
static int tune_head(tuner *t, int use, const npgnn_options *o, npgnn_progress *progress, npgnn_error *err)
{
    const npgnn_env *env = &t->env;
    double links = 0;
    t->count = 0;
    for (size_t i = 0; i < t->folds->count; i++)
        if (t->folds->use[i] <= use) {
            links += t->folds->is_link[i];
            t->order[t->count++] = i;
        }
    memset(t->m, 0, t->head.count * sizeof *t->m);
    memset(t->v, 0, t->head.count * sizeof *t->v);
    int64_t step = 0, steps = (int64_t)batches_of(t->count) * o->iterations;
    double start = npi_clock_seconds(), before = progress->seconds;
    for (int pass = 0; pass < o->iterations; pass++) {
        npi_rng rng = npi_rng_make(o->seed, NPI_RNG_TUNE, 1 + (uint32_t)pass);
        double loss = 0;
        for (size_t i = t->count; i > 1; i--) {
            size_t j = (size_t)npi_rng_below(&rng, i), other = t->order[i - 1];
            t->order[i - 1] = t->order[j];
            t->order[j] = other;
        }
        for (t->first = 0; t->first < t->count; t->first = t->last, step++) {
            t->last = t->first + BATCH < t->count ? t->first + BATCH : t->count;
            npi_blas_begin(env->threads);
            npi_parallel(env->threads, t->chunk_end - t->chunk, 1, run_chunks, t);
            npi_blas_end(env->threads);
            npi_comm_chain(env->comm, t->total, (int64_t)t->head.count, sizeof *t->total, (int64_t)t->head.count,
                           add_gradients, t);
            double root2 = sqrt(1 - pow(o->beta2, (double)step + 1));
            npi_kernels_best()->adam(
                t->head.block, t->m, t->v, t->total, (int64_t)t->head.count,
                (real)(rate_at(step, steps, o->learning_rate) * root2 / (1 - pow(o->beta1, (double)step + 1))),
                (real)o->beta1, (real)o->beta2, (real)(o->epsilon * root2));
        }
        size_t batches = batches_of(t->count);
        npi_comm_gather_shares(env->comm, t->losses, CHUNKS, batches * sizeof *t->losses);
        for (size_t batch = 0; batch < batches; batch++)
            for (size_t c = 0; c < CHUNKS; c++)
                loss += t->losses[c * batches + batch] / (double)t->count;
        if (!isfinite(loss))
            return npi_fail(err, NPGNN_E_DIVERGED, "tuning diverged: try a smaller learning-rate than %g",
                            o->learning_rate);
        progress->iteration = pass + 1;
        progress->loss = loss;
        progress->seconds = before + npi_clock_seconds() - start;
        int stop = npi_env_stopped(env) || (env->progress && env->progress(env->user, progress));
        if (npi_comm_any(env->comm, stop))
            return npi_fail(err, NPGNN_E_CANCELLED, "cancelled after iteration %d", pass + 1);
    }
    t->head.shift[0] +=
        (real)log(((double)t->count - links) / links); /* log-odds at even odds, as those of a process */
    return 0;
}

/* Finds up to `most` pairs that the head was not tuned on: links, or pairs without one, of new nodes or of known ones.
 * Returns how many, with their scores unless score is NULL. */
static size_t find_held(float *score, const npi_folds *folds, const npi_head *head, int links, int new_nodes,
                        size_t most)
{
    size_t last = new_nodes ? folds->count : folds->first_count, found = 0;
    for (size_t i = new_nodes ? folds->new_from : 0; i < last && found < most; i++)
        if (folds->is_link[i] == links && folds->use[i] != NPI_FOLDS_TUNING) {
            if (score)
                score[found] = npi_head_score(head, folds->evidence + i * (size_t)head->e);
            found++;
        }
    return found;
}

/* The same of new and of known nodes, in the proportion in which the graph has pairs of them. */
static size_t find_mixed(float *score, const npi_folds *folds, const npi_head *head, int links)
{
    size_t known = find_held(NULL, folds, head, links, 0, folds->count);
    size_t fresh = find_held(NULL, folds, head, links, 1, folds->count);
    double share = fresh > 0 ? folds->new_share : 0, all = (double)known / (1 - share);
    if (share * all > (double)fresh)
        all = (double)fresh / share;
    size_t found = find_held(score, folds, head, links, 0, (size_t)((1 - share) * all + 0.5));
    return found + find_held(score + found, folds, head, links, 1, (size_t)(share * all + 0.5));
}

static int calibrate(npi_calibration *out, const npi_folds *folds, const npi_head *head, const npgnn_env *env,
                     npgnn_error *err)
{
    float *score = npi_alloc(env, folds->count, sizeof *score, err);
    if (!score)
        return NPGNN_E_MEMORY;
    size_t links = find_mixed(score, folds, head, 1), others = find_mixed(score + links, folds, head, 0);
    int code = npi_calibration_fit(out, score, links, links + others, env, err);
    npi_free(env, score);
    return code;
}

/* The evidence of the folds in the units of the process. Those of the columns that are not in the corpus are the mean
 * and the deviation over the first fold, with as many non-links as links. */
static void standardize(npi_folds *folds, npi_process *p)
{
    size_t links = folds->first_links, pairs = 2 * links < folds->first_count ? 2 * links : folds->first_count;
    for (int c = p->params.size.e; c < p->columns; c++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < pairs; i++) {
            double value = (double)folds->evidence[i * (size_t)p->columns + (size_t)c];
            sum += value;
            squares += value * value;
        }
        double mean = sum / (double)pairs, variance = squares / (double)pairs - mean * mean;
        p->mean[c] = (float)mean;
        p->deviation[c] = (float)sqrt(variance > 1e-6 ? variance : 1e-6);
    }
    npi_process_standardize(folds->evidence, p, folds->has_features, folds->count);
}

int npi_tune(npi_process *process, npi_calibration *calibration, int *calibrated, const npgnn_graph *graph,
             const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npi_folds folds = {0};
    tuner t = {0};
    int d = process->params.size.d, possible = npi_folds_possible(graph);
    npgnn_progress progress = {.size = sizeof progress, .runs = 1, .iterations = options->iterations};
    progress.loss = progress.kl = progress.val_auc = progress.val_ap = (double)NAN;
    *calibrated = 0;
    if (!possible)
        npi_log(env, "the graph has too few links, or pairs without one, to hide some: the process is used as it is, "
                     "neither tuned nor calibrated");
    int code = npi_blas_open_among(env, err);
    if (!code && possible)
        code = npi_folds_new(&folds, graph, options->seed, env, err);
    if (code)
        return code;
    code = npi_process_make_tuned(process, possible ? folds.columns : process->columns, env, err);
    if (!code && possible) {
        standardize(&folds, process);
        code = npi_project(&process->projection, graph, options->seed, env, err);
    }
    if (!code)
        code = tuner_new(&t, &folds, process, env, err);
    if (!code) {
        const float *others = possible ? folds.evidence + folds.first_links * (size_t)folds.columns : NULL;
        int votes = npi_process_infer(process->z, process->z + d, process, folds.evidence, folds.first_links, others,
                                      folds.first_count - folds.first_links, env, err);
        code = votes < 0 ? votes : 0;
    }
    code = npi_comm_agree(env->comm, code, err);
    if (!code && possible && options->calibrate) {
        progress.rehearsal = 1;
        npi_head_specialize(&t.head, &process->params, process->z);
        code = tune_head(&t, NPI_FOLDS_TUNING, options, &progress, err);
        if (!code)
            code = npi_comm_agree(env->comm, calibrate(calibration, &folds, &t.head, env, err), err);
        *calibrated = !code;
        progress.rehearsal = 0;
    }
    if (!code && possible) {
        npi_head_specialize(&t.head, &process->params, process->z);
        code = tune_head(&t, NPI_FOLDS_HELD, options, &progress, err);
        npi_head_specialize(&process->change, &process->params, process->z);
        for (size_t i = 0; i < t.head.count; i++)
            process->change.block[i] = t.head.block[i] - process->change.block[i];
    }
    tuner_free(env, &t);
    npi_folds_free(env, &folds);
    return code;
}
