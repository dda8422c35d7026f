/* Output of results: to standard output for "-", otherwise to a file that is written completely or not at all. Devices
 * and FIFOs are written in place and links are followed; io/atomic.h has the rules. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "io/atomic.h"

typedef struct cli_output {
    FILE *file; /* write here */
    const char *path;
    npi_atomic target; /* unused for standard output */
} cli_output;

/* Returns 0, or EXIT_FAILED after printing why. The path must outlive the output. */
int output_open(cli_output *out, const char *path);

/* Checks before a long job that the file can be written, without changing it. Returns 0, or EXIT_FAILED after printing
 * why. */
int output_check(const char *path);

/* Returns 1 for standard output, a pipe or a device, beside which no other file can be written; 0 otherwise. */
int output_is_stream(const char *path);

/* Flushes the file and gives it its name. Returns 0, or EXIT_FAILED after printing why. Errors of earlier writes are
 * reported here. */
int output_commit(cli_output *out);

/* Discards the output. An older file of that name stays unchanged. */
void output_abort(cli_output *out);

/* Creates a folder and its parents where they are missing. Returns 0, or EXIT_FAILED after printing why. */
int output_make_folders(const char *path);

/* Flushes standard output. Returns 0, or EXIT_FAILED after printing why. Where the reader closed the pipe, nothing is
 * printed. */
int output_flush_stdout(void);

#endif
