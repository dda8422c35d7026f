/* UTF-8 (RFC 3629). */
#ifndef NPI_BASE_UTF8_H
#define NPI_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Whether `length` bytes are well-formed: no overlong forms, no surrogates, nothing above U+10FFFF. */
int npi_utf8_is_valid(const char *text, size_t length);

/* Writes a character, 1 to 4 bytes, and returns how many; 0 where it is not a Unicode character. */
size_t npi_utf8_write(char *to, int64_t character);

#endif
