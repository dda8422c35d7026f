/* Writing a file whole or not at all: a temporary beside it, fsync, rename, fsync of the folder. */
#ifndef NPI_IO_ATOMIC_H
#define NPI_IO_ATOMIC_H

#include <stdio.h>

#include "io/path.h"

typedef struct npi_atomic {
    FILE *file; /* write here */
    char path[NPI_PATH_SIZE];
    char temporary[NPI_PATH_SIZE]; /* "" while the file has no name at all */
} npi_atomic;

int npi_atomic_open(npi_atomic *out, const char *path, npgnn_error *err);

/* Makes the file appear under its name, or removes the temporary and says why not. */
int npi_atomic_commit(npi_atomic *out, npgnn_error *err);

/* The same, but what was there before stays as PATH.prev. */
int npi_atomic_replace(npi_atomic *out, npgnn_error *err);

/* That name. Returns 0, or -1 where it is too long. */
int npi_atomic_previous_path(char previous[NPI_PATH_SIZE], const char *path);

/* Gives up: removes the temporary. */
void npi_atomic_abort(npi_atomic *out);

#endif
