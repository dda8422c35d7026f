/* JSON as text: Jansson's allocations are counted as they fail, per thread, since each value is built on one. */
#include "json_text.h"

#include <stdlib.h>

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
    /* measured first: the growing text of json_dumps may lose bytes where memory is out */
    size_t size = value && !failed ? json_dumpb(value, NULL, 0, flags) : 0;
    char *text = size > 0 ? malloc(size + 1) : NULL;
    if (!text)
        return NULL;
    if (json_dumpb(value, text, size, flags) != size || failed) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}
