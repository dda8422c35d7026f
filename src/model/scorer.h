/* What training finds besides the parameters: what a score means as a probability,
 *
 *     log-odds = f(score) + log(rate / (1 - rate))          (model/calibration.h) */
#ifndef NPI_MODEL_SCORER_H
#define NPI_MODEL_SCORER_H

#include "model/calibration.h"

typedef struct npi_model_scorer {
    int calibrated;              /* 1: `calibration` was fitted; 0: it is what the training objective implies */
    npi_calibration calibration; /* f, without a rate */
} npi_model_scorer;

#endif
