#include "linalg/elementwise.h"

#include "linalg/kernels.h"

#define CHUNK 8192

static void relu(real *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = y[i] > 0 ? y[i] : 0;
}

void npi_activate(real *y, int64_t count, npgnn_activation act, int threads)
{
    const npi_kernels *kernels = npi_kernels_best();
    if (act == NPGNN_LINEAR)
        return;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t size = count - first < CHUNK ? count - first : CHUNK;
        if (act == NPGNN_RELU)
            relu(y + first, size);
        else
            kernels->sigmoid(y + first, y + first, size);
    }
}

void npi_activate_backward(real *dy, const real *y, int64_t count, npgnn_activation act, int threads)
{
    if (act == NPGNN_RELU) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
        for (int64_t i = 0; i < count; i++)
            dy[i] = y[i] > 0 ? dy[i] : 0;
    } else if (act == NPGNN_SIGMOID) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
        for (int64_t i = 0; i < count; i++)
            dy[i] *= y[i] * (1 - y[i]);
    }
}
