/* Files of networks, for the table of the kind (model/kind.h). */
#ifndef NPI_STORE_NETWORKFILE_H
#define NPI_STORE_NETWORKFILE_H

#include "model/model.h"
#include "store/safetensors.h"

#define NPI_NETWORK_FORMAT "npgnn-model"

int npi_network_read(npgnn_model **out, const npi_safetensors *file, const npgnn_env *env);
char *npi_network_header(const npgnn_model *model);
int npi_network_write_tensors(FILE *file, const npgnn_model *model, npgnn_error *err);

#endif
