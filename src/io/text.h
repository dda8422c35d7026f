/* Lines cut into fields, and fields read as numbers: strictly, and the same in every locale. */
#ifndef NPI_IO_TEXT_H
#define NPI_IO_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The separator of a table: ',', '\t' or ';' where the line has one outside quotes (the tab first), else ' ', which means
 * any run of blanks. */
char npi_text_separator(const char *line);

/* Cuts the next field off *rest, terminated in place, blanks around it removed; a field in double quotes may hold the
 * separator, and a quote written twice. NULL when there is none left. */
char *npi_text_field(char **rest, char separator);

/* A whole field as a decimal integer: 1, or 0 where it is something else or does not fit 64 bits. */
int npi_text_int(int64_t *out, const char *field);

typedef enum {
    NPI_TEXT_OK,
    NPI_TEXT_NOT_A_NUMBER,
    NPI_TEXT_NOT_FINITE, /* nan, inf, or too large for a float */
} npi_text_result;

/* A whole field as a decimal number. */
npi_text_result npi_text_float(float *out, const char *field);

/* "is not a number" or "is not finite". */
const char *npi_text_reason(npi_text_result result);

/* 1 for a line without content: blank, or a comment that begins with # or %. */
int npi_text_skippable(const char *line);

#endif
