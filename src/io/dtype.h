/* Element types of numpy arrays, for .npy files and for pickled arrays. */
#ifndef NPI_IO_DTYPE_H
#define NPI_IO_DTYPE_H

#include <stddef.h>
#include <stdint.h>

typedef struct npi_dtype {
    char kind; /* 'f' float, 'i' signed, 'u' unsigned, 'b' bool; 'U' or 'S' text, 'O' Python's objects */
    int size;  /* bytes */
    int big_endian;
} npi_dtype;

/* From numpy's short spelling, "<f4" or "f4" or "|b1". Returns 0, or -1 for a type that is not a plain number. */
int npi_dtype_parse(npi_dtype *out, const char *text, size_t length);

/* Also text, "<U12" (UTF-32) or "|S12", and "|O"; -1 for anything else. */
int npi_dtype_parse_any(npi_dtype *out, const char *text, size_t length);

/* One element. An integer type is read exactly by npi_dtype_read_int (unsigned 64-bit values above INT64_MAX saturate); any
 * type is read by npi_dtype_read_float. The bytes need no alignment. */
int64_t npi_dtype_read_int(const unsigned char *element, npi_dtype type);
double npi_dtype_read_float(const unsigned char *element, npi_dtype type);

#endif
