/* Draws the progress line on a terminal, or prints plain lines elsewhere. */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "progress_line.h"

#include <stdio.h>
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

static int terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void progress_line_begin(progress_line *line, int quiet)
{
    memset(line, 0, sizeof *line);
    line->quiet = quiet;
    line->terminal = isatty(STDERR_FILENO);
    line->shown = progress_clock();
}

int progress_line_is_due(const progress_line *line, double share)
{
    double waited = progress_clock() - line->shown;
    if (line->quiet)
        return 0;
    if (line->terminal)
        return waited >= REDRAW_SECONDS;
    return waited >= PLAIN_SECONDS && share - line->shown_share >= PLAIN_SHARE;
}

/* A progress bar and the text. The bar takes the space that the text leaves; it is omitted where that is too little. */
static void draw(double share, const char *text)
{
    enum { LONGEST = 20, SHORTEST = 4 };
    static const char done[] = "####################", open[] = "....................";
    int width = terminal_width() - 1; /* some terminals wrap after the last column */
    int bar = width - (int)strlen(text) - 3;
    if (bar > LONGEST)
        bar = LONGEST;
    int filled = (int)(bar * share);
    if (bar >= SHORTEST)
        fprintf(stderr, "\r[%.*s%.*s] %s\033[K", filled, done, bar - filled, open, text);
    else
        fprintf(stderr, "\r%.*s\033[K", width, text);
    fflush(stderr);
}

void progress_line_show(progress_line *line, double share, const char *text)
{
    if (line->quiet)
        return;
    if (line->terminal)
        draw(share, text);
    else
        fprintf(stderr, "%s\n", text);
    line->drawn = line->terminal;
    line->shown = progress_clock();
    line->shown_share = share;
}

void progress_line_end(progress_line *line)
{
    if (line->drawn)
        fputc('\n', stderr);
    line->drawn = 0;
}
