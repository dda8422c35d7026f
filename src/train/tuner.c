#include "train/tuner.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "linalg/adam.h"
#include "linalg/blas.h"
#include "process/layers.h"

enum { CHUNK = 128, BATCH = NPI_TUNER_CHUNKS * CHUNK };
#define LAST_RATE 0.01 /* share of the learning rate that is left at the end */

void npi_tuner_free(npi_tuner *t)
{
    const npgnn_env *env = &t->env;
    npi_head_free(env, &t->head);
    for (int c = 0; t->gradient && t->workspace && c < NPI_TUNER_CHUNKS; c++) {
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

int npi_tuner_new(npi_tuner *t, const npi_folds *folds, const npi_process *p, const npgnn_env *env, npgnn_error *err)
{
    int h = p->params.size.h;
    t->env = *env;
    t->folds = folds;
    t->new_level = log(folds->new_odds);
    t->gradient = npi_alloc(env, NPI_TUNER_CHUNKS, sizeof *t->gradient, err);
    t->workspace = npi_alloc(env, NPI_TUNER_CHUNKS, sizeof *t->workspace, err);
    int code = t->gradient && t->workspace ? npi_head_new(&t->head, p->columns, h, env, err) : NPGNN_E_MEMORY;
    for (int c = 0; !code && c < NPI_TUNER_CHUNKS; c++) {
        code = npi_head_new(&t->gradient[c], p->columns, h, env, err);
        if (!code)
            code = npi_head_workspace_new(&t->workspace[c], &t->head, CHUNK, env, err);
    }
    t->m = npi_alloc(env, t->head.count, sizeof *t->m, err);
    t->v = npi_alloc(env, t->head.count, sizeof *t->v, err);
    t->order = npi_alloc(env, folds->count, sizeof *t->order, err);
    t->total = npi_alloc(env, t->head.count, sizeof *t->total, err);
    t->losses = npi_alloc(env, batches_of(folds->count) * NPI_TUNER_CHUNKS, sizeof *t->losses, err);
    t->chunk = (int)npi_comm_share_start(env->comm, NPI_TUNER_CHUNKS, npi_comm_rank(env->comm));
    t->chunk_end = (int)npi_comm_share_start(env->comm, NPI_TUNER_CHUNKS, npi_comm_rank(env->comm) + 1);
    return !code && t->m && t->v && t->order && t->total && t->losses ? 0 : NPGNN_E_MEMORY;
}

/* Loss and gradient of some chunks of the current batch. */
static void run_chunks(const void *arg, int64_t first_chunk, int64_t last_chunk)
{
    const npi_tuner *t = arg;
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
            size_t pair = t->order[first + (size_t)i];
            int y = t->folds->is_link[pair];
            double s = (double)score[i] - (pair >= t->folds->new_from ? t->new_level : 0);
            *loss += npi_softplus(y ? -s : s);
            dscore[i] = (real)((npi_logistic_of(s) - y) / (double)(t->last - t->first));
        }
        npi_head_scores_backward(&t->gradient[c], &t->workspace[c], &t->head, dscore, count);
    }
}

/* Adds this process's gradients of the numbers [first, last) to those of the chunks before. */
static void add_gradients(void *arg, int64_t first, int64_t last)
{
    npi_tuner *t = arg;
    for (int c = t->chunk; c < t->chunk_end; c++)
        for (int64_t i = first; i < last; i++)
            t->total[i] = c == 0 ? t->gradient[c].block[i] : t->total[i] + t->gradient[c].block[i];
}

int npi_tuner_run(npi_tuner *t, int left_out, const npgnn_options *o, npgnn_progress *progress, npgnn_error *err)
{
    const npgnn_env *env = &t->env;
    double links = 0;
    t->count = 0;
    for (size_t i = 0; i < t->folds->count; i++)
        if (!t->folds->extra[i] && t->folds->part[i] != left_out) {
            links += t->folds->is_link[i];
            t->order[t->count++] = i;
        }
    memset(t->m, 0, t->head.count * sizeof *t->m);
    memset(t->v, 0, t->head.count * sizeof *t->v);
    int64_t step = 0, steps = (int64_t)batches_of(t->count) * o->iterations;
    double start = npi_clock_seconds();
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
            npi_adam_rates rates = {npi_rate_along_cosine(o->learning_rate, LAST_RATE, step, steps), o->beta1, o->beta2,
                                    o->epsilon};
            npi_adam_move(t->head.block, t->m, t->v, t->total, (int64_t)t->head.count,
                          npi_adam_corrected(rates, step + 1));
        }
        size_t batches = batches_of(t->count);
        npi_comm_gather_shares(env->comm, t->losses, NPI_TUNER_CHUNKS, batches * sizeof *t->losses);
        for (size_t batch = 0; batch < batches; batch++)
            for (size_t c = 0; c < NPI_TUNER_CHUNKS; c++)
                loss += t->losses[c * batches + batch] / (double)t->count;
        if (!isfinite(loss))
            return npi_fail(err, NPGNN_E_DIVERGED, "tuning diverged: try a smaller learning-rate than %g",
                            o->learning_rate);
        progress->iteration = pass + 1;
        progress->loss = loss;
        progress->seconds = npi_clock_seconds() - start;
        int stop = npi_env_stopped(env) || (env->progress && env->progress(env->user, progress));
        if (npi_comm_any(env->comm, stop))
            return npi_fail(err, NPGNN_E_CANCELLED, "cancelled after iteration %d", pass + 1);
    }
    t->head.shift[0] +=
        (real)log(((double)t->count - links) / links); /* log-odds at even odds, as those of a process */
    return 0;
}
