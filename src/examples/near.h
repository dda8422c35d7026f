/* Pairs without a link that are near each other. Few random pairs score as high as links do, and in a large graph a sample has
 * none of the pairs that a search finds first. So pairs are also drawn at the two ends of random walks, and each pair of the
 * sample stands for as many pairs of the graph as its weight says:
 *
 *     weight = 1 / (r + Σ_t a_t q_t),    q_t(i, j) = (P^t_ij + P^t_ji) / s = lift_t(i, j) (d_i + d_j) / 2m s
 *
 * r   uniform draws per pair that can be drawn,
 * a_t walks of t = 2 and 3 steps from a random one of s nodes, including those whose ends were not two nodes without a link.
 *
 * A sum over the sample with these weights has the expectation of the sum over all pairs that can be drawn, whichever part
 * of the sample a pair is in (the balance heuristic of Veach and Guibas 1995). */
#ifndef NPI_EXAMPLES_NEAR_H
#define NPI_EXAMPLES_NEAR_H

#include "base/rng.h"
#include "evidence/table.h"
#include "graph/negative.h"

enum { NPI_NEAR_STEPS = 2 }; /* kinds of walks: of 2 and of 3 steps */

typedef struct npi_near {
    const npgnn_graph *known;         /* the links to walk on */
    const npi_candidate_pairs *pairs; /* to draw: both ends have the role `own`, and at least one link of `known` */
    double uniform;                   /* r */
    double walks[NPI_NEAR_STEPS];     /* a_t */
    double starts;                    /* s */
} npi_near;

/* Draws up to `count` pairs into out, and notes in `near` how. Returns how many: fewer where walks seldom end in a pair that
 * can be drawn. E_MEMORY. */
int npi_near_draw(npgnn_pair *out, npi_near *near, int count, npi_rng *rng, const npgnn_env *env, npgnn_error *err);

/* The weight of a pair with this evidence (NPI_COLUMNS), as computed from the links of near->known, not standardized. */
double npi_near_weight(const npi_near *near, npgnn_pair pair, const float *evidence);

#endif
