/* Reads a model file from a stream. The public functions are npgnn_model_load and npgnn_model_save. */
#ifndef NPI_STORE_MODELFILE_H
#define NPI_STORE_MODELFILE_H

#include "io/stream.h"

int npi_model_read(npgnn_model **out, npi_stream *stream, npgnn_error *err);

#endif
