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
