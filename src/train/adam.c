#include "train/adam.h"

#include <math.h>

#include "linalg/kernels.h"

int npi_adam_new(npi_adam *out, size_t count, const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npi_adam adam = {.count = count,
                     .rate = options->learning_rate,
                     .beta1 = options->beta1,
                     .beta2 = options->beta2,
                     .epsilon = options->epsilon,
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

/* Moves the parameters [begin, end). */
static void step_range(npi_adam *adam, npi_params *params, const npi_params *gradient, int64_t begin, int64_t end,
                       double rate, double epsilon, int threads)
{
    const npi_kernels *kernels = npi_kernels_best();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t first = begin; first < end; first += CHUNK) {
        int64_t size = end - first < CHUNK ? end - first : CHUNK;
        kernels->adam(params->block + first, adam->m + first, adam->v + first, gradient->block + first, size,
                      (real)rate, (real)adam->beta1, (real)adam->beta2, (real)epsilon);
    }
}

/* Both bias corrections go into the rate and epsilon: m̂ / (√v̂ + ε) = (m / c1) √c2 / (√v + ε √c2). In other units of the
 * features, X' = c X and W' = W / c, the gradient is c times smaller, and so is epsilon, and the step c times larger. */
void npi_adam_step(npi_adam *adam, npi_params *params, const npi_params *gradient, int threads)
{
    adam->step++;
    double root2 = sqrt(1 - pow(adam->beta2, (double)adam->step));
    double rate = adam->rate * root2 / (1 - pow(adam->beta1, (double)adam->step));
    double epsilon = adam->epsilon * root2, scale = adam->input_scale;
    int64_t features = params->wr - params->block;
    step_range(adam, params, gradient, 0, features, rate * scale, epsilon / scale, threads);
    step_range(adam, params, gradient, features, (int64_t)adam->count, rate, epsilon, threads);
}
