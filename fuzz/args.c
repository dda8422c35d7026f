/* The command line: the first byte names a command, the lines after it are its words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/say.h"
#include "../cli/settings.h"
#include "fuzz.h"
#include "quiet.h"

enum { MOST_WORDS = 64 };

static const cli_command *const commands[] = {&cmd_demo,    &cmd_info,      &cmd_train, &cmd_eval,
                                              &cmd_predict, &cmd_reproduce, &cmd_bench};

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
    cli_settings settings = command->defaults;
    int count = cut_words(words, text);
    int code = arg_parse(&settings, settings.operands, &command->args, count, words);
    fuzz_check(code == 0 || code == EXIT_USAGE || code == ARG_HELP);
    if (code != 0)
        return;
    code = settings_finish(&settings, &command->args);
    fuzz_check(code == EXIT_USAGE || (code == 0 && settings.threads >= 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = malloc(size);
    fuzz_check(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    quiet_begin();
    parse(commands[data[0] % (sizeof commands / sizeof commands[0])], text);
    quiet_end();
    free(text);
    return 0;
}
