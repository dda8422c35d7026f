/* Separators, fields and UTF-8. */
#include "io/text.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

int npi_text_is_skippable(const char *line)
{
    while (is_blank(*line))
        line++;
    /* "#cats" and "%5" are ids: a comment has a blank after its # or %, or nothing */
    while (*line == '#' || *line == '%') {
        line++;
        if (*line == '\0' || is_blank(*line))
            return 1;
    }
    return *line == '\0';
}

char npi_text_find_separator_of_names(const char *line)
{
    int words = 0;
    for (const char *at = line + strspn(line, " "); *at; at += strspn(at, " ")) {
        words++;
        at += strcspn(at, " ");
    }
    return strchr(line, '\t') ? '\t' : strchr(line, ',') ? ',' : strchr(line, ';') && words != 2 ? ';' : ' ';
}

const char *npi_text_peek(size_t *size, const npi_stream *stream)
{
    const char *text = (const char *)npi_stream_peek(size, stream);
    size_t at = *size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < *size && text[at] && strchr(" \t\r\n", text[at]))
        at++;
    *size -= at;
    return text + at;
}

int npi_text_is_utf8(const char *text)
{
    return npi_utf8_is_valid(text, strlen(text));
}

char npi_text_find_separator(const char *line)
{
    char found = ' ';
    int quoted = 0;
    for (; *line; line++) {
        /* a tab decides at once; a comma or semicolon only where no tab follows */
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

/* The closing quote of a field, where `at` is after the opening one; the end of the text where there is none. */
static const char *find_closing_quote(const char *at)
{
    for (; *at && !(at[0] == '"' && at[1] != '"'); at++)
        at += at[0] == '"'; /* two quotes stand for one */
    return at;
}

/* The first character that is not a blank, unless that separates fields. */
static const char *skip_blanks(const char *at, char separator)
{
    while (*at == ' ' || (*at == '\t' && separator != '\t'))
        at++;
    return at;
}

/* Whether a field that begins with a quote is in quotes: nothing but blanks follows the closing one. Names may begin with
 * a quote; and lists that are separated by blanks come from programs that know no quotes, as well as from R, which writes
 * them. */
static int is_quoted(const char *field, char separator)
{
    const char *close = *field == '"' ? find_closing_quote(field + 1) : "";
    if (!*close)
        return 0;
    const char *after = skip_blanks(close + 1, separator);
    return !*after || *after == separator || (separator == ' ' && after > close + 1);
}

int npi_text_ends_in_quotes(int *stray, const char *line, char separator, int inside)
{
    const char *at = line;
    while (separator != ' ' && (*at || inside)) {
        at = inside ? at : skip_blanks(at, separator);
        if (inside || *at == '"') {
            at = find_closing_quote(at + !inside);
            if (!*at)
                return 1;
            at = skip_blanks(at + 1, separator);
            inside = 0;
            *stray |= *at && *at != separator;
        }
        while (*at && *at != separator)
            at++;
        at += *at != '\0';
    }
    return 0;
}

/* Removes the quotes in place, of which the closing one makes space for the terminator. `at` is after the opening
 * quote; returns the position after the closing one. */
static char *unquote(char *at)
{
    char *to = at;
    for (; !(at[0] == '"' && at[1] != '"'); at++) {
        at += at[0] == '"'; /* two quotes stand for one */
        *to++ = *at;
    }
    *to = '\0';
    return at + 1;
}

static void trim_end(char *field, char *end)
{
    while (end > field && is_blank(end[-1]))
        end--;
    *end = '\0';
}

char *npi_text_cut_field(char **rest, char separator)
{
    char *at = *rest;
    if (!at)
        return NULL;
    at += skip_blanks(at, separator) - at;
    if (separator == ' ' && *at == '\0')
        return NULL;
    /* at is at the first character of the field; move it to the separator after the field */
    char *field = at;
    int quoted = is_quoted(at, separator);
    if (quoted)
        at = unquote(++field);
    while (*at && !(separator == ' ' ? is_blank(*at) : *at == separator))
        at++;
    *rest = *at ? at + 1 : NULL;
    if (!quoted)
        trim_end(field, at);
    return field;
}

int npi_text_write_field(FILE *file, const char *name, npgnn_error *err)
{
    size_t length = strlen(name);
    int plain = length > 0 && !strpbrk(name, "\t\"") && !strchr("#% ", name[0]) && name[length - 1] != ' ' &&
                strncmp(name, "\xEF\xBB\xBF", 3) != 0; /* which readers skip at the beginning of a file */
    if (strpbrk(name, "\n\r"))
        return npi_fail(err, NPGNN_E_ARGUMENT, "name '%.60s' has a line break and cannot be saved in a text file",
                        name);
    if (plain) {
        fputs(name, file);
        return 0;
    }
    putc('"', file);
    for (; *name; name++) {
        if (*name == '"')
            putc('"', file);
        putc(*name, file);
    }
    putc('"', file);
    return 0;
}
