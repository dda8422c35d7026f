/* Progress of the library's jobs: for people, as a status line; for programs, as a JSON object a line; for pictures, as curves.
 * Also where a signal stops a job. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdio.h>

#include "checkpoint.h"
#include "curves.h"
#include "settings.h"
#include "status_line.h"

typedef struct cli_progress {
    status_line line;
    FILE *log;                  /* NULL without --log */
    const char *path;           /* of the log */
    cli_curves *curves;         /* NULL where nobody draws them */
    cli_checkpoint *checkpoint; /* NULL: none are wanted */
    int saves;                  /* the job has something to save when a signal stops it */
    double started;             /* the job */
    npgnn_progress latest;
    double earlier[NPGNN_STEPS]; /* seconds in each step, in the runs before the latest */
} cli_progress;

/* Opens the log, where one is wanted. Returns 0, or EXIT_FAILED after having said why. */
int progress_open(cli_progress *progress, const cli_settings *settings);

/* The environment that reports here. */
npgnn_env progress_env(cli_progress *progress, const cli_settings *settings);

/* Around each job. From its beginning on a signal cancels instead of killing; its end shows the last state. */
void progress_job_begin(cli_progress *progress);
void progress_job_end(cli_progress *progress);

/* A table of the time that each step of the iterations took, on stderr. */
void progress_profile(const cli_progress *progress);

/* Closes the log. Returns 0, or EXIT_FAILED when it could not be written. */
int progress_close(cli_progress *progress);

#endif
