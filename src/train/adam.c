/* One step of Adam (linalg/adam.h) on all parameters of a network (docs/understand/math.md, (A4), (17)).
 *
 * Weights that are multiplied with features step as if the features were c X, c = input_scale: W' = W / c has the
 * gradient c dW, so the rate of W is c times as large, and epsilon 1 / c as large. */
#include "train/adam.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>

#include "base/parallel.h"
#include "linalg/adam.h"
#include "linalg/elementwise.h"

int npi_adam_new(npi_adam *out, size_t count, const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    assert(options->input_scale > 0);
    npi_adam adam = {.count = count,
                     .rate = options->learning_rate,
                     .beta1 = options->beta1,
                     .beta2 = options->beta2,
                     .epsilon = options->epsilon,
                     .schedule = options->lr_schedule,
                     .horizon = options->lr_horizon > 0 ? options->lr_horizon : options->iterations,
                     .input_scale = options->input_scale};
    adam.m = npi_alloc(env, count, sizeof *adam.m, err);
    adam.v = npi_alloc(env, count, sizeof *adam.v, err);
    if (!adam.m || !adam.v) {
        npi_adam_free(env, &adam);
        return NPGNN_E_MEMORY;
    }
    *out = adam;
    return 0;
}

void npi_adam_free(const npgnn_env *env, npi_adam *adam)
{
    npi_free(env, adam->m);
    npi_free(env, adam->v);
    adam->m = adam->v = NULL;
}

#define CHUNK 16384
#define PI 3.14159265358979323846

static int64_t chunk_size(int64_t first, int64_t count)
{
    return count - first < CHUNK ? count - first : CHUNK;
}

static int64_t chunks_of(int64_t count)
{
    return (count + CHUNK - 1) / CHUNK;
}

typedef struct step_loop {
    const npi_adam *adam;
    npi_params *params;
    const npi_params *gradient;
    int64_t count, features; /* parameters; of these the weights of features, which come first */
    npi_adam_rates rates;
    atomic_int *bad;
} step_loop;

static void check_chunks(const void *arg, int64_t first, int64_t last)
{
    const step_loop *l = arg;
    for (int64_t at = first * CHUNK; at < last * CHUNK; at += CHUNK)
        if (!npi_all_finite(l->gradient->block + at, chunk_size(at, l->count)))
            atomic_store_explicit(l->bad, 1, memory_order_relaxed);
}

/* Chunks of the weights of features, then chunks of the others: each kind has its own rate. */
static void move_chunks(const void *arg, int64_t first, int64_t last)
{
    const step_loop *l = arg;
    const npi_adam *adam = l->adam;
    int64_t feature_chunks = chunks_of(l->features);
    double scale = adam->input_scale;
    for (int64_t chunk = first; chunk < last; chunk++) {
        int other = chunk >= feature_chunks;
        int64_t at = other ? l->features + (chunk - feature_chunks) * CHUNK : chunk * CHUNK;
        npi_adam_rates rates = l->rates;
        if (!other) {
            rates.rate *= scale;
            rates.epsilon /= scale;
        }
        npi_adam_move(l->params->block + at, adam->m + at, adam->v + at, l->gradient->block + at,
                      chunk_size(at, other ? l->count : l->features), rates);
    }
}

/* The factor of the learning rate at this step, between 1 and 0: (A4). */
static double schedule_factor(const npi_adam *adam)
{
    double done = adam->step < adam->horizon ? (double)adam->step / adam->horizon : 1;
    switch (adam->schedule) {
    case NPGNN_LR_LINEAR:
        return 1 - done;
    case NPGNN_LR_COSINE:
        return (1 + cos(PI * done)) / 2;
    case NPGNN_LR_CONSTANT:
        break;
    }
    return 1;
}

int npi_adam_step(npi_adam *adam, npi_params *params, const npi_params *gradient, int threads)
{
    npi_adam_rates rates = {schedule_factor(adam) * adam->rate, adam->beta1, adam->beta2, adam->epsilon};
    int64_t count = (int64_t)adam->count, features = params->wr - params->block;
    atomic_int bad = 0;
    step_loop loop = {adam, params, gradient, count, features, npi_adam_corrected(rates, adam->step + 1), &bad};
    /* Both loops divide the parameters in the same way, so that a thread finds in its cache what it has just
     * checked. */
    npi_parallel(threads, chunks_of(count), 0, check_chunks, &loop);
    if (bad)
        return 0;
    npi_parallel(threads, chunks_of(features) + chunks_of(count - features), 0, move_chunks, &loop);
    adam->step++;
    return 1;
}
