/* Files that end with a checksum of all bytes before it (FNV-1a), so that damage is noticed; and that keep the previous
 * version beside them (io/atomic.h). */
#ifndef NPI_STORE_CHECKED_H
#define NPI_STORE_CHECKED_H

#include <stdint.h>
#include <stdio.h>

#include "base/env.h"

/* Writes bytes and adds them to the sum, which starts as NPI_HASH_START. npi_atomic_replace reports a failed write. */
void npi_checked_put(FILE *file, uint64_t *sum, const void *bytes, size_t size);

/* Reads a file and verifies its checksum. E_FORMAT where that does not match; the message then names the previous file,
 * if that is intact. The caller frees the bytes. */
int npi_checked_read(unsigned char **bytes, size_t *size, const char *path, const npgnn_env *env, npgnn_error *err);

#endif
