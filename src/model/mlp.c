/* The decoder, forward and backward (docs/understand/math.md, (6), (B6)), for the n nodes of a graph:
 *
 *     Y = sigmoid(X W2x + 1 (z Wz + b1))      (n, g)      X W2x (n, g) is given
 *     U = act(Y W3 + b2)                      (n, k)
 *
 *     dT = dU ⊙ act'(U),          dW3 += Yᵀ dT,   db2 += Σ_i dT_i
 *     dQ = dT W3ᵀ ⊙ Y ⊙ (1 - Y),  db1 += q,  dWz += z qᵀ,  dz = Wz q   with q = Σ_i dQ_i;  dQ is the gradient of X W2x
 *
 * Both passes go over blocks of rows, and do all steps on a block while it is in cache. */
#include "model/mlp.h"

#include <string.h>

#include "base/parallel.h"
#include "linalg/dense.h"
#include "linalg/elementwise.h"
#include "model/options.h"

#define ROW_BLOCK 256 /* rows that one thread takes at a time */

static int64_t blocks_of(int64_t n)
{
    return (n + ROW_BLOCK - 1) / ROW_BLOCK;
}

static int rows_of(int64_t block, int64_t n)
{
    int64_t left = n - block * ROW_BLOCK;
    return (int)(left < ROW_BLOCK ? left : ROW_BLOCK);
}

/* out (rows, w) = x (rows, w; stride ldx) + row (w) */
static void add_row(real *out, const real *x, int ldx, const real *row, int rows, int w)
{
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < w; c++)
            out[i * w + c] = x[(size_t)i * (size_t)ldx + (size_t)c] + row[c];
}

typedef struct forward_loop {
    real *u, *hidden;
    const npi_params *params;
    const real *xw, *bias;
    int ldxw;
    int64_t n;
    npgnn_activation output;
} forward_loop;

static void forward_blocks(const void *arg, int64_t first, int64_t last)
{
    const forward_loop *l = arg;
    int g = l->params->size.g, k = l->params->size.k;
    for (int64_t block = first; block < last; block++) {
        size_t row = (size_t)block * ROW_BLOCK;
        int rows = rows_of(block, l->n);
        real *h = l->hidden + row * (size_t)g, *out = l->u + row * (size_t)k;
        /* Y (rows, g) = sigmoid(X W2x + bias) */
        add_row(h, l->xw + row * (size_t)l->ldxw, l->ldxw, l->bias, rows, g);
        npi_activate(h, (int64_t)rows * g, NPGNN_SIGMOID, 1);
        /* U (rows, k) = act(Y (rows, g) W3 (g, k) + b2) */
        npi_gemm(out, k, h, g, 0, l->params->w3, k, 0, rows, k, g, 1, 0);
        add_row(out, out, k, l->params->b2, rows, k);
        npi_activate(out, (int64_t)rows * k, l->output, 1);
    }
}

void npi_mlp_forward(real *u, real *hidden, const npi_params *params, const real *xw, int ldxw, const real *z,
                     int64_t n, npgnn_activation output, int threads)
{
    real bias[NPI_MAX_WIDTH];
    forward_loop loop = {u, hidden, params, xw, bias, ldxw, n, output};
    int d = z ? params->size.d : 0, g = params->size.g;
    /* bias (g) = z Wz + b1: z has the same effect on every node */
    memcpy(bias, params->b1, (size_t)g * sizeof *bias);
    for (int i = 0; i < d; i++)
        for (int c = 0; c < g; c++)
            bias[c] += z[i] * params->wz[i * g + c];
    npi_blas_begin(threads);
    npi_parallel(threads, blocks_of(n), 0, forward_blocks, &loop);
    npi_blas_end(threads);
}

/* ---- backward ---- */

/* The rows are divided into this many parts, whatever the number of threads. Each part is summed by one thread, then
 * the sums are added in order, so that the result does not depend on the number of threads. The scratch of a part holds
 * dQ of one block (ROW_BLOCK, g), followed by its sums: dW3 (g, k), db2 (k), db1 (g). */
#define PARTS 16

static size_t part_sums(npi_sizes s)
{
    return (size_t)s.g * (size_t)s.k + (size_t)s.k + (size_t)s.g;
}

static size_t part_scratch(npi_sizes s)
{
    return ROW_BLOCK * (size_t)s.g + part_sums(s);
}

size_t npi_mlp_scratch(npi_sizes size)
{
    return PARTS * part_scratch(size);
}

/* out (w) += the column sums of x (rows, w) */
static void add_columns(real *out, const real *x, int rows, int w)
{
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < w; c++)
            out[c] += x[i * w + c];
}

