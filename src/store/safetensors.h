/* safetensors: a 64-bit length, a JSON header of that length, then the tensors (docs/use/formats.md). What model
 * files and checkpoints have in common. */
#ifndef NPI_STORE_SAFETENSORS_H
#define NPI_STORE_SAFETENSORS_H

#include <jansson.h>
#include <stdint.h>

#include "base/env.h"

typedef struct npi_safetensor {
    const char *name, *dtype; /* "F32", "F64" or "U64" */
    int64_t rows, cols;       /* rows 1: a vector; no rows: the tensor is not there */
} npi_safetensor;

size_t npi_safetensor_bytes(const npi_safetensor *tensor);

/* ---- writing ---- */

/* safetensors allows only strings in its metadata, so an object goes in as its text. Takes `value` over; NULL is a
 * failure, as is want of memory: non-zero then. */
int npi_safetensors_put_json(json_t *metadata, const char *key, json_t *value);

/* Options as an object of strings; NULL when memory is out. */
json_t *npi_safetensors_pack_options(const npgnn_options *options);

/* The header of a file with these tensors in this order, padded with blanks so that they begin at a multiple of 8;
 * for the caller to free with free(). Takes the metadata over. NULL when memory is out. */
char *npi_safetensors_make_header(json_t *metadata, const npi_safetensor *tensors, int count);

/* ---- reading ---- */

typedef struct npi_safetensors {
    const char *path;
    const char *expected;      /* what the file should be, for errors: "a model of npgnn" */
    const unsigned char *data; /* the tensors */
    size_t data_size;
    json_t *header;
    npgnn_error *err;
} npi_safetensors;

/* The bytes of one tensor within the data. */
typedef struct npi_range {
    size_t begin, end;
} npi_range;

/* E_FORMAT: "not a model of npgnn: WHAT". */
int npi_safetensors_refuse(const npi_safetensors *file, const char *what);

/* Reads the header of a file in memory, which must outlive the reader. path, expected and err are filled in already. */
int npi_safetensors_open(npi_safetensors *file, const unsigned char *bytes, size_t size);
void npi_safetensors_close(npi_safetensors *file);

/* Whether this is a file of ours: its format and its version. */
int npi_safetensors_check_format(const npi_safetensors *file, const char *format, const char *format_version);

/* Metadata by key: a string, or what is JSON inside one, a new reference. NULL where it is missing or damaged. */
const char *npi_safetensors_get_text(const npi_safetensors *file, const char *key);
json_t *npi_safetensors_get_json(const npi_safetensors *file, const char *key);

/* The options under `key`. */
int npi_safetensors_read_options(npgnn_options *options, const npi_safetensors *file, const char *key);

/* Where the tensors lie in the data, once everything the header says of them is as it must be: together they are the
 * data, each byte belonging to one of them. */
int npi_safetensors_locate(npi_range *at /* (count) */, const npi_safetensors *file, const npi_safetensor *tensors,
                           int count);

#endif
