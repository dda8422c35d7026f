/* What training finds besides the parameters: how to turn embeddings and evidence into a score, and a score into a
 * probability. The options say what to look for; this is what was found.
 *
 *     score(i, j) = shift + own u_i · u_j + Σ_c weight_c column_c(i, j)          (evidence/evidence.h)
 *         shift: the intercept, own: the weight of the embeddings; "intercept" and "embeddings" in files and for people
 *     log-odds    = f(score) + log(rate / (1 - rate))                             (model/calibration.h) */
#ifndef NPI_MODEL_SCORER_H
#define NPI_MODEL_SCORER_H

#include "evidence/evidence.h"
#include "model/calibration.h"

typedef struct npi_scorer {
    npi_weights weights;
    int calibrated;              /* 1: `calibration` was fitted; 0: it is what the training objective implies */
    npi_calibration calibration; /* f, without a rate */
} npi_scorer;

#endif
