/* Where results go: standard output for "-", otherwise a file that appears whole or not at all. Devices and FIFOs are written
 * in place, links are followed; io/atomic.h has the rules. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "io/atomic.h"

typedef struct cli_output {
    FILE *file; /* write here */
    const char *path;
    npi_atomic target; /* unused for standard output */
} cli_output;

/* Returns 0, or EXIT_FAILED after having said why. The path must outlive the output. */
int output_open(cli_output *out, const char *path);

/* Whether a file can be written there, without touching it: better known before a long job than after. */
int output_check(const char *path);

/* Whether it is a pipe, a device or standard output: nothing can be put beside it. */
int output_is_stream(const char *path);

/* Makes the file appear under its name; 0 or EXIT_FAILED. Only now is anything known to be written. */
int output_commit(cli_output *out);

/* Gives up: an older file of that name stays as it was. */
void output_abort(cli_output *out);

/* Makes a folder and those above it, where they are missing. Returns 0, or EXIT_FAILED after having said why. */
int output_make_folders(const char *path);

/* Flushes standard output; 0, or EXIT_FAILED after having said why. A reader that went away is no news: it gets the
 * status without the words. */
int output_flush_stdout(void);

#endif
