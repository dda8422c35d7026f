/* Writing a file whole or not at all: a temporary beside it, fsync, rename, fsync of the folder. */
#ifndef NPI_IO_ATOMIC_H
#define NPI_IO_ATOMIC_H

#include <stdio.h>

#include "base/error.h"

typedef struct npi_atomic {
    FILE *file; /* write here */
    char path[4096], temporary[4096];
} npi_atomic;

int npi_atomic_open(npi_atomic *out, const char *path, npgnn_error *err);

/* Makes the file appear under its name, or removes the temporary and says why not. */
int npi_atomic_commit(npi_atomic *out, npgnn_error *err);

/* Gives up: removes the temporary. */
void npi_atomic_abort(npi_atomic *out);

#endif
