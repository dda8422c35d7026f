/* Files that are mapped into memory, read-only. Reference-counted: whatever points into a file holds a reference. Its
 * pages are shared with every other process that maps it. The file must not be changed while it is mapped; replacing it
 * by another of the same name does no harm. */
#ifndef NPI_BASE_MAPPING_H
#define NPI_BASE_MAPPING_H

#include "base/env.h"

typedef struct npi_mapping {
    npgnn_env env;
    int references;
    unsigned char *bytes; /* aligned to a page; NULL where the file is empty. Writing to them ends the process. */
    size_t size;
} npi_mapping;

/* Maps a regular file, with one reference. E_IO where it cannot be opened or mapped. */
int npi_mapping_open(npi_mapping **out, const char *path, const npgnn_env *env, npgnn_error *err);

/* Adds a reference and returns the mapping. npi_mapping_free drops one, and the last one unmaps the file; NULL is
 * allowed. */
npi_mapping *npi_mapping_share(npi_mapping *mapping);
void npi_mapping_free(npi_mapping *mapping);

#endif
