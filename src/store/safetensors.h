/* safetensors files (docs/use/formats.md), as far as model files and checkpoints use them:
 *
 *   length (u64, little-endian)   header (JSON, `length` bytes)   tensors
 *
 * The header maps the name of each tensor to its type, shape and place, and "__metadata__" to an object of strings. */
#ifndef NPI_STORE_SAFETENSORS_H
#define NPI_STORE_SAFETENSORS_H

#include <jansson.h>
#include <stdint.h>

#include "base/env.h"

typedef struct npi_safetensor {
    const char *name, *dtype; /* "F32", "F64" or "U64" */
    int64_t rows, cols;       /* one row: a vector; no rows: the tensor is absent */
} npi_safetensor;

size_t npi_safetensor_bytes(const npi_safetensor *tensor);

/* ---- writing ---- */

/* Adds a JSON value to the metadata, as text, because safetensors allows only strings there. Takes ownership of
 * `value`. Returns non-zero where memory is out or `value` is NULL. */
int npi_safetensors_put_json(json_t *metadata, const char *key, json_t *value);

/* Options as an object of strings. NULL where memory is out. */
json_t *npi_safetensors_pack_options(const npgnn_options *options);

/* The header of a file with these tensors in this order, padded with blanks to a multiple of 8 bytes. The caller
 * frees it with free(). Takes ownership of the metadata. NULL where memory is out. */
char *npi_safetensors_make_header(json_t *metadata, const npi_safetensor *tensors, int count);

/* ---- reading ---- */

typedef struct npi_safetensors {
    const char *path;
    const char *expected;      /* what the file should be, for messages: "an npgnn model" */
    const unsigned char *data; /* the tensors */
    size_t data_size;
    json_t *header;
    npgnn_error *err; /* of the caller or, where that is NULL, own_err */
    npgnn_error own_err;
} npi_safetensors;

/* The bytes of one tensor within the data. */
typedef struct npi_range {
    size_t begin, end;
} npi_range;

/* E_FORMAT with the text "not EXPECTED: WHAT"; E_MEMORY where the text could not be parsed for lack of memory. */
int npi_safetensors_refuse(const npi_safetensors *file, const char *what);

/* Reads the header of a file in memory, which must outlive `file`. The caller has set path, expected and err. */
int npi_safetensors_open(npi_safetensors *file, const unsigned char *bytes, size_t size);
void npi_safetensors_close(npi_safetensors *file);

/* E_FORMAT unless the metadata names this format and version. */
int npi_safetensors_check_format(const npi_safetensors *file, const char *format, const char *format_version);

/* Metadata by key: the string, or the JSON value in it as a new reference. NULL where it is missing or invalid. */
const char *npi_safetensors_get_text(const npi_safetensors *file, const char *key);
json_t *npi_safetensors_get_json(const npi_safetensors *file, const char *key);

/* Reads the options that the metadata has under `key`. */
int npi_safetensors_read_options(npgnn_options *options, const npi_safetensors *file, const char *key);

/* Finds the tensors in the data. E_FORMAT unless each has the expected type and shape and together they fill the
 * data without gaps and overlaps. */
int npi_safetensors_locate(npi_range *at /* (count) */, const npi_safetensors *file, const npi_safetensor *tensors,
                           int count);

#endif
