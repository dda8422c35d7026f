/* The simplest guess: linked nodes have similar features. */
#ifndef NPI_BASELINES_COSINE_H
#define NPI_BASELINES_COSINE_H

#include "baselines/method.h"

/* score (count): the cosine of the feature rows of each pair, 0 where a row is zero. */
int npi_cosine_scores(float *score, const npi_features *x, const npgnn_pair *pairs, size_t count, const npgnn_env *env,
                      npgnn_error *err);

npi_method_fn npi_cosine_run;

#endif
