/* Calibration of a model that is being trained, in the memory that its validation has anyway. */
#ifndef NPI_TRAIN_CALIBRATE_H
#define NPI_TRAIN_CALIBRATE_H

#include "graph/split.h"
#include "model/embedder.h"
#include "model/model.h"

/* Calibrates `model` on the validation links of `split`. Embedder and evidence were made for what the split knows;
 * evidence has at least the columns that the model weighs. E_ARGUMENT without links or non-links, E_DIVERGED if a score
 * is not finite: both leave the model as it was. */
int npi_calibrate(npgnn_model *model, const npgnn_split *split, npi_embedder embedder, npi_evidence evidence,
                  const npgnn_env *env, npgnn_error *err);

#endif
