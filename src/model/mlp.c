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

#define ROW_BLOCK NPI_BLOCK /* rows that one thread takes at a time */

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

/* Each part of the rows is summed by one thread, then the sums of the parts are added in order (base/partition.h). The
 * scratch has dQ of one block (ROW_BLOCK, g) per part, then the sums of each part: dW3 (g, k), db2 (k), db1 (g), then
 * the total of all. */
static size_t part_sums(npi_sizes s)
{
    return (size_t)s.g * (size_t)s.k + (size_t)s.k + (size_t)s.g;
}

size_t npi_mlp_scratch(const npi_partition *rows, npi_sizes size)
{
    size_t parts = (size_t)(rows->part_end - rows->part);
    return parts * (ROW_BLOCK * (size_t)size.g + part_sums(size)) + part_sums(size);
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
    real *dxw, *du, *dhidden, *sums;
    int lddxw, add;
    const npi_params *params;
    const real *u, *hidden;
    const npi_partition *rows;
    npgnn_activation output;
} backward_loop;

static void backward_parts(const void *arg, int64_t first, int64_t last)
{
    const backward_loop *l = arg;
    const npi_partition *rows = l->rows;
    npi_sizes s = l->params->size;
    for (int32_t part = (int32_t)first; part < last; part++) {
        real *dhidden = l->dhidden + (size_t)part * ROW_BLOCK * (size_t)s.g,
             *sums = l->sums + (size_t)part * part_sums(s);
        int32_t end = npi_part_start(rows, rows->part + part + 1) - rows->from;
        memset(sums, 0, part_sums(s) * sizeof *sums);
        for (int32_t at = npi_part_start(rows, rows->part + part) - rows->from; at < end; at += ROW_BLOCK) {
            size_t row = (size_t)at;
            block_backward(l->dxw + row * (size_t)l->lddxw, l->lddxw, l->add, dhidden, sums, l->du + row * (size_t)s.k,
                           l->u + row * (size_t)s.k, l->hidden + row * (size_t)s.g, l->params,
                           end - at < ROW_BLOCK ? end - at : ROW_BLOCK, l->output);
        }
    }
}

void npi_mlp_backward(real *dxw, int lddxw, int add, real *dz, npi_params *gradient, real *du, const npi_params *params,
                      const real *u, const real *hidden, const real *z, const npi_partition *rows,
                      npgnn_activation output, real *scratch, int threads)
{
    npi_sizes s = params->size;
    size_t parts = (size_t)(rows->part_end - rows->part), cells = (size_t)s.g * (size_t)s.k;
    real *sums = scratch + parts * ROW_BLOCK * (size_t)s.g, *total = sums + parts * part_sums(s),
         *q = total + cells + s.k;
    backward_loop loop = {dxw, du, scratch, sums, lddxw, add, params, u, hidden, rows, output};
    npi_blas_begin(threads);
    npi_parallel(threads, (int64_t)parts, 1, backward_parts, &loop);
    npi_blas_end(threads);

    /* total = the sums of all parts, in order: dW3, db2 and q */
    memset(total, 0, part_sums(s) * sizeof *total);
    npi_parts_add(total, sums, part_sums(s), rows);
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
