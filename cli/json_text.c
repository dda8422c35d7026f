/* JSON as text: Jansson's allocations are counted as they fail, per thread, since each value is built on one. */
#include "json_text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static _Thread_local int failed;

static void *watched_malloc(size_t size)
{
    void *block = malloc(size);
    failed |= !block;
    return block;
}

void json_text_watch(void)
{
    json_set_alloc_funcs(watched_malloc, free);
}

void json_text_forget(void)
{
    failed = 0;
}

char *json_text(const json_t *value, size_t flags)
{
    char *text = failed ? NULL : npi_json_print(value, flags);
    if (text && failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* The length of the UTF-8 character at the start of the text, or 0 where it is not valid. */
static int utf8_length(const unsigned char *text)
{
    int length = text[0] < 0x80 ? 1 : text[0] < 0xC2 ? 0 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    if (text[0] > 0xF4)
        return 0;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    /* overlong forms, surrogates, and code points above U+10FFFF */
    if ((text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xED && text[1] > 0x9F) ||
        (text[0] == 0xF0 && text[1] < 0x90) || (text[0] == 0xF4 && text[1] > 0x8F))
        return 0;
    return length;
}

/* The next character of a text as it stands in a JSON string: at most 6 bytes. Returns how many. */
static int put_character(char *to, const unsigned char **at)
{
    static const char digits[] = "0123456789abcdef";
    int length = utf8_length(*at), c = **at;
    if (length > 0 && c >= 0x20 && c != '"' && c != '\\') {
        memcpy(to, *at, (size_t)length);
        *at += length;
        return length;
    }
    (*at)++;
    if (c == '"' || c == '\\') {
        to[0] = '\\';
        to[1] = (char)c;
        return 2;
    }
    memcpy(to, "\\ufffd", 6);
    if (length > 0) { /* a control character */
        to[2] = to[3] = '0';
        to[4] = digits[c >> 4];
        to[5] = digits[c & 15];
    }
    return 6;
}

char *json_text_put(char *to, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    *to++ = '"';
    while (*at)
        to += put_character(to, &at);
    *to++ = '"';
    return to;
}

void json_text_write(FILE *out, const char *text)
{
    char buffer[256];
    size_t used = 0;
    const unsigned char *at = (const unsigned char *)text;
    buffer[used++] = '"';
    while (*at) {
        used += (size_t)put_character(buffer + used, &at);
        if (used > sizeof buffer - 8) {
            fwrite(buffer, 1, used, out);
            used = 0;
        }
    }
    buffer[used++] = '"';
    fwrite(buffer, 1, used, out);
}

/* With 10^e <= |x| < 10^(e+1), the nine digits are |x| 10^(8-e), rounded to an integer. The product is below 10^9 and
 * rounded once to a double, so that it is off by less than 10^-6: unless it is that close to the middle between two
 * integers, it is rounded as the exact product would be. In that case, and for numbers far from 1, snprintf does it. */
char *json_text_put_number(char *to, float value)
{
    enum { DIGITS = 9 };
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double size = fabs((double)value);
    if (!(size >= 1e-13 && size < 1e8)) /* or a NaN */
        return to + snprintf(to, JSON_TEXT_NUMBER, "%.9g", (double)value);
    int exponent = (int)floor(log10(size));
    double scaled = size * powers[DIGITS - 1 - exponent];
    if (scaled < 1e8 || scaled >= 1e9) { /* next to a power of ten, the logarithm may be rounded to the other side */
        exponent += scaled < 1e8 ? -1 : 1;
        scaled = size * powers[DIGITS - 1 - exponent];
    }
    int64_t number = (int64_t)scaled;
    double part = scaled - (double)number;
    if (fabs(part - 0.5) < 1e-6)
        return to + snprintf(to, JSON_TEXT_NUMBER, "%.9g", (double)value);
    number += part > 0.5;
    if (number >= 1000000000) {
        number /= 10;
        exponent++;
    }
    char digits[DIGITS];
    int count = DIGITS, next = 0;
    for (int i = DIGITS - 1; i >= 0; i--, number /= 10)
        digits[i] = (char)('0' + number % 10);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (value < 0)
        *to++ = '-';
    int plain = exponent >= -4,
        before = plain ? exponent + 1 : 1; /* digits before the point; plain: without an exponent */
    if (before <= 0) {
        memcpy(to, "0.0000", 6);
        to += 2 - before;
    }
    for (; next < before || next < count; next++) {
        if (next == before && before > 0)
            *to++ = '.';
        *to++ = next < count ? digits[next] : '0';
    }
    if (!plain) {
        *to++ = 'e';
        *to++ = '-';
        *to++ = (char)('0' - exponent / 10);
        *to++ = (char)('0' - exponent % 10);
    }
    return to;
}
