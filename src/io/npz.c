/* Arrays and sparse matrices in .npz files.
 *
 * A sparse matrix consists of the arrays shape and data, and of
 *
 *   csr   indptr (rows + 1), indices (count): columns
 *   csc   indptr (cols + 1), indices (count): rows
 *   coo   row (count), col (count)
 *
 * The array format tells which; without it, csr is meant. Refused: indices out of range and arrays that do not fit
 * together. */
#include "io/npz.h"

#include <stdio.h>
#include <string.h>

static int refuse(npi_zip *zip, npgnn_error *err, const char *why)
{
    return npi_fail_at(err, NPGNN_E_FORMAT, npi_zip_name(zip), 0, "%s", why);
}

/* ---- arrays by name ---- */

static const char *member_name(char out[64], const char *prefix, const char *key)
{
    snprintf(out, 64, "%s%s.npy", prefix, key);
    return out;
}

int npi_npz_has(const npi_zip *zip, const char *prefix, const char *key)
{
    char name[64];
    return npi_zip_has(zip, member_name(name, prefix, key));
}

const char *npi_npz_first(const npi_zip *zip, const char *const keys[])
{
    for (int i = 0; keys[i]; i++)
        if (npi_npz_has(zip, "", keys[i]))
            return keys[i];
    return NULL;
}

int npi_npz_stream(npi_stream **out, npi_zip *zip, const char *prefix, const char *key, npgnn_error *err)
{
    char name[64];
    return npi_zip_open_member(out, zip, member_name(name, prefix, key), err);
}

int npi_npz_open(npi_stream **out, npi_npy_header *array, npi_zip *zip, const char *prefix, const char *key,
                 npgnn_error *err)
{
    npi_stream *stream = NULL;
    int code = npi_npz_stream(&stream, zip, prefix, key, err);
    if (code == 0)
        code = npi_npy_read_header(array, stream, err);
    if (code == 0)
        code = npi_table_check_size(stream, array->rows * array->cols, 0, (int64_t)npi_zip_size(zip), err);
    if (code) {
        npi_stream_close(stream);
        return code;
    }
    *out = stream;
    return 0;
}

int npi_npz_read_ints(int64_t **out, npi_npy_header *array, npi_zip *zip, const char *prefix, const char *key,
                      npgnn_error *err)
{
    npi_stream *stream = NULL;
    int code = npi_npz_open(&stream, array, zip, prefix, key, err);
    if (code == 0)
        code = npi_npy_read_ints(out, array, stream, err);
    npi_stream_close(stream);
    return code;
}

static int read_floats(float **out, npi_npy_header *array, npi_zip *zip, const char *prefix, const char *key,
                       npgnn_error *err)
{
    npi_stream *stream = NULL;
    int code = npi_npz_open(&stream, array, zip, prefix, key, err);
    if (code == 0)
        code = npi_npy_read_floats(out, array, stream, err);
    npi_stream_close(stream);
    return code;
}

/* ---- sparse matrices ---- */

typedef enum { CSR, CSC, COO } sparse_format;

typedef struct sparse {
    sparse_format format;
    int32_t rows, cols;
    int64_t count;
    int64_t *major; /* csr, csc: indptr; coo: row */
    int64_t *minor; /* (count) csr, csc: indices; coo: col */
    float *data;    /* (count) */
} sparse;

static void sparse_free(sparse *m, const npgnn_env *env)
{
    npi_free(env, m->major);
    npi_free(env, m->minor);
    npi_free(env, m->data);
}

static int match_format(void *user, char *text, npgnn_error *err)
{
    static const char *const names[] = {"csr", "csc", "coo"};
    (void)err;
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0)
            *(int *)user = i;
    return 0;
}

/* csr where the archive does not say. */
static int read_format(sparse_format *out, npi_zip *zip, const char *prefix, npgnn_error *err)
{
    npi_stream *stream = NULL;
    npi_npy_header array;
    int found = -1;
    *out = CSR;
    if (!npi_npz_has(zip, prefix, "format"))
        return 0;
    int code = npi_npz_open(&stream, &array, zip, prefix, "format", err);
    if (code == 0)
        code = npi_npy_read_texts(&array, stream, match_format, &found, err);
    npi_stream_close(stream);
    if (code == 0 && found < 0)
        return refuse(zip, err, "unsupported sparse format: expected csr, csc or coo");
    *out = (sparse_format)found;
    return code;
}

