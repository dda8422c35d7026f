/* Lines cut into fields. */
#ifndef NPI_IO_TEXT_H
#define NPI_IO_TEXT_H

/* The separator of a table: ',', '\t' or ';' where the line has one outside quotes (the tab first), else ' ', which means
 * any run of blanks. */
char npi_text_find_separator(const char *line);

/* Cuts the next field off *rest, terminated in place, blanks around it removed; a field in double quotes may hold the
 * separator, and a quote written twice. NULL when there is none left. */
char *npi_text_cut_field(char **rest, char separator);

/* 1 when the text is well-formed UTF-8. */
int npi_text_is_utf8(const char *text);

/* 1 for a line without content: blank, or a comment that begins with # or %. */
int npi_text_is_skippable(const char *line);

#endif
