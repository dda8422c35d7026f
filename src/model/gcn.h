/* The encoder's graph convolutions (docs/understand/math.md, eq. (2), (3)), and the shortcut past the second one. Where
 * nodes are divided among processes, matrices have the rows of this process, and sums over nodes are over all of them;
 * `rows` says how they are divided. */
#ifndef NPI_MODEL_GCN_H
#define NPI_MODEL_GCN_H

#include "linalg/adj.h"

/* H (n, h) = relu(Â P), P = X W1 given with its row stride. Eq. (2). */
void npi_gcn_hidden_forward(real *hidden, const npi_adj *adj, const real *p, int ldp, int h, int threads);

/* Where the backward passes leave Â dH: in the rows of dp (stride ldp) or, where `rows` is not NULL, in those that it
 * names; in place of what is there or, with `add`, on top of it. */
typedef struct npi_gcn_target {
    real *dp;
    int ldp;
    const int32_t *rows;
    int add;
} npi_gcn_target;

/* dP = Â (dH ⊙ [H > 0]); dH is overwritten. Eq. (B2). */
void npi_gcn_hidden_backward(npi_gcn_target to, real *dhidden, const npi_adj *adj, const real *hidden, int h,
                             int threads);

/* R (n, w) = act(Â (H Wr)), Wr (h, w). M (n, w) is scratch. Eq. (3). */
void npi_gcn_heads_forward(real *r, real *m, const npi_adj *adj, const real *hidden, const real *wr, int h, int w,
                           npgnn_activation act, int threads);

/* dWr += Hᵀ Â dR', dH = Â dR' Wrᵀ with dR' = dR ⊙ act'(R); dR is overwritten. scratch: npi_gemm_parts_scratch(rows, h,
 * w). Eq. (B3). */
void npi_gcn_heads_backward(real *dhidden, real *dwr, real *dr, real *m, const npi_adj *adj, const real *r,
                            const real *hidden, const real *wr, int h, int w, npgnn_activation act,
                            const npi_partition *rows, real *scratch, int threads);

/* H as above, and the mean row of Â (H Wr) without forming it, eq. (2), (3'):
 *
 *     a = colsum, the column sums of Â      (n)
 *     pooled = aᵀ H / n                     (h)
 *     mean row = pooled Wr                  (w)     not computed here
 *
 * scratch: npi_gcn_pool_scratch(rows, h). */
void npi_gcn_pool_forward(real *pooled, real *hidden, real *colsum, const npi_adj *adj, const real *p, int ldp, int h,
                          const npi_partition *rows, real *scratch, int threads);
size_t npi_gcn_pool_scratch(const npi_partition *rows, int h);

/* dP = Â ([H > 0] ⊙ (a / n) ⊗ dpooled); dhidden (n, h) is scratch. Eq. (B2), (B3'). */
void npi_gcn_pool_backward(npi_gcn_target to, real *dhidden, const real *dpooled, const real *colsum,
                           const npi_adj *adj, const real *hidden, int h, const npi_partition *rows, int threads);

#endif
