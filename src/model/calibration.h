/* From scores to probabilities (docs/use/predict.md).
 *
 *   log-odds of a link = f(score) + log(rate / (1 - rate))
 *   f(score) = g(score) + log(1 - h) - log(1 - h e^g(score)),   e^g(score) = density of links / density of unlinked pairs
 *
 * g is piecewise linear and rising: what the score says for or against a link. It does not depend on how many links
 * there are. rate is the fraction of the pairs in question that are linked. h is the share of links among the pairs that
 * are not known to be linked. Nobody can tell these from non-links, so that they are among the pairs that g was fitted to:
 * where h of all pairs are links and score as links do, h e^g of the pairs with a score are. Without it, f = g. */
#ifndef NPI_MODEL_CALIBRATION_H
#define NPI_MODEL_CALIBRATION_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"

enum { NPI_CALIBRATION_MOST = 12 }; /* pieces */

/* g(s) = offset + slope[0] min(s, knot[0]) + slope[1] (s - knot[0], within 0 .. knot[1] - knot[0]) + ... */
typedef struct npi_calibration {
    int pieces;
    double knot[NPI_CALIBRATION_MOST - 1]; /* (pieces - 1), ascending: where one piece ends and the next begins */
    double slope[NPI_CALIBRATION_MOST];    /* (pieces), none below 0 */
    double offset;
    double most_hidden; /* the largest h for which h e^g is below 1 for half of the links */
    double prior;       /* log-odds of the rate; 0 without one */
    double hidden;      /* h */
} npi_calibration;

static inline double npi_sigmoid(double log_odds)
{
    return 1 / (1 + exp(-log_odds));
}

static inline double npi_log_odds(double probability)
{
    return log(probability) - log1p(-probability);
}

/* m links as a fraction of all pairs of n nodes, strictly between 0 and 1; 1/2 where there are no pairs or no links. */
double npi_link_rate(int32_t n, int64_t m);

/* The same among a number of pairs that could be links: those across the sides of a two-sided graph. */
double npi_link_rate_among(double pairs, int64_t m);

/* The calibration that the training objective implies. Under the weighted likelihood sigmoid(score) is the probability
 * in a world where half of all pairs are linked; under the plain one, in the training graph. */
npi_calibration npi_calibration_unfitted(npgnn_likelihood likelihood, double train_rate);

/* Fits g on the scores of links (links) and of other pairs (others), each of which stands for so many (weight; NULL: all
 * for one). More links give more pieces. The ratio of links to others does not change g. For scores without information
 * g = 0. */
int npi_calibration_fit(npi_calibration *out, const float *link, size_t links, const float *other, const float *weight,
                        size_t others, const npgnn_env *env, npgnn_error *err);

/* Returns 1 if npi_calibration_fit could have produced it: rising, finite for every score, knots ascending; 0
 * otherwise. */
int npi_calibration_is_sound(const npi_calibration *calibration);

/* The calibration for pairs of which a share `rate` are links. `hidden`: the share of links among the pairs without a known
 * link, which is what g was fitted to; 0 where nobody has said. */
npi_calibration npi_calibration_at(npi_calibration calibration, double rate, double hidden);

/* f(score), or the log-odds of a link where a rate is set. */
double npi_calibration_log_odds(const npi_calibration *calibration, double score);

/* The derivative of npi_calibration_log_odds; at a knot, that of the piece below. */
double npi_calibration_slope(const npi_calibration *calibration, double score);

/* The probability of a link, for a calibration whose rate is set. Every probability comes from here. */
static inline double npi_calibration_probability(const npi_calibration *calibration, double score)
{
    return npi_sigmoid(npi_calibration_log_odds(calibration, score));
}

#endif
