/* Reads the Python pickles that Planetoid files are: dicts and lists of integers, numpy arrays and scipy CSR
 * matrices.
 *
 * A pickle is a program for a stack machine. This one executes only the instructions that build such values, accepts
 * only a short list of classes, and never calls anything: an object is a record of the arguments and the state that
 * it would be made from. Everything else is refused with the name of the class or instruction and its position.
 *
 * Values refer to each other by index. They may form cycles, and are never followed recursively. */
#ifndef NPI_IO_PICKLE_H
#define NPI_IO_PICKLE_H

#include "io/dtype.h"
#include "io/stream.h"

typedef enum {
    NPI_PICKLE_NONE,
    NPI_PICKLE_INT, /* also bool */
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
    NPI_PICKLE_RECONSTRUCT, /* numpy.core.multiarray._reconstruct, which makes arrays */
    NPI_PICKLE_FROMBUFFER,  /* numpy.core.numeric._frombuffer, which does so in protocol 5 */
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
        struct { /* BYTES, TEXT: points into the bytes of the pickle */
            unsigned char *bytes;
            size_t size;
        } string;
        struct { /* TUPLE, LIST; DICT: key, value, key, value... */
            uint32_t *items;
            size_t count, capacity;
        } list;
        struct { /* OBJECT: its arguments and its state as values; 0, which is None, where there is none */
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

/* Reads all of `stream`. E_FORMAT names the instruction or class and its position. */
int npi_pickle_read(npi_pickle *out, npi_stream *stream, npgnn_error *err);
void npi_pickle_free(npi_pickle *pickle);

/* ---- reading values (pickle_view.c) ---- */

const npi_pickle_value *npi_pickle_at(const npi_pickle *pickle, uint32_t index);

/* Item i of a tuple or list. NULL where there is none, or where `value` is NULL or of another kind. */
const npi_pickle_value *npi_pickle_item(const npi_pickle *pickle, const npi_pickle_value *value, size_t i);

/* The value of a key that is a string, or NULL. */
const npi_pickle_value *npi_pickle_lookup(const npi_pickle *pickle, const npi_pickle_value *dict, const char *key);

/* An array of one or two dimensions. `bytes` has exactly rows * cols elements, row by row. */
typedef struct npi_pickle_array {
    npi_dtype type;
    int64_t rows, cols; /* cols 1 for one dimension */
    int dimensions;
    const unsigned char *bytes;
} npi_pickle_array;

/* A CSR matrix. Its indices are checked: ptr ascends from 0 to the number of elements, and columns are in range. */
typedef struct npi_pickle_csr {
    int32_t rows, cols;
    npi_pickle_array ptr, col, val;
} npi_pickle_csr;

/* Interpret a value as an array or a matrix. `what` names it in messages: "ally is not an array". */
int npi_pickle_get_array(npi_pickle_array *out, const npi_pickle *pickle, const npi_pickle_value *value,
                         const char *what, npgnn_error *err);
int npi_pickle_get_csr(npi_pickle_csr *out, const npi_pickle *pickle, const npi_pickle_value *value, npgnn_error *err);

/* One element, by its position in row order. */
int64_t npi_pickle_array_int(const npi_pickle_array *array, int64_t index);
double npi_pickle_array_float(const npi_pickle_array *array, int64_t index);

#endif
