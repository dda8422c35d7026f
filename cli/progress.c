#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "progress.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cancel.h"
#include "report.h"
#include "say.h"

static const double REDRAW_SECONDS = 0.1; /* on a terminal */
static const double PLAIN_SECONDS = 5;    /* elsewhere, ... */
static const double PLAIN_SHARE = 0.05;   /* ... and at most 20 lines in all */

static double now(void)
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

/* How much of the whole job is done: 0 to 1. */
static double share_done(const npgnn_progress *p)
{
    double run = p->iterations > 0 ? (double)p->iteration / p->iterations : 1;
    return (p->run + run) / (p->runs > 0 ? p->runs : 1);
}

/* A line of text under construction; what does not fit is left out. */
typedef struct text {
    char chars[256];
    int length;
} text;

static void append(text *line, const char *format, ...) CLI_PRINTF(2, 3);
static void append(text *line, const char *format, ...)
{
    va_list args;
    int room = (int)sizeof line->chars - line->length;
    va_start(args, format);
    int wrote = vsnprintf(line->chars + line->length, (size_t)room, format, args);
    va_end(args);
    line->length += wrote < room ? wrote : room - 1;
}

/* "run 2/3  iteration 120/500  loss 0.7120  KL 0.0030  val AUC 91.20  AP 92.30  85 it/s  4 s left" */
static text describe(const cli_progress *progress, const char *label)
{
    const npgnn_progress *p = &progress->latest;
    double share = share_done(p);
    text line = {.length = 0};
    if (p->runs > 1)
        append(&line, "run %d/%d  ", p->run + 1, p->runs);
    append(&line, "%s%d/%d  loss %.4f  KL %.4f", label, p->iteration, p->iterations, p->loss, p->kl);
    if (!isnan(p->val_auc))
        append(&line, "  val AUC %.2f  AP %.2f", 100 * p->val_auc, 100 * p->val_ap);
    if (p->seconds > 0) {
        double speed = p->iteration / p->seconds;
        append(&line, "  %.*f it/s", speed < 10, speed);
    }
    if (share > 0 && share < 1)
        append(&line, "  %.0f s left", (now() - progress->started) * (1 - share) / share);
    return line;
}

/* The bar takes what the words leave of the line, and none where that is too little. */
static void draw(cli_progress *progress)
{
    enum { LONGEST = 20, SHORTEST = 4 };
    static const char done[] = "####################", open[] = "....................";
    text line = describe(progress, "");
    int width = terminal_width() - 1; /* in the last column some terminals wrap */
    int bar = width - line.length - 3;
    if (bar > LONGEST)
        bar = LONGEST;
    int filled = (int)(bar * share_done(&progress->latest));
    if (bar >= SHORTEST)
        fprintf(stderr, "\r[%.*s%.*s] %s\033[K", filled, done, bar - filled, open, line.chars);
    else
        fprintf(stderr, "\r%.*s\033[K", width, line.chars);
    fflush(stderr);
    progress->drawn = 1;
}

static void show(cli_progress *progress, double time)
{
    if (progress->terminal) {
        draw(progress);
    } else {
        fprintf(stderr, "%s\n", describe(progress, "iteration ").chars);
    }
    progress->shown = time;
    progress->shown_share = share_done(&progress->latest);
}

static int is_due(const cli_progress *progress, double time)
{
    double waited = time - progress->shown;
    if (progress->quiet)
        return 0;
    if (progress->terminal)
        return waited >= REDRAW_SECONDS;
    return waited >= PLAIN_SECONDS && share_done(&progress->latest) - progress->shown_share >= PLAIN_SHARE;
}

/* A run counts its own time from zero: what the runs before it took is put aside. */
static void close_run(cli_progress *progress)
{
    for (int step = 0; step < NPGNN_STEPS; step++)
        progress->earlier[step] += progress->latest.step_seconds[step];
}

static int on_progress(void *user, const npgnn_progress *latest)
{
    cli_progress *progress = user;
    double time = now();
    if (latest->run != progress->latest.run)
        close_run(progress);
    progress->latest = *latest;
    if (progress->log)
        report_log_line(progress->log, latest);
    if (is_due(progress, time))
        show(progress, time);
    return cancel_signal() != 0;
}

static void end_line(cli_progress *progress)
{
    if (progress->drawn)
        fputc('\n', stderr);
    progress->drawn = 0;
}

static void on_notice(void *user, const char *message)
{
    cli_progress *progress = user;
    if (progress->quiet)
        return;
    end_line(progress);
    fprintf(stderr, "npgnn: %s\n", message);
}

int progress_open(cli_progress *progress, const cli_settings *settings)
{
    memset(progress, 0, sizeof *progress);
    progress->quiet = settings->quiet;
    progress->terminal = isatty(STDERR_FILENO);
    progress->path = settings->log;
    if (!settings->log)
        return 0;
    progress->log = strcmp(settings->log, "-") == 0 ? stdout : fopen(settings->log, "w");
    return progress->log ? 0 : say_error("cannot write %s: %s", settings->log, strerror(errno));
}

npgnn_env progress_env(cli_progress *progress, const cli_settings *settings)
{
    npgnn_env env = {.threads = settings->threads, .progress = on_progress, .log = on_notice, .user = progress};
    return env;
}

void progress_job_begin(cli_progress *progress)
{
    close_run(progress);
    memset(&progress->latest, 0, sizeof progress->latest);
    progress->started = progress->shown = now();
    progress->shown_share = 0;
    cancel_listen();
}

void progress_job_end(cli_progress *progress)
{
    int news = progress->latest.iteration > 0 && share_done(&progress->latest) != progress->shown_share;
    if (news && !progress->quiet)
        show(progress, now());
    end_line(progress);
}

void progress_profile(const cli_progress *progress)
{
    double seconds[NPGNN_STEPS], total = 0;
    for (int step = 0; step < NPGNN_STEPS; step++) {
        seconds[step] = progress->earlier[step] + progress->latest.step_seconds[step];
        total += seconds[step];
    }
    fprintf(stderr, "%-16s  %9s  %7s\n", "step", "seconds", "percent");
    for (int step = 0; step < NPGNN_STEPS; step++)
        fprintf(stderr, "%-16s  %9.3f  %7.1f\n", npgnn_step_name((npgnn_step)step), seconds[step],
                total > 0 ? 100 * seconds[step] / total : 0.0);
    fprintf(stderr, "%-16s  %9.3f  %7.1f\n", "all", total, 100.0);
}

int progress_close(cli_progress *progress)
{
    if (!progress->log || progress->log == stdout)
        return 0; /* standard output is checked at the end of the program */
    int failed = ferror(progress->log);
    if (fclose(progress->log) != 0 || failed)
        return say_error("cannot write %s", progress->path);
    return 0;
}
