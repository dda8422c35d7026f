/* Model files: safetensors, that is a 64-bit length, a JSON header of that length, then the tensors (docs/formats.md). */
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/atomic.h"
#include "io/stream.h"
#include "model/model.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "safetensors are little-endian, and so must the machine be"
#endif

#define FORMAT "npgnn-model"
#define FORMAT_VERSION "1"
#define HEADER_LIMIT (100u << 20)
#define FILE_LIMIT (SIZE_MAX / 4)

/* ---- tensors of a model: its parameters, then the distribution of z ---- */

enum { Z_MEAN = NPI_TENSORS, Z_LOG_SIGMA, TENSORS };

static npi_tensor tensor_of(const npgnn_model *model, int index)
{
    int32_t d = model->params.size.d;
    npi_tensor z[2] = {{"z_mean", d > 0, d}, {"z_log_sigma", d > 0, d}};
    return index < NPI_TENSORS ? npi_params_tensor(&model->params, index) : z[index - Z_MEAN];
}

static size_t tensor_bytes(npi_tensor t)
{
    return (size_t)t.rows * (size_t)t.cols * sizeof(float);
}

static void tensor_read(float *out, const npgnn_model *model, int index)
{
    int d = model->params.size.d;
    if (index < NPI_TENSORS)
        npi_params_read(out, &model->params, index);
    else
        for (int c = 0; c < d; c++)
            out[c] = (float)model->q[(index - Z_MEAN) * d + c];
}

static void tensor_write(npgnn_model *model, int index, const float *in)
{
    int d = model->params.size.d;
    if (index < NPI_TENSORS)
        npi_params_write(&model->params, index, in);
    else
        for (int c = 0; c < d; c++)
            model->q[(index - Z_MEAN) * d + c] = (real)in[c];
}

/* ---- writing ---- */

static json_t *options_json(const npgnn_options *options)
{
    json_t *object = json_object();
    npgnn_option_info option;
    char value[64];
    for (int i = 0; npgnn_options_info(&option, i); i++) {
        npgnn_options_get(value, sizeof value, options, option.key, NULL);
        json_object_set_new(object, option.key, json_string(value));
    }
    return object;
}

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *info_json(const npgnn_model_info *info)
{
    char fingerprint[17];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, info->fingerprint);
    return json_pack("{s:i, s:i, s:s, s:i, s:I, s:b, s:b, s:o, s:o}", "columns", (int)info->columns, "iterations",
                     info->iterations, "fingerprint", fingerprint, "train_nodes", (int)info->train_nodes, "train_edges",
                     (json_int_t)info->train_edges, "normalize", info->normalize, "binarize", info->binarize, "val_auc",
                     real_or_null(info->val_auc), "val_ap", real_or_null(info->val_ap));
}

/* NULL where memory is out. */
static json_t *columns_json(const npi_names *columns)
{
    json_t *array = json_array();
    int failed = 0;
    for (int32_t i = 0; i < npi_names_count(columns); i++)
        failed |= json_array_append_new(array, json_string(npi_names_get(columns, i)));
    if (!failed)
        return array;
    json_decref(array);
    return NULL;
}

/* safetensors allows only strings in its metadata, so objects go in as their text. */
static int set_text(json_t *object, const char *key, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    int failed = !text || json_object_set_new(object, key, json_string(text));
    json_decref(value);
    free(text);
    return failed;
}

/* The header as text, for the caller to free; NULL when memory is out. */
static char *header_text(const npgnn_model *model)
{
    size_t offset = 0;
    json_t *header = json_object();
    json_t *metadata = json_pack("{s:s, s:s, s:s}", "format", FORMAT, "format_version", FORMAT_VERSION, "npgnn_version",
                                 model->info.version);
    int failed = set_text(metadata, "options", options_json(&model->options));
    failed |= set_text(metadata, "info", info_json(&model->info));
    if (model->columns)
        failed |= set_text(metadata, "columns", columns_json(model->columns));
    failed |= json_object_set_new(header, "__metadata__", metadata);
    for (int i = 0; i < TENSORS; i++) {
        npi_tensor t = tensor_of(model, i);
        size_t bytes = tensor_bytes(t);
        if (bytes == 0)
            continue;
        json_t *shape = t.rows == 1 ? json_pack("[i]", (int)t.cols) : json_pack("[i, i]", (int)t.rows, (int)t.cols);
        failed |= json_object_set_new(header, t.name,
                                      json_pack("{s:s, s:o, s:[I, I]}", "dtype", "F32", "shape", shape, "data_offsets",
                                                (json_int_t)offset, (json_int_t)(offset + bytes)));
        offset += bytes;
    }
    char *text = failed ? NULL : json_dumps(header, JSON_COMPACT);
    json_decref(header);
    return text;
}

