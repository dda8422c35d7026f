/* Writes a file completely or not at all: to a temporary file in the same folder, fsync, rename, fsync of the
 * folder. */
#ifndef NPI_IO_ATOMIC_H
#define NPI_IO_ATOMIC_H

#include <stdio.h>

#include "io/path.h"

typedef struct npi_atomic {
    FILE *file; /* the caller writes to this */
    char path[NPI_PATH_SIZE];
    char temporary[NPI_PATH_SIZE]; /* path of the temporary file, "" while it has no name */
} npi_atomic;

int npi_atomic_open(npi_atomic *out, const char *path, npgnn_error *err);

/* Gives the file its final name. On failure, also of an earlier write, removes the temporary file. */
int npi_atomic_commit(npi_atomic *out, npgnn_error *err);

/* The same, but keeps the previous file as PATH.prev. */
int npi_atomic_replace(npi_atomic *out, npgnn_error *err);

/* The path of the previous file. Returns 0, or -1 where it is too long. */
int npi_atomic_previous_path(char previous[NPI_PATH_SIZE], const char *path);

/* Discards the temporary file. */
void npi_atomic_abort(npi_atomic *out);

#endif
