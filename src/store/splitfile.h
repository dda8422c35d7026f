/* Reads a split file from a stream. The public functions are npgnn_split_load and npgnn_split_save. */
#ifndef NPI_STORE_SPLITFILE_H
#define NPI_STORE_SPLITFILE_H

#include "graph/split.h"
#include "io/stream.h"

int npi_split_read(npgnn_split **out, npi_stream *stream, const npgnn_graph *graph, npgnn_error *err);

#endif
