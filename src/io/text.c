#define _POSIX_C_SOURCE 200809L
#include "io/text.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
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

int npi_text_int(int64_t *out, const char *field)
{
    int negative = *field == '-';
    int64_t value = 0;
    field += negative || *field == '+';
    if (!is_digit(*field))
        return 0;
    for (; is_digit(*field); field++) {
        int digit = *field - '0';
        if (value > (INT64_MAX - digit) / 10)
            return 0;
        value = value * 10 + digit;
    }
    *out = negative ? -value : value;
    return *field == '\0';
}

/* [sign] digits [. digits] [e [sign] digits], at least one digit in front of the e. */
static int is_decimal(const char *field)
{
    int digits = 0;
    field += *field == '-' || *field == '+';
    for (; is_digit(*field); field++)
        digits++;
    field += *field == '.';
    for (; is_digit(*field); field++)
        digits++;
    if (digits > 0 && (*field == 'e' || *field == 'E')) {
        field++;
        field += *field == '-' || *field == '+';
        digits = 0;
        for (; is_digit(*field); field++)
            digits++;
    }
    return digits > 0 && *field == '\0';
}

/* strtod reads the decimal point of the locale: give it the C locale, on this thread only. */
static double parse_double(const char *field)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c);
    double value = strtod(field, NULL);
    uselocale(before);
    if (c)
        freelocale(c);
    return value;
}

/* Most features are short integers: they need no strtod. */
static int small_int(double *out, const char *field)
{
    int value = 0, digits = 0;
    for (; is_digit(*field) && digits < 9; field++, digits++)
        value = value * 10 + (*field - '0');
    *out = value;
    return digits > 0 && *field == '\0';
}

npi_text_result npi_text_float(float *out, const char *field)
{
    static const char *const not_finite[] = {"nan", "inf", "infinity"};
    double value;
    if (!small_int(&value, field)) {
        const char *word = field + (*field == '-' || *field == '+');
        for (int i = 0; i < 3; i++)
            if (strcasecmp(word, not_finite[i]) == 0)
                return NPI_TEXT_NOT_FINITE;
        if (!is_decimal(field))
            return NPI_TEXT_NOT_A_NUMBER;
        value = parse_double(field);
    }
    if (!(fabs(value) <= (double)FLT_MAX))
        return NPI_TEXT_NOT_FINITE;
    *out = (float)value;
    return NPI_TEXT_OK;
}

const char *npi_text_reason(npi_text_result result)
{
    return result == NPI_TEXT_NOT_FINITE ? "is not finite" : "is not a number";
}
