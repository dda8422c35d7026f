/* Interprets the values of a pickle as strings, numpy arrays and scipy CSR matrices, and checks them. */
#include "io/pickle.h"

#include <string.h>

const npi_pickle_value *npi_pickle_at(const npi_pickle *pickle, uint32_t index)
{
    return &pickle->values[index];
}

const npi_pickle_value *npi_pickle_item(const npi_pickle *pickle, const npi_pickle_value *value, size_t i)
{
    if (!value || (value->kind != NPI_PICKLE_TUPLE && value->kind != NPI_PICKLE_LIST) || i >= value->as.list.count)
        return NULL;
    return npi_pickle_at(pickle, value->as.list.items[i]);
}

static int is_string(const npi_pickle_value *value)
{
    return value && (value->kind == NPI_PICKLE_BYTES || value->kind == NPI_PICKLE_TEXT);
}

static int is_text(const npi_pickle_value *value, const char *text)
{
    return is_string(value) && value->as.string.size == strlen(text) &&
           memcmp(value->as.string.bytes, text, value->as.string.size) == 0;
}

const npi_pickle_value *npi_pickle_lookup(const npi_pickle *pickle, const npi_pickle_value *dict, const char *key)
{
    if (!dict || dict->kind != NPI_PICKLE_DICT)
        return NULL;
    for (size_t i = 0; i + 1 < dict->as.list.count; i += 2) {
        const npi_pickle_value *k = npi_pickle_at(pickle, dict->as.list.items[i]);
        if (is_text(k, key))
            return npi_pickle_at(pickle, dict->as.list.items[i + 1]);
    }
    return NULL;
}

int64_t npi_pickle_array_int(const npi_pickle_array *array, int64_t index)
{
    return npi_dtype_read_int(array->bytes + index * array->type.size, array->type);
}

double npi_pickle_array_float(const npi_pickle_array *array, int64_t index)
{
    return npi_dtype_read_float(array->bytes + index * array->type.size, array->type);
}

static int is_object(const npi_pickle_value *value, npi_pickle_class of)
{
    return value && value->kind == NPI_PICKLE_OBJECT && value->of == of;
}

/* An element type is dtype('i4', 0, 1) with the state (3, '<', ...), which has the byte order. Returns 0 or -1. */
static int read_dtype(npi_dtype *out, const npi_pickle *p, const npi_pickle_value *value)
{
    if (!is_object(value, NPI_PICKLE_DTYPE))
        return -1;
    const npi_pickle_value *name = npi_pickle_item(p, npi_pickle_at(p, value->as.object.args), 0);
    const npi_pickle_value *order = npi_pickle_item(p, npi_pickle_at(p, value->as.object.state), 1);
    if (!is_string(name) || npi_dtype_parse(out, (const char *)name->as.string.bytes, name->as.string.size))
        return -1;
    out->big_endian |= is_text(order, ">");
    return 0;
}

/* A shape is a tuple of one or two integers. Returns 0 or -1. */
static int read_shape(npi_pickle_array *out, const npi_pickle *p, const npi_pickle_value *shape)
{
    int64_t size[2] = {0, 1};
    if (!shape || shape->kind != NPI_PICKLE_TUPLE || shape->as.list.count < 1 || shape->as.list.count > 2)
        return -1;
    for (size_t i = 0; i < shape->as.list.count; i++) {
        const npi_pickle_value *item = npi_pickle_item(p, shape, i);
        if (item->kind != NPI_PICKLE_INT || item->as.integer < 0 || item->as.integer > INT32_MAX)
            return -1;
        size[i] = item->as.integer;
    }
    out->rows = size[0];
    out->cols = size[1];
    out->dimensions = (int)shape->as.list.count;
    return 0;
}

/* The components of an array. */
typedef struct components {
    const npi_pickle_value *bytes, *type, *shape;
    int fortran;
} components;

/* They are in the state of an array made by _reconstruct, and in the arguments of one made by _frombuffer. */
static components find_components(const npi_pickle *p, const npi_pickle_value *value)
{
    components found = {0};
    if (is_object(value, NPI_PICKLE_RECONSTRUCT)) {
        const npi_pickle_value *state = npi_pickle_at(p, value->as.object.state);
        const npi_pickle_value *fortran = npi_pickle_item(p, state, 3);
        found.shape = npi_pickle_item(p, state, 1);
        found.type = npi_pickle_item(p, state, 2);
        found.fortran = fortran && fortran->kind == NPI_PICKLE_INT && fortran->as.integer;
        found.bytes = npi_pickle_item(p, state, 4);
    } else if (is_object(value, NPI_PICKLE_FROMBUFFER)) {
        const npi_pickle_value *args = npi_pickle_at(p, value->as.object.args);
        found.bytes = npi_pickle_item(p, args, 0);
        found.type = npi_pickle_item(p, args, 1);
        found.shape = npi_pickle_item(p, args, 2);
        found.fortran = is_text(npi_pickle_item(p, args, 3), "F");
    }
    return found;
}

