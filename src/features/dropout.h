/* Feature dropout: each iteration uses a random subset of the entries of X (docs/understand/math.md, eq. (16)). */
#ifndef NPI_FEATURES_DROPOUT_H
#define NPI_FEATURES_DROPOUT_H

#include "features/features.h"

/* X, and the entries of it (and of Xᵀ) that the latest draw kept. */
typedef struct npi_dropout {
    const npi_features *whole;
    npi_features view;
    int both;     /* 0: the view has X or Xᵀ, in the same memory, if they are sparse */
    double share; /* of the latest draw, and its seed and number */
    uint64_t seed;
    uint32_t draw;
} npi_dropout;

/* Allocates for any draw from x. x must have its transpose and must outlive this. Without `both`, a draw is of X, and
 * npi_dropout_turn makes it one of Xᵀ: an iteration needs one after the other, and sparse features are large. */
int npi_dropout_new(npi_dropout *out, const npi_features *x, int both, const npgnn_env *env, npgnn_error *err);
void npi_dropout_free(const npgnn_env *env, npi_dropout *dropout);

/* Fills the view: each entry is dropped with probability `share` and otherwise divided by 1 - share, so that the
 * expectation is x. A pure function of (seed, draw); the same for any number of threads. */
void npi_dropout_draw(npi_dropout *dropout, double share, uint64_t seed, uint32_t draw, int threads);

/* Fills the view with Xᵀ of the latest draw, in place of X. Does nothing where it has both. */
void npi_dropout_turn(npi_dropout *dropout, int threads);

#endif
