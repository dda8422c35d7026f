/* A recursive descent parser for JSON that builds the values of Jansson:
 *
 *   value  = object | array | string | number | true | false | null
 *   object = { [string : value {, string : value}] }
 *   array  = [ [value {, value}] ]
 *
 * Each function begins at the first character of what it parses and returns a new reference, or NULL with the reason in
 * the parser. */
#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"
#include "npgnn/npgnn.h"

typedef struct parser {
    const char *at, *end;
    int64_t line;
    int depth;
    char *scratch; /* a string without its escapes, or a number */
    size_t capacity;
    int code; /* of the first failure */
    npi_json_fault *fault;
} parser;

static json_t *fail(parser *p, const char *what)
{
    if (p->code == 0 && p->fault) {
        p->fault->line = p->line;
        snprintf(p->fault->text, sizeof p->fault->text, "%s", what);
    }
    p->code = p->code ? p->code : NPGNN_E_FORMAT;
    return NULL;
}

static json_t *no_memory(parser *p)
{
    if (p->code == 0)
        fail(p, "out of memory");
    p->code = NPGNN_E_MEMORY;
    return NULL;
}

/* A value that was just made: NULL means that there was no memory for it. */
static json_t *made(parser *p, json_t *value)
{
    return value ? value : no_memory(p);
}

/* The next character that is not white space, without consuming it; -1 at the end. */
static int next(parser *p)
{
    for (; p->at < p->end; p->at++) {
        if (*p->at == '\n')
            p->line++;
        else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r')
            return (unsigned char)*p->at;
    }
    return -1;
}

/* Makes the scratch hold `size` bytes. Returns 0 where there is no memory. */
static int reserve(parser *p, size_t size)
{
    if (size <= p->capacity)
        return 1;
    char *grown = realloc(p->scratch, 2 * size);
    if (!grown) {
        no_memory(p);
        return 0;
    }
    p->scratch = grown;
    p->capacity = 2 * size;
    return 1;
}

/* ---- strings ---- */

/* Four hexadecimal digits; -1 where they are none. */
static int32_t hex4(const char *text, const char *end)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++, text++) {
        int digit = text >= end                    ? -1
                    : *text >= '0' && *text <= '9' ? *text - '0'
                    : *text >= 'a' && *text <= 'f' ? *text - 'a' + 10
                    : *text >= 'A' && *text <= 'F' ? *text - 'A' + 10
                                                   : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* An escape from the backslash at *from on: moves *from behind it, and writes what it stands for. Returns the bytes
 * written, which are fewer than those read; 0 where it is invalid. */
static size_t unescape(char *to, const char **from, const char *end)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *at = *from + 1, *letter = at < end && *at ? strchr(letters, *at) : NULL;
    if (letter) {
        *to = meanings[letter - letters];
        *from = at + 1;
        return 1;
    }
    int32_t c = at < end && *at == 'u' ? hex4(at + 1, end) : -1;
    at += 5;
    if (c >= 0xD800 && c <= 0xDBFF) { /* the first half of a pair */
        int32_t low = end - at >= 2 && at[0] == '\\' && at[1] == 'u' ? hex4(at + 2, end) : -1;
        c = low >= 0xDC00 && low <= 0xDFFF ? 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00) : -1;
        at += 6;
    }
    if (c <= 0 || (c >= 0xDC00 && c <= 0xDFFF)) /* a NUL would end the string */
        return 0;
    *from = at;
    return npi_utf8_write(to, c);
}

/* The string that begins with the quote at hand, in the scratch and terminated. Returns its length, -1 on failure. */
static ptrdiff_t parse_text(parser *p)
{
    const char *first = p->at + 1, *last = first;
    while (last < p->end && *last != '"')
        last += *last == '\\' && p->end - last > 1 ? 2 : 1;
    if (last >= p->end) {
        fail(p, "a string is not closed");
        return -1;
    }
    if (!reserve(p, (size_t)(last - first) + 1))
        return -1;
    size_t length = 0;
    for (const char *at = first; at < last;) {
        if ((unsigned char)*at < 0x20) {
            fail(p, "a control character in a string: it must be escaped");
            return -1;
        }
        size_t written = 1;
        if (*at == '\\')
            written = unescape(p->scratch + length, &at, last);
        else
            p->scratch[length] = *at++;
        if (written == 0) {
            fail(p, "an invalid escape in a string");
            return -1;
        }
        length += written;
    }
    p->scratch[length] = '\0';
    p->at = last + 1;
    if (npi_utf8_is_valid(p->scratch, length))
        return (ptrdiff_t)length;
    fail(p, "a string is not UTF-8");
    return -1;
}

static json_t *parse_string(parser *p)
{
    ptrdiff_t length = parse_text(p);
    return length < 0 ? NULL : made(p, json_stringn_nocheck(p->scratch, (size_t)length));
}

