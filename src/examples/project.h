/* Learns projections of the features (features/projection.h) from known links. W, so that u_i · u_j + b is the log-odds of a
 * link between i and j:
 *
 *     loss = mean over links of softplus(-(u_i · u_j + b)) + mean over other pairs of softplus(u_i · u_j + b) + ½ λ |W|²
 *
 * with λ = 4 / links, and at most 0.001: the more links there are, the less W has to be held back. It is minimised by
 * 100 steps of Adam. A step has a third of the links in turn, 21,845 at most, and three times as many random pairs: all
 * (i, i + o), for a few random offsets o, which are as uniform as others, and read in order.
 *
 * Q likewise, with Â q in place of u, half of λ, and 150 steps. A link that Â contains would be told by itself, so that Â has
 * the links of the other parts. What was tried and what it gave is in docs/results/best.md. */
#ifndef NPI_EXAMPLES_PROJECT_H
#define NPI_EXAMPLES_PROJECT_H

#include "base/rng.h"
#include "features/projection.h"
#include "graph/graph.h"
#include "linalg/adj.h"

/* From the links and features of `graph`. A graph without features gives width 0. On a large graph a sample of its
 * nodes and links is enough for W; Q is W there. The same bits for any number of threads. E_CANCELLED, E_MEMORY. */
int npi_project(npi_projection *out, const npgnn_graph *graph, uint64_t seed, const npgnn_env *env, npgnn_error *err);

/* ---- a step, for the tests too ---- */

/* Divides the links `all` into the part that a step has to tell, and the others (known NULL: not wanted). The part of a
 * link is a function of its nodes and of rng. Both have memory for as many entries as there are links. */
void npi_project_hide(npi_csr *hidden, npi_csr *known, const npi_csr *all, int part, int parts, const npi_rng *rng);

typedef struct npi_project_pairs {
    const npi_csr *links;      /* (n, n) symmetric */
    const unsigned char *side; /* (n) of a two-sided graph: pairs join the sides. NULL: one-sided */
    int32_t uniform;           /* other pairs are (i, i + o) among the first so many nodes, round and round, */
    const int32_t *offset;     /* (offsets) for each of these o */
    int offsets;
} npi_project_pairs;

/* The loss of projections u (n, width), without decay, as a sum of n parts, one per node: its gradient du (n, width),
 * shift (n) parts of dloss / db, and loss (n) unless NULL. */
void npi_project_loss(real *du, double *shift, double *loss, const real *u, int width, double b,
                      const npi_project_pairs *pairs, int threads);

/* The same with Â q in place of u, for the gradient dq of q; smooth (n, width) is memory for it. */
void npi_project_loss_around(real *dq, double *shift, double *loss, real *smooth, const real *q, int width, double b,
                             const npi_adj *known, const npi_project_pairs *hidden, int threads);

#endif
