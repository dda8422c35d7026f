/* Reading pairs of node names from a text file or standard input, a bounded number at a time. */
#ifndef CLI_PAIRS_FILE_H
#define CLI_PAIRS_FILE_H

#include <npgnn/npgnn.h>
#include <stdio.h>

typedef struct pairs_file {
    FILE *file;
    const char *name; /* for messages */
    int64_t line;
    char *text; /* the current line */
    size_t size;
} pairs_file;

/* "-" is standard input. Returns 0, or EXIT_FAILED after having said why. */
int pairs_open(pairs_file *in, const char *path);

/* Reads up to `room` pairs: two names a line, with a tab, a comma or blanks between them (names may hold blanks where a tab or comma does it); empty lines and lines that start
 * with # are skipped. `*count` is 0 at the end. Returns 0, or EXIT_FAILED after having named the line at fault. */
int pairs_read(npgnn_pair *pairs, size_t *count, pairs_file *in, const npgnn_graph *graph, size_t room);

void pairs_close(pairs_file *in);

/* Links first. */
typedef struct labelled_pairs {
    npgnn_pair *pairs; /* the caller frees it, also after a failure */
    size_t positives, count;
} labelled_pairs;

/* All pairs of a file: a third column says 1 for a link and 0 for none; where no line has one, all are links. `out` starts as
 * zeros. Returns 0, or EXIT_FAILED after having named the line at fault. */
int pairs_read_labelled(labelled_pairs *out, const char *path, const npgnn_graph *graph);

#endif
