/* Cutting lines into fields. */
#ifndef NPI_IO_TEXT_H
#define NPI_IO_TEXT_H

#include <stdio.h>

#include "npgnn/npgnn.h"

/* The separator of a table, from one of its lines: a tab where there is one outside quotes, otherwise the first
 * comma or semicolon, otherwise ' ', which means any run of blanks. */
char npi_text_find_separator(const char *line);

/* Cuts the next field off *rest and terminates it in place, without surrounding blanks. Unless the separator is ' ',
 * a field may be in double quotes; it may then contain the separator, and a quote written as two. NULL where no
 * field is left. */
char *npi_text_cut_field(char **rest, char separator);

/* Writes a field of a file with tabs or of one field per line, in quotes where the readers would otherwise misread it. E_ARGUMENT
 * for a line break, which cannot be written. */
int npi_text_write_field(FILE *file, const char *text, npgnn_error *err);

/* Whether the text is well-formed UTF-8. */
int npi_text_is_utf8(const char *text);

/* Whether a line has no content: it is blank, or a comment, which begins with # or % followed by a blank or by the end of
 * the line. */
int npi_text_is_skippable(const char *line);

#endif
