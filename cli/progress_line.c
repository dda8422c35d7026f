/* Draws the progress line on a terminal, or prints plain lines elsewhere. */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "progress_line.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const double REDRAW_SECONDS = 0.1; /* on a terminal */
static const double PLAIN_SECONDS = 5;    /* between lines where stderr is not a terminal */
static const double PLAIN_SHARE = 0.05;   /* likewise: at most 20 lines per job */

double progress_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Characters of the line that is on the terminal; 0: there is none. A signal handler may erase it. */
static volatile sig_atomic_t drawn;

static int terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Whether a line can be redrawn on stderr. Terminals such as that of Emacs would show the escape sequences. */
static int can_redraw(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

/* A background job shares the terminal with the shell, whose line it must not touch. */
static int is_in_foreground(void)
{
    pid_t group = tcgetpgrp(STDERR_FILENO); /* -1: this is not the terminal of the session, so no shell writes there */
    return group < 0 || group == getpgrp();
}

void progress_line_begin(progress_line *line, int quiet)
{
    memset(line, 0, sizeof *line);
    line->quiet = quiet;
    line->terminal = can_redraw();
    line->shown = progress_clock();
}

int progress_line_is_due(const progress_line *line, double share)
{
    double waited = progress_clock() - line->shown;
    if (line->quiet)
        return 0;
    if (line->terminal)
        return waited >= REDRAW_SECONDS;
    return waited >= PLAIN_SECONDS && fabs(share - line->shown_share) >= PLAIN_SHARE;
}

/* What brings the cursor to the beginning of the line and erases it: where the window has become narrower since, the
 * terminal has broken the line into rows. No stdio, because a signal handler needs it. */
typedef struct eraser {
    char text[1 + 3 * 256 + 3];
    int length;
} eraser;

static void erase(eraser *out)
{
    out->length = 0;
    if (drawn == 0 || !is_in_foreground())
        return;
    out->text[out->length++] = '\r';
    for (int rows = (drawn - 1) / terminal_width(); rows > 0 && out->length < (int)sizeof out->text - 3; rows--) {
        memcpy(out->text + out->length, "\033[A", 3);
        out->length += 3;
    }
    memcpy(out->text + out->length, "\033[J", 3);
    out->length += 3;
}

void progress_line_erase(void)
{
    eraser before;
    erase(&before);
    drawn = 0;
    if (before.length > 0 && write(STDERR_FILENO, before.text, (size_t)before.length) < 0)
        return; /* the terminal is gone */
}

/* Draws a progress bar and the text. The bar takes the space that the text leaves; it is omitted where that is too
 * little. */
static void draw(double share, const char *text)
{
    enum { LONGEST = 20, SHORTEST = 4 };
    static const char done[] = "####################", open[] = "....................";
    eraser before;
    /* some terminals wrap after the last column, and show ^C before that */
    int width = terminal_width() > 3 ? terminal_width() - 3 : 0;
    int length = (int)strlen(text), bar = width - length - 3;
    if (bar > LONGEST)
        bar = LONGEST;
    int filled = (int)(bar * share);
    erase(&before);
    if (bar >= SHORTEST)
        fprintf(stderr, "%.*s[%.*s%.*s] %s", before.length, before.text, filled, done, bar - filled, open, text);
    else
        fprintf(stderr, "%.*s%.*s", before.length, before.text, width, text);
    drawn = bar >= SHORTEST ? bar + 3 + length : length < width ? length : width;
}

void progress_line_show(progress_line *line, double share, const char *text)
{
    if (line->quiet)
        return;
    if (!line->terminal)
        fprintf(stderr, "%s\n", text);
    else if (is_in_foreground())
        draw(share, text);
    line->shown = progress_clock();
    line->shown_share = share;
}