static int write_tensors(FILE *file, const npgnn_model *model, npgnn_error *err)
{
    size_t largest = 0;
    for (int i = 0; i < TENSORS; i++)
        if (tensor_bytes(tensor_of(model, i)) > largest)
            largest = tensor_bytes(tensor_of(model, i));
    float *values = npi_alloc(&model->env, largest, 1, err);
    if (!values)
        return NPGNN_E_MEMORY;
    for (int i = 0; i < TENSORS; i++) {
        tensor_read(values, model, i);
        fwrite(values, 1, tensor_bytes(tensor_of(model, i)), file); /* the commit notices a failure */
    }
    npi_free(&model->env, values);
    return 0;
}

/* The header is padded with spaces so that the tensors begin at a multiple of 8. */
static void write_header(FILE *file, const char *text)
{
    uint64_t length = strlen(text), padded = (length + 7) / 8 * 8;
    fwrite(&padded, sizeof padded, 1, file);
    fprintf(file, "%s%*s", text, (int)(padded - length), "");
}

int npgnn_model_save(const npgnn_model *model, const char *path, npgnn_error *err)
{
    npi_atomic out;
    char *text = header_text(model);
    if (!text)
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory while writing %s", path);
    int code = npi_atomic_open(&out, path, err);
    if (!code) {
        write_header(out.file, text);
        code = write_tensors(out.file, model, err);
        if (code)
            npi_atomic_abort(&out);
        else
            code = npi_atomic_commit(&out, err);
    }
    free(text);
    return code;
}

/* ---- reading ---- */

typedef struct reader {
    const char *path;
    const unsigned char *data; /* the tensors */
    size_t data_size;
    json_t *header;
    npgnn_error *err;
} reader;

static int refuse(const reader *r, const char *what)
{
    return npi_fail_at(r->err, NPGNN_E_FORMAT, r->path, 0, "not a model of npgnn: %s", what);
}

static int read_options(npgnn_options *options, json_t *object, const reader *r)
{
    npgnn_error why = {0};
    npgnn_options_preset(options, NULL, NULL);
    if (!json_is_object(object))
        return refuse(r, "its options are damaged");
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *value = json_string_value(json_object_iter_value(at));
        if (npgnn_options_set(options, json_object_iter_key(at), value ? value : "", &why))
            return npi_fail_at(r->err, NPGNN_E_FORMAT, r->path, 0, "an option that this version does not know: %.200s",
                               why.text);
    }
    return 0;
}

