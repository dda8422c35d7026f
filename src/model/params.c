/* Allocates, initialises and copies the parameters. The initial weights are Glorot-uniform: of a matrix of r rows and c
 * columns each is uniform in ±sqrt(6 / (r + c)) (docs/understand/math.md, "Optimiser and initial weights"). */
#include "model/params.h"

#include <math.h>

#include "base/rng.h"

npi_sizes npi_sizes_of(const npgnn_options *options, int32_t f)
{
    npi_sizes size = {f, 0, 0, options->decoder_hidden, options->output_size};
    if (options->latent) {
        size.h = options->hidden;
        size.d = options->latent_size;
    }
    return size;
}

int npi_params_new(npi_params *out, npi_sizes s, const npgnn_env *env, npgnn_error *err)
{
    size_t h = (size_t)s.h, d = (size_t)s.d, g = (size_t)s.g, k = (size_t)s.k;
    npi_params p = {.size = s};
    if (s.f > INT32_MAX - s.d) /* W2 has f + d rows */
        return npi_fail(err, NPGNN_E_ARGUMENT, "%d columns of features are too many for a model", s.f);
    p.count = (size_t)s.f * (h + g) + h * 2 * d + d * g + g + g * k + k;
    p.block = npi_alloc(env, p.count, sizeof *p.block, err);
    if (!p.block)
        return NPGNN_E_MEMORY;
    p.wx = p.block;
    p.wr = p.wx + (size_t)s.f * (h + g);
    p.wz = p.wr + h * 2 * d;
    p.b1 = p.wz + d * g;
    p.w3 = p.b1 + g;
    p.b2 = p.w3 + g * k;
    *out = p;
    return 0;
}

void npi_params_free(const npgnn_env *env, npi_params *params)
{
    npi_free(env, params->block);
    params->block = NULL;
}

/* ---- tensors by name ---- */

enum { W1, W_MU, W_SIGMA, W2, B1, W3, B2 };

npi_tensor npi_params_tensor(const npi_params *params, int index)
{
    npi_sizes s = params->size;
    int32_t has = s.d > 0;
    npi_tensor tensors[NPI_TENSORS] = {
        {"W1", has * s.f, s.h}, {"W_mu", s.h, s.d}, {"W_sigma", s.h, s.d}, {"W2", s.f + s.d, s.g},
        {"b1", 1, s.g},         {"W3", s.g, s.k},   {"b2", 1, s.k},
    };
    return tensors[index];
}

/* Row `row` of a tensor within the block. */
static real *tensor_row(const npi_params *p, int index, int32_t row)
{
    npi_sizes s = p->size;
    size_t r = (size_t)row;
    switch (index) {
    case W1:
        return p->wx + r * (size_t)(s.h + s.g);
    case W_MU:
        return p->wr + r * (size_t)(2 * s.d);
    case W_SIGMA:
        return p->wr + r * (size_t)(2 * s.d) + s.d;
    case W2:
        return row < s.f ? p->wx + r * (size_t)(s.h + s.g) + s.h : p->wz + (r - (size_t)s.f) * (size_t)s.g;
    case B1:
        return p->b1;
    case W3:
        return p->w3 + r * (size_t)s.k;
    default:
        return p->b2;
    }
}

void npi_params_read(float *out, const npi_params *params, int index)
{
    npi_tensor t = npi_params_tensor(params, index);
    for (int32_t i = 0; i < t.rows; i++) {
        const real *row = tensor_row(params, index, i);
        for (int32_t j = 0; j < t.cols; j++)
            *out++ = (float)row[j];
    }
}

void npi_params_write(npi_params *params, int index, const float *in)
{
    npi_tensor t = npi_params_tensor(params, index);
    for (int32_t i = 0; i < t.rows; i++) {
        real *row = tensor_row(params, index, i);
        for (int32_t j = 0; j < t.cols; j++)
            row[j] = (real)*in++;
    }
}

void npi_params_init(npi_params *params, uint64_t seed, double input_scale)
{
    for (int index = 0; index < NPI_TENSORS; index++) {
        npi_tensor t = npi_params_tensor(params, index);
        npi_rng rng = npi_rng_make(seed, NPI_RNG_INIT, (uint32_t)index);
        int bias = index == B1 || index == B2;
        double bound = bias ? 0 : sqrt(6.0 / ((double)t.rows + t.cols));
        for (int32_t i = 0; i < t.rows; i++) {
            real *row = tensor_row(params, index, i);
            double unit = row < params->wr ? input_scale : 1; /* rows of wx are multiplied with features: (17) */
            for (int32_t j = 0; j < t.cols; j++)
                row[j] = (real)(unit * bound * (2 * npi_rng_uniform(&rng) - 1));
        }
    }
}
