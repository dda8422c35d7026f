/* Element types of numpy arrays, in .npy files and in pickles. */
#ifndef NPI_IO_DTYPE_H
#define NPI_IO_DTYPE_H

#include <stddef.h>
#include <stdint.h>

typedef struct npi_dtype {
    char kind; /* 'f' float, 'i' signed, 'u' unsigned, 'b' bool; 'U' or 'S' text, 'O' Python objects */
    int size;  /* bytes */
    int big_endian;
} npi_dtype;

/* Parses a numeric type such as "<f4", "f4" or "|b1": [byte order] kind size, with byte order <, >, | or =. Returns
 * 0, or -1 for anything else. */
int npi_dtype_parse(npi_dtype *out, const char *text, size_t length);

/* The same, but also takes text, "<U12" (12 characters of UTF-32) or "|S12" (12 bytes), and objects, "|O". */
int npi_dtype_parse_any(npi_dtype *out, const char *text, size_t length);

/* Read one element, which need not be aligned. npi_dtype_read_int is exact for integer types; unsigned values above
 * INT64_MAX become INT64_MAX. npi_dtype_read_float takes any numeric type. */
int64_t npi_dtype_read_int(const unsigned char *element, npi_dtype type);
double npi_dtype_read_float(const unsigned char *element, npi_dtype type);

#endif
