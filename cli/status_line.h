/* How far a job is, for people, on stderr: one line that is redrawn on a terminal, a few plain lines elsewhere, nothing
 * with --quiet. */
#ifndef CLI_STATUS_LINE_H
#define CLI_STATUS_LINE_H

typedef struct status_line {
    int quiet, terminal;
    int drawn;          /* a line is on the terminal, not ended yet */
    double shown;       /* when the latest line was shown, */
    double shown_share; /* and how much of the job was done then */
} status_line;

/* Seconds of a clock that only goes forward. */
double status_clock(void);

/* Before anything else, and again for each job. */
void status_begin(status_line *line, int quiet);

/* Whether it is time to show something. `share` of the job is done, 0 to 1. */
int status_is_due(const status_line *line, double share);
void status_show(status_line *line, double share, const char *text);

/* Ends a line that is on the terminal: something else is about to be printed. */
void status_end(status_line *line);

#endif
