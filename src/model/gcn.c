/* The two graph convolutions of the encoder, forward and backward (docs/understand/math.md, (2), (3), (B2), (B3)):
 *
 *     P = X W1               (n, h)
 *     H = relu(Â P)          (n, h)
 *     R = act(Â (H Wr))      (n, w)     w = 2 d: the columns of mu and of log sigma
 *
 * and the shortcut past the second one, where act is the identity and only the mean row of R is needed:
 *
 *     pooled = aᵀ H / n      (h)        a (n) the column sums of Â                     (3'), (B3')
 *     mean row of R = pooled Wr      (w)
 *
 * which costs O(n h). Â is symmetric, so the backward passes multiply by Â too. */
#include "model/gcn.h"

#include <string.h>

#include "base/parallel.h"
#include "linalg/dense.h"
#include "linalg/elementwise.h"
#include "model/options.h"

#define CHUNK 256 /* rows of Â P that a thread takes at a time: degrees differ */

/* Row i of H = relu(Â P). */
static void hidden_row(real *hidden, const npi_adj *adj, int32_t i, const real *p, int ldp, int h,
                       const npi_kernels *kernels)
{
    npi_adj_row(hidden, adj, i, p, ldp, h, kernels);
    for (int c = 0; c < h; c++)
        hidden[c] = hidden[c] > 0 ? hidden[c] : 0;
}

typedef struct hidden_loop {
    real *hidden;
    const npi_adj *adj;
    const real *p;
    int ldp, h;
    const npi_kernels *kernels;
    real *colsum, *scratch; /* workspace of npi_gcn_pool_forward */
    const npi_partition *rows;
} hidden_loop;

static void hidden_rows(const void *arg, int64_t first, int64_t last)
{
    const hidden_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        hidden_row(l->hidden + i * l->h, l->adj, (int32_t)i, l->p, l->ldp, l->h, l->kernels);
}

void npi_gcn_hidden_forward(real *hidden, const npi_adj *adj, const real *p, int ldp, int h, int threads)
{
    hidden_loop loop = {.hidden = hidden, .adj = adj, .p = p, .ldp = ldp, .h = h, .kernels = npi_kernels_best()};
    npi_adj_fetch(adj, p, ldp, h, threads);
    npi_parallel(threads, adj->a.rows, CHUNK, hidden_rows, &loop);
}

typedef struct target_loop {
    npi_gcn_target to;
    const npi_adj *adj;
    const real *dhidden;
    int h;
    const npi_kernels *kernels;
} target_loop;

static void target_rows(const void *arg, int64_t first, int64_t last)
{
    const target_loop *l = arg;
    npi_gcn_target to = l->to;
    for (int64_t i = first; i < last; i++) {
        real sum[NPI_MAX_WIDTH];
        /* dP_i = Σ_j Â_ij dH_j, written or added to the row of dp that belongs to node i */
        real *row = to.dp + (size_t)(to.rows ? to.rows[i] : i) * (size_t)to.ldp;
        npi_adj_row(to.add ? sum : row, l->adj, (int32_t)i, l->dhidden, l->h, l->h, l->kernels);
        for (int c = 0; to.add && c < l->h; c++)
            row[c] += sum[c];
    }
}

void npi_gcn_hidden_backward(npi_gcn_target to, real *dhidden, const npi_adj *adj, const real *hidden, int h,
                             int threads)
{
    target_loop loop = {to, adj, dhidden, h, npi_kernels_best()};
    /* dH <- dH ⊙ [H > 0], then dP = Â dH */
    npi_activate_backward(dhidden, hidden, (int64_t)adj->a.rows * h, NPGNN_RELU, threads);
    npi_adj_fetch(adj, dhidden, h, h, threads);
    npi_parallel(threads, adj->a.rows, CHUNK, target_rows, &loop);
}

void npi_gcn_heads_forward(real *r, real *m, const npi_adj *adj, const real *hidden, const real *wr, int h, int w,
                           npgnn_activation act, int threads)
{
    int32_t n = adj->a.rows;
    /* M (n, w) = H (n, h) Wr (h, w) */
    npi_gemm_nodes(m, w, hidden, h, wr, w, 0, n, w, h, 0, threads);
    /* R (n, w) = act(Â M) */
    npi_adj_mul(r, w, adj, m, w, w, threads);
    npi_activate(r, (int64_t)n * w, act, threads);
}

