/* From what the user calls the data to the files it is in. */
#ifndef NPI_IO_LOCATE_H
#define NPI_IO_LOCATE_H

#include "base/error.h"

#define NPI_PATH 4096

typedef struct npi_location {
    int planetoid;         /* 1: `prefix` tells; 0: the files tell, "" where there is none */
    char prefix[NPI_PATH]; /* of Planetoid's files, without the dot */
    char edges[NPI_PATH];
    char features[NPI_PATH];
    char labels[NPI_PATH];
} npi_location;

/* Finds the files of `data` (which may be NULL when options->edges is set). E_IO where there is nothing of that name, and
 * where it was looked for; E_FORMAT for a folder without a graph; E_ARGUMENT. */
int npi_locate(npi_location *out, const char *data, const npgnn_load_options *options, npgnn_error *err);

#endif
