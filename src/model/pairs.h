/* The all-pairs loss (docs/understand/math.md, section Pairs): the one quadratic step of the model.
 *
 *   L = scale * [ Σ_ij softplus(s_ij) + Σ_(i,j) in edges, both directions ((w r_ij - 1) softplus(s_ij) - w r_ij s_ij)
 *               + diagonal * Σ_i ((w - 1) softplus(s_ii) - w s_ii) ],     s = U Uᵀ
 *
 * over all n² ordered pairs, that is: BCE with positives (the edges, and the diagonal where `diagonal` is 1) weighted
 * by w, and by r_ij, which is 1 or, where edges have weights, theirs over the mean of all.
 *
 * In a two-sided graph the first sum is over pairs of different sides only: those within a side cannot be edges, and
 * are no evidence. It is computed as the sum over all pairs minus those within each side. */
#ifndef NPI_MODEL_PAIRS_H
#define NPI_MODEL_PAIRS_H

#include "linalg/adj.h"

typedef struct npi_pairs npi_pairs; /* workspace */

typedef struct npi_pairs_loss {
    double scale, positive_weight;
    int diagonal;       /* label of the diagonal */
    double mean_weight; /* of the edges: what counts as one link */
} npi_pairs_loss;

/* VGAE's weighting: w = (n² - 2m) / 2m, scale = 1 / (2 (n² - 2m)), diagonal 1; the plain one: w = scale = 1,
 * diagonal 0. side (n) of a two-sided graph, otherwise NULL: 2 (sources) (targets) in place of n², and diagonal 0. */
npi_pairs_loss npi_pairs_loss_make(npgnn_likelihood likelihood, const npi_csr *edges, const unsigned char *side);

/* The same where the nodes are divided among processes: `edges` has the rows of this process, one-sided. */
npi_pairs_loss npi_pairs_loss_among(npgnn_likelihood likelihood, const npi_csr *edges, int64_t entries,
                                    const npi_partition *rows);

/* The pairs_per_node that the options mean for n nodes: `loss` says exact, sampled, or exact while n is small. */
int npi_pairs_sampled(const npgnn_options *options, int32_t n);

/* For the nodes that `rows` divides. pairs_per_node 0: exact. Otherwise the unbiased estimate from about that many
 * pairs per node. side (n) of a two-sided graph, otherwise NULL; it is read by this call only, and its nodes are all in
 * this process. O(n k) memory. */
int npi_pairs_new(npi_pairs **out, const npi_partition *rows, int k, int pairs_per_node, const unsigned char *side,
                  const npgnn_env *env, npgnn_error *err);

/* The loss over all pairs; adds factor * its gradient into dU when that is not NULL. U and dU (n, k) are the rows of
 * this process. Edges are the symmetric pattern, with weights or without; their scale is not used. The sampled estimate
 * is a function of (seed, draw). Allocates nothing. */
double npi_pairs_run(npi_pairs *pairs, real *du, const real *u, const npi_adj *edges, const npi_pairs_loss *loss,
                     double factor, uint64_t seed, uint32_t draw);
void npi_pairs_free(npi_pairs *pairs);

#endif
