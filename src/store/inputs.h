/* What features a model reads, in the metadata of its file: the names of their columns, and how these were made from a
 * table. */
#ifndef NPI_STORE_INPUTS_H
#define NPI_STORE_INPUTS_H

#include "model/model.h"
#include "store/safetensors.h"

/* Returns 1 where memory is out. */
int npi_inputs_put(json_t *metadata, const npgnn_model *model);

/* Needs info.columns. E_FORMAT for what is damaged. */
int npi_inputs_read(npgnn_model *model, const npi_safetensors *file);

#endif
