/* From scores to probabilities (docs/use/predict.md).
 *
 *   log-odds of a link = f(score) + log(rate / (1 - rate))
 *
 * f, which rises in straight pieces, is what the score says for or against a link; it does not depend on how many links there
 * are. The last term is what is known before any score: the share of the pairs asked about that are linked. */
#ifndef NPI_MODEL_CALIBRATION_H
#define NPI_MODEL_CALIBRATION_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"

enum { NPI_CALIBRATION_MOST = 7 }; /* pieces */

/* f(s) = offset + slope[0] min(s, knot[0]) + slope[1] (s - knot[0], within 0 .. knot[1] - knot[0]) + ... */
typedef struct npi_calibration {
    int pieces;
    double knot[NPI_CALIBRATION_MOST - 1]; /* (pieces - 1), ascending: where one piece ends and the next begins */
    double slope[NPI_CALIBRATION_MOST];    /* (pieces), none below 0 */
    double offset;
} npi_calibration;

static inline double npi_sigmoid(double log_odds)
{
    return 1 / (1 + exp(-log_odds));
}

static inline double npi_log_odds(double probability)
{
    return log(probability) - log1p(-probability);
}

/* The share of all pairs of n nodes that m links join, within (0, 1) whatever m is; 1/2 where there is nothing to count. */
double npi_link_rate(int32_t n, int64_t m);

/* What a score means before anything is fitted: the weighted likelihood is that of a world where half of all pairs are linked,
 * the plain one that of the training graph. */
npi_calibration npi_calibration_unfitted(npgnn_likelihood likelihood, double train_rate);

/* Fitted on labelled pairs, the first `positives` of `count` being links: the more there are of these, the more pieces. How many
 * non-links there are does not matter but for precision. A score that says nothing gives f = 0. */
int npi_calibration_fit(npi_calibration *out, const float *score, size_t positives, size_t count, const npgnn_env *env,
                        npgnn_error *err);

/* Whether it is one that npi_calibration_fit could have made: rising, finite, its knots in order. */
int npi_calibration_is_sound(const npi_calibration *calibration);

/* The same with a rate put into its offset. */
npi_calibration npi_calibration_at(npi_calibration calibration, double rate);

/* f(score), or the log-odds where the rate is in the offset. */
double npi_calibration_log_odds(const npi_calibration *calibration, double score);

/* The one way from a score to a probability, for a calibration that has its rate. */
static inline double npi_calibration_probability(const npi_calibration *calibration, double score)
{
    return npi_sigmoid(npi_calibration_log_odds(calibration, score));
}

#endif
