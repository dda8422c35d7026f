/* Files that end with a checksum of all bytes before it (FNV-1a), so that damage is noticed; and that keep the previous
 * version beside them (io/atomic.h). */
#ifndef NPI_STORE_CHECKED_H
#define NPI_STORE_CHECKED_H

#include "base/env.h"
#include "linalg/real.h"
#include "store/safetensors.h"

/* Writes a safetensors file: `count` tensors and, after them in the list, the checksum of all bytes before it. Adds to
 * the metadata what the bits of a training depend on (npi_blas_numerics), and takes ownership of it; NULL: memory is
 * out. */
int npi_checked_write(const char *path, json_t *metadata, const npi_safetensor *tensors /* (count + 1) */,
                      const real *const *values, int count, npgnn_error *err);

/* Reads a file and verifies its checksum. E_FORMAT where that does not match; the message then names the previous file,
 * if that is intact. The caller frees the bytes. */
int npi_checked_read(unsigned char **bytes, size_t *size, const char *path, const npgnn_env *env, npgnn_error *err);

/* A warning to the log where a checkpoint was written with other numerics than those here, because the rest of the
 * training then does not give the bits that it would have given. */
void npi_checked_compare_numerics(const npi_safetensors *file, const npgnn_env *env);

#endif
