#include "linalg/elementwise.h"

#include <string.h>

#include "linalg/kernels.h"

#define CHUNK 8192
#define MANY (1 << 16) /* numbers from which on threads are worth waking for one pass of a single operation */

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

void npi_zero(real *y, int64_t count, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (count >= MANY)
    for (int64_t first = 0; first < count; first += CHUNK)
        memset(y + first, 0, (size_t)(count - first < CHUNK ? count - first : CHUNK) * sizeof *y);
}

/* x - x is 0 for a finite x and NaN otherwise, and a NaN stays in its lane: the loop is vectors without a branch. */
int npi_all_finite(const real *x, int64_t count)
{
    enum { LANES = 64 };
    real lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += x[i + l] - x[i + l];
    for (; i < count; i++)
        sum += x[i] - x[i];
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum == 0;
}
