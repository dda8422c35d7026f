/* Cosines of the feature rows of pairs. */
#ifndef NPI_TESTS_COSINES_H
#define NPI_TESTS_COSINES_H

#include <stdlib.h>

#include "heuristics/cosine.h"

static inline void score_cosines(float *score, const npi_features *x, const npgnn_pair *pairs, size_t count)
{
    double *norm = calloc((size_t)x->n, sizeof *norm);
    npi_cosine_norms(norm, x, 2);
    for (size_t i = 0; i < count; i++)
        score[i] = (float)npi_cosine_pair(x, norm, pairs[i]);
    free(norm);
}

#endif
