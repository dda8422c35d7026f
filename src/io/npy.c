/* The .npy format, versions 1 to 3:
 *
 *   \x93NUMPY major minor length header elements
 *
 * major and minor are bytes; the length has 2 bytes in version 1 and 4 bytes from version 2 on, little-endian. The
 * header is a Python dict, {'descr': '<f4', 'fortran_order': False, 'shape': (2708, 1433), }.
 *
 * Accepted: numbers (float16 to float64, integers, booleans) and text, with up to two dimensions below 2^31.
 * Refused: objects (pickles), structured and complex types, numbers that are not finite, files that are too short or
 * too long. */
#include "io/npy.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "io/readers.h"

#define MAX_HEADER 65536
#define CHUNK 65536 /* bytes read at once */

static const char magic[] = "\x93NUMPY";

static int refuse(npi_stream *stream, npgnn_error *err, const char *why)
{
    return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0, "%s", why);
}

int npi_npy_detect(const npi_stream *stream)
{
    size_t size;
    const unsigned char *bytes = npi_stream_peek(&size, stream);
    return size >= sizeof magic - 1 && memcmp(bytes, magic, sizeof magic - 1) == 0;
}

/* ---- the header ---- */

/* The value of a key, which is given with its quotes, in the header; NULL where it is absent. */
static const char *find_key(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, " ");
    if (*at++ != ':')
        return NULL;
    return at + strspn(at, " ");
}

/* Parses "(2708, 1433)", "(2708,)" or "()". Returns 0 for anything else. */
static int parse_shape(npi_npy_header *out, const char *shape)
{
    long long size[2] = {1, 1};
    int used = 0, dims = 0;
    if (*shape++ != '(')
        return 0;
    /* %10lld: at most ten digits, which cannot overflow */
    while (dims < 2 && sscanf(shape, " %10lld %n", &size[dims], &used) == 1) {
        if (size[dims] < 0 || size[dims] >= INT32_MAX)
            return 0;
        shape += used;
        shape += *shape == ',';
        dims++;
    }
    if (shape[strspn(shape, " ")] != ')')
        return 0;
    out->dims = dims;
    out->rows = size[0];
    out->cols = size[1];
    return 1;
}

static int parse_header(npi_npy_header *out, const char *header, npi_stream *stream, npgnn_error *err)
{
    const char *descr = find_key(header, "'descr'"), *fortran = find_key(header, "'fortran_order'");
    const char *shape = find_key(header, "'shape'");
    const char *end = descr && *descr == '\'' ? strchr(descr + 1, '\'') : NULL;
    if (!descr || !fortran || !shape)
        return refuse(stream, err, "invalid .npy header: descr, fortran_order or shape is missing");
    if (!end || npi_dtype_parse_any(&out->type, descr + 1, (size_t)(end - descr - 1)))
        return refuse(stream, err, "unsupported element type: expected numbers or text");
    if (out->type.kind == 'O')
        return refuse(stream, err,
                      "the array has Python objects, which are not read for safety: save it as numbers or text");
    if (!parse_shape(out, shape))
        return refuse(stream, err, "unsupported shape: expected at most two dimensions, each below 2^31");
    out->fortran = strncmp(fortran, "True", 4) == 0;
    return 0;
}

