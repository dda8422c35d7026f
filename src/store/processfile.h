/* Files of processes learnt across graphs: safetensors with the parameters and the units of the evidence
 * (docs/use/formats.md). */
#ifndef NPI_STORE_PROCESSFILE_H
#define NPI_STORE_PROCESSFILE_H

#include "io/atomic.h"
#include "model/model.h"
#include "store/safetensors.h"

#define NPI_PROCESS_FORMAT "npgnn-process"

/* Reads the model from a file whose header is open. */
int npi_process_read(npgnn_model **out, const npi_safetensors *file, const npgnn_env *env);

/* Writes the model at `path`, atomically. */
int npi_process_write(const npgnn_model *model, const char *path, npgnn_error *err);

#endif
