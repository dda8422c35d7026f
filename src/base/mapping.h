/* Files that are mapped into memory. Reference-counted: whatever points into a file holds a reference.
 *
 *   a file of the user    read-only: its pages are shared with every other process that maps it. It must not be changed while it is
 *                         mapped; replacing it by another of the same name does no harm.
 *   a temporary file      an array that is larger than memory should hold. Whoever writes and reads it in order needs little memory,
 *                         because the system moves its pages to the disk. */
#ifndef NPI_BASE_MAPPING_H
#define NPI_BASE_MAPPING_H

#include "base/env.h"

typedef struct npi_mapping {
    npgnn_env env;
    int references;
    unsigned char *
        bytes; /* aligned to a page; NULL where the file is empty. Writing to those of a user's file ends the process. */
    size_t size;
    int fd;       /* of a temporary file; -1: the file is the user's */
    char *folder; /* of a temporary file, for messages */
} npi_mapping;

/* Maps a regular file, with one reference. E_IO where it cannot be opened or mapped. */
int npi_mapping_open(npi_mapping **out, const char *path, const npgnn_env *env, npgnn_error *err);

/* Adds a reference and returns the mapping. npi_mapping_free drops one, and the last one unmaps the file; NULL is
 * allowed. */
npi_mapping *npi_mapping_share(npi_mapping *mapping);
void npi_mapping_free(npi_mapping *mapping);

/* ---- temporary files ---- */

/* Where arrays that grow beyond `limit` bytes are kept. */
typedef struct npi_spill {
    const char *folder; /* for temporary files; NULL: arrays stay in memory, whatever their size */
    size_t limit;
} npi_spill;

/* An empty temporary file in `folder`, with one reference. It has no name, so that nothing is left of it, whatever ends
 * the process. */
int npi_mapping_new(npi_mapping **out, const char *folder, const npgnn_env *env, npgnn_error *err);

/* Gives a temporary file `size` bytes; new ones are zero. `bytes` may move. The disk space is reserved here: E_IO where
 * it is full. */
int npi_mapping_resize(npi_mapping *mapping, size_t size, npgnn_error *err);

/* Gives the memory of the pages back, which are read again when they are used. NULL is allowed. */
void npi_mapping_release(const npi_mapping *mapping);

/* npi_grow for an array that moves into a temporary file, *file, when it exceeds spill->limit; *file is NULL before
 * that. The caller frees the file, or else the items (npi_mapping_drop). */
int npi_mapping_grow(npi_mapping **file, void *items_pointer, size_t *capacity, size_t count, size_t size,
                     const npi_spill *spill, const npgnn_env *env, npgnn_error *err);
void npi_mapping_drop(npi_mapping *file, void *items, const npgnn_env *env);

#endif
