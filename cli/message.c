/* Error, warning and note messages on stderr. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "progress_line.h"

void print_clean(FILE *out, const char *text)
{
    int utf8 = npi_utf8_is_valid(text, strlen(text));
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        /* U+0080 to U+009F, control characters too, are C2 80 to C2 9F: the second byte is the number of the
         * character */
        int c1 = at[0] == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0;
        if (*at < 0x20 || *at == 0x7F || (*at >= 0x80 && !utf8))
            fprintf(out, "\\x%02X", *at);
        else if (c1)
            fprintf(out, "\\u%04X", *++at);
        else
            putc(*at, out);
    }
}

static int muted;
static char process[64]; /* what errors begin with */
static char last[8192];  /* two paths of 4096 bytes; a longer text is cut */

void message_mute(void)
{
    muted = 1;
}

void message_unmute(void)
{
    muted = 0;
}

void message_name_process(int rank, int ranks)
{
    process[0] = '\0';
    if (ranks > 0)
        snprintf(process, sizeof process, "process %d of %d: ", rank, ranks);
}

const char *message_last(void)
{
    return last;
}

static void print_line(const char *kind, const char *from, const char *text)
{
    if (muted)
        return;
    progress_line_erase();
    fprintf(stderr, "npgnn: %s: %s", kind, from);
    print_clean(stderr, text);
    fputc('\n', stderr);
}

static void print_message(const char *kind, const char *format, va_list args) CLI_PRINTF(2, 0);
static void print_message(const char *kind, const char *format, va_list args)
{
    char text[sizeof last];
    vsnprintf(text, sizeof text, format, args);
    print_line(kind, "", text);
}

static void report(const char *format, va_list args) CLI_PRINTF(1, 0);
static void report(const char *format, va_list args)
{
    char text[sizeof last]; /* `last` may be among the arguments */
    vsnprintf(text, sizeof text, format, args);
    memcpy(last, text, sizeof last);
    int agreed = strncmp(text, "process ", strlen("process ")) == 0; /* among all processes: it names the one */
    print_line("error", agreed ? "" : process, text);
}

int print_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(format, args);
    va_end(args);
    return EXIT_FAILED;
}

int print_usage_error(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(format, args);
    va_end(args);
    if (!muted)
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
