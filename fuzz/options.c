/* Options by key and text: lines "key=value". What an option is said to be, sets it to the same again. */
#include <string.h>

#include "fuzz.h"

static void set_line(fuzz_case *c, npgnn_options *options, char *line)
{
    char value[64], again[64];
    char *text = strchr(line, '=');
    npgnn_options copy = {.size = sizeof copy};
    if (!text)
        return;
    *text++ = '\0';
    memcpy(&copy, options, sizeof copy); /* bytes between the fields too: they are compared below */
    if (fuzz_code(c, npgnn_options_set(options, line, text, &c->err)) != 0) {
        fuzz_check(memcmp(&copy, options, sizeof copy) == 0);
        return;
    }
    fuzz_check(npgnn_options_get(value, sizeof value, options, line, &c->err) == 0);
    fuzz_check(npgnn_options_set(&copy, line, value, &c->err) == 0);
    fuzz_check(npgnn_options_get(again, sizeof again, &copy, line, &c->err) == 0);
    fuzz_check(strcmp(value, again) == 0);
    fuzz_check(memcmp(&copy, options, sizeof copy) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    npgnn_options options;
    char line[512];
    fuzz_begin(&c, data, size);
    memset(&options, 0, sizeof options); /* padding too */
    options.size = sizeof options;
    fuzz_check(npgnn_options_preset(&options, NULL, &c.err) == 0);
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t length = end ? (size_t)(end - data) : size, used = end ? length + 1 : length;
        if (length < sizeof line) {
            memcpy(line, data, length);
            line[length] = '\0';
            set_line(&c, &options, line);
        }
        data += used;
        size -= used;
    }
    fuzz_end(&c);
    return 0;
}