int npi_npy_read_header(npi_npy_header *out, npi_stream *stream, npgnn_error *err)
{
    unsigned char start[12];
    size_t got, length;
    int code = npi_stream_read(start, &got, stream, 10, err);
    if (code)
        return code;
    if (got < 10 || memcmp(start, magic, 6) != 0 || start[6] < 1 || start[6] > 3)
        return refuse(stream, err, "not a .npy file of version 1 to 3");
    /* start: magic (6), major, minor, length (2, or 4 from version 2 on) */
    length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) { /* four bytes of length from version 2 on */
        code = npi_stream_read(start + 10, &got, stream, 2, err);
        if (code)
            return code;
        /* a file that ends here gets a length that is refused below */
        length |= got < 2 ? SIZE_MAX / 2 : (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (length > MAX_HEADER)
        return refuse(stream, err, "the .npy header is truncated or too long");
    /* not on the stack, as the other buffers of this size: threads may have little of it */
    char *header = npi_alloc(npi_stream_env(stream), length + 1, 1, err);
    code = header ? npi_stream_read(header, &got, stream, length, err) : NPGNN_E_MEMORY;
    if (code == 0) {
        header[got] = '\0';
        code = got < length ? refuse(stream, err, "the file ends within its header")
                            : parse_header(out, header, stream, err);
    }
    npi_free(npi_stream_env(stream), header);
    return code;
}

/* ---- the elements ---- */

int npi_npy_read_each(const npi_npy_header *array, npi_stream *stream, npi_element_fn *see, void *user,
                      npgnn_error *err)
{
    int64_t total = array->rows * array->cols;
    size_t size = (size_t)array->type.size, got;
    if (size == 0 || size > CHUNK)
        return refuse(stream, err, "the elements of the array are empty or longer than 65536 bytes");
    unsigned char *chunk = npi_alloc(npi_stream_env(stream), CHUNK, 1, err);
    int code = chunk ? 0 : NPGNN_E_MEMORY;
    for (int64_t done = 0; code == 0 && done < total;) {
        size_t most = CHUNK / size, wanted = total - done < (int64_t)most ? (size_t)(total - done) : most;
        code = npi_stream_read(chunk, &got, stream, wanted * size, err);
        if (code == 0 && got < wanted * size)
            code = refuse(stream, err, "the file ends before its last element");
        for (size_t i = 0; code == 0 && i < wanted; i++, done++) {
            /* element `done` of the file: by rows, or by columns in Fortran order */
            int64_t row = array->fortran ? done % array->rows : done / array->cols;
            int64_t col = array->fortran ? done / array->rows : done % array->cols;
            code = see(user, row, col, chunk + i * size, err);
        }
    }
    if (code == 0)
        code = npi_stream_read(chunk, &got, stream, 1, err);
    if (code == 0 && got > 0)
        code = refuse(stream, err, "the file continues after its last element");
    npi_free(npi_stream_env(stream), chunk);
    return code;
}

/* Reads one number. E_FORMAT where a float cannot hold it. */
static int number_at(float *out, npi_dtype type, npi_stream *stream, int64_t row, int64_t col,
                     const unsigned char *element, npgnn_error *err)
{
    double value = npi_dtype_read_float(element, type);
    *out = (float)value;
    if (fabs(value) <= (double)FLT_MAX)
        return 0;
    return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                       "row %lld, column %lld (counted from 0) is not a finite float", (long long)row, (long long)col);
}

static int is_text(npi_dtype type)
{
    return type.kind == 'U' || type.kind == 'S';
}

/* The elements read so far, in the order of the file. One of ints, floats and triples is used. */
typedef struct collector {
    npi_stream *stream;
    npi_dtype type;
    int64_t *ints;
    float *floats;
    size_t count, capacity;
    npi_triples triples;
} collector;

static int collect_int(void *user, int64_t row, int64_t col, const unsigned char *element, npgnn_error *err)
{
    collector *c = user;
    (void)row;
    (void)col;
    int code = npi_grow(npi_stream_env(c->stream), &c->ints, &c->capacity, c->count, sizeof *c->ints, err);
    if (code == 0)
        c->ints[c->count++] = npi_dtype_read_int(element, c->type);
    return code;
}

static int collect_float(void *user, int64_t row, int64_t col, const unsigned char *element, npgnn_error *err)
{
    collector *c = user;
    int code = npi_grow(npi_stream_env(c->stream), &c->floats, &c->capacity, c->count, sizeof *c->floats, err);
    return code ? code : number_at(&c->floats[c->count++], c->type, c->stream, row, col, element, err);
}

/* The position in the file of the element that has a position in row order. */
static size_t file_position(const npi_npy_header *array, size_t index)
{
    size_t row = index / (size_t)array->cols, col = index % (size_t)array->cols;
    return array->fortran ? col * (size_t)array->rows + row : index;
}

