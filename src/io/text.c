#include "io/text.h"

#include <stddef.h>

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

int npi_text_skippable(const char *line)
{
    while (is_blank(*line))
        line++;
    return *line == '\0' || *line == '#' || *line == '%';
}

char npi_text_separator(const char *line)
{
    char found = ' ';
    int quoted = 0;
    for (; *line; line++) {
        if (*line == '"')
            quoted = !quoted;
        if (quoted)
            continue;
        if (*line == '\t')
            return '\t';
        if (found == ' ' && (*line == ',' || *line == ';'))
            found = *line;
    }
    return found;
}

/* Unquotes in place: `at` is after the opening quote; returns what follows the closing one. */
static char *unquote(char *at)
{
    char *to = at;
    for (; *at; at++) {
        if (*at == '"') {
            if (at[1] != '"') {
                at++;
                break;
            }
            at++;
        }
        *to++ = *at;
    }
    /* the closing quote left room for the terminator; without one the field ends with the line */
    char *after = at;
    if (to < at)
        *to = '\0';
    return after;
}

static void trim_end(char *field, char *end)
{
    while (end > field && is_blank(end[-1]))
        end--;
    *end = '\0';
}

char *npi_text_field(char **rest, char separator)
{
    char *at = *rest;
    if (!at)
        return NULL;
    while (*at == ' ' || (*at == '\t' && separator != '\t'))
        at++;
    if (separator == ' ' && *at == '\0')
        return NULL;
    char *field = at;
    int quoted = *at == '"' && separator != ' ';
    if (quoted)
        at = unquote(++field);
    while (*at && !(separator == ' ' ? is_blank(*at) : *at == separator))
        at++;
    *rest = *at ? at + 1 : NULL;
    if (!quoted)
        trim_end(field, at);
    return field;
}
