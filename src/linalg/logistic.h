/* Logistic regression on a few columns by Newton's method. It also works for columns without information, for equal
 * columns, and for columns that separate the two classes perfectly. */
#ifndef NPI_LINALG_LOGISTIC_H
#define NPI_LINALG_LOGISTIC_H

#include <stddef.h>

enum { NPI_LOGISTIC_MOST = 12 }; /* columns */

typedef struct npi_logistic {
    double shift;
    double slope[NPI_LOGISTIC_MOST];
    double loss; /* what they minimise */
} npi_logistic;

/* Fits sig(shift + Σ_c slope_c x_c), slopes >= 0, to rows of which the first `positives` of `count` are 1 and the
 * others 0; x[c] (count). Row p counts weight[p] times (NULL: once). Minimises the mean of -log likelihood plus ridge / 2 Σ_c (slope_c spread_c)². A constant
 * column gets the slope 0; if a class is empty, everything is 0. A few steps of O(columns² count) each. */
npi_logistic npi_logistic_fit(const float *const *x, const float *weight, int columns, size_t positives, size_t count,
                              double ridge);

#endif
