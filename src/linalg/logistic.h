/* Logistic regression of a few columns: small enough for Newton's method, robust enough for columns that say nothing, say the
 * same, or tell links and non-links apart without an error. */
#ifndef NPI_LINALG_LOGISTIC_H
#define NPI_LINALG_LOGISTIC_H

#include <stddef.h>

enum { NPI_LOGISTIC_MOST = 12 }; /* columns */

typedef struct npi_logistic {
    double shift;
    double slope[NPI_LOGISTIC_MOST];
    double loss; /* what they minimise */
} npi_logistic;

/* The shift and the slopes, none below 0, for which sig(shift + Σ slope_c x_c) explains best that the first `positives` of
 * `count` rows are 1 and the others 0; x[c] (count). The loss is the mean of -log likelihood plus ridge / 2 times the sum of
 * squares of the slopes, each times the spread of its column. A column that is constant gets 0; so does everything when a
 * class is empty. O(columns² count) for each of a few steps. */
npi_logistic npi_logistic_fit(const float *const *x, int columns, size_t positives, size_t count, double ridge);

#endif
