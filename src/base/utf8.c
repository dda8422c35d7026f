/* UTF-8: checking and writing characters. */
#include "base/utf8.h"

/* The length in bytes of the character at `at`, which has at most `left` bytes; 0 where it is malformed (shortest form,
 * no surrogates, up to U+10FFFF). */
static size_t length_at(const unsigned char *at, size_t left)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : 0;
    /* the second byte has a narrower range after some first bytes */
    unsigned char low = at[0] == 0xE0 ? 0xA0 : at[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = at[0] == 0xED ? 0x9F : at[0] == 0xF4 ? 0x8F : 0xBF;
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if (at[i] < low || at[i] > high)
            return 0;
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

int npi_utf8_is_valid(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    for (size_t step; length > 0; at += step, length -= step) {
        step = length_at(at, length);
        if (step == 0)
            return 0;
    }
    return 1;
}

size_t npi_utf8_write(char *to, int64_t c)
{
    static const unsigned char prefixes[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (c < 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(prefixes[length] | c);
    return length;
}
