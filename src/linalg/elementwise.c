/* Activations and their backward passes, elementwise: relu and sigmoid have derivatives that follow from their values,
 * relu'(x) = [y > 0] and sigmoid'(x) = y (1 - y). */
#include "linalg/elementwise.h"

#include <string.h>

#include "base/parallel.h"
#include "linalg/kernels.h"

#define CHUNK 8192
#define MANY (1 << 16) /* from this many numbers on, waking threads pays for one operation per number */

typedef struct forward_loop {
    real *y;
    int64_t count;
    npgnn_activation act;
    const npi_kernels *kernels;
} forward_loop;

/* Chunks of fixed size: the bits of a vectorised function may differ between the middle and the end of an array. */
static void forward_chunks(const void *arg, int64_t first, int64_t last)
{
    const forward_loop *l = arg;
    for (int64_t chunk = first; chunk < last; chunk++) {
        real *y = l->y + chunk * CHUNK;
        int64_t left = l->count - chunk * CHUNK, size = left < CHUNK ? left : CHUNK;
        if (l->act == NPGNN_SIGMOID)
            l->kernels->sigmoid(y, y, size);
        for (int64_t i = 0; l->act == NPGNN_RELU && i < size; i++)
            y[i] = y[i] > 0 ? y[i] : 0;
    }
}

void npi_activate(real *y, int64_t count, npgnn_activation act, int threads)
{
    forward_loop loop = {y, count, act, npi_kernels_best()};
    if (act != NPGNN_LINEAR)
        npi_parallel(threads, (count + CHUNK - 1) / CHUNK, 0, forward_chunks, &loop);
}

typedef struct backward_loop {
    real *dy;
    const real *y;
} backward_loop;

static void relu_backward(const void *arg, int64_t first, int64_t last)
{
    const backward_loop *l = arg;
    real *restrict dy = l->dy;
    const real *restrict y = l->y;
    for (int64_t i = first; i < last; i++)
        dy[i] = y[i] > 0 ? dy[i] : 0;
}

static void sigmoid_backward(const void *arg, int64_t first, int64_t last)
{
    const backward_loop *l = arg;
    real *restrict dy = l->dy;
    const real *restrict y = l->y;
    for (int64_t i = first; i < last; i++)
        dy[i] *= y[i] * (1 - y[i]);
}

void npi_activate_backward(real *dy, const real *y, int64_t count, npgnn_activation act, int threads)
{
    backward_loop loop = {dy, y};
    if (act == NPGNN_RELU)
        npi_parallel(threads, count, 0, relu_backward, &loop);
    else if (act == NPGNN_SIGMOID)
        npi_parallel(threads, count, 0, sigmoid_backward, &loop);
}

typedef struct zero_loop {
    real *y;
} zero_loop;

static void zero_range(const void *arg, int64_t first, int64_t last)
{
    const zero_loop *l = arg;
    memset(l->y + first, 0, (size_t)(last - first) * sizeof *l->y);
}

void npi_zero(real *y, int64_t count, int threads)
{
    zero_loop loop = {y};
    npi_parallel(count >= MANY ? threads : 1, count, 0, zero_range, &loop);
}

/* x - x is 0 for a finite x and NaN otherwise, and a sum with a NaN stays NaN: so the loop needs no branch. */
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
