#include "progress.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "cancel.h"
#include "report.h"
#include "say.h"

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
        append(&line, "  %.0f s left", (status_clock() - progress->started) * (1 - share) / share);
    return line;
}

/* On a terminal the number alone, with a bar beside it. */
static void show(cli_progress *progress)
{
    text line = describe(progress, progress->line.terminal ? "" : "iteration ");
    status_show(&progress->line, share_done(&progress->latest), line.chars);
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
    if (latest->run != progress->latest.run)
        close_run(progress);
    progress->latest = *latest;
    if (progress->log)
        report_log_line(progress->log, latest);
    if (progress->curves)
        curves_progress(progress->curves, latest);
    if (status_is_due(&progress->line, share_done(latest)))
        show(progress);
    if (cancel_signal())
        return 1;
    if (progress->checkpoint)
        checkpoint_tick(progress->checkpoint, latest, &progress->line);
    return 0;
}

static void on_notice(void *user, const char *message)
{
    cli_progress *progress = user;
    if (progress->line.quiet)
        return;
    status_end(&progress->line);
    fprintf(stderr, "npgnn: %s\n", message);
}

int progress_open(cli_progress *progress, const cli_settings *settings)
{
    memset(progress, 0, sizeof *progress);
    status_begin(&progress->line, settings->quiet);
    progress->path = settings->log;
    if (!settings->log)
        return 0;
    progress->log = strcmp(settings->log, "-") == 0 ? stdout : fopen(settings->log, settings->resume ? "a" : "w");
    return progress->log ? 0 : say_error("cannot write %s: %s", settings->log, strerror(errno));
}

npgnn_env progress_env(cli_progress *progress, const cli_settings *settings)
{
    npgnn_env env = {.size = sizeof env,
                     .threads = settings->threads,
                     .progress = on_progress,
                     .log = on_notice,
                     .user = progress,
                     .stop = cancel_flag()};
    return env;
}

void progress_job_begin(cli_progress *progress)
{
    close_run(progress);
    memset(&progress->latest, 0, sizeof progress->latest);
    status_begin(&progress->line, progress->line.quiet);
    progress->started = status_clock();
    cancel_listen(progress->saves ? CANCEL_WHEN_SAVED : CANCEL_WITHIN_A_SECOND);
}

void progress_job_end(cli_progress *progress)
{
    if (progress->latest.iteration > 0 && share_done(&progress->latest) != progress->line.shown_share)
        show(progress);
    status_end(&progress->line);
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
