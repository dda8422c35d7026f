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

/* Reads a text piece by piece, for a caller that keeps no tree of it: no memory but for the text of one value at a
 * time. After a failure every call fails. */
typedef struct npi_json_reader {
    const char *at, *end;
    int64_t line;
    int depth;
    char *text; /* of the latest value that is no array or object, terminated: a string without its escapes */
    size_t capacity;
    int code; /* E_FORMAT or E_MEMORY of the first failure */
    npi_json_fault *fault;
} npi_json_reader;

typedef enum {
    NPI_JSON_FAILED = -1,
    NPI_JSON_STRING,
    NPI_JSON_INTEGER, /* of any size: the text is as written */
    NPI_JSON_REAL,    /* finite; the text is as written, such as 1.0 or 1e0 */
    NPI_JSON_TRUE,
    NPI_JSON_FALSE,
    NPI_JSON_NULL
} npi_json_kind;

/* `fault` may be NULL. The caller frees `text` of the reader. */
void npi_json_begin(npi_json_reader *reader, npi_json_fault *fault, const char *text, size_t size);

/* The next character that is not white space, without consuming it; -1 at the end of the text. */
int npi_json_peek(npi_json_reader *reader);

/* Consumes the '[' or '{' at hand. Returns non-zero on failure: more than NPI_JSON_DEPTH levels. */
int npi_json_open(npi_json_reader *reader);

/* Before each element or member, *count of which were read: 1 where there is another, *count is then one more; 0 after
 * consuming the closing bracket, -1 on failure. */
int npi_json_more(npi_json_reader *reader, size_t *count, char close);

/* Reads the name of a member, which becomes the text, and its ':'. Returns non-zero on failure. */
int npi_json_key(npi_json_reader *reader);

/* Reads a value that is no array or object. */
npi_json_kind npi_json_scalar(npi_json_reader *reader);

/* Parses an array or an object (RFC 8259). E_FORMAT for anything else, for a text that is not UTF-8, duplicate members,
 * a NUL in a string, integers beyond 64 bits, reals that are not finite and more than 64 levels; E_MEMORY. `fault` may
 * be NULL. */
int npi_json_parse(json_t **out, npi_json_fault *fault, const char *text, size_t size);

/* The text of a value, for the caller to free with free(); NULL where memory is out or the value is NULL. `flags` are
 * those of json_dumps. */
char *npi_json_print(const json_t *value, size_t flags);

#endif
