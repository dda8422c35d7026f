/* Reads pairs of node names from a text file or standard input. */
#ifndef CLI_PAIRS_FILE_H
#define CLI_PAIRS_FILE_H

#include <npgnn/npgnn.h>

typedef struct pairs_file {
    npgnn_lines *lines;
    const char *name;               /* in messages */
    const char *const *fields;      /* (count) of the current line */
    int count, ended;               /* ended: 1 where there are no more lines */
    int64_t line;                   /* its number */
    int skip;                       /* 1: leave out lines that cannot be used, and count them; set by the caller */
    int64_t skipped, first_skipped; /* how many, and the number of the first */
    char why[256];                  /* that one cannot be used */
} pairs_file;

/* "-" is standard input. Returns 0, or EXIT_FAILED after printing why. */
int pairs_open(pairs_file *in, const char *path);

/* Notes how many lines were left out, if any. */
void pairs_note_skipped(const pairs_file *in);

/* Reads up to `limit` pairs, two names per line. A tab separates the names where the line has one, otherwise a comma,
 * otherwise a semicolon, otherwise spaces; so names may contain spaces in lines with tabs or commas, and in double
 * quotes also these. Blank lines and comments, which begin with # or % and a blank, are skipped. Waits for the first pair only: where the
 * writer of a pipe or terminal pauses, the pairs so far are returned, so that they can be answered. *count is 0 at the
 * end of the file. Returns 0, or EXIT_FAILED after printing what is wrong in which line; *count is then the number of
 * pairs before that line. */
int pairs_read(npgnn_pair *pairs, size_t *count, pairs_file *in, const npgnn_graph *graph, size_t limit);

void pairs_close(pairs_file *in);

/* Labelled pairs, the links before the non-links. */
typedef struct labelled_pairs {
    npgnn_pair *pairs;       /* (count); the caller frees it, also after a failure */
    int64_t *lines;          /* (count) of the file; freed likewise */
    size_t positives, count; /* number of links, and of all pairs */
} labelled_pairs;

/* Reads all pairs of a file. A third column is the label: 1 for a link, 0 for a non-link. Where no line has one, all
 * pairs are links. A pair with both labels is an error. `out` starts as zeros. Returns 0, or EXIT_FAILED after printing
 * what is wrong in which line. */
int pairs_read_labelled(labelled_pairs *out, const char *path, const npgnn_graph *graph, int skip, int quiet);

/* A line of scores: seed, two names, score. */
typedef struct scored_line {
    uint64_t seed;
    npgnn_pair pair;
    double score;
    int64_t line; /* its number in the file, from 1 */
} scored_line;

/* Reads all lines of a file. The caller frees *lines, also after a failure. Returns 0, or EXIT_FAILED after printing
 * what is wrong in which line. */
int pairs_read_scores(scored_line **lines, size_t *count, const char *path, const npgnn_graph *graph);

#endif
