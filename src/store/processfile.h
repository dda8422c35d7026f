/* Files of processes learnt across graphs: safetensors with the parameters and the units of the evidence
 * (docs/use/formats.md). */
#ifndef NPI_STORE_PROCESSFILE_H
#define NPI_STORE_PROCESSFILE_H

#include "model/model.h"
#include "store/safetensors.h"

#define NPI_PROCESS_FORMAT "npgnn-process"

/* For the table of the kind (model/kind.h). */
int npi_process_read(npgnn_model **out, const npi_safetensors *file, const npgnn_env *env);
char *npi_process_header(const npgnn_model *model);
int npi_process_write_tensors(FILE *file, const npgnn_model *model, npgnn_error *err);

#endif
