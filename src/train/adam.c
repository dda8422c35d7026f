#include "train/adam.h"

#include <assert.h>
#include <math.h>

#include "linalg/elementwise.h"
#include "linalg/kernels.h"

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

/* Moves the parameters [begin, end); for all threads of a parallel region to call. */
static void move_range(npi_adam *adam, npi_params *params, const npi_params *gradient, int64_t begin, int64_t end,
                       double rate, double epsilon)
{
    const npi_kernels *kernels = npi_kernels_best();
#pragma omp for schedule(static) nowait
    for (int64_t first = begin; first < end; first += CHUNK)
        kernels->adam(params->block + first, adam->m + first, adam->v + first, gradient->block + first,
                      chunk_size(first, end), (real)rate, (real)adam->beta1, (real)adam->beta2, (real)epsilon);
}

/* The share of the rate that is left at this step: eq. (A4). */
static double share_left(const npi_adam *adam)
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

/* Both bias corrections go into the rate and epsilon: m̂ / (√v̂ + ε) = (m / c1) √c2 / (√v + ε √c2). In other units of the
 * features, X' = c X and W' = W / c, the gradient of W is 1 / c of that of W', and so is epsilon; the step is c times larger
 * (docs/understand/math.md, eq. (17)). The loops are shared out alike, so that a thread finds in its cache what it has just looked at. */
int npi_adam_step(npi_adam *adam, npi_params *params, const npi_params *gradient, int threads)
{
    double root2 = sqrt(1 - pow(adam->beta2, (double)(adam->step + 1)));
    double rate = share_left(adam) * adam->rate * root2 / (1 - pow(adam->beta1, (double)(adam->step + 1)));
    double epsilon = adam->epsilon * root2, scale = adam->input_scale;
    int64_t count = (int64_t)adam->count, features = params->wr - params->block;
    int bad = 0;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static) reduction(| : bad)
        for (int64_t first = 0; first < count; first += CHUNK)
            bad |= !npi_all_finite(gradient->block + first, chunk_size(first, count));
        if (!bad) {
            move_range(adam, params, gradient, 0, features, rate * scale, epsilon / scale);
            move_range(adam, params, gradient, features, count, rate, epsilon);
        }
    }
    adam->step += !bad;
    return !bad;
}
