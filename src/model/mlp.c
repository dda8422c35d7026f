#include "model/mlp.h"

#include <string.h>

#include "linalg/dense.h"
#include "linalg/elementwise.h"
#include "linalg/kernels.h"

/* out (n, w) = x (n, w; stride ldx) + row (w) */
static void add_row(real *out, const real *x, int ldx, const real *row, int64_t n, int w, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < w; c++)
            out[i * w + c] = x[i * ldx + c] + row[c];
}

/* out (g) = z Wz + b1: all that z does to the hidden layer, the same for every node */
static void latent_bias(real *out, const npi_params *params, const real *z)
{
    int d = z ? params->size.d : 0, g = params->size.g;
    memcpy(out, params->b1, (size_t)g * sizeof *out);
    for (int i = 0; i < d; i++)
        for (int c = 0; c < g; c++)
            out[c] += z[i] * params->wz[i * g + c];
}

void npi_mlp_forward(real *u, real *hidden, const npi_params *params, const real *xw, int ldxw, const real *z,
                     int64_t n, npgnn_activation output, int threads)
{
    int g = params->size.g, k = params->size.k;
    real bias[4096]; /* the options allow no wider layer */
    latent_bias(bias, params, z);
    add_row(hidden, xw, ldxw, bias, n, g, threads);
    npi_activate(hidden, n * g, NPGNN_SIGMOID, threads);
    npi_gemm_rows(u, k, hidden, g, params->w3, k, 0, n, k, g, 0, threads);
    add_row(u, u, k, params->b2, n, k, threads);
    npi_activate(u, n * k, output, threads);
}

void npi_mlp_backward(real *dxw, int lddxw, real *dz, npi_params *gradient, real *du, const npi_params *params,
                      const real *u, const real *hidden, const real *z, int64_t n, npgnn_activation output,
                      npi_mlp_scratch *scratch, int threads)
{
    int d = z ? params->size.d : 0, g = params->size.g, k = params->size.k;
    real *dhidden = scratch->dhidden, *column = scratch->column;

    npi_activate_backward(du, u, n * k, output, threads);
    npi_colsum_tall(gradient->b2, du, k, n, k, scratch->sums, threads);
    npi_gemm_tall(gradient->w3, k, hidden, g, du, k, n, g, k, scratch->sums, threads);
    npi_gemm_rows(dhidden, g, du, k, params->w3, k, 1, n, g, k, 0, threads);
    npi_activate_backward(dhidden, hidden, n * g, NPGNN_SIGMOID, threads);

#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < g; c++)
            dxw[i * lddxw + c] += dhidden[i * g + c];

    memset(column, 0, (size_t)g * sizeof *column);
    npi_colsum_tall(column, dhidden, g, n, g, scratch->sums, threads);
    for (int c = 0; c < g; c++)
        gradient->b1[c] += column[c];
    for (int i = 0; i < d; i++) {
        dz[i] = 0;
        for (int c = 0; c < g; c++) {
            dz[i] += params->wz[i * g + c] * column[c];
            gradient->wz[i * g + c] += z[i] * column[c];
        }
    }
}
