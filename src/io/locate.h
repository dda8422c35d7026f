/* Finds the files of a graph from what the user calls it: a path, a prefix, a folder or the name of a data set. */
#ifndef NPI_IO_LOCATE_H
#define NPI_IO_LOCATE_H

#include "io/path.h"

typedef enum {
    NPI_FILES,     /* the files in the paths below */
    NPI_PLANETOID, /* PREFIX.allx and so on */
    NPI_OGB,       /* the files in the paths below; features and labels have no ids, and `count` is set */
} npi_location_kind;

/* Paths are "" where there is no such file. */
typedef struct npi_location {
    npi_location_kind kind;
    char prefix[NPI_PATH_SIZE]; /* of Planetoid files, without the dot */
    char edges[NPI_PATH_SIZE];
    char features[NPI_PATH_SIZE];
    char labels[NPI_PATH_SIZE];
    char nodes[NPI_PATH_SIZE], columns[NPI_PATH_SIZE]; /* names of nodes and of feature columns, one per line */
    char sides[NPI_PATH_SIZE];                         /* of the nodes of a two-sided graph, one per line */
    char target_features[NPI_PATH_SIZE];               /* of a two-sided graph */
    char encoding[NPI_PATH_SIZE];                      /* how the features were made from a table */
    char count[NPI_PATH_SIZE];                         /* the file with the number of nodes */
} npi_location;

/* Finds the files of `data`, which may be NULL where options->edges is set. E_IO where nothing has that name; the
 * message says where it was looked for. E_FORMAT for a folder without a graph or with several. E_ARGUMENT. */
int npi_location_find(npi_location *out, const char *data, const npgnn_load_options *options, npgnn_error *err);

#endif
