/* Which column of evidence moved the log-odds of a pair, and by how much: integrated gradients (Sundararajan et al.
 * 2017) of the calibrated head along the straight line from other evidence.
 *
 *     share_i = (to_i - from_i) ∫ ∂/∂e_i f(s(e(t))) dt,    e(t) = from + t (to - from),    t from 0 to 1
 *     Σ share_i = f(s(to)) - f(s(from))
 *
 * s is the head (process/head.h) and f the calibration (model/calibration.h). s is piecewise linear, so that ∂s/∂e_i is
 * constant between the values of t at which a unit changes, and the mean of f' there is the slope of a chord of f. The
 * integral is summed over these intervals: it is exact, up to rounding. */
#ifndef NPI_PREDICT_ATTRIBUTION_H
#define NPI_PREDICT_ATTRIBUTION_H

#include "model/calibration.h"
#include "process/head.h"

/* Adds the shares (e) to `share`, and f(s(from)) and f(s(to)) to `start` and `end`. from, to (e): standardised
 * evidence. O(h²) operations per interval; there are a few dozen, fewer than (h + 1)². */
void npi_attribute(double *share, double *start, double *end, const npi_head *head, const npi_calibration *calibration,
                   const double *from, const double *to);

#endif
