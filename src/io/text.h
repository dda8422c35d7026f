/* Cutting lines into fields. */
#ifndef NPI_IO_TEXT_H
#define NPI_IO_TEXT_H

#include <stdio.h>

#include "npgnn/npgnn.h"

/* The separator of a table, from one of its lines: a tab where there is one outside quotes, otherwise the first
 * comma or semicolon, otherwise ' ', which means any run of blanks. */
char npi_text_find_separator(const char *line);

/* Cuts the next field off *rest and terminates it in place, without surrounding blanks. A field may be in double
 * quotes; it may then contain the separator, and a quote written as two. Where blanks separate, a quote that no quote
 * before a blank closes is part of the field. NULL where no field is left. */
char *npi_text_cut_field(char **rest, char separator);

/* Whether a line ends within quotes: then the next line belongs to its row. `inside`: it begins within quotes. */
int npi_text_ends_in_quotes(const char *line, char separator, int inside);

/* Whether a field of a row has text after its closing quote, which npi_text_cut_field would drop. */
int npi_text_has_stray_quote(const char *row, char separator);

/* What is wrong with such rows. */
#define NPI_TEXT_OPEN_QUOTE "a quote is opened on this line but not closed; a quote within quotes is written twice"
#define NPI_TEXT_STRAY_QUOTE "text follows a closing quote; a quote within quotes is written twice"

/* Writes a field of a file with tabs or of one field per line, in quotes where the readers would otherwise misread it.
 * E_ARGUMENT for a line break, which cannot be written. */
int npi_text_write_field(FILE *file, const char *text, npgnn_error *err);

/* Whether the text is well-formed UTF-8. */
int npi_text_is_utf8(const char *text);

/* Whether a line has no content: it is blank, or a comment, which begins with # or % followed by a blank or by the end
 * of the line. */
int npi_text_is_skippable(const char *line);

#endif
