/* The progress of a job on stderr: one line that is redrawn on a terminal, at most 20 lines where stderr is not a
 * terminal, nothing with --quiet. */
#ifndef CLI_PROGRESS_LINE_H
#define CLI_PROGRESS_LINE_H

typedef struct progress_line {
    int quiet, terminal;
    int drawn;          /* the cursor is at the end of a line that is not ended yet */
    double shown;       /* time of the latest output */
    double shown_share; /* share of the job that was done then */
} progress_line;

/* Seconds of a monotonic clock. */
double progress_clock(void);

/* Call it before each job. */
void progress_line_begin(progress_line *line, int quiet);

/* Whether it is time for the next output. `share` is the share of the job that is done, 0 to 1. */
int progress_line_is_due(const progress_line *line, double share);
void progress_line_show(progress_line *line, double share, const char *text);

/* Ends a line that is on the terminal. Call it before anything else is printed. */
void progress_line_end(progress_line *line);

#endif
