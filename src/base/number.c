/* Parsing and printing numbers independently of the locale; number.h has the grammar. */
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int npi_number_parse_u64(uint64_t *out, const char *text)
{
    uint64_t value = 0;
    if (!is_digit(*text))
        return 0;
    for (; is_digit(*text); text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10) /* value * 10 + digit would overflow */
            return 0;
        value = value * 10 + digit;
    }
    if (*text)
        return 0;
    *out = value;
    return 1;
}

int npi_number_parse_int(int64_t *out, const char *text)
{
    int negative = *text == '-';
    uint64_t magnitude;
    if (!npi_number_parse_u64(&magnitude, text + (negative || *text == '+')) || magnitude > INT64_MAX)
        return 0;
    *out = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return 1;
}

/* Whether the text is a decimal. At least one digit stands before the exponent, and one in it. */
static int is_decimal(const char *text)
{
    int digits = 0;
    text += *text == '-' || *text == '+';
    for (; is_digit(*text); text++)
        digits++;
    text += *text == '.';
    for (; is_digit(*text); text++)
        digits++;
    if (digits > 0 && (*text == 'e' || *text == 'E')) {
        text++;
        text += *text == '-' || *text == '+';
        digits = 0;
        for (; is_digit(*text); text++)
            digits++;
    }
    return digits > 0 && *text == '\0';
}

/* strtod and snprintf use the decimal point of the locale. Between enter_c_locale and leave_c_locale this thread,
 * and no other, has the C locale. */
typedef struct locales {
    locale_t c, before;
} locales;

static locales enter_c_locale(void)
{
    locales l;
    l.c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    l.before = uselocale(l.c);
    return l;
}

static void leave_c_locale(locales l)
{
    uselocale(l.before);
    if (l.c)
        freelocale(l.c);
}

/* The fast path of npi_number_parse_double: most features are short integers, which need no strtod. */
static int parse_small_int(double *out, const char *text)
{
    int value = 0, digits = 0;
    for (; is_digit(*text) && digits < 9; text++, digits++)
        value = value * 10 + (*text - '0');
    *out = value;
    return digits > 0 && *text == '\0';
}

/* The same for decimals of up to 15 digits without an exponent. Digits and power of ten are exact doubles, so that
 * their quotient is rounded once, as strtod rounds (Clinger 1990, doi:10.1145/93542.93557). */
static int parse_short_decimal(double *out, const char *text)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    int64_t value = 0;
    int digits = 0, decimals = 0, negative = *text == '-';
    text += negative || *text == '+';
    for (; is_digit(*text) && digits < 15; text++, digits++)
        value = value * 10 + (*text - '0');
    if (*text == '.')
        for (text++; is_digit(*text) && digits < 15; text++, digits++, decimals++)
            value = value * 10 + (*text - '0');
    if (digits == 0 || *text)
        return 0;
    *out = (negative ? -1.0 : 1.0) * ((double)value / powers[decimals]);
    return 1;
}

/* Whether the text is a number that is not finite, as printf writes it. */
static int is_not_finite_word(const char *text)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    text += *text == '-' || *text == '+';
    for (int i = 0; i < 3; i++)
        if (strcasecmp(text, words[i]) == 0)
            return 1;
    return 0;
}

npi_number_result npi_number_parse_double(double *out, const char *text)
{
    double value;
    if (!parse_small_int(&value, text) && !parse_short_decimal(&value, text)) {
        if (!is_decimal(text))
            return is_not_finite_word(text) ? NPI_NUMBER_NOT_FINITE : NPI_NUMBER_BAD;
        locales saved = enter_c_locale();
        value = strtod(text, NULL);
        leave_c_locale(saved);
    }
    if (!isfinite(value))
        return NPI_NUMBER_NOT_FINITE;
    *out = value;
    return NPI_NUMBER_OK;
}

/* Half a unit in the last place above FLT_MAX. Numbers below round to FLT_MAX, as its own nine digits do, which are
 * slightly larger than it. */
#define FLOAT_LIMIT 0x1.ffffffp127

npi_number_result npi_number_parse_float(float *out, const char *text)
{
    double value = 0;
    npi_number_result result = npi_number_parse_double(&value, text);
    if (result != NPI_NUMBER_OK)
        return result;
    if (!(fabs(value) < FLOAT_LIMIT))
        return NPI_NUMBER_NOT_FINITE;
    *out = fabs(value) > (double)FLT_MAX ? copysignf(FLT_MAX, (float)copysign(1, value)) : (float)value;
    return NPI_NUMBER_OK;
}

int npi_number_take_decimal_comma(char *text, int needed)
{
    static const char digits[] = "0123456789";
    char *at = text + (*text == '-' || *text == '+'), *to = at;
    size_t run = strspn(at, digits), decimals = 0, groups = 0;
    if (run == 0)
        return 0;
    const char *end = at + run;
    for (; run <= 3 && *at != '0' && *end == '.' && strspn(end + 1, digits) == 3; groups++) /* 1.234.567 */
        end += 4;
    if (*end == ',' && (decimals = strspn(end + 1, digits)) == 0)
        return 0;
    if (end[decimals > 0 ? 1 + decimals : 0] || (decimals == 0 && (needed || groups == 0)))
        return 0;
    for (; *at; at++)
        if (*at != '.')
            *to++ = (char)(*at == ',' ? '.' : *at);
    *to = '\0';
    return decimals > 0 ? (int)(decimals < 100 ? decimals : 100) : 100;
}

int npi_number_begins(const char *text)
{
    for (size_t sign;; text += sign) {
        sign = strspn(text, "$+-., ");
        if (sign == 0 && strncmp(text, "\xE2\x82\xAC", 3) == 0) /* the sign of the euro */
            sign = 3;
        if (sign == 0 && strncmp(text, "\xC2\xA3", 2) == 0) /* of the pound */
            sign = 2;
        if (sign == 0)
            return is_digit(*text);
    }
}

const char *npi_number_reason(npi_number_result result)
{
    return result == NPI_NUMBER_NOT_FINITE ? "is not finite" : "is not a number";
}

void npi_number_print(char *text, size_t size, double number)
{
    char whole[32];
    locales saved = enter_c_locale();
    /* 15 digits are always exact in decimal, 17 always identify a double */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(whole, sizeof whole, "%.*g", digits, number);
        if (strtod(whole, NULL) == number)
            break;
    }
    leave_c_locale(saved);
    snprintf(text, size, "%s", whole);
}
