/* JSON as text, complete or not at all. Many calls of Jansson build one value, and a member for which there is no
 * memory would just be missing: so failed allocations are noticed where Jansson asks for memory. */
#ifndef CLI_JSON_TEXT_H
#define CLI_JSON_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* Lets Jansson allocate through functions that notice failures. To be called before anything else of Jansson. */
void json_text_watch(void);

/* Forgets failures on this thread: what is built from now on may be complete again. */
void json_text_forget(void);

/* The text of a value, for the caller to free. NULL where the value is NULL, and where Jansson got no memory on this
 * thread since the last json_text_forget. `flags` are those of json_dumps. */
char *json_text(const json_t *value, size_t flags);

/* Writes a text as a JSON string, in quotes. Invalid UTF-8 becomes U+FFFD. */
void json_text_write(FILE *out, const char *text);

/* The same to memory: at most JSON_TEXT_STRING(strlen(text)) bytes, without a terminator. Returns the end of what was
 * written. */
char *json_text_put(char *to, const char *text);
#define JSON_TEXT_STRING(length) (6 * (length) + 2)

/* Writes a number as "%.9g" does: less than JSON_TEXT_NUMBER bytes, without a terminator. Returns the end of what was
 * written. */
char *json_text_put_number(char *to, float value);
enum { JSON_TEXT_NUMBER = 24 };

#endif
