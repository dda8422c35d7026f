/* Numbers as text: strictly decimal, nothing around them, and the same in every locale. */
#ifndef NPI_BASE_NUMBER_H
#define NPI_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* 1, or 0 where the text is something else than a whole number or does not fit 64 bits. */
int npi_number_parse_int(int64_t *out, const char *text);
int npi_number_parse_u64(uint64_t *out, const char *text);

typedef enum {
    NPI_NUMBER_OK,
    NPI_NUMBER_BAD,
    NPI_NUMBER_NOT_FINITE, /* nan, inf, or too large for the type */
} npi_number_result;

npi_number_result npi_number_parse_float(float *out, const char *text);
npi_number_result npi_number_parse_double(double *out, const char *text);

/* "is not a number" or "is not finite". */
const char *npi_number_reason(npi_number_result result);

/* The shortest text that reads back as the same number: 0.9, not 0.90000000000000002. Shortened to `size`. */
void npi_number_print(char *text, size_t size, double number);

#endif
