/* The network of the variational graph auto-encoder (Kipf & Welling 2016, arXiv:1611.07308; docs/results/baselines.md).
 *
 *   (V1)  H = relu(Â X W1),   [M | Λ] = Â H [Wμ | Wσ]
 *   (V2)  z_i = M_i + exp(Λ_i) ⊙ ε_i                    a latent for every node, where npgnn has one for the graph
 *   (V3)  loss = R(Z) + KL,   R of eq. (8), weighted
 *         KL = 1 / (2 n²) Σ_i Σ_j (M_ij² + exp(2 Λ_ij) - 1 - 2 Λ_ij)
 *
 * Without ε it is the graph auto-encoder: Z = M, no KL, and Wσ gets no gradient. */
#ifndef NPI_BASELINES_VGAE_NET_H
#define NPI_BASELINES_VGAE_NET_H

#include "features/features.h"
#include "model/net.h"

typedef struct npi_vgae npi_vgae; /* activations and their gradients, allocated once */

/* For a graph of n nodes; pairs_per_node as npi_pairs_new has it. The parameters use W1, W_mu and W_sigma alone. */
npi_sizes npi_vgae_sizes(int32_t f);
int npi_vgae_new(npi_vgae **out, npi_sizes size, int32_t n, int pairs_per_node, const npgnn_env *env, npgnn_error *err);
void npi_vgae_free(npi_vgae *net);

/* One forward and backward pass: adds the gradient of the loss into `gradient`, or only evaluates when that is NULL. Of
 * the input it uses x, graph, loss, seed, draw, and epsilon (n, d), NULL for the graph auto-encoder. */
npi_objective npi_vgae_run(npi_vgae *net, npi_params *gradient, const npi_params *params, const npi_input *input);

/* mu (x->n, d): M of a graph of any size. */
int npi_vgae_embed(real *mu, const npi_params *params, const npi_features *x, const npi_adj *graph,
                   const npgnn_env *env, npgnn_error *err);

#endif
