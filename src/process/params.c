#include "process/params.h"

#include <math.h>

#include "base/rng.h"

npi_process_tensor npi_process_params_tensor(const npi_process_params *params, int index)
{
    npi_process_sizes z = params->size;
    const npi_process_tensor tensors[NPI_PROCESS_TENSOR_COUNT] = {
#define NPI_X(name, rows, cols) {#name, rows, cols, params->name},
        NPI_PROCESS_TENSORS(NPI_X)
#undef NPI_X
    };
    return tensors[index];
}

int npi_process_params_new(npi_process_params *out, npi_process_sizes z, const npgnn_env *env, npgnn_error *err)
{
    npi_process_params p = {.size = z};
#define NPI_X(name, rows, cols) p.count += (size_t)(rows) * (size_t)(cols);
    NPI_PROCESS_TENSORS(NPI_X)
#undef NPI_X
    p.block = npi_alloc(env, p.count, sizeof *p.block, err);
    if (!p.block)
        return NPGNN_E_MEMORY;
    real *next = p.block;
#define NPI_X(name, rows, cols)                                                                                        \
    p.name = next;                                                                                                     \
    next += (size_t)(rows) * (size_t)(cols);
    NPI_PROCESS_TENSORS(NPI_X)
#undef NPI_X
    *out = p;
    return 0;
}

void npi_process_params_free(const npgnn_env *env, npi_process_params *params)
{
    npi_free(env, params->block);
    params->block = NULL;
}

void npi_process_params_init(npi_process_params *params, uint64_t seed)
{
    int inputs = 1;
    for (int index = 0; index < NPI_PROCESS_TENSOR_COUNT; index++) {
        npi_process_tensor t = npi_process_params_tensor(params, index);
        npi_rng rng = npi_rng_make(seed, NPI_RNG_INIT, (uint32_t)index);
        if (t.rows > 1)
            inputs = t.rows; /* a bias follows its weights, and is drawn from the same range */
        double bound = 1 / sqrt(inputs);
        switch (index) {
        case NPI_PROCESS_film_w:
        case NPI_PROCESS_score_w3:
            bound *= 0.5;
            break;
        case NPI_PROCESS_line_w:
            bound *= 0.3;
            break;
        case NPI_PROCESS_prior:
        case NPI_PROCESS_film_b:
        case NPI_PROCESS_line_b:
            bound = 0;
            break;
        default:
            break;
        }
        for (int i = 0; i < t.rows * t.cols; i++)
            t.values[i] = (real)(bound * (2 * npi_rng_uniform(&rng) - 1));
    }
    for (int c = 0; c < params->size.d; c++)
        params->vote_b3[params->size.d + c] -= 3; /* softplus(-3) = 0.05 */
}
