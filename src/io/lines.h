/* Lines that have content. All files of text are read through this: lists of links, tables, labels, names, and what the
 * program reads by npgnn_lines_next. */
#ifndef NPI_IO_LINES_H
#define NPI_IO_LINES_H

#include "io/stream.h"

typedef struct npi_lines {
    npi_stream *stream;
    char separator; /* between fields; 0 until the first line with content, which determines it */
    int broken;     /* 1: after this failure the rest of the file cannot be divided into rows; none must be skipped */
} npi_lines;

/* Reads the next line that is neither blank nor a comment (npi_text_is_skippable). Returns 1, or 0 at the end. */
int npi_lines_next(char **line, npi_lines *lines, npgnn_error *err);

/* The same of a table: a field in quotes may have several lines. E_FORMAT for a quote that is not closed, and for text
 * after one that is. The number of the line is that of the first one. */
int npi_lines_next_row(char **row, npi_lines *lines, npgnn_error *err);

/* What npgnn_lines_open makes of a stream, which it takes, also on failure. */
int npi_lines_new(npgnn_lines **out, npi_stream *stream, char separator, npgnn_error *err);

#endif