int npi_pickle_get_array(npi_pickle_array *out, const npi_pickle *p, const npi_pickle_value *value, const char *what,
                         npgnn_error *err)
{
    npi_pickle_array array = {0};
    components found = find_components(p, value);
    if (!found.bytes || found.bytes->kind != NPI_PICKLE_BYTES)
        return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0, "%s is not an array", what);
    if (read_dtype(&array.type, p, found.type))
        return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0, "%s is not an array of numbers", what);
    if (read_shape(&array, p, found.shape))
        return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0, "%s must have one or two dimensions", what);
    if (found.fortran && array.rows != 1 && array.cols != 1)
        return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0,
                           "%s is stored column by column (Fortran order), which is not supported", what);
    /* both factors are at most 2^31 - 1, so that the product does not overflow */
    uint64_t needed = (uint64_t)array.rows * (uint64_t)array.cols;
    if (needed > SIZE_MAX / 8 || needed * (uint64_t)array.type.size != found.bytes->as.string.size)
        return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0,
                           "%s has %zu bytes, which does not match its shape %lld x %lld", what,
                           found.bytes->as.string.size, (long long)array.rows, (long long)array.cols);
    array.bytes = found.bytes->as.string.bytes;
    *out = array;
    return 0;
}

static int check_csr(const npi_pickle_csr *csr, const npi_pickle *p, npgnn_error *err)
{
    int64_t elements = csr->col.rows, last = 0;
    if (csr->ptr.rows != (int64_t)csr->rows + 1 || csr->val.rows != elements || npi_pickle_array_int(&csr->ptr, 0) != 0)
        return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0, "the arrays of the sparse matrix do not match its shape");
    for (int64_t row = 1; row <= csr->rows; row++) {
        int64_t next = npi_pickle_array_int(&csr->ptr, row);
        if (next < last)
            return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0, "row %lld of the sparse matrix ends before it begins",
                               (long long)row - 1);
        last = next;
    }
    if (last != elements)
        return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0,
                           "the rows of the sparse matrix have %lld elements, but it has %lld", (long long)last,
                           (long long)elements);
    for (int64_t i = 0; i < elements; i++) {
        int64_t col = npi_pickle_array_int(&csr->col, i);
        if (col < 0 || col >= csr->cols)
            return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0,
                               "the sparse matrix has column %lld, but only %d columns", (long long)col,
                               (int)csr->cols);
    }
    return 0;
}

int npi_pickle_get_csr(npi_pickle_csr *out, const npi_pickle *p, const npi_pickle_value *value, npgnn_error *err)
{
    npi_pickle_csr csr;
    npi_pickle_array shape;
    if (!is_object(value, NPI_PICKLE_CSR))
        return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0, "not a sparse matrix (scipy.sparse.csr_matrix)");
    const npi_pickle_value *state = npi_pickle_at(p, value->as.object.state);
    const npi_pickle_value *size = npi_pickle_lookup(p, state, "_shape");
    if (!size)
        size = npi_pickle_lookup(p, state, "shape");
    if (read_shape(&shape, p, size) || shape.dimensions != 2)
        return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0, "the shape of the sparse matrix is missing or invalid");
    csr.rows = (int32_t)shape.rows;
    csr.cols = (int32_t)shape.cols;
    int code = npi_pickle_get_array(&csr.ptr, p, npi_pickle_lookup(p, state, "indptr"), "indptr", err);
    if (code == 0)
        code = npi_pickle_get_array(&csr.col, p, npi_pickle_lookup(p, state, "indices"), "indices", err);
    if (code == 0)
        code = npi_pickle_get_array(&csr.val, p, npi_pickle_lookup(p, state, "data"), "data", err);
    if (code)
        return code;
    if (csr.ptr.dimensions != 1 || csr.ptr.type.kind == 'f' || csr.col.dimensions != 1 || csr.col.type.kind == 'f' ||
        csr.val.dimensions != 1)
        return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0, "the arrays of the sparse matrix have the wrong type");
    code = check_csr(&csr, p, err);
    if (code == 0)
        *out = csr;
    return code;
}
