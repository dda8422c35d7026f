/* Calibration of a model that is being trained, in the memory that its validation has anyway. */
#ifndef NPI_TRAIN_CALIBRATE_H
#define NPI_TRAIN_CALIBRATE_H

#include "graph/split.h"
#include "model/embedder.h"
#include "model/model.h"

/* Calibrates `model` on the validation links of `split`. The embedder was made for what the split knows, x are the
 * features of that; both have the rows of this process, and `rows` says how they are divided. E_ARGUMENT without links
 * or non-links, E_DIVERGED if a score is not finite: both leave the model as it was. */
int npi_calibrate(npgnn_model *model, const npgnn_split *split, npi_embedder embedder, npi_features *x,
                  const npi_partition *rows, const npgnn_env *env, npgnn_error *err);

/* npgnn_model_calibrate, for the tables of the kinds (model/kind.h). */
int npi_network_calibrate(npgnn_model *model, const npgnn_split *split, const npgnn_env *env, npgnn_error *err);
int npi_process_calibrate(npgnn_model *model, const npgnn_split *split, const npgnn_env *env, npgnn_error *err);

#endif
