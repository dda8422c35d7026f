#define _POSIX_C_SOURCE 200809L
#include "base/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
        if (value > (UINT64_MAX - digit) / 10)
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

/* [sign] digits [. digits] [e [sign] digits], at least one digit in front of the e. */
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

/* strtod and printf use the decimal point of the locale: between these two calls it is C's, on this thread only. */
typedef struct borrowed {
    locale_t c, before;
} borrowed;

static borrowed enter_c_locale(void)
{
    borrowed b;
    b.c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    b.before = uselocale(b.c);
    return b;
}

static void leave_c_locale(borrowed b)
{
    uselocale(b.before);
    if (b.c)
        freelocale(b.c);
}

static double parse_decimal(const char *text)
{
    borrowed locale = enter_c_locale();
    double value = strtod(text, NULL);
    leave_c_locale(locale);
    return value;
}

/* Most features are short integers: they need no strtod. */
static int small_int(double *out, const char *text)
{
    int value = 0, digits = 0;
    for (; is_digit(*text) && digits < 9; text++, digits++)
        value = value * 10 + (*text - '0');
    *out = value;
    return digits > 0 && *text == '\0';
}

static int is_word(const char *text)
{
    static const char *const not_finite[] = {"nan", "inf", "infinity"};
    text += *text == '-' || *text == '+';
    for (int i = 0; i < 3; i++)
        if (strcasecmp(text, not_finite[i]) == 0)
            return 1;
    return 0;
}

npi_number_result npi_number_parse_double(double *out, const char *text)
{
    double value;
    if (!small_int(&value, text)) {
        if (!is_decimal(text))
            return is_word(text) ? NPI_NUMBER_NOT_FINITE : NPI_NUMBER_BAD;
        value = parse_decimal(text);
    }
    if (!isfinite(value))
        return NPI_NUMBER_NOT_FINITE;
    *out = value;
    return NPI_NUMBER_OK;
}

/* What is nearer to the largest float than to the next there would be, is that: its nine digits are a bit more than it. */
#define BEYOND_FLOATS 0x1.ffffffp127

npi_number_result npi_number_parse_float(float *out, const char *text)
{
    double value = 0;
    npi_number_result result = npi_number_parse_double(&value, text);
    if (result != NPI_NUMBER_OK)
        return result;
    if (!(fabs(value) < BEYOND_FLOATS))
        return NPI_NUMBER_NOT_FINITE;
    *out = fabs(value) > (double)FLT_MAX ? copysignf(FLT_MAX, (float)copysign(1, value)) : (float)value;
    return NPI_NUMBER_OK;
}

const char *npi_number_reason(npi_number_result result)
{
    return result == NPI_NUMBER_NOT_FINITE ? "is not finite" : "is not a number";
}

void npi_number_print(char *text, size_t size, double number)
{
    char whole[32];
    borrowed locale = enter_c_locale();
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(whole, sizeof whole, "%.*g", digits, number);
        if (strtod(whole, NULL) == number)
            break;
    }
    leave_c_locale(locale);
    snprintf(text, size, "%s", whole);
}
