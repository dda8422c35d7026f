/* Files that end with a checksum of all bytes before it (FNV-1a), so that damage is noticed; and that keep the previous
 * version beside them (io/atomic.h). */
#ifndef NPI_STORE_CHECKED_H
#define NPI_STORE_CHECKED_H

#include <stdint.h>
#include <stdio.h>

#include "base/env.h"
#include "store/safetensors.h"

/* Writes bytes and adds them to the sum, which starts as NPI_HASH_START. npi_atomic_replace reports a failed write. */
void npi_checked_put(FILE *file, uint64_t *sum, const void *bytes, size_t size);

/* Reads a file and verifies its checksum. E_FORMAT where that does not match; the message then names the previous file,
 * if that is intact. The caller frees the bytes. */
int npi_checked_read(unsigned char **bytes, size_t *size, const char *path, const npgnn_env *env, npgnn_error *err);

/* What the bits of a training depend on (npi_blas_numerics), in the metadata of a checkpoint; and a warning to the log
 * where they are others here, because the rest of the training then does not give the bits that it would have given.
 * put returns -1 where memory is out. */
int npi_checked_put_numerics(json_t *metadata);
void npi_checked_compare_numerics(const npi_safetensors *file, const npgnn_env *env);

#endif
