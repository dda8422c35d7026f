/* From what the user calls the data to the files it is in. */
#ifndef NPI_IO_LOCATE_H
#define NPI_IO_LOCATE_H

#include "io/path.h"

typedef enum {
    NPI_FILES, /* as the paths below say, "" where there is none */
    NPI_PLANETOID,
    NPI_OGB, /* the same, but features and labels are bare numbers, and `count` is there */
} npi_location_kind;

typedef struct npi_location {
    npi_location_kind kind;
    char prefix[NPI_PATH_SIZE]; /* of Planetoid's files, without the dot */
    char edges[NPI_PATH_SIZE];
    char features[NPI_PATH_SIZE];
    char labels[NPI_PATH_SIZE];
    char nodes[NPI_PATH_SIZE], columns[NPI_PATH_SIZE]; /* names, one a line */
    char count[NPI_PATH_SIZE];                         /* the number of nodes */
} npi_location;

/* Finds the files of `data` (which may be NULL when options->edges is set). E_IO where there is nothing of that name, and
 * where it was looked for; E_FORMAT for a folder without a graph; E_ARGUMENT. */
int npi_location_find(npi_location *out, const char *data, const npgnn_load_options *options, npgnn_error *err);

#endif