/* One block: du, hidden and u are its rows. dhidden is scratch; sums are the part's dW3, db2, db1. */
static void block_backward(real *dxw, int lddxw, int add, real *dhidden, real *sums, real *du, const real *u,
                           const real *hidden, const npi_params *params, int rows, npgnn_activation output)
{
    int g = params->size.g, k = params->size.k;
    real *dw3 = sums, *db2 = dw3 + (size_t)g * (size_t)k, *db1 = db2 + k;
    /* dT = dU ⊙ act'(U), in place of dU */
    npi_activate_backward(du, u, (int64_t)rows * k, output, 1);
    /* db2 += Σ_i dT_i */
    add_columns(db2, du, rows, k);
    /* dW3 (g, k) += Yᵀ (g, rows) dT (rows, k) */
    npi_gemm(dw3, k, hidden, g, 1, du, k, 0, g, k, rows, 1, 1);
    /* dY (rows, g) = dT (rows, k) W3ᵀ (k, g) */
    npi_gemm(dhidden, g, du, k, 0, params->w3, k, 1, rows, g, k, 1, 0);
    /* dQ = dY ⊙ Y ⊙ (1 - Y), in place of dY */
    npi_activate_backward(dhidden, hidden, (int64_t)rows * g, NPGNN_SIGMOID, 1);
    /* q += Σ_i dQ_i */
    add_columns(db1, dhidden, rows, g);
    /* dQ to where the caller wants it */
    for (int i = 0; i < rows; i++) {
        real *row = dxw + (size_t)i * (size_t)lddxw;
        for (int c = 0; c < g; c++)
            row[c] = (add ? row[c] : 0) + dhidden[i * g + c];
    }
}

typedef struct backward_loop {
    real *dxw, *du, *scratch;
    int lddxw, add;
    const npi_params *params;
    const real *u, *hidden;
    int64_t n;
    npgnn_activation output;
} backward_loop;

static void backward_parts(const void *arg, int64_t first, int64_t last)
{
    const backward_loop *l = arg;
    npi_sizes s = l->params->size;
    int64_t blocks = blocks_of(l->n);
    for (int64_t part = first; part < last; part++) {
        real *dhidden = l->scratch + (size_t)part * part_scratch(s), *sums = dhidden + ROW_BLOCK * (size_t)s.g;
        memset(sums, 0, part_sums(s) * sizeof *sums);
        for (int64_t block = part * blocks / PARTS; block < (part + 1) * blocks / PARTS; block++) {
            size_t row = (size_t)block * ROW_BLOCK;
            block_backward(l->dxw + row * (size_t)l->lddxw, l->lddxw, l->add, dhidden, sums, l->du + row * (size_t)s.k,
                           l->u + row * (size_t)s.k, l->hidden + row * (size_t)s.g, l->params, rows_of(block, l->n),
                           l->output);
        }
    }
}

void npi_mlp_backward(real *dxw, int lddxw, int add, real *dz, npi_params *gradient, real *du, const npi_params *params,
                      const real *u, const real *hidden, const real *z, int64_t n, npgnn_activation output,
                      real *scratch, int threads)
{
    backward_loop loop = {dxw, du, scratch, lddxw, add, params, u, hidden, n, output};
    npi_blas_begin(threads);
    npi_parallel(threads, PARTS, 0, backward_parts, &loop);
    npi_blas_end(threads);

    /* total = the sums of all parts, in order: dW3, db2 and q */
    npi_sizes s = params->size;
    size_t sums = part_sums(s), cells = (size_t)s.g * (size_t)s.k;
    real *total = scratch + ROW_BLOCK * (size_t)s.g, *q = total + cells + s.k;
    for (int part = 1; part < PARTS; part++)
        for (size_t i = 0; i < sums; i++)
            total[i] += total[(size_t)part * part_scratch(s) + i];
    for (size_t i = 0; i < cells; i++)
        gradient->w3[i] += total[i];
    for (int c = 0; c < s.k; c++)
        gradient->b2[c] += total[cells + (size_t)c];
    /* db1 += q, dWz += z qᵀ, dz = Wz q */
    for (int c = 0; c < s.g; c++)
        gradient->b1[c] += q[c];
    for (int i = 0; z && i < s.d; i++) {
        dz[i] = 0;
        for (int c = 0; c < s.g; c++) {
            dz[i] += params->wz[i * s.g + c] * q[c];
            gradient->wz[i * s.g + c] += z[i] * q[c];
        }
    }
}