static double real_or_nan(json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static int read_info(npgnn_model_info *info, json_t *object, const reader *r)
{
    json_int_t columns, edges, nodes, iterations;
    json_t *auc, *ap;
    const char *fingerprint;
    if (json_unpack(object, "{s:I, s:I, s:s, s:I, s:I, s:b, s:b, s:o, s:o}", "columns", &columns, "iterations",
                    &iterations, "fingerprint", &fingerprint, "train_nodes", &nodes, "train_edges", &edges, "normalize",
                    &info->normalize, "binarize", &info->binarize, "val_auc", &auc, "val_ap", &ap) ||
        columns < 1 || columns > INT32_MAX || nodes < 0 || nodes > INT32_MAX || edges < 0 || iterations < 0 ||
        iterations > INT_MAX || sscanf(fingerprint, "%16" SCNx64, &info->fingerprint) != 1)
        return refuse(r, "its info is damaged");
    info->columns = (int32_t)columns;
    info->train_nodes = (int32_t)nodes;
    info->train_edges = edges;
    info->iterations = (int)iterations;
    info->val_auc = real_or_nan(auc);
    info->val_ap = real_or_nan(ap);
    return 0;
}

/* Metadata that is JSON inside a string. */
static json_t *metadata_object(const reader *r, const char *key)
{
    json_t *text = json_object_get(json_object_get(r->header, "__metadata__"), key);
    return json_is_string(text) ? json_loads(json_string_value(text), JSON_REJECT_DUPLICATES, NULL) : NULL;
}

static int read_metadata(npgnn_options *options, npgnn_model_info *info, const reader *r)
{
    json_t *metadata = json_object_get(r->header, "__metadata__");
    const char *format = json_string_value(json_object_get(metadata, "format"));
    const char *format_version = json_string_value(json_object_get(metadata, "format_version"));
    const char *version = json_string_value(json_object_get(metadata, "npgnn_version"));
    if (!format || !format_version || !version || strcmp(format, FORMAT) != 0)
        return refuse(r, "a safetensors file of something else");
    if (strcmp(format_version, FORMAT_VERSION) != 0)
        return npi_fail_at(r->err, NPGNN_E_FORMAT, r->path, 0,
                           "model format %.20s, written by npgnn %.20s, is newer than " FORMAT_VERSION, format_version,
                           version);
    json_t *option_object = metadata_object(r, "options"), *info_object = metadata_object(r, "info");
    int code = option_object && info_object ? 0 : refuse(r, "its metadata is damaged");
    if (!code)
        code = read_options(options, option_object, r);
    if (!code)
        code = read_info(info, info_object, r);
    snprintf(info->version, sizeof info->version, "%s", version);
    json_decref(option_object);
    json_decref(info_object);
    return code;
}

/* The names of the feature columns, where the model has them: as many, and all different. */
static int read_columns(npgnn_model *model, const reader *r)
{
    if (!json_object_get(json_object_get(r->header, "__metadata__"), "columns"))
        return 0;
    json_t *array = metadata_object(r, "columns");
    size_t count = json_is_array(array) ? json_array_size(array) : 0;
    int32_t place = 0;
    int code = count == (size_t)model->info.columns ? npi_names_new(&model->columns, &model->env, r->err)
                                                    : refuse(r, "its column names are damaged");
    for (size_t i = 0; !code && i < count; i++) {
        json_t *name = json_array_get(array, i);
        const char *text = json_is_string(name) ? json_string_value(name) : "";
        code = npi_names_add(&place, model->columns, text, strlen(text), r->err);
        if (!code && (!*text || (size_t)place != i))
            code = refuse(r, "its column names are damaged");
    }
    json_decref(array);
    return code;
}

/* The bytes of one tensor within the data. */
typedef struct range {
    size_t begin, end;
} range;

/* Where a tensor lies in the data, once everything the header says of it is as it must be. */
static int locate_tensor(range *at, npi_tensor t, const reader *r)
{
    json_t *entry = json_object_get(r->header, t.name), *shape;
    const char *dtype;
    json_int_t begin, end;
    int vector = t.rows == 1;
    if (json_unpack(entry, "{s:s, s:o, s:[I, I]}", "dtype", &dtype, "shape", &shape, "data_offsets", &begin, &end))
        return npi_fail_at(r->err, NPGNN_E_FORMAT, r->path, 0, "tensor %s is missing or damaged", t.name);
    int fits = strcmp(dtype, "F32") == 0 && json_array_size(shape) == (vector ? 1u : 2u) &&
               json_integer_value(json_array_get(shape, vector ? 0 : 1)) == t.cols &&
               (vector || json_integer_value(json_array_get(shape, 0)) == t.rows);
    if (!fits || begin < 0 || end < begin || (uint64_t)end > r->data_size || (uint64_t)(end - begin) != tensor_bytes(t))
        return npi_fail_at(r->err, NPGNN_E_FORMAT, r->path, 0, "tensor %s should be F32 of %d x %d", t.name, t.rows,
                           t.cols);
    *at = (range){(size_t)begin, (size_t)end};
    return 0;
}

/* All tensors, in any order: together they must be the data, each byte belonging to one of them. */
static int locate_tensors(range at[TENSORS], const npgnn_model *model, const reader *r)
{
    size_t total = 0;
    for (int i = 0; i < TENSORS; i++) {
        npi_tensor t = tensor_of(model, i);
        at[i] = (range){0, 0};
        int code = tensor_bytes(t) > 0 ? locate_tensor(&at[i], t, r) : 0;
        if (code)
            return code;
        for (int j = 0; j < i; j++)
            if (at[j].begin < at[i].end && at[i].begin < at[j].end)
                return npi_fail_at(r->err, NPGNN_E_FORMAT, r->path, 0, "tensors %s and %s overlap",
                                   tensor_of(model, j).name, t.name);
        total += tensor_bytes(t);
    }
    return total == r->data_size ? 0 : refuse(r, "it is longer than its tensors");
}

static int read_tensor(npgnn_model *model, int index, range at, const reader *r)
{
    size_t bytes = at.end - at.begin;
    float *values = npi_alloc(&model->env, bytes, 1, r->err);
    if (!values)
        return NPGNN_E_MEMORY;
    memcpy(values, r->data + at.begin, bytes); /* the file need not align them */
    int code = 0;
    for (size_t i = 0; !code && i < bytes / sizeof *values; i++)
        if (!isfinite(values[i]))
            code = npi_fail_at(r->err, NPGNN_E_FORMAT, r->path, 0, "tensor %s has a value that is not finite",
                               tensor_of(model, index).name);
    if (!code)
        tensor_write(model, index, values);
    npi_free(&model->env, values);
    return code;
}

static int read_tensors(npgnn_model *model, const reader *r)
{
    range at[TENSORS];
    int code = locate_tensors(at, model, r);
    for (int i = 0; !code && i < TENSORS; i++)
        if (at[i].end > at[i].begin)
            code = read_tensor(model, i, at[i], r);
    return code;
}

/* The parameters that the options ask for must be in the file before memory for them is asked for. */
static int check_size(const npgnn_options *options, int32_t columns, const reader *r)
{
    npi_params shape = {.size = npi_sizes_of(options, columns)};
    size_t bytes = 0;
    /* W2 has a row for every column and more: their number must be one that the file can hold and that a row can have */
    if ((size_t)columns > r->data_size / sizeof(float) || columns > INT32_MAX - shape.size.d)
        return refuse(r, "it is shorter than its options say");
    for (int i = 0; i < NPI_TENSORS; i++)
        bytes += tensor_bytes(npi_params_tensor(&shape, i));
    return bytes <= r->data_size ? 0 : refuse(r, "it is shorter than its options say");
}

static int read_model(npgnn_model **out, const reader *r, const npgnn_env *env)
{
    npgnn_options options;
    npgnn_model_info info = {0};
    npgnn_model *model = NULL;
    int code = read_metadata(&options, &info, r);
    if (!code)
        code = check_size(&options, info.columns, r);
    if (!code)
        code = npi_model_new(&model, &options, info.columns, env, r->err);
    if (!code)
        code = read_columns(model, r);
    if (!code)
        code = read_tensors(model, r);
    if (code) {
        npgnn_model_free(model);
        return code;
    }
    info.parameters = model->info.parameters;
    model->info = info;
    *out = model;
    return 0;
}

static int read_file(npgnn_model **out, const char *path, const unsigned char *bytes, size_t size, const npgnn_env *env,
                     npgnn_error *err)
{
    reader r = {.path = path, .err = err};
    uint64_t length = 0;
    if (size < sizeof length)
        return refuse(&r, "too short");
    memcpy(&length, bytes, sizeof length);
    if (length > HEADER_LIMIT || length > size - sizeof length)
        return refuse(&r, "its header does not fit into the file");
    r.data = bytes + sizeof length + length;
    r.data_size = size - sizeof length - (size_t)length;
    r.header = json_loadb((const char *)bytes + sizeof length, (size_t)length, JSON_REJECT_DUPLICATES, NULL);
    int code = json_is_object(r.header) ? read_model(out, &r, env) : refuse(&r, "its header is not JSON");
    json_decref(r.header);
    return code;
}

int npgnn_model_load(npgnn_model **out, const char *path, const npgnn_env *env, npgnn_error *err)
{
    npgnn_env resolved = npi_env(env);
    npi_stream *stream = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    int code = npi_stream_open(&stream, path, &resolved, err);
    if (!code)
        code = npi_stream_all(&bytes, &size, stream, FILE_LIMIT, err);
    if (!code)
        code = read_file(out, path, bytes, size, &resolved, err);
    npi_free(&resolved, bytes);
    npi_stream_close(stream);
    return code;
}
