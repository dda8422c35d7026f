/* JSON as text: Jansson's allocations are counted as they fail, per thread, since each value is built on one. */
#include "json_text.h"

#include <stdlib.h>

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

void json_text_write(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *plain = at; /* from there on nothing is written yet */
    fputc('"', out);
    while (*at) {
        int length = utf8_length(at);
        if (length > 0 && *at >= 0x20 && *at != '"' && *at != '\\') {
            at += length;
            continue;
        }
        fwrite(plain, 1, (size_t)(at - plain), out);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (*at < 0x20)
            fprintf(out, "\\u%04x", *at);
        else
            fprintf(out, "\\%c", *at);
        plain = ++at;
    }
    fwrite(plain, 1, (size_t)(at - plain), out);
    fputc('"', out);
}
