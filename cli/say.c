#include "say.h"

#include <stdarg.h>
#include <stdio.h>

static void say(const char *format, va_list args) CLI_PRINTF(1, 0);
static void say(const char *format, va_list args)
{
    fputs("npgnn: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int say_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    return EXIT_FAILED;
}

int say_usage(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    fprintf(stderr, "Try 'npgnn %s%s--help'.\n", command ? command : "", command ? " " : "");
    return EXIT_USAGE;
}