/* ---- numbers and words ---- */

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* number = [-] (0 | 1-9 digits) [. digits] [(e | E) [+ | -] digits] */
static json_t *parse_number(parser *p)
{
    const char *digits = p->at + (*p->at == '-'), *at = skip_digits(digits, p->end), *before;
    int real = 0, sound = at > digits && (at == digits + 1 || *digits != '0');
    if (sound && at < p->end && *at == '.') {
        before = at + 1;
        at = skip_digits(before, p->end);
        sound = at > before;
        real = 1;
    }
    if (sound && at < p->end && (*at == 'e' || *at == 'E')) {
        before = at + 1;
        before += before < p->end && (*before == '+' || *before == '-');
        at = skip_digits(before, p->end);
        sound = at > before;
        real = 1;
    }
    if (!sound)
        return fail(p, "an invalid number");
    size_t length = (size_t)(at - p->at);
    if (!reserve(p, length + 1))
        return NULL;
    memcpy(p->scratch, p->at, length);
    p->scratch[length] = '\0';
    p->at = at;
    double number;
    if (real)
        return npi_number_parse_double(&number, p->scratch) == NPI_NUMBER_OK ? made(p, json_real(number))
                                                                             : fail(p, "a number is too large");
    errno = 0;
    long long integer = strtoll(p->scratch, NULL, 10);
    return errno == 0 ? made(p, json_integer(integer)) : fail(p, "an integer is too large");
}

static json_t *parse_word(parser *p)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(p->end - p->at) >= length && memcmp(p->at, words[i], length) == 0) {
            p->at += length;
            return i == 0 ? json_true() : i == 1 ? json_false() : json_null();
        }
    }
    return fail(p, "expected a value");
}

/* ---- arrays and objects ---- */

static json_t *parse_value(parser *p);

/* After an element: 1 for a comma, which is consumed, 0 for the closing bracket, -1 for anything else. */
static int continues(parser *p, char close)
{
    int c = next(p);
    if (c != ',' && c != close) {
        fail(p, close == ']' ? "expected ',' or ']'" : "expected ',' or '}'");
        return -1;
    }
    p->at++;
    return c == ',';
}

/* The array whose bracket is at hand. */
static json_t *parse_array(parser *p)
{
    json_t *array = made(p, json_array());
    p->at++;
    if (array && next(p) == ']') {
        p->at++;
        return array;
    }
    for (int more = 1; array && more;) {
        json_t *value = parse_value(p);
        int failed = !value || json_array_append_new(array, value);
        if (value && failed)
            no_memory(p);
        more = failed ? -1 : continues(p, ']');
        if (more < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* One member, from its key on. Returns non-zero on failure. */
static int parse_member(json_t *object, parser *p)
{
    if (next(p) != '"') {
        fail(p, "expected the name of a member, in quotes");
        return -1;
    }
    json_t *key = parse_string(p), *value = NULL;
    const char *name = json_string_value(key);
    if (key && json_object_get(object, name))
        fail(p, "duplicate member");
    else if (key && next(p) != ':')
        fail(p, "expected ':' after the name of a member");
    else if (key) {
        p->at++;
        value = parse_value(p);
    }
    int failed = !value;
    if (value && json_object_set_new_nocheck(object, name, value)) {
        no_memory(p);
        failed = 1;
    }
    json_decref(key);
    return failed;
}

static json_t *parse_object(parser *p)
{
    json_t *object = made(p, json_object());
    p->at++;
    if (object && next(p) == '}') {
        p->at++;
        return object;
    }
    for (int more = 1; object && more;) {
        more = parse_member(object, p) ? -1 : continues(p, '}');
        if (more < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *parse_value(parser *p)
{
    json_t *value = NULL;
    int c = next(p);
    if (c == '{' || c == '[') {
        if (p->depth == NPI_JSON_DEPTH)
            return fail(p, "arrays and objects are nested too deeply");
        p->depth++;
        value = c == '{' ? parse_object(p) : parse_array(p);
        p->depth--;
        return value;
    }
    return c == '"'                             ? parse_string(p)
           : c == '-' || (c >= '0' && c <= '9') ? parse_number(p)
           : c < 0                              ? fail(p, "the text ends within a value")
                                                : parse_word(p);
}

int npi_json_parse(json_t **out, npi_json_fault *fault, const char *text, size_t size)
{
    parser p = {.at = text, .end = text + size, .line = 1, .fault = fault};
    int first = next(&p);
    json_t *value = first == '{' || first == '[' ? parse_value(&p) : fail(&p, "expected '[' or '{'");
    if (value && next(&p) >= 0) {
        fail(&p, "something follows the value");
        json_decref(value);
        value = NULL;
    }
    free(p.scratch);
    if (value)
        *out = value;
    return p.code;
}

char *npi_json_print(const json_t *value, size_t flags)
{
    /* the size is measured first: json_dumps can lose a byte without reporting it where memory runs out while its
     * buffer grows */
    size_t size = value ? json_dumpb(value, NULL, 0, flags) : 0;
    char *text = size > 0 ? malloc(size + 1) : NULL;
    if (!text || json_dumpb(value, text, size, flags) != size) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}
