#include "store/checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "io/atomic.h"
#include "io/stream.h"
#include "linalg/blas.h"

#define FILE_LIMIT (SIZE_MAX / 4)

static void put(FILE *file, uint64_t *sum, const void *bytes, size_t size)
{
    *sum = npi_hash_bytes(*sum, bytes, size);
    fwrite(bytes, 1, size, file);
}

static int put_numerics(json_t *metadata)
{
    char mine[NPI_NUMERICS_SIZE];
    npi_blas_numerics(mine);
    return json_object_set_new(metadata, "numerics", json_string(mine));
}

int npi_checked_write(const char *path, json_t *metadata, const npi_safetensor *tensors, const real *const *values,
                      int count, npgnn_error *err)
{
    npi_atomic out;
    int failed = !metadata || put_numerics(metadata);
    char *header = failed ? NULL : npi_safetensors_make_header(metadata, tensors, count + 1);
    if (failed)
        json_decref(metadata);
    if (!header)
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory while writing %s", path);
    int code = npi_atomic_open(&out, path) ? npi_fail_errno(err, "write", path) : 0;
    if (!code) {
        uint64_t sum = NPI_HASH_START, length = strlen(header);
        put(out.file, &sum, &length, sizeof length);
        put(out.file, &sum, header, (size_t)length);
        for (int i = 0; i < count; i++)
            if (tensors[i].rows > 0)
                put(out.file, &sum, values[i], npi_safetensor_bytes(&tensors[i]));
        fwrite(&sum, sizeof sum, 1, out.file);
        if (npi_atomic_replace(&out)) /* notices a write that failed */
            code = npi_fail_errno(err, "write", path);
    }
    free(header);
    return code;
}

/* FNV-1a detects every change of a single byte; a file that was truncated or changed otherwise passes with a
 * probability of about 2^-64. */
static int read_whole(unsigned char **bytes, size_t *size, const char *path, const npgnn_env *env, npgnn_error *err)
{
    npi_stream *stream = NULL;
    uint64_t sum = 0;
    int code = npi_stream_open(&stream, path, env, err);
    if (!code)
        code = npi_stream_read_all(bytes, size, stream, FILE_LIMIT, err);
    npi_stream_close(stream);
    if (code)
        return code;
    if (*size >= sizeof sum)
        memcpy(&sum, *bytes + *size - sizeof sum, sizeof sum);
    if (*size >= sizeof sum && npi_hash_bytes(NPI_HASH_START, *bytes, *size - sizeof sum) == sum)
        return 0;
    npi_free(env, *bytes);
    *bytes = NULL;
    return npi_fail_at(err, NPGNN_E_FORMAT, path, 0, "not a checkpoint, or damaged: the checksum does not match");
}

/* Adds to a message that the previous checkpoint is intact, where it is. */
static void name_previous(npgnn_error *err, const char *path, const npgnn_env *env)
{
    char previous[NPI_PATH_SIZE];
    unsigned char *bytes = NULL;
    size_t size = 0, used = err ? strlen(err->text) : 0;
    if (!err || npi_atomic_previous_path(previous, path) || read_whole(&bytes, &size, previous, env, NULL))
        return;
    npi_free(env, bytes);
    snprintf(err->text + used, sizeof err->text - used, "; the previous checkpoint is intact: %s", previous);
}

int npi_checked_read(unsigned char **bytes, size_t *size, const char *path, const npgnn_env *env, npgnn_error *err)
{
    int code = read_whole(bytes, size, path, env, err);
    if (code == NPGNN_E_IO || code == NPGNN_E_FORMAT)
        name_previous(err, path, env);
    return code;
}

/* ---- what the bits depend on ---- */

void npi_checked_compare_numerics(const npi_safetensors *file, const npgnn_env *env)
{
    char mine[NPI_NUMERICS_SIZE];
    const char *its = npi_safetensors_get_text(file, "numerics");
    npi_blas_numerics(mine);
    if (its && strcmp(its, mine) != 0)
        npi_log(env,
                "warning: %s was written with other kernels (%.100s) than are in use here (%s): the resumed training "
                "will not "
                "give the same bits as an uninterrupted one",
                file->path, its, mine);
}
