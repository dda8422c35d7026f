/* Features of which each iteration sees only a random part (docs/understand/math.md, eq. (16)). */
#ifndef NPI_FEATURES_DROPOUT_H
#define NPI_FEATURES_DROPOUT_H

#include "features/features.h"

/* Some of the entries of the features, and of their transpose. */
typedef struct npi_dropout {
    const npi_features *whole;
    npi_features view;
} npi_dropout;

/* Room for any draw from x, which has its transpose and must outlive this. */
int npi_dropout_new(npi_dropout *out, const npi_features *x, const npgnn_env *env, npgnn_error *err);
void npi_dropout_free(const npgnn_env *env, npi_dropout *dropout);

/* Fills the view: each entry is left out with probability `share`, and otherwise divided by 1 - share, so that the mean is x. A pure
 * function of (seed, draw). */
void npi_dropout_draw(npi_dropout *dropout, double share, uint64_t seed, uint32_t draw, int threads);

#endif
