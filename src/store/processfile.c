#include "store/processfile.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/columns.h"

#define FORMAT_VERSION "1"

enum { MEAN = NPI_PROCESS_TENSOR_COUNT, DEVIATION, TENSORS, MAX_SIZE = 256 };

static void list_tensors(npi_safetensor tensors[TENSORS], const npi_process *p)
{
    for (int i = 0; i < NPI_PROCESS_TENSOR_COUNT; i++) {
        npi_process_tensor t = npi_process_params_tensor(&p->params, i);
        tensors[i] = (npi_safetensor){t.name, "F32", t.rows, t.cols};
    }
    tensors[MEAN] = (npi_safetensor){"mean", "F32", 1, p->params.size.e};
    tensors[DEVIATION] = (npi_safetensor){"deviation", "F32", 1, p->params.size.e};
}

/* ---- writing ---- */

static char *header_text(const npgnn_model *model)
{
    npi_safetensor tensors[TENSORS];
    npi_process_sizes size = model->process.params.size;
    json_t *metadata = json_pack("{s:s, s:s, s:s}", "format", NPI_PROCESS_FORMAT, "format_version", FORMAT_VERSION,
                                 "npgnn_version", model->info.version);
    int failed = npi_safetensors_put_json(metadata, "process",
                                          json_pack("{s:i, s:i, s:i, s:i, s:i}", "columns", size.e, "feature_columns",
                                                    model->process.feature_columns, "hidden", size.h, "latent", size.d,
                                                    "steps", model->info.iterations));
    list_tensors(tensors, &model->process);
    if (!failed)
        return npi_safetensors_make_header(metadata, tensors, TENSORS);
    json_decref(metadata);
    return NULL;
}

int npi_process_write(const npgnn_model *model, const char *path, npgnn_error *err)
{
    const npi_process *p = &model->process;
    npi_atomic out;
    char *text = header_text(model);
    if (!text)
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory while writing %s", path);
    int code = npi_atomic_open(&out, path) ? npi_fail_errno(err, "write", path) : 0;
    if (!code) {
        uint64_t length = strlen(text);
        fwrite(&length, sizeof length, 1, out.file);
        fwrite(text, 1, (size_t)length, out.file);
        for (size_t i = 0; i < p->params.count; i++) { /* the tensors, in the order of the block */
            float value = (float)p->params.block[i];
            fwrite(&value, sizeof value, 1, out.file);
        }
        fwrite(p->mean, sizeof *p->mean, (size_t)p->params.size.e, out.file);
        fwrite(p->deviation, sizeof *p->deviation, (size_t)p->params.size.e, out.file);
        if (npi_atomic_commit(&out)) /* notices a write that failed */
            code = npi_fail_errno(err, "write", path);
    }
    free(text);
    return code;
}

/* ---- reading ---- */

/* Copies a tensor, which need not be aligned in the file. E_FORMAT for a number that is not finite. */
static int read_floats(float *out, const npi_safetensors *file, npi_range at, const char *name)
{
    size_t count = (at.end - at.begin) / sizeof *out;
    memcpy(out, file->data + at.begin, count * sizeof *out);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(out[i]))
            return npi_fail_at(file->err, NPGNN_E_FORMAT, file->path, 0, "tensor %s has a value that is not finite",
                               name);
    return 0;
}

static int read_tensors(npi_process *p, const npi_safetensors *file, const npgnn_env *env)
{
    npi_safetensor tensors[TENSORS];
    npi_range at[TENSORS];
    list_tensors(tensors, p);
    int code = npi_safetensors_locate(at, file, tensors, TENSORS);
    float *values = code ? NULL : npi_alloc(env, p->params.count, sizeof *values, file->err);
    if (!code && !values)
        code = NPGNN_E_MEMORY;
    for (int i = 0; !code && i < NPI_PROCESS_TENSOR_COUNT; i++) {
        npi_process_tensor t = npi_process_params_tensor(&p->params, i);
        code = read_floats(values, file, at[i], t.name);
        for (int c = 0; !code && c < t.rows * t.cols; c++)
            t.values[c] = (real)values[c];
    }
    if (!code)
        code = read_floats(p->mean, file, at[MEAN], "mean");
    if (!code)
        code = read_floats(p->deviation, file, at[DEVIATION], "deviation");
    for (int c = 0; !code && c < p->params.size.e; c++)
        if (!(p->deviation[c] > 0))
            code = npi_safetensors_refuse(file, "a unit of its evidence is not positive");
    npi_free(env, values);
    return code;
}

int npi_process_read(npgnn_model **out, const npi_safetensors *file, const npgnn_env *env)
{
    npi_process_sizes size = {0};
    int feature_columns = 0, steps = 0;
    int code = npi_safetensors_check_format(file, NPI_PROCESS_FORMAT, FORMAT_VERSION);
    if (code)
        return code;
    json_t *object = npi_safetensors_get_json(file, "process");
    if (json_unpack(object, "{s:i, s:i, s:i, s:i, s:i}", "columns", &size.e, "feature_columns", &feature_columns,
                    "hidden", &size.h, "latent", &size.d, "steps", &steps) ||
        size.h < 1 || size.h > MAX_SIZE || size.d < 1 || size.d > MAX_SIZE || steps < 0)
        code = npi_safetensors_refuse(file, "its sizes are missing or damaged");
    else if (size.e != NPI_COLUMNS || feature_columns != NPI_FEATURE_COLUMNS)
        code = npi_fail_at(file->err, NPGNN_E_FORMAT, file->path, 0,
                           "the process reads %d columns of evidence; this version computes %d", size.e, NPI_COLUMNS);
    json_decref(object);
    npi_process process = {0};
    if (!code)
        code = npi_process_new(&process, size, feature_columns, env, file->err);
    if (!code)
        code = read_tensors(&process, file, env);
    if (!code)
        code = npi_model_from_process(out, &process, env, file->err);
    npi_process_free(env, &process);
    if (!code) {
        (*out)->info.iterations = steps;
        snprintf((*out)->info.version, sizeof(*out)->info.version, "%s",
                 npi_safetensors_get_text(file, "npgnn_version"));
    }
    return code;
}
