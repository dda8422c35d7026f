/* The encoder's graph convolutions (docs/math.md, eq. (2), (3)), and the shortcut past the second one. */
#ifndef NPI_MODEL_GCN_H
#define NPI_MODEL_GCN_H

#include "linalg/adj.h"

/* H (n, h) = relu(Â P), P = X W1 given with its row stride. Eq. (2). */
void npi_gcn_hidden_forward(real *hidden, const npi_adj *adj, const real *p, int ldp, int h, int threads);

/* dP (n, h) = Â (dH ⊙ [H > 0]); dH is overwritten. Eq. (B2). */
void npi_gcn_hidden_backward(real *dp, int lddp, real *dhidden, const npi_adj *adj, const real *hidden, int h,
                             int threads);

/* R (n, w) = act(Â (H Wr)), Wr (h, w). M (n, w) is scratch. Eq. (3). */
void npi_gcn_heads_forward(real *r, real *m, const npi_adj *adj, const real *hidden, const real *wr, int h, int w,
                           npgnn_activation act, int threads);

/* dWr += Hᵀ Â dR', dH = Â dR' Wrᵀ with dR' = dR ⊙ act'(R); dR is overwritten. scratch: npi_gemm_tall_scratch(n, h, w).
 * Eq. (B3). */
void npi_gcn_heads_backward(real *dhidden, real *dwr, real *dr, real *m, const npi_adj *adj, const real *r,
                            const real *hidden, const real *wr, int h, int w, npgnn_activation act, real *scratch,
                            int threads);

/* The mean row of Â (H Wr) without forming it: pooled (h) = aᵀ H / n with a the column sums of Â; the mean is pooled Wr.
 * Eq. (3'). scratch: npi_gemm_tall_scratch(n, 1, h). */
void npi_gcn_pool_forward(real *pooled, const real *colsum, const real *hidden, int64_t n, int h, real *scratch,
                          int threads);

/* dH (n, h) = (a / n) ⊗ dpooled. Eq. (B3'). */
void npi_gcn_pool_backward(real *dhidden, const real *dpooled, const real *colsum, int64_t n, int h, int threads);

#endif
