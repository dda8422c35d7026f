/* Error, warning and note messages on stderr. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>

static void print_message(const char *kind, const char *format, va_list args) CLI_PRINTF(2, 0);
static void print_message(const char *kind, const char *format, va_list args)
{
    fprintf(stderr, "npgnn: %s: ", kind);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int print_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("error", format, args);
    va_end(args);
    return EXIT_FAILED;
}

int print_usage_error(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("error", format, args);
    va_end(args);
    fprintf(stderr, "Try 'npgnn %s%s--help'.\n", command ? command : "", command ? " " : "");
    return EXIT_USAGE;
}

void print_warning(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("warning", format, args);
    va_end(args);
}

void print_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("note", format, args);
    va_end(args);
}
