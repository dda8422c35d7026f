/* The progress of a job on stderr: one line that is redrawn on a terminal, at most 20 lines where stderr is not a
 * terminal or cannot redraw (TERM=dumb), nothing with --quiet or in the background. */
#ifndef CLI_PROGRESS_LINE_H
#define CLI_PROGRESS_LINE_H

typedef struct progress_line {
    int quiet;
    int terminal;       /* stderr is one that can redraw a line */
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

/* Erases the line, if the terminal shows one. Call it before anything else is printed, to stdout as well, which may be
 * the same terminal. Safe in a signal handler. */
void progress_line_erase(void);

#endif
