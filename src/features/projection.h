/* Two linear projections of the features, learnt from the links of a graph (examples/project.h):
 *
 *     u_i = Wᵀ x_i / |x_i|      and      q_i = Qᵀ x_i / |x_i|
 *
 * Two nodes whose features go together in this graph have u with a large inner product, even if they have no feature in
 * common. q is for neighbourhoods: it is (Âq)_i, a weighted sum of q over a node and its neighbours, whose inner products
 * tell links. */
#ifndef NPI_FEATURES_PROJECTION_H
#define NPI_FEATURES_PROJECTION_H

#include "features/features.h"

typedef struct npi_projection {
    int32_t f;    /* columns of the features */
    int width;    /* 0: none was learnt */
    real *weight; /* (f, width) W */
    real *around; /* (f, width) Q, behind W */
} npi_projection;

/* Numbers of W and Q together. */
static inline size_t npi_projection_count(const npi_projection *p)
{
    return 2 * (size_t)p->f * (size_t)p->width;
}

int npi_projection_new(npi_projection *out, int32_t f, int width, const npgnn_env *env, npgnn_error *err);
void npi_projection_free(const npgnn_env *env, npi_projection *projection);

/* inverse (n) = 1 / |x_i|, 0 for a node without features. */
void npi_features_inverse_lengths(real *inverse, const npi_features *x);

/* row (n, width) = x_i weight / |x_i| for all nodes; inverse (n) as above. */
void npi_projection_rows(real *row, const real *weight, int width, const npi_features *x, const real *inverse,
                         int threads);

#endif
