/* A recursive descent parser for JSON that builds the values of Jansson:
 *
 *   value  = object | array | string | number | true | false | null
 *   object = { [string : value {, string : value}] }
 *   array  = [ [value {, value}] ]
 *
 * Each function begins at the first character of what it parses. Those that build a tree return a new reference, or
 * NULL with the reason in the reader. */
#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"
#include "npgnn/npgnn.h"

typedef npi_json_reader parser;

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

void npi_json_begin(npi_json_reader *p, npi_json_fault *fault, const char *text, size_t size)
{
    *p = (npi_json_reader){.at = text, .end = text + size, .line = 1, .fault = fault};
}

int npi_json_peek(npi_json_reader *p)
{
    for (; p->at < p->end; p->at++) {
        if (*p->at == '\n')
            p->line++;
        else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r')
            return (unsigned char)*p->at;
    }
    return -1;
}

/* Makes the text hold `size` bytes. Returns 0 where there is no memory. */
static int reserve(parser *p, size_t size)
{
    if (size <= p->capacity)
        return 1;
    char *grown = realloc(p->text, 2 * size);
    if (!grown) {
        no_memory(p);
        return 0;
    }
    p->text = grown;
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

/* The string that begins with the quote at hand becomes the text. Returns non-zero on failure. */
static int parse_text(parser *p)
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
            written = unescape(p->text + length, &at, last);
        else
            p->text[length] = *at++;
        if (written == 0) {
            fail(p, "an invalid escape in a string");
            return -1;
        }
        length += written;
    }
    p->text[length] = '\0';
    p->at = last + 1;
    if (npi_utf8_is_valid(p->text, length))
        return 0;
    fail(p, "a string is not UTF-8");
    return -1;
}

/* ---- numbers and words ---- */

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* number = [-] (0 | 1-9 digits) [. digits] [(e | E) [+ | -] digits] */
static npi_json_kind parse_number(parser *p)
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
    if (!sound) {
        fail(p, "an invalid number");
        return NPI_JSON_FAILED;
    }
    size_t length = (size_t)(at - p->at);
    if (!reserve(p, length + 1))
        return NPI_JSON_FAILED;
    memcpy(p->text, p->at, length);
    p->text[length] = '\0';
    p->at = at;
    double number;
    if (real && npi_number_parse_double(&number, p->text) != NPI_NUMBER_OK) {
        fail(p, "a number is too large");
        return NPI_JSON_FAILED;
    }
    return real ? NPI_JSON_REAL : NPI_JSON_INTEGER;
}

static npi_json_kind parse_word(parser *p)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(p->end - p->at) < length || memcmp(p->at, words[i], length) != 0)
            continue;
        if (!reserve(p, length + 1))
            return NPI_JSON_FAILED;
        memcpy(p->text, words[i], length + 1);
        p->at += length;
        return (npi_json_kind)(NPI_JSON_TRUE + i);
    }
    fail(p, "expected a value");
    return NPI_JSON_FAILED;
}

npi_json_kind npi_json_scalar(npi_json_reader *p)
{
    int c = npi_json_peek(p);
    if (p->code)
        return NPI_JSON_FAILED;
    if (c == '"')
        return parse_text(p) ? NPI_JSON_FAILED : NPI_JSON_STRING;
    if (c < 0) {
        fail(p, "the text ends within a value");
        return NPI_JSON_FAILED;
    }
    return c == '-' || (c >= '0' && c <= '9') ? parse_number(p) : parse_word(p);
}

/* ---- arrays and objects ---- */

int npi_json_open(npi_json_reader *p)
{
    if (p->depth == NPI_JSON_DEPTH)
        fail(p, "arrays and objects are nested too deeply");
    if (p->code)
        return -1;
    p->depth++;
    p->at++;
    return 0;
}

int npi_json_more(npi_json_reader *p, size_t *count, char close)
{
    int c = npi_json_peek(p);
    if (p->code)
        return -1;
    if (c == close) {
        p->at++;
        p->depth--;
        return 0;
    }
    if (*count > 0 && c != ',') {
        fail(p, close == ']' ? "expected ',' or ']'" : "expected ',' or '}'");
        return -1;
    }
    p->at += *count > 0;
    ++*count;
    return 1;
}

int npi_json_key(npi_json_reader *p)
{
    if (npi_json_peek(p) != '"')
        fail(p, "expected the name of a member, in quotes");
    else if (parse_text(p) == 0 && npi_json_peek(p) != ':')
        fail(p, "expected ':' after the name of a member");
    p->at += p->code == 0;
    return p->code;
}

/* ---- trees ---- */

static json_t *parse_value(parser *p);

/* The array whose bracket is at hand. */
static json_t *parse_array(parser *p)
{
    json_t *array = npi_json_open(p) ? NULL : made(p, json_array());
    int more = 1;
    for (size_t count = 0; array && (more = npi_json_more(p, &count, ']')) > 0;) {
        json_t *value = parse_value(p);
        if (value && json_array_append_new(array, value))
            no_memory(p);
    }
    if (more == 0)
        return array;
    json_decref(array);
    return NULL;
}

/* One member, from its key on. */
static void parse_member(json_t *object, parser *p)
{
    if (npi_json_key(p))
        return;
    json_t *key = made(p, json_string_nocheck(p->text));
    const char *name = json_string_value(key);
    json_t *value = NULL;
    if (key && json_object_get(object, name))
        fail(p, "duplicate member");
    else if (key)
        value = parse_value(p);
    if (value && json_object_set_new_nocheck(object, name, value))
        no_memory(p);
    json_decref(key);
}

static json_t *parse_object(parser *p)
{
    json_t *object = npi_json_open(p) ? NULL : made(p, json_object());
    int more = 1;
    for (size_t count = 0; object && (more = npi_json_more(p, &count, '}')) > 0;)
        parse_member(object, p);
    if (more == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *parse_value(parser *p)
{
    int c = npi_json_peek(p);
    if (c == '{' || c == '[')
        return c == '{' ? parse_object(p) : parse_array(p);
    long long integer;
    double number = 0;
    switch (npi_json_scalar(p)) {
    case NPI_JSON_STRING:
        return made(p, json_string_nocheck(p->text));
    case NPI_JSON_INTEGER:
        errno = 0;
        integer = strtoll(p->text, NULL, 10);
        return errno == 0 ? made(p, json_integer(integer)) : fail(p, "an integer is too large");
    case NPI_JSON_REAL:
        npi_number_parse_double(&number, p->text);
        return made(p, json_real(number));
    case NPI_JSON_TRUE:
        return json_true();
    case NPI_JSON_FALSE:
        return json_false();
    case NPI_JSON_NULL:
        return json_null();
    case NPI_JSON_FAILED:
        break;
    }
    return NULL;
}

int npi_json_parse(json_t **out, npi_json_fault *fault, const char *text, size_t size)
{
    parser p;
    npi_json_begin(&p, fault, text, size);
    int first = npi_json_peek(&p);
    json_t *value = first == '{' || first == '[' ? parse_value(&p) : fail(&p, "expected '[' or '{'");
    if (value && npi_json_peek(&p) >= 0) {
        fail(&p, "something follows the value");
        json_decref(value);
        value = NULL;
    }
    free(p.text);
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