/* E_FORMAT unless indptr ascends from 0 to the number of entries and every index is within the shape. */
static int check_sparse(const sparse *m, int64_t offsets, npi_zip *zip, npgnn_error *err)
{
    int32_t outer = m->format == CSC ? m->cols : m->rows, inner = m->format == CSC ? m->rows : m->cols;
    int fine = m->format == COO ? offsets == m->count : offsets == (int64_t)outer + 1;
    if (fine && m->format != COO) {
        fine = m->major[0] == 0 && m->major[outer] == m->count;
        for (int32_t i = 0; fine && i < outer; i++)
            fine = m->major[i] <= m->major[i + 1];
    }
    if (!fine)
        return refuse(zip, err, "the index arrays of the sparse matrix do not match its shape");
    for (int64_t i = 0; i < m->count; i++)
        if (m->minor[i] < 0 || m->minor[i] >= inner || (m->format == COO && (m->major[i] < 0 || m->major[i] >= outer)))
            return refuse(zip, err, "the sparse matrix has an index outside its shape");
    return 0;
}

static int read_sparse(sparse *m, npi_zip *zip, const char *prefix, npgnn_error *err)
{
    npi_npy_header shape_header, data = {0}, minor = {0}, major = {0};
    int64_t *shape = NULL;
    int code = read_format(&m->format, zip, prefix, err);
    if (code == 0)
        code = npi_npz_read_ints(&shape, &shape_header, zip, prefix, "shape", err);
    if (code == 0 && (shape_header.rows != 2 || shape_header.cols != 1 || shape[0] < 0 || shape[0] >= INT32_MAX ||
                      shape[1] < 0 || shape[1] >= INT32_MAX))
        code = refuse(zip, err, "the shape of the sparse matrix must be two integers from 0 to 2^31 - 2");
    if (code == 0) {
        m->rows = (int32_t)shape[0];
        m->cols = (int32_t)shape[1];
        code = read_floats(&m->data, &data, zip, prefix, "data", err);
    }
    npi_free(npi_zip_env(zip), shape);
    if (code == 0)
        code = npi_npz_read_ints(&m->minor, &minor, zip, prefix, m->format == COO ? "col" : "indices", err);
    if (code == 0)
        code = npi_npz_read_ints(&m->major, &major, zip, prefix, m->format == COO ? "row" : "indptr", err);
    if (code)
        return code;
    m->count = data.rows;
    if (data.cols != 1 || minor.cols != 1 || major.cols != 1 || minor.rows != data.rows)
        return refuse(zip, err, "the arrays of the sparse matrix have different lengths");
    return check_sparse(m, major.rows, zip, err);
}

/* Adds the entries that are not zero. */
static int add_entries(npi_triples *out, const sparse *m, const npgnn_env *env, npgnn_error *err)
{
    int32_t line = 0; /* the row (csr) or column (csc) of entry i */
    int code = 0;
    for (int64_t i = 0; code == 0 && i < m->count; i++) {
        while (m->format != COO && m->major[line + 1] <= i)
            line++;
        int32_t major = m->format == COO ? (int32_t)m->major[i] : line, minor = (int32_t)m->minor[i];
        int32_t row = m->format == CSC ? minor : major, col = m->format == CSC ? major : minor;
        if (m->data[i] != 0)
            code = npi_triples_add(out, row, col, m->data[i], env, err);
    }
    return code;
}

int npi_npz_read_sparse(npi_triples *out, int32_t *rows, int32_t *cols, npi_zip *zip, const char *prefix,
                        npgnn_error *err)
{
    const npgnn_env *env = npi_zip_env(zip);
    npi_triples triples = {0};
    sparse m = {0};
    int code = read_sparse(&m, zip, prefix, err);
    if (code == 0)
        code = npi_table_check_size(npi_zip_stream(zip), m.rows, m.cols, m.count, err);
    if (code == 0)
        code = add_entries(&triples, &m, env, err);
    sparse_free(&m, env);
    if (code) {
        npi_free(env, triples.items);
        return code;
    }
    *out = triples;
    *rows = m.rows;
    *cols = m.cols;
    return 0;
}
