/* Writing and checking the headers of safetensors files. */
#include "store/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "only little-endian machines are supported"
#endif

#define MAX_HEADER (100u << 20) /* bytes, as in the reference implementation */

size_t npi_safetensor_bytes(const npi_safetensor *tensor)
{
    size_t width = strcmp(tensor->dtype, "F32") == 0 ? 4 : 8;
    return (size_t)tensor->rows * (size_t)tensor->cols * width;
}

/* ---- writing ---- */

int npi_safetensors_put_json(json_t *metadata, const char *key, json_t *value)
{
    char *text = npi_json_print(value, JSON_COMPACT | JSON_SORT_KEYS);
    int failed = !text || json_object_set_new(metadata, key, json_string(text));
    json_decref(value);
    free(text);
    return failed;
}

json_t *npi_safetensors_pack_options(const npgnn_options *options)
{
    json_t *object = json_object();
    npgnn_option_info option;
    char value[64];
    int failed = 0;
    for (int i = 0; npgnn_options_info(&option, i); i++) {
        npgnn_options_get(value, sizeof value, options, option.key, NULL);
        failed |= json_object_set_new(object, option.key, json_string(value));
    }
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

/* The header entry of a tensor that begins at `offset`. */
static json_t *entry(const npi_safetensor *t, size_t offset)
{
    json_t *shape = t->rows == 1 ? json_pack("[I]", (json_int_t)t->cols)
                                 : json_pack("[I, I]", (json_int_t)t->rows, (json_int_t)t->cols);
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", t->dtype, "shape", shape, "data_offsets", (json_int_t)offset,
                     (json_int_t)offset + (json_int_t)npi_safetensor_bytes(t));
}

/* Pads a text with blanks to a multiple of 8 bytes. Takes ownership of it. */
static char *padded(char *text)
{
    size_t length = text ? strlen(text) : 0, wanted = (length + 7) / 8 * 8;
    char *longer = text ? realloc(text, wanted + 1) : NULL;
    if (!longer) {
        free(text);
        return NULL;
    }
    memset(longer + length, ' ', wanted - length);
    longer[wanted] = '\0';
    return longer;
}

char *npi_safetensors_make_header(json_t *metadata, const npi_safetensor *tensors, int count)
{
    size_t offset = 0;
    json_t *header = json_object();
    int failed = json_object_set_new(header, "__metadata__", metadata);
    for (int i = 0; i < count; i++) {
        if (npi_safetensor_bytes(&tensors[i]) == 0)
            continue;
        failed |= json_object_set_new(header, tensors[i].name, entry(&tensors[i], offset));
        offset += npi_safetensor_bytes(&tensors[i]);
    }
    char *text = failed ? NULL : npi_json_print(header, JSON_COMPACT);
    json_decref(header);
    return padded(text);
}

/* ---- reading ---- */

int npi_safetensors_refuse(const npi_safetensors *file, const char *what)
{
    if (file->err && file->err->code == NPGNN_E_MEMORY) /* what is missing is there, but there was no memory for it */
        return NPGNN_E_MEMORY;
    return npi_fail_at(file->err, NPGNN_E_FORMAT, file->path, 0, "not %s: %s", file->expected, what);
}

/* NULL where the text is not JSON, and where memory is out: the error of the file says that then. */
static json_t *parse(const npi_safetensors *file, const char *text, size_t size)
{
    json_t *value = NULL;
    if (npi_json_parse(&value, NULL, text, size) == NPGNN_E_MEMORY)
        npi_fail(file->err, NPGNN_E_MEMORY, "out of memory while reading %s", file->path);
    return value;
}

int npi_safetensors_open(npi_safetensors *file, const unsigned char *bytes, size_t size)
{
    uint64_t length = 0;
    file->err = file->err ? file->err : &file->own_err;
    file->err->code = 0; /* of an earlier call */
    if (size < sizeof length)
        return npi_safetensors_refuse(file, "the file is too short");
    memcpy(&length, bytes, sizeof length);
    if (length > MAX_HEADER || length > size - sizeof length)
        return npi_safetensors_refuse(file, "its header is longer than the file");
    file->data = bytes + sizeof length + length;
    file->data_size = size - sizeof length - (size_t)length;
    file->header = parse(file, (const char *)bytes + sizeof length, (size_t)length);
    if (json_is_object(file->header))
        return 0;
    npi_safetensors_close(file);
    return npi_safetensors_refuse(file, "its header is not a JSON object");
}

void npi_safetensors_close(npi_safetensors *file)
{
    json_decref(file->header);
    file->header = NULL;
}

