#include "features/projection.h"

#include <math.h>
#include <string.h>

int npi_projection_new(npi_projection *out, int32_t f, int width, const npgnn_env *env, npgnn_error *err)
{
    *out = (npi_projection){.f = f, .width = width};
    out->weight = npi_alloc(env, npi_projection_count(out), sizeof *out->weight, err);
    if (!out->weight)
        return NPGNN_E_MEMORY;
    out->around = out->weight + (size_t)f * (size_t)width;
    return 0;
}

void npi_projection_free(const npgnn_env *env, npi_projection *p)
{
    npi_free(env, p->weight);
    memset(p, 0, sizeof *p);
}

void npi_features_inverse_lengths(real *inverse, const npi_features *x)
{
    for (int32_t i = 0; i < x->n; i++) {
        double square = 0;
        for (int32_t c = 0; x->dense && c < x->f; c++)
            square += pow((double)x->dense[(size_t)i * (size_t)x->f + (size_t)c], 2);
        for (int64_t p = x->dense ? 0 : x->x.ptr[i]; !x->dense && p < x->x.ptr[i + 1]; p++)
            square += x->x.val ? pow((double)x->x.val[p], 2) : 1;
        inverse[i] = square > 0 ? (real)(1 / sqrt(square)) : 0;
    }
}

void npi_projection_rows(real *row, const real *weight, int width, const npi_features *x, const real *inverse,
                         int threads)
{
    npi_features_mul(row, x, weight, width, width, threads);
    for (int32_t i = 0; i < x->n; i++)
        for (int c = 0; c < width; c++)
            row[(size_t)i * (size_t)width + (size_t)c] *= inverse[i];
}
