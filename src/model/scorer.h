/* What training finds besides the parameters: what a score means as a probability,
 *
 *     log-odds = f(score) + log(rate / (1 - rate))          (model/calibration.h) */
#ifndef NPI_MODEL_SCORER_H
#define NPI_MODEL_SCORER_H

#include "model/calibration.h"

enum { NPI_RESAMPLED = 20 }; /* samples of the examples that were calibrated on */

typedef struct npi_model_scorer {
    int calibrated;              /* 1: `calibration` was fitted; 0: it is what the training objective implies */
    npi_calibration calibration; /* f, without a rate */
    int resampled;               /* 0, or NPI_RESAMPLED: */
    npi_calibration sample[NPI_RESAMPLED]; /* (resampled) fitted to samples of the examples with replacement */
} npi_model_scorer;

#endif
