#include "process/process.h"

#include <string.h>

int npi_process_new(npi_process *out, npi_process_sizes size, int feature_columns, const npgnn_env *env,
                    npgnn_error *err)
{
    npi_process p = {.feature_columns = feature_columns};
    size_t e = (size_t)size.e;
    int code = npi_process_params_new(&p.params, size, env, err);
    if (code)
        return code;
    p.mean = npi_alloc(env, 2 * e, sizeof *p.mean, err);
    if (!p.mean) {
        npi_process_params_free(env, &p.params);
        return NPGNN_E_MEMORY;
    }
    p.deviation = p.mean + e;
    *out = p;
    return 0;
}

void npi_process_free(const npgnn_env *env, npi_process *process)
{
    npi_process_params_free(env, &process->params);
    npi_free(env, process->mean);
    memset(process, 0, sizeof *process);
}

int npi_process_copy(npi_process *out, const npi_process *process, const npgnn_env *env, npgnn_error *err)
{
    npi_process_sizes size = process->params.size;
    int code = npi_process_new(out, size, process->feature_columns, env, err);
    if (code)
        return code;
    memcpy(out->params.block, process->params.block, process->params.count * sizeof *process->params.block);
    memcpy(out->mean, process->mean, 2 * (size_t)size.e * sizeof *process->mean);
    return 0;
}

static float standardize(float value, float mean, float deviation)
{
    float units = (value - mean) / deviation;
    return units > NPI_CLIP ? NPI_CLIP : units < -NPI_CLIP ? -NPI_CLIP : units;
}

void npi_process_standardize(float *evidence, const npi_process *p, int has_features, size_t count)
{
    int e = p->params.size.e, first = has_features ? 0 : p->feature_columns;
    for (size_t i = 0; i < count; i++) {
        float *row = evidence + i * (size_t)e;
        for (int c = 0; c < first; c++)
            row[c] = 0;
        for (int c = first; c < e; c++)
            row[c] = standardize(row[c], p->mean[c], p->deviation[c]);
    }
}
