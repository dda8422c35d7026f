/* Dates as text. */
#ifndef NPI_BASE_DATE_H
#define NPI_BASE_DATE_H

/* The order of year, month and day. */
typedef enum { NPI_DATE_YMD, NPI_DATE_DMY, NPI_DATE_MDY, NPI_DATE_ORDERS } npi_date_order;

/* Days since 1970-01-01, with the time of day as a fraction.
 *
 *   date = year sep month sep day [("T" | " ") hours ":" minutes [":" seconds ["." digits]] [zone]]
 *   sep  = "-" | "/" | "."        the same twice; the year has four digits; with the year last, month and day in `order`
 *   zone = "Z" | ("+" | "-") hours [":"] minutes
 *
 * Returns 1, or 0 where the text is not a date that the calendar has. */
int npi_date_parse(double *days, const char *text, npi_date_order order);

#endif
