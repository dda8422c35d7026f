/* Parsing dates; date.h has the grammar. Days are counted in the Gregorian calendar. */
#include "base/date.h"

#include <stdint.h>

/* Reads a number of `least` to `most` digits and moves *at behind it. */
static int cut_digits(int *out, const char **at, int least, int most)
{
    int digits = 0;
    *out = 0;
    for (; digits < most && **at >= '0' && **at <= '9'; ++*at, digits++)
        *out = *out * 10 + (**at - '0');
    return digits >= least && !(**at >= '0' && **at <= '9');
}

/* Days from 1970-01-01 to a date: years begin in March, so that the leap day is the last day of a year. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* The time of day as a fraction of it, with its zone. Returns 0 where the text is not one. */
static int parse_time(double *fraction, const char *at)
{
    int hours, minutes, seconds = 0, zone_hours = 0, zone_minutes = 0;
    double part = 0;
    if (!cut_digits(&hours, &at, 1, 2) || *at++ != ':' || !cut_digits(&minutes, &at, 2, 2) || hours > 24 ||
        minutes > 59)
        return 0;
    if (*at == ':') {
        at++;
        if (!cut_digits(&seconds, &at, 2, 2) || seconds > 60)
            return 0;
        if (*at == '.') {
            double digit = 0.1;
            for (at++; *at >= '0' && *at <= '9'; at++, digit /= 10)
                part += digit * (*at - '0');
        }
    }
    if (*at == ' ')
        at++;
    int sign = *at == '-' ? -1 : 1;
    if (*at == 'Z' || *at == 'z') {
        at++;
    } else if (*at == '+' || *at == '-') {
        at++;
        /* +0100 or +01:00 or +01 */
        if (!(at[0] >= '0' && at[0] <= '9' && at[1] >= '0' && at[1] <= '9'))
            return 0;
        zone_hours = (at[0] - '0') * 10 + (at[1] - '0');
        at += 2;
        at += *at == ':';
        if (*at && !cut_digits(&zone_minutes, &at, 2, 2))
            return 0;
    }
    if (*at)
        return 0;
    *fraction =
        (hours - sign * zone_hours) / 24.0 + (minutes - sign * zone_minutes) / 1440.0 + (seconds + part) / 86400.0;
    return 1;
}

int npi_date_parse(double *days, const char *text, npi_date_order order)
{
    int part[3], year, month, day;
    double fraction = 0;
    const char *at = text;
    int year_first = order == NPI_DATE_YMD;
    if (!cut_digits(&part[0], &at, year_first ? 4 : 1, year_first ? 4 : 2))
        return 0;
    char separator = *at++;
    if (separator != '-' && separator != '/' && separator != '.')
        return 0;
    if (!cut_digits(&part[1], &at, 1, 2) || *at++ != separator)
        return 0;
    if (!cut_digits(&part[2], &at, year_first ? 1 : 4, year_first ? 2 : 4))
        return 0;
    if (order == NPI_DATE_MDY && separator == '.')
        return 0; /* dots mean day, month, year */
    year = part[year_first ? 0 : 2];
    month = part[order == NPI_DATE_MDY ? 0 : 1];
    day = part[order == NPI_DATE_YMD ? 2 : order == NPI_DATE_DMY ? 0 : 1];
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
        return 0;
    if (*at == 'T' || *at == 't' || *at == ' ') {
        if (!parse_time(&fraction, at + 1))
            return 0;
    } else if (*at) {
        return 0;
    }
    *days = (double)days_of(year, month, day) + fraction;
    return 1;
}