const char *npi_safetensors_get_text(const npi_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), key));
}

json_t *npi_safetensors_get_json(const npi_safetensors *file, const char *key)
{
    const char *text = npi_safetensors_get_text(file, key);
    return text ? parse(file, text, strlen(text)) : NULL;
}

int npi_safetensors_check_format(const npi_safetensors *file, const char *format, const char *format_version)
{
    const char *its_format = npi_safetensors_get_text(file, "format");
    const char *its_version = npi_safetensors_get_text(file, "format_version");
    const char *writer = npi_safetensors_get_text(file, "npgnn_version");
    if (!its_format || !its_version || !writer || strcmp(its_format, format) != 0)
        return npi_safetensors_refuse(file, "it is another kind of safetensors file");
    if (strcmp(its_version, format_version) != 0)
        return npi_fail_at(file->err, NPGNN_E_FORMAT, file->path, 0,
                           "%s in format %.20s, written by npgnn %.20s; this version reads format %s only",
                           file->expected, its_version, writer, format_version);
    return 0;
}

static int set_options(npgnn_options *options, json_t *object, const npi_safetensors *file)
{
    npgnn_error why = {0};
    options->size = sizeof *options;
    npgnn_options_preset(options, NULL, NULL);
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *value = json_string_value(json_object_iter_value(at));
        if (npgnn_options_set(options, json_object_iter_key(at), value ? value : "", &why))
            return npi_fail_at(file->err, NPGNN_E_FORMAT, file->path, 0,
                               "the file has an option that this version does not support: %.200s", why.text);
    }
    return 0;
}

int npi_safetensors_read_options(npgnn_options *options, const npi_safetensors *file, const char *key)
{
    json_t *object = npi_safetensors_get_json(file, key);
    int code = json_is_object(object) ? set_options(options, object, file)
                                      : npi_safetensors_refuse(file, "its options are missing or damaged");
    json_decref(object);
    return code;
}

/* Finds one tensor and checks its type, shape and place. */
static int locate(npi_range *at, const npi_safetensors *file, const npi_safetensor *t)
{
    /* not json_unpack, which allocates */
    json_t *found = json_object_get(file->header, t->name), *shape = json_object_get(found, "shape");
    json_t *offsets = json_object_get(found, "data_offsets"), *from = json_array_get(offsets, 0);
    json_t *to = json_array_get(offsets, 1);
    const char *dtype = json_string_value(json_object_get(found, "dtype"));
    json_int_t begin = json_integer_value(from), end = json_integer_value(to);
    int vector = t->rows == 1;
    if (!dtype || !shape || !json_is_integer(from) || !json_is_integer(to))
        return npi_fail_at(file->err, NPGNN_E_FORMAT, file->path, 0, "tensor %s is missing or damaged", t->name);
    /* a tensor with one row is stored as a vector */
    int fits = strcmp(dtype, t->dtype) == 0 && json_array_size(shape) == (vector ? 1u : 2u) &&
               json_integer_value(json_array_get(shape, vector ? 0 : 1)) == t->cols &&
               (vector || json_integer_value(json_array_get(shape, 0)) == t->rows);
    if (!fits || begin < 0 || end < begin || (uint64_t)end > file->data_size ||
        (uint64_t)(end - begin) != npi_safetensor_bytes(t))
        return npi_fail_at(file->err, NPGNN_E_FORMAT, file->path, 0,
                           "tensor %s must be %s of shape %lld x %lld and lie within the file", t->name, t->dtype,
                           (long long)t->rows, (long long)t->cols);
    *at = (npi_range){(size_t)begin, (size_t)end};
    return 0;
}

int npi_safetensors_locate(npi_range *at, const npi_safetensors *file, const npi_safetensor *tensors, int count)
{
    size_t total = 0;
    for (int i = 0; i < count; i++) {
        at[i] = (npi_range){0, 0};
        int code = npi_safetensor_bytes(&tensors[i]) > 0 ? locate(&at[i], file, &tensors[i]) : 0;
        if (code)
            return code;
        /* there are about a dozen tensors: comparing all pairs is fast enough */
        for (int j = 0; j < i; j++)
            if (at[j].begin < at[i].end && at[i].begin < at[j].end)
                return npi_fail_at(file->err, NPGNN_E_FORMAT, file->path, 0, "tensors %s and %s overlap",
                                   tensors[j].name, tensors[i].name);
        total += npi_safetensor_bytes(&tensors[i]);
    }
    return total == file->data_size ? 0 : npi_safetensors_refuse(file, "it is longer than its tensors");
}
