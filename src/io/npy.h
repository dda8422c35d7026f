/* numpy's arrays: .npy files, and the members of .npz files. */
#ifndef NPI_IO_NPY_H
#define NPI_IO_NPY_H

#include "base/names.h"
#include "io/dtype.h"
#include "io/stream.h"

typedef struct npi_npy_header {
    npi_dtype type;
    int fortran;
    int dims;           /* 0, 1 or 2 */
    int64_t rows, cols; /* each below 2^31; a vector has one column, a number one of each */
} npi_npy_header;

/* 1 when the stream begins as such a file does. */
int npi_npy_detect(const npi_stream *stream);

/* Reads the header: what the elements are that follow. */
int npi_npy_read_header(npi_npy_header *out, npi_stream *stream, npgnn_error *err);

/* Shows every element to `see`, in the order of the file, then checks that the file ends. */
typedef int npi_element_fn(void *user, int64_t row, int64_t col, const unsigned char *element, npgnn_error *err);
int npi_npy_read_each(const npi_npy_header *array, npi_stream *stream, npi_element_fn *see, void *user,
                      npgnn_error *err);

/* All elements, row after row, as an array that the caller frees. It grows with the bytes that are there. E_FORMAT where
 * they are no integers, not finite numbers, no text. */
int npi_npy_read_ints(int64_t **out, const npi_npy_header *array, npi_stream *stream, npgnn_error *err);
int npi_npy_read_floats(float **out, const npi_npy_header *array, npi_stream *stream, npgnn_error *err);

/* The texts of a vector, in UTF-8, each shown to `see`, which may change it. */
typedef int npi_text_fn(void *user, char *text, npgnn_error *err);
int npi_npy_read_texts(const npi_npy_header *array, npi_stream *stream, npi_text_fn *see, void *user, npgnn_error *err);

#endif
