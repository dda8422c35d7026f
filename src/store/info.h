/* Where a model comes from (npgnn_model_info), as JSON in model files. */
#ifndef NPI_STORE_INFO_H
#define NPI_STORE_INFO_H

#include "store/safetensors.h"

/* NULL when memory is out. */
json_t *npi_info_json(const npgnn_model_info *info);

/* From the metadata "info" and "npgnn_version" of a file. E_FORMAT. */
int npi_info_read(npgnn_model_info *info, const npi_safetensors *file);

#endif
