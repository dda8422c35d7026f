/* The callbacks that the library reports progress to, and the profile of the steps. */
#include "progress.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "cancel.h"
#include "message.h"
#include "report.h"

/* The share of the job that is done, over all runs: 0 to 1. */
static double share_done(const npgnn_progress *p)
{
    double run = p->iterations > 0 ? (double)p->iteration / p->iterations : 1;
    return (p->run + run) / (p->runs > 0 ? p->runs : 1);
}

/* A line of text; what does not fit is cut off. */
typedef struct text {
    char chars[256];
    int length;
} text;

static void append(text *line, const char *format, ...) CLI_PRINTF(2, 3);
static void append(text *line, const char *format, ...)
{
    va_list args;
    int space = (int)sizeof line->chars - line->length;
    va_start(args, format);
    int wrote = vsnprintf(line->chars + line->length, (size_t)space, format, args);
    va_end(args);
    line->length += wrote < space ? wrote : space - 1;
}

/* "run 2/3  iteration 120/500  loss 0.7120  KL 0.0030  val AUC 91.20  AP 92.30  85 it/s  4 s left" */
static text describe(const cli_progress *progress, const char *label)
{
    const npgnn_progress *p = &progress->latest;
    double share = share_done(p);
    text line = {.length = 0};
    if (p->runs > 1)
        append(&line, "run %d/%d  ", p->run + 1, p->runs);
    if (p->rehearsal)
        append(&line, "rehearsal  ");
    append(&line, "%s%d/%d  loss %.4f", label, p->iteration, p->iterations, p->loss);
    if (!isnan(p->kl))
        append(&line, "  KL %.4f", p->kl);
    if (!isnan(p->val_auc))
        append(&line, "  val AUC %.2f  AP %.2f", 100 * p->val_auc, 100 * p->val_ap);
    if (p->seconds > 0) {
        double speed = p->iteration / p->seconds;
        append(&line, "  %.*f it/s", speed < 10, speed);
    }
    if (share > 0 && share < 1)
        append(&line, "  %.0f s left", (progress_clock() - progress->started) * (1 - share) / share);
    return line;
}

/* On a terminal a progress bar stands beside the numbers, so the word "iteration" is left out. */
static void show(cli_progress *progress)
{
    text line = describe(progress, progress->line.terminal ? "" : "iteration ");
    progress_line_show(&progress->line, share_done(&progress->latest), line.chars);
}

/* Each run counts its time from zero, so the time of a finished run is added to `earlier`. */
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
    if (progress->log == stdout)
        progress_line_erase();
    if (progress->log)
        report_log_line(progress->log, latest);
    if (progress->curves)
        curves_progress(progress->curves, latest);
    if (progress_line_is_due(&progress->line, share_done(latest)))
        show(progress);
    if (cancel_signal())
        return 1;
    if (progress->checkpoint)
        checkpoint_tick(progress->checkpoint, latest);
    return 0;
}

static void on_note(void *user, const char *message)
{
    cli_progress *progress = user;
    static const char mark[] = "warning: ";
    int warning = strncmp(message, mark, sizeof mark - 1) == 0;
    if (progress->line.quiet && !warning)
        return;
    if (warning)
        print_warning("%s", message + sizeof mark - 1);
    else
        print_note("%s", message);
}

int progress_open(cli_progress *progress, int quiet, const char *log_path, int append_to_log)
{
    memset(progress, 0, sizeof *progress);
    progress_line_begin(&progress->line, quiet);
    progress->log_path = log_path;
    if (!log_path)
        return 0;
    progress->log = strcmp(log_path, "-") == 0 ? stdout : fopen(log_path, append_to_log ? "a" : "w");
    return progress->log ? 0 : print_error("cannot write %s: %s", log_path, strerror(errno));
}

npgnn_env progress_env(cli_progress *progress, const common_settings *common)
{
    npgnn_env env = common_env(common);
    env.progress = on_progress;
    env.log = on_note;
    env.user = progress;
    env.stop = cancel_flag();
    return env;
}

void progress_job_begin(cli_progress *progress)
{
    close_run(progress);
    memset(&progress->latest, 0, sizeof progress->latest);
    progress_line_begin(&progress->line, progress->line.quiet);
    progress->started = progress_clock();
    cancel_listen(progress->saves ? CANCEL_WHEN_SAVED : CANCEL_WITHIN_A_SECOND);
}

void progress_job_end(cli_progress *progress)
{
    if (!progress->line.terminal && progress->latest.iteration > 0 &&
        share_done(&progress->latest) != progress->line.shown_share)
        show(progress);
    progress_line_erase();
}

void progress_profile(const cli_progress *progress)
{
    double seconds[NPGNN_STEPS], total = 0;
    for (int step = 0; step < NPGNN_STEPS; step++) {
        seconds[step] = progress->earlier[step] + progress->latest.step_seconds[step];
        total += seconds[step];
    }
    fprintf(stderr, "%-27s  %9s  %7s\n", "step", "seconds", "percent");
    for (int step = 0; step < NPGNN_STEPS; step++)
        fprintf(stderr, "%-27s  %9.3f  %7.1f\n", npgnn_step_name((npgnn_step)step), seconds[step],
                total > 0 ? 100 * seconds[step] / total : 0.0);
    fprintf(stderr, "%-27s  %9.3f  %7.1f\n", "all", total, 100.0);
}

int progress_close(cli_progress *progress)
{
    if (!progress->log || progress->log == stdout)
        return 0; /* main checks standard output at the end */
    int failed = ferror(progress->log);
    if (fclose(progress->log) != 0 || failed)
        return print_error("cannot write %s", progress->log_path);
    return 0;
}
