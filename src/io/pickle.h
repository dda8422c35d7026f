/* A reader of the few Python pickles that Planetoid's files are: dicts and lists of integers, numpy arrays and scipy CSR
 * matrices. A pickle is a program for a small stack machine; this machine knows the instructions that build such values
 * and a short list of classes, refuses all else by name, and calls nothing: an object is a record of what it would have been
 * made from. Values point at each other by index, are never walked recursively, and may form cycles. */
#ifndef NPI_IO_PICKLE_H
#define NPI_IO_PICKLE_H

#include "io/dtype.h"
#include "io/stream.h"

typedef enum {
    NPI_PICKLE_NONE,
    NPI_PICKLE_INT, /* and bool */
    NPI_PICKLE_BYTES,
    NPI_PICKLE_TEXT,
    NPI_PICKLE_TUPLE,
    NPI_PICKLE_LIST,
    NPI_PICKLE_DICT, /* also a defaultdict */
    NPI_PICKLE_CLASS,
    NPI_PICKLE_OBJECT
} npi_pickle_kind;

typedef enum {
    NPI_PICKLE_CSR,         /* scipy.sparse.csr_matrix */
    NPI_PICKLE_RECONSTRUCT, /* numpy's maker of arrays */
    NPI_PICKLE_FROMBUFFER,  /* the same, of protocol 5 */
    NPI_PICKLE_NDARRAY,
    NPI_PICKLE_DTYPE,
    NPI_PICKLE_DEFAULTDICT,
    NPI_PICKLE_PYTHON_LIST,
    NPI_PICKLE_ENCODE /* _codecs.encode: how Python 3 writes bytes in protocol 2 */
} npi_pickle_class;

typedef struct npi_pickle_value {
    npi_pickle_kind kind;
    npi_pickle_class of; /* CLASS, OBJECT */
    union {
        int64_t integer;
        struct { /* BYTES, TEXT: within the pickle's own bytes */
            unsigned char *bytes;
            size_t size;
        } string;
        struct { /* TUPLE, LIST; DICT: key, value, key, value... */
            uint32_t *items;
            size_t count, capacity;
        } list;
        struct { /* OBJECT: the arguments that made it and the state it was given, value 0 (None) where it was not */
            uint32_t args, state;
        } object;
    } as;
} npi_pickle_value;

typedef struct npi_pickle {
    npgnn_env env;
    char *name; /* of the file */
    unsigned char *bytes;
    size_t size;
    npi_pickle_value *values;
    size_t count, capacity;
    uint32_t root;
} npi_pickle;

/* Reads all of `stream`. E_FORMAT names the instruction or class and its byte. */
int npi_pickle_read(npi_pickle *out, npi_stream *stream, npgnn_error *err);
void npi_pickle_free(npi_pickle *pickle);

/* ---- looking at what was read (pickle_view.c) ---- */

const npi_pickle_value *npi_pickle_at(const npi_pickle *pickle, uint32_t index);

/* Item `i` of a tuple or list, NULL where there is none or `value` is something else (or NULL). */
const npi_pickle_value *npi_pickle_item(const npi_pickle *pickle, const npi_pickle_value *value, size_t i);

/* What a dict has under a string, or NULL. */
const npi_pickle_value *npi_pickle_lookup(const npi_pickle *pickle, const npi_pickle_value *dict, const char *key);

/* An array of one or two dimensions; `bytes` has exactly rows * cols elements, row after row. */
typedef struct npi_pickle_array {
    npi_dtype type;
    int64_t rows, cols; /* cols 1 for one dimension */
    int dimensions;
    const unsigned char *bytes;
} npi_pickle_array;

/* A CSR matrix, whose indices have been checked: ptr ascends from 0 to the number of elements, columns are in range. */
typedef struct npi_pickle_csr {
    int32_t rows, cols;
    npi_pickle_array ptr, col, val;
} npi_pickle_csr;

/* `what` names the value in errors, as "ally is not an array". */
int npi_pickle_get_array(npi_pickle_array *out, const npi_pickle *pickle, const npi_pickle_value *value,
                         const char *what, npgnn_error *err);
int npi_pickle_get_csr(npi_pickle_csr *out, const npi_pickle *pickle, const npi_pickle_value *value, npgnn_error *err);

int64_t npi_pickle_array_int(const npi_pickle_array *array, int64_t index);
double npi_pickle_array_float(const npi_pickle_array *array, int64_t index);

#endif
