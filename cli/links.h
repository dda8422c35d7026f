/* Writes predicted links as lines of text: TSV, CSV or JSON lines. */
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
    int raw;                    /* the score instead of the probability */
    int spread;                 /* with columns for the standard deviation and the interval over draws */
    int known;                  /* with a column that says whether the graph has the link */
    int header;                 /* of TSV: a first line with the names of the columns */
    npgnn_predictor *explainer; /* with the reasons that it gives; NULL: without */
    npgnn_comm *comm;           /* the processes that mpirun has started, of which the first one writes; NULL: one */
} links_writer;

/* Writes the header of CSV, and of TSV where it is wanted. JSON lines name their fields. */
void links_begin(const links_writer *writer);

/* Writes one line. A node name may contain any character. CSV quotes it where necessary; TSV writes \t, \n, \r and \\
 * for tab, newline, carriage return and backslash; JSON escapes it and replaces invalid UTF-8 by U+FFFD. Reasons are
 * the last column: in words or, in JSON, with the contribution of every column of the evidence. Returns 0, or
 * EXIT_FAILED after printing why. */
int links_write(const links_writer *writer, const npgnn_link *link);

/* Writes many. All processes call it, with the same links, and return the same. */
int links_write_all(const links_writer *writer, const npgnn_link *links, size_t count);

#endif
