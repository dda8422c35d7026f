/* The network and the loss of unsupervised GraphSAGE (Hamilton, Ying and Leskovec 2017, arXiv:1706.02216;
 * docs/results/baselines.md), with the mean aggregator over all neighbours:
 *
 *   (S1)  [F | G] = X W1,   H = relu([F | Ā G])          Ā = D^-1 A: the mean over the neighbours, 0 where there is none
 *   (S2)  [F'| G'] = H W2,  Y = [F' | Ā G'],   z_i = Y_i / |Y_i|
 *   (S3)  loss = -1/n Σ_i [ log sig(z_i · z_p) + Σ_q log sig(-z_i · z_q) ]    p: i's positive; q: its negatives */
#ifndef NPI_BASELINES_SAGE_NET_H
#define NPI_BASELINES_SAGE_NET_H

#include "features/features.h"
#include "model/params.h"

typedef struct npi_sage npi_sage; /* activations and their gradients, allocated once */

/* For a graph of n nodes, each with `partners` others to be compared with: the first is the positive. W1 is (f, h), W2
 * is Wr (h, 2 d); z has 2 d columns. */
npi_sizes npi_sage_sizes(int32_t f);
int npi_sage_new(npi_sage **out, npi_sizes size, int32_t n, int partners, const npgnn_env *env, npgnn_error *err);
void npi_sage_free(npi_sage *net);

/* z (n, 2 d), which belongs to the net. (S1), (S2) */
const real *npi_sage_embed(npi_sage *net, const npi_params *params, const npi_features *x, const npi_csr *graph);

/* The loss (S3) for partner (n, partners); nodes whose first is negative have none. Adds its gradient into `gradient`
 * where that is not NULL. */
double npi_sage_run(npi_sage *net, npi_params *gradient, const npi_params *params, const npi_features *x,
                    const npi_csr *graph, const int32_t *partner);

#endif
