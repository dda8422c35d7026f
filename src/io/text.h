/* Cutting lines into fields. */
#ifndef NPI_IO_TEXT_H
#define NPI_IO_TEXT_H

#include <stdio.h>

#include "io/stream.h"

/* The separator of a table, from one of its lines: a tab where there is one outside quotes, otherwise the first
 * comma or semicolon, otherwise ' ', which means any run of blanks. */
char npi_text_find_separator(const char *line);

/* The same of a line of one to four names, with anything in them: a tab, otherwise a comma, otherwise a semicolon, unless
 * there are just two words between blanks, otherwise ' '. */
char npi_text_find_separator_of_names(const char *line);

/* Cuts the next field off *rest and terminates it in place, without surrounding blanks. A field may be in double
 * quotes; it may then contain the separator, and a quote written as two. A quote at the beginning of a field is part of
 * it where no other closes it before the next separator. NULL where no field is left. */
char *npi_text_cut_field(char **rest, char separator);

/* Whether a line ends within quotes: then the next line belongs to its row. `inside`: it begins within quotes. *stray is
 * set where a field has text after its closing quote. */
int npi_text_ends_in_quotes(int *stray, const char *line, char separator, int inside);

/* What is wrong with such rows. */
#define NPI_TEXT_OPEN_QUOTE "a quote is opened on this line but not closed; a quote within quotes is written twice"
#define NPI_TEXT_STRAY_QUOTE "text follows a closing quote; a quote within quotes is written twice"

/* Writes a field of a file with tabs or of one field per line, in quotes where the readers would otherwise misread it.
 * E_ARGUMENT for a line break, which cannot be written. */
int npi_text_write_field(FILE *file, const char *text, npgnn_error *err);

/* The text that a file begins with, after a byte order mark and white space; not terminated. */
const char *npi_text_peek(size_t *size, const npi_stream *stream);

/* Whether the text is well-formed UTF-8. */
int npi_text_is_utf8(const char *text);

/* Whether a line has no content: it is blank, or a comment, which begins with # or % followed by a blank or by the end
 * of the line. */
int npi_text_is_skippable(const char *line);

#endif
