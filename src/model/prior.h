/* The attribute prior (docs/math.md, eq. (15)): score = u_i · u_j + weight cos(x_i, x_j), the weight fitted on labelled pairs. */
#ifndef NPI_MODEL_PRIOR_H
#define NPI_MODEL_PRIOR_H

#include <stddef.h>

#define NPI_PRIOR_MOST 50.0 /* a weight beyond it would be the cosine alone */

/* The weight w >= 0 for which score + w cosine explains best which of the pairs are links (the first `positives` of `count`):
 * the ratio of two coefficients of a logistic regression, by Newton's method. */
double npi_prior_fit(const float *score, const float *cosine, size_t positives, size_t count);

/* score += weight cosine */
void npi_prior_add(float *score, const float *cosine, size_t count, double weight);

#endif
