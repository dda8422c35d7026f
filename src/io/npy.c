/* numpy's .npy files: a magic string, a version, the length of a header, the header (a Python dict) and the elements. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/dtype.h"
#include "io/readers.h"
#include "io/text.h"

#define LONGEST_HEADER 65536
#define CHUNK 8192 /* elements read at once */

typedef struct layout {
    npi_dtype type;
    int fortran;
    int64_t rows, cols;
} layout;

static int refuse(npi_stream *stream, npgnn_error *err, const char *why)
{
    return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0, "%s", why);
}

/* What follows 'KEY': in the header, blanks skipped; NULL where it is absent. */
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

/* "(2708, 1433)": exactly two dimensions. */
static int parse_shape(layout *out, const char *shape)
{
    long long rows, cols;
    int used = 0;
    if (sscanf(shape, "( %10lld , %10lld %n", &rows, &cols, &used) != 2 || used == 0)
        return 0;
    shape += used;
    shape += *shape == ',';
    if (shape[strspn(shape, " ")] != ')')
        return 0;
    if (rows < 0 || rows >= INT32_MAX || cols < 0 || cols >= INT32_MAX)
        return 0;
    out->rows = rows;
    out->cols = cols;
    return 1;
}

static int parse_header(layout *out, const char *header, npi_stream *stream, npgnn_error *err)
{
    const char *descr = find_key(header, "'descr'"), *fortran = find_key(header, "'fortran_order'");
    const char *shape = find_key(header, "'shape'");
    const char *end = descr && *descr == '\'' ? strchr(descr + 1, '\'') : NULL;
    if (!descr || !fortran || !shape)
        return refuse(stream, err, "the header of the .npy file lacks descr, fortran_order or shape");
    if (!end || npi_dtype_parse(&out->type, descr + 1, (size_t)(end - descr - 1)))
        return refuse(stream, err, "the array is not one of plain numbers");
    if (!parse_shape(out, shape))
        return refuse(stream, err, "features need an array of two dimensions, each below 2^31");
    out->fortran = strncmp(fortran, "True", 4) == 0;
    return 0;
}

static int read_header(layout *out, npi_stream *stream, npgnn_error *err)
{
    unsigned char start[12];
    char header[LONGEST_HEADER + 1];
    size_t got, length;
    int code = npi_stream_read(start, &got, stream, 10, err);
    if (code)
        return code;
    if (got < 10 || memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3)
        return refuse(stream, err, "this is not a .npy file of version 1 to 3");
    length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) { /* four bytes of length from version 2 on */
        code = npi_stream_read(start + 10, &got, stream, 2, err);
        if (code)
            return code;
        length |= got < 2 ? SIZE_MAX / 2 : (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (length > LONGEST_HEADER)
        return refuse(stream, err, "the header of the .npy file is cut short or too long");
    code = npi_stream_read(header, &got, stream, length, err);
    if (code)
        return code;
    header[got] = '\0';
    return got < length ? refuse(stream, err, "the file ends within its header")
                        : parse_header(out, header, stream, err);
}

/* The element at position `index` of the file into the triples. */
static int add_element(npi_triples *triples, const layout *array, int64_t index, const unsigned char *element,
                       npi_stream *stream, npgnn_error *err)
{
    double value = npi_dtype_float(element, array->type);
    int64_t row = array->fortran ? index % array->rows : index / array->cols;
    int64_t col = array->fortran ? index / array->rows : index % array->cols;
    if (!(fabs(value) <= (double)FLT_MAX))
        return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                           "row %lld, column %lld (from 0) is not finite", (long long)row, (long long)col);
    if (value == 0)
        return 0;
    return npi_triples_add(triples, (int32_t)row, (int32_t)col, (float)value, npi_stream_env(stream), err);
}

static int read_elements(npi_triples *triples, const layout *array, npi_stream *stream, npgnn_error *err)
{
    unsigned char chunk[CHUNK * 8];
    int64_t total = array->rows * array->cols;
    size_t size = (size_t)array->type.size, got;
    int code = 0;
    for (int64_t done = 0; code == 0 && done < total;) {
        size_t wanted = total - done < CHUNK ? (size_t)(total - done) : CHUNK;
        code = npi_stream_read(chunk, &got, stream, wanted * size, err);
        if (code == 0 && got < wanted * size)
            code = refuse(stream, err, "the file ends before all its elements");
        for (size_t i = 0; code == 0 && i < wanted; i++)
            code = add_element(triples, array, done + (int64_t)i, chunk + i * size, stream, err);
        done += (int64_t)wanted;
    }
    if (code == 0)
        code = npi_stream_read(chunk, &got, stream, 1, err);
    if (code == 0 && got > 0)
        code = refuse(stream, err, "the file goes on after its last element");
    return code;
}

int npi_table_read_npy(npi_table *out, npi_stream *stream, npgnn_error *err)
{
    npi_table table = {0};
    npi_triples triples = {0};
    layout array = {0};
    int code = read_header(&array, stream, err);
    if (code == 0)
        code = read_elements(&triples, &array, stream, err);
    if (code == 0)
        code = npi_table_check_size(stream, array.rows, array.cols, array.rows * array.cols, err);
    if (code == 0)
        code = npi_triples_to_csr(&table.x, &triples, (int32_t)array.rows, (int32_t)array.cols, stream, err);
    npi_free(npi_stream_env(stream), triples.items);
    if (code == 0)
        *out = table;
    return code;
}
