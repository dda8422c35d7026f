/* Links as lines of text: what predict prints. */
#ifndef CLI_LINKS_H
#define CLI_LINKS_H

#include <npgnn/npgnn.h>
#include <stdio.h>

#define LINKS_FORMATS "tsv|csv|jsonl"
typedef enum { LINKS_TSV, LINKS_CSV, LINKS_JSONL } links_format;

typedef struct links_writer {
    FILE *out;
    const npgnn_graph *graph; /* for the names */
    links_format format;
    int raw;    /* the score instead of the probability */
    int spread; /* there is a column for it */
    int known;  /* there is a column for whether the graph has the link */
} links_writer;

/* The names of the columns, for CSV: lines of TSV go straight into other programs, and those of JSON carry the names. */
void links_begin(const links_writer *writer);

/* One line. A name may hold anything: CSV quotes it where it has to, TSV writes \t, \n, \r and \\ for a tab, the ends of
 * lines and a backslash, JSON escapes it, with the replacement character for what is not UTF-8. */
void links_write(const links_writer *writer, const npgnn_link *link);

#endif