void npi_gcn_heads_backward(real *dhidden, real *dwr, real *dr, real *m, const npi_adj *adj, const real *r,
                            const real *hidden, const real *wr, int h, int w, npgnn_activation act,
                            const npi_partition *rows, real *scratch, int threads)
{
    int32_t n = adj->a.rows;
    /* dR' = dR ⊙ act'(R), in place of dR */
    npi_activate_backward(dr, r, (int64_t)n * w, act, threads);
    /* M (n, w) = Â dR' */
    npi_adj_mul(m, w, adj, dr, w, w, threads);
    /* dWr (h, w) += Hᵀ (h, n) M (n, w) */
    npi_gemm_parts(dwr, hidden, h, m, w, rows, h, w, scratch, threads);
    /* dH (n, h) = M (n, w) Wrᵀ (w, h) */
    npi_gemm_nodes(dhidden, h, m, w, wr, w, 1, n, h, w, 0, threads);
}

size_t npi_gcn_pool_scratch(const npi_partition *rows, int h)
{
    return (size_t)(rows->part_end - rows->part) * (size_t)h;
}

/* For each part of the rows: H_i = relu((Â P)_i), a_i = Σ_j Â_ji, sum = Σ_i a_i H_i. */
static void pool_parts(const void *arg, int64_t first, int64_t last)
{
    const hidden_loop *l = arg;
    const npi_partition *rows = l->rows;
    for (int32_t part = (int32_t)first; part < last; part++) {
        real *sum = l->scratch + part * l->h;
        memset(sum, 0, (size_t)l->h * sizeof *sum);
        int32_t end = npi_part_start(rows, rows->part + part + 1) - rows->from;
        for (int32_t i = npi_part_start(rows, rows->part + part) - rows->from; i < end; i++) {
            real *row = l->hidden + (size_t)i * (size_t)l->h;
            hidden_row(row, l->adj, i, l->p, l->ldp, l->h, l->kernels);
            l->colsum[i] = npi_adj_column_sum(l->adj, i);
            for (int c = 0; c < l->h; c++)
                sum[c] += l->colsum[i] * row[c];
        }
    }
}

void npi_gcn_pool_forward(real *pooled, real *hidden, real *colsum, const npi_adj *adj, const real *p, int ldp, int h,
                          const npi_partition *rows, real *scratch, int threads)
{
    hidden_loop loop = {hidden, adj, p, ldp, h, npi_kernels_best(), colsum, scratch, rows};
    npi_adj_fetch(adj, p, ldp, h, threads);
    npi_parallel(threads, rows->part_end - rows->part, 1, pool_parts, &loop);
    /* pooled = (1 / n) Σ_i a_i H_i */
    memset(pooled, 0, (size_t)h * sizeof *pooled);
    npi_parts_add(pooled, scratch, (size_t)h, rows);
    for (int c = 0; c < h; c++)
        pooled[c] /= (real)rows->n;
}

typedef struct unpool_loop {
    real *dhidden;
    const real *dpooled, *colsum, *hidden;
    int32_t n;
    int h;
} unpool_loop;

/* dH_i = (a_i / n) dpooled ⊙ [H_i > 0] */
static void unpool_rows(const void *arg, int64_t first, int64_t last)
{
    const unpool_loop *l = arg;
    for (int64_t i = first; i < last; i++) {
        real *dhidden = l->dhidden + i * l->h, weight = l->colsum[i] / (real)l->n;
        const real *hidden = l->hidden + i * l->h;
        for (int c = 0; c < l->h; c++)
            dhidden[c] = hidden[c] > 0 ? weight * l->dpooled[c] : 0;
    }
}

void npi_gcn_pool_backward(npi_gcn_target to, real *dhidden, const real *dpooled, const real *colsum,
                           const npi_adj *adj, const real *hidden, int h, const npi_partition *rows, int threads)
{
    unpool_loop unpool = {dhidden, dpooled, colsum, hidden, rows->n, h};
    target_loop target = {to, adj, dhidden, h, npi_kernels_best()};
    npi_parallel(threads, adj->a.rows, 0, unpool_rows, &unpool);
    npi_adj_fetch(adj, dhidden, h, h, threads);
    /* dP = Â dH */
    npi_parallel(threads, adj->a.rows, CHUNK, target_rows, &target);
}
