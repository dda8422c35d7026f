/* The command line: the first byte names a command, the lines after it are its words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/message.h"
#include "../cli/settings.h"
#include "fuzz.h"
#include "quiet.h"

enum { MOST_WORDS = 64 };

static const cli_command *const commands[] = {&cmd_demo,      &cmd_info,     &cmd_train,  &cmd_eval,    &cmd_predict,
                                              &cmd_reproduce, &cmd_pretrain, &cmd_adapt,  &cmd_convert, &cmd_embed,
                                              &cmd_fetch,     &cmd_test,     &cmd_compare};

static int cut_words(char *words[MOST_WORDS], char *text)
{
    int count = 0;
    while (text && count < MOST_WORDS) {
        words[count++] = text;
        text = strchr(text, '\n');
        if (text)
            *text++ = '\0';
    }
    return count;
}

static void parse(const cli_command *command, char *text)
{
    char *words[MOST_WORDS];
    void *settings = malloc(command->size);
    fuzz_check(settings);
    memcpy(settings, command->defaults, command->size);
    int count = cut_words(words, text);
    int code = settings_parse(settings, command, count, words);
    fuzz_check(code == 0 || code == EXIT_USAGE || code == ARG_HELP);
    free(settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = malloc(size);
    fuzz_check(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    library_options_init();
    quiet_begin();
    parse(commands[data[0] % (sizeof commands / sizeof commands[0])], text);
    quiet_end();
    free(text);
    return 0;
}
