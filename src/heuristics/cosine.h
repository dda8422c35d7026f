/* Cosine of feature rows: the simplest guess at a link. */
#ifndef NPI_HEURISTICS_COSINE_H
#define NPI_HEURISTICS_COSINE_H

#include "features/features.h"

/* The cosines of one feature row with every row, 0 where one is zero, into score (n), given the lengths of all rows.
 * Sparse features need their transpose (npi_features_transpose). */
void npi_cosine_row(double *score, const npi_features *x, const double *norm, int32_t row);

/* Of several rows with every row, into cosine (count, n), on the calling thread. Dense features: through BLAS, `picked`
 * has room for (count, f). Sparse ones: by their transpose, `sum` (n) is zero before and after. */
void npi_cosine_rows(real *cosine, const npi_features *x, const double *norm, const int32_t *rows, int count,
                     real *picked, double *sum);

/* Of one pair. */
double npi_cosine_pair(const npi_features *x, const double *norm, npgnn_pair pair);

/* norm (n): the length of each row. */
void npi_cosine_norms(double *norm, const npi_features *x, int threads);

#endif
