/* A scorer as JSON: what model files and checkpoints keep of what training found.
 *
 *   {"calibration": {"offset": -0.3, "slopes": [...], "knots": [...], "most-hidden": 0.01}, "samples": [...]}
 *
 * "samples" are NPI_RESAMPLED more calibrations, or are not there. Without "calibration", it is not calibrated. */
#ifndef NPI_STORE_SCORER_H
#define NPI_STORE_SCORER_H

#include <jansson.h>

#include "model/scorer.h"

/* NULL when memory is out. */
json_t *npi_model_scorer_json(const npi_model_scorer *scorer);

/* Returns 1, or 0 where the object is not a scorer. An uncalibrated one leaves scorer->calibration as it is. */
int npi_model_scorer_parse(npi_model_scorer *scorer, const json_t *object);

#endif
