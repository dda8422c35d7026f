/* Short walks: how much likelier a walk of t steps from i ends in j than a random end of a link is j,
 *
 *     lift_t(i, j) = P^t_ij / (d_j / 2m),    P = D⁻¹ A,    m links.
 *
 * It is symmetric in i and j. lift_2 is resource allocation over d_i d_j, lift_3 the "L3" score. With K_t(i, j) =
 * P^t_ij / d_j,
 *
 *     K_2(i, j) = Σ_x P_ix P_jx / d_x,   K_3 = Σ_x P²_ix P_jx / d_x,   K_4 = Σ_x P²_ix P²_jx / d_x,
 *
 * so two steps from either end are enough. */
#ifndef NPI_EVIDENCE_WALKS_H
#define NPI_EVIDENCE_WALKS_H

#include "linalg/sparse.h"

enum { NPI_WALK_LIFTS = 3 }; /* t = 2, 3, 4 */

/* Walks between two nodes. */
typedef struct npi_walks {
    int64_t common;              /* neighbours in common */
    double lift[NPI_WALK_LIFTS]; /* lift_2, lift_3, lift_4 */
} npi_walks;

/* Memory of one thread. */
typedef struct npi_walker {
    const npi_csr *a;
    double *inverse; /* (n) 1 / d_i, 0 without links: shared, borrowed */
    /* (n) how many nodes two steps from each reach, -1: not counted yet; shared, borrowed */
    int32_t *two_steps;
    double *two;          /* (n) P² from `source`, 0 where two steps do not lead */
    int32_t *reached;     /* (count) the nodes where they lead, in the order they were reached, */
    uint64_t *is_reached; /* (n) and the same as bits, which stay in the nearest cache */
    int32_t count;
    int32_t source;  /* node that `two` and `reached` belong to; -1: none */
    double *meeting; /* (n) P² from the other end of a pair, where the first one's is not 0; zeros between two pairs */
    uint64_t *seen;  /* (n) bits; zeros between two counts */
    int32_t *listed; /* (n) nodes that three steps reach */
} npi_walker;

/* inverse (n) and two_steps (n) must outlive the walker. Memory for a graph of up to `capacity` nodes. */
int npi_walker_new(npi_walker *out, const npi_csr *a, double *inverse, int32_t *two_steps, int32_t capacity,
                   const npgnn_env *env, npgnn_error *err);
void npi_walker_free(const npgnn_env *env, npi_walker *walker);

/* The walks between two nodes. O(links of the neighbours of both ends). The same bits for (u, v) as for (v, u). */
npi_walks npi_walks_pair(npi_walker *walker, npgnn_pair pair);

/* The walks from one node to all: common (n), lift (3, n). Up to rounding those of npi_walks_pair. O(n + links) at
 * worst. */
void npi_walks_row(float *common, double *lift, npi_walker *walker, int32_t node);

/* The same with the nodes first to last - 1 alone: common (last - first), lift (3, last - first). O(last - first +
 * links of these) and the links that three steps lead along. */
void npi_walks_part(float *common, double *lift, npi_walker *walker, int32_t node, int32_t first, int32_t last);

#endif
