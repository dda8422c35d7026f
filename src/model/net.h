/* The network: forward, loss and backward of one iteration, and the encoder alone.
 * net.c is the only file that knows the order of the steps; gcn, latent, mlp and pairs are the steps. */
#ifndef NPI_MODEL_NET_H
#define NPI_MODEL_NET_H

#include "base/profile.h"
#include "features/dropout.h"
#include "linalg/adj.h"
#include "model/pairs.h"
#include "model/params.h"

typedef struct npi_net npi_net; /* activations of one iteration: everything it needs, allocated once */

/* For a training graph whose nodes `rows` divides, with the features x of this process's nodes, and for contexts of no
 * more nodes. side (n) of a two-sided graph, otherwise NULL. */
int npi_net_new(npi_net **out, const npgnn_options *options, const npi_partition *rows, const npi_features *x,
                const unsigned char *side, const npgnn_env *env, npgnn_error *err);

/* The most columns of a matrix that it multiplies with the graph, or takes the rows of neighbours from. */
int npi_net_halo_width(const npgnn_options *options, npi_sizes size);

/* Prepares for graphs that have up to `count` neighbours in other processes: finds memory for their rows, if possible
 * where other arrays are not in use at that time. Called once, before the first pass, where nodes are divided among
 * processes. */
int npi_net_take_halo(npi_net *net, int32_t count, npgnn_error *err);

/* One that can encode a graph of n nodes, and nothing else: O(n h) memory. Only with a latent. */
int npi_net_new_encoder(npi_net **out, const npgnn_options *options, int32_t n, int32_t f, const npgnn_env *env,
                        npgnn_error *err);
void npi_net_free(npi_net *net);

typedef struct npi_input {
    const npi_features *x;        /* (n, f); here and below, the rows of this process */
    npi_dropout *dropout;         /* whose view x is, to be turned before Xᵀ is needed; NULL: x is whole */
    const npi_adj *graph;         /* (n, n) normalised training graph; its pattern is what the loss wants to see */
    const npi_adj *context;       /* (m, m) */
    const int32_t *context_nodes; /* (m) rows of x, or NULL: m = n, the same nodes */
    const real *epsilon;          /* (samples, d) */
    npi_pairs_loss loss;
    uint64_t seed; /* for the sampled loss */
    uint32_t draw;
    npi_profile *profile; /* takes the time of the steps, or NULL */
} npi_input;

typedef struct npi_objective {
    double reconstruction, kl; /* the loss is reconstruction + kl_weight * kl */
} npi_objective;

/* One forward and backward pass: adds the gradient of the loss into `gradient`, or only evaluates when that is NULL. */
npi_objective npi_net_run(npi_net *net, npi_params *gradient, const npi_params *params, const npi_input *input);

/* q(z | graph): mu (d), log_sigma (d). Eq. (1)-(4). */
void npi_net_encode(npi_net *net, real *mu, real *log_sigma, const npi_params *params, const npi_features *x,
                    const npi_adj *graph);

#endif
