/* numpy arrays: .npy files, and the members of .npz files. */
#ifndef NPI_IO_NPY_H
#define NPI_IO_NPY_H

#include "base/names.h"
#include "io/dtype.h"
#include "io/stream.h"

/* What the header of an array says. */
typedef struct npi_npy_header {
    npi_dtype type;
    int fortran;        /* 1: stored column by column */
    int dims;           /* 0, 1 or 2 */
    int64_t rows, cols; /* each below 2^31; a vector has one column, a scalar one row and one column */
} npi_npy_header;

/* 1 where the stream begins with the magic string of the format. */
int npi_npy_detect(const npi_stream *stream);

/* Reads the header; the elements follow in the stream. */
int npi_npy_read_header(npi_npy_header *out, npi_stream *stream, npgnn_error *err);

/* Calls `see` for every element in the order of the file, then checks that the file ends. */
typedef int npi_element_fn(void *user, int64_t row, int64_t col, const unsigned char *element, npgnn_error *err);
int npi_npy_read_each(const npi_npy_header *array, npi_stream *stream, npi_element_fn *see, void *user,
                      npgnn_error *err);

/* All elements, row by row, in an array that the caller frees. Its memory grows with the bytes that are read.
 * E_FORMAT where an element is not an integer, or not a finite number. */
int npi_npy_read_ints(int64_t **out, const npi_npy_header *array, npi_stream *stream, npgnn_error *err);
int npi_npy_read_floats(float **out, const npi_npy_header *array, npi_stream *stream, npgnn_error *err);

/* Calls `see` for every text of a vector, in UTF-8. It may change the text. */
typedef int npi_text_fn(void *user, char *text, npgnn_error *err);
int npi_npy_read_texts(const npi_npy_header *array, npi_stream *stream, npi_text_fn *see, void *user, npgnn_error *err);

#endif
