/* JSON text to and from the values of Jansson. Jansson's own parser and its growing strings are not used: where an
 * allocation fails, they lose characters without a word, or end the program with an assertion (2.14). */
#ifndef NPI_BASE_JSON_H
#define NPI_BASE_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define NPI_JSON_DEPTH 64 /* of nested arrays and objects, at most */

/* What is wrong with a text. */
typedef struct npi_json_fault {
    int64_t line; /* from 1 on */
    char text[96];
} npi_json_fault;

/* Parses an array or an object (RFC 8259). E_FORMAT for anything else, for a text that is not UTF-8, duplicate members,
 * a NUL in a string, integers beyond 64 bits, reals that are not finite and more than 64 levels; E_MEMORY. `fault` may
 * be NULL. */
int npi_json_parse(json_t **out, npi_json_fault *fault, const char *text, size_t size);

/* The text of a value, for the caller to free with free(); NULL where memory is out or the value is NULL. `flags` are
 * those of json_dumps. */
char *npi_json_print(const json_t *value, size_t flags);

#endif
