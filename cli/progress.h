/* Progress of the library's jobs: as a progress line for people, as lines of JSON with --log, and as curves for the
 * reports. It is also where a signal stops a job. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdio.h>

#include "checkpoint.h"
#include "curves.h"
#include "progress_line.h"
#include "settings.h"

typedef struct cli_progress {
    progress_line line;
    FILE *log;                  /* NULL without --log */
    const char *log_path;       /* likewise */
    cli_curves *curves;         /* NULL: no curves are recorded */
    cli_checkpoint *checkpoint; /* NULL: no checkpoints are saved */
    int saves;                  /* the job has something to save when a signal stops it */
    double started;             /* time at which the job began */
    npgnn_progress latest;
    double earlier[NPGNN_STEPS]; /* seconds per step, in the runs before the latest one */
} cli_progress;

/* Opens the log, where `log_path` is not NULL; `append` keeps what it holds. Returns 0, or EXIT_FAILED after printing
 * why. */
int progress_open(cli_progress *progress, int quiet, const char *log_path, int append);

/* An environment that reports to `progress`. */
npgnn_env progress_env(cli_progress *progress, const common_settings *common);

/* Call these around each job. From the beginning of the first job on, a signal cancels the job instead of ending the
 * program. The end of a job erases the line; where stderr is not a terminal, it prints the last state. */
void progress_job_begin(cli_progress *progress);
void progress_job_end(cli_progress *progress);

/* Prints a table of the time spent in each step of the training, on stderr. */
void progress_profile(const cli_progress *progress);

/* Closes the log. Returns 0, or EXIT_FAILED when it could not be written. */
int progress_close(cli_progress *progress);

#endif
