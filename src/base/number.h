/* Numbers as text. The grammar is strict and the same in every locale:
 *
 *   integer = [+|-] digits
 *   decimal = [+|-] digits [. digits] [e [+|-] digits]      (digits may be missing on one side of the point)
 *
 * Nothing may stand before or after the number: no blanks, no hexadecimal digits, no thousands separators. */
#ifndef NPI_BASE_NUMBER_H
#define NPI_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Return 1, or 0 where the text is not an integer or does not fit. u64 takes no sign. */
int npi_number_parse_int(int64_t *out, const char *text);
int npi_number_parse_u64(uint64_t *out, const char *text);

typedef enum {
    NPI_NUMBER_OK,
    NPI_NUMBER_BAD,        /* not a number */
    NPI_NUMBER_NOT_FINITE, /* nan, inf, or too large for the type */
} npi_number_result;

/* *out is set on NPI_NUMBER_OK only. */
npi_number_result npi_number_parse_float(float *out, const char *text);
npi_number_result npi_number_parse_double(double *out, const char *text);

/* Turns a number with a decimal comma, such as 3,5 or 1.234,5, into one with a point, in place. Without `needed` also
 * whole numbers with points between thousands, such as 1.234, but not 0.125. Returns how many digits follow the comma,
 * 100 for such a whole number, 0 where the text is anything else, which stays as it is. */
int npi_number_take_decimal_comma(char *text, int needed);

/* Whether a text begins as a number does, after signs of money: "1,234,567", "$5", "12 kg" and "2024-01-31", but not
 * "weight". */
int npi_number_begins(const char *text);

/* The predicate of an error message: "is not a number" or "is not finite". */
const char *npi_number_reason(npi_number_result result);

/* The shortest of 15 to 17 digits that reads back as the same number: 0.9, not 0.90000000000000002. Cut to `size`
 * bytes. */
void npi_number_print(char *text, size_t size, double number);

#endif
