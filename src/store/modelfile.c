/* Model files: safetensors, whose metadata say by "format" which kind of model it is (networkfile.c, processfile.c). */
#include "store/modelfile.h"

#include <stdlib.h>
#include <string.h>

#include "io/atomic.h"
#include "model/model.h"
#include "store/safetensors.h"

#define FILE_LIMIT (SIZE_MAX / 4)

int npgnn_model_save(const npgnn_model *model, const char *path, npgnn_error *err)
{
    npi_atomic out;
    char *text = model->kind->header(model);
    if (!text)
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory while writing %s", path);
    int code = npi_atomic_open(&out, path) ? npi_fail_errno(err, "write", path) : 0;
    if (!code) {
        uint64_t length = strlen(text);
        fwrite(&length, sizeof length, 1, out.file);
        fwrite(text, 1, (size_t)length, out.file);
        code = model->kind->write_tensors(out.file, model, err);
        if (code)
            npi_atomic_abort(&out);
        else if (npi_atomic_commit(&out)) /* notices a write that failed */
            code = npi_fail_errno(err, "write", path);
    }
    free(text);
    return code;
}

/* The kind that the file names; the first one where it names none, whose reader then says so. */
static const npi_model_kind *kind_of(const npi_safetensors *file)
{
    const char *format = npi_safetensors_get_text(file, "format");
    const npi_model_kind *kind;
    for (int i = 0; (kind = npi_model_kind_at(i)) != NULL; i++)
        if (format && strcmp(format, kind->format) == 0)
            return kind;
    return npi_model_kind_at(0);
}

static int read_file(npgnn_model **out, const char *path, const unsigned char *bytes, size_t size, const npgnn_env *env,
                     npgnn_error *err)
{
    npi_safetensors file = {.path = path, .expected = "an npgnn model", .err = err};
    int code = npi_safetensors_open(&file, bytes, size);
    if (!code)
        code = kind_of(&file)->read(out, &file, env);
    npi_safetensors_close(&file);
    return code;
}

int npi_model_read(npgnn_model **out, npi_stream *stream, npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    unsigned char *bytes = NULL;
    size_t size = 0;
    int code = npi_stream_read_all(&bytes, &size, stream, FILE_LIMIT, err);
    if (!code)
        code = read_file(out, npi_stream_name(stream), bytes, size, env, err);
    npi_free(env, bytes);
    return code;
}

int npgnn_model_load(npgnn_model **out, const char *path, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npi_stream *stream = NULL;
    int code = npi_stream_open(&stream, path, &resolved, err);
    if (!code)
        code = npi_model_read(out, stream, err);
    npi_stream_close(stream);
    return code;
}

/* The shipped process, compiled in: models/universal.safetensors. */
extern const unsigned char npi_universal[];
extern const size_t npi_universal_size;

int npgnn_model_universal(npgnn_model **out, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    return read_file(out, "universal", npi_universal, npi_universal_size, &resolved, err);
}