int npi_npy_read_ints(int64_t **out, const npi_npy_header *array, npi_stream *stream, npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    collector c = {.stream = stream, .type = array->type};
    if (is_text(array->type) || array->type.kind == 'f')
        return refuse(stream, err, "expected an array of integers");
    int code = npi_npy_read_each(array, stream, collect_int, &c, err);
    int64_t *ordered = code == 0 ? npi_alloc(env, c.count, sizeof *ordered, err) : NULL;
    for (size_t i = 0; ordered && i < c.count; i++)
        ordered[i] = c.ints[file_position(array, i)];
    npi_free(env, c.ints);
    if (code == 0 && !ordered)
        return NPGNN_E_MEMORY;
    *out = ordered;
    return code;
}

int npi_npy_read_floats(float **out, const npi_npy_header *array, npi_stream *stream, npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    collector c = {.stream = stream, .type = array->type};
    if (is_text(array->type))
        return refuse(stream, err, "expected an array of numbers");
    int code = npi_npy_read_each(array, stream, collect_float, &c, err);
    float *ordered = code == 0 ? npi_alloc(env, c.count, sizeof *ordered, err) : NULL;
    for (size_t i = 0; ordered && i < c.count; i++)
        ordered[i] = c.floats[file_position(array, i)];
    npi_free(env, c.floats);
    if (code == 0 && !ordered)
        return NPGNN_E_MEMORY;
    *out = ordered;
    return code;
}

/* ---- texts ---- */

typedef struct text_reader {
    npi_stream *stream;
    npi_dtype type;
    char *text; /* one element in UTF-8 */
    npi_text_fn *see;
    void *user;
} text_reader;

/* Converts one element. Texts that are shorter than the element are padded with zeros. */
static int see_text(void *user, int64_t row, int64_t col, const unsigned char *element, npgnn_error *err)
{
    text_reader *r = user;
    int step = r->type.kind == 'U' ? 4 : 1;
    npi_dtype character = {'u', step, r->type.big_endian};
    char *to = r->text;
    (void)col;
    for (int at = 0; to && at < r->type.size; at += step) {
        int64_t c = npi_dtype_read_int(element + at, character);
        if (c == 0)
            break;
        size_t written = 1;
        if (step == 4)
            written = npi_utf8_write(to, c);
        else
            *to = (char)c;
        to = written > 0 ? to + written : NULL;
    }
    if (!to)
        return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(r->stream), 0,
                           "text %lld (counted from 0) is not valid Unicode", (long long)row);
    *to = '\0';
    return r->see(r->user, r->text, err);
}

int npi_npy_read_texts(const npi_npy_header *array, npi_stream *stream, npi_text_fn *see, void *user, npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    text_reader r = {.stream = stream, .type = array->type, .see = see, .user = user};
    if (!is_text(array->type) || array->cols != 1)
        return refuse(stream, err, "expected a vector of texts");
    r.text = npi_alloc(env, (size_t)array->type.size + 1, 1, err);
    int code = r.text ? npi_npy_read_each(array, stream, see_text, &r, err) : NPGNN_E_MEMORY;
    npi_free(env, r.text);
    return code;
}

/* ---- feature tables ---- */

static int collect_triple(void *user, int64_t row, int64_t col, const unsigned char *element, npgnn_error *err)
{
    collector *c = user;
    float value = 0;
    int code = number_at(&value, c->type, c->stream, row, col, element, err);
    if (code || value == 0)
        return code;
    return npi_triples_add(&c->triples, (int32_t)row, (int32_t)col, value, npi_stream_env(c->stream), err);
}

int npi_table_read_npy(npi_table *out, npi_stream *stream, npgnn_error *err)
{
    npi_table table = {0};
    npi_npy_header array = {0};
    int code = npi_npy_read_header(&array, stream, err);
    if (code == 0 && (array.dims != 2 || is_text(array.type)))
        code = refuse(stream, err, "features need a two-dimensional array of numbers");
    collector c = {.stream = stream, .type = array.type};
    if (code == 0)
        code = npi_npy_read_each(&array, stream, collect_triple, &c, err);
    if (code == 0)
        code = npi_table_check_size(stream, array.rows, array.cols, array.rows * array.cols, err);
    if (code == 0)
        code = npi_triples_to_csr(&table.x, &c.triples, (int32_t)array.rows, (int32_t)array.cols, stream, err);
    npi_free(npi_stream_env(stream), c.triples.items);
    if (code == 0)
        *out = table;
    return code;
}
