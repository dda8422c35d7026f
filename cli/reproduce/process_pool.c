/* Runs processes side by side. */
#define _DEFAULT_SOURCE
#include "process_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cancel.h"
#include "message.h"
#include "progress_line.h"

extern char **environ;

static const double GRACE_SECONDS = 2; /* between SIGTERM and SIGKILL */

typedef struct job_pool {
    pool_job *jobs;
    int count, threads;
    int next;    /* index of the first job that is not started */
    int running; /* number of running jobs */
    int busy;    /* number of threads they use */
    int done, failed;
    double cost[POOL_KINDS], seconds[POOL_KINDS]; /* of the jobs that succeeded; thread-seconds */
    progress_line line;
} job_pool;

static void pause_briefly(void)
{
    struct timespec time = {.tv_nsec = 10 * 1000 * 1000};
    nanosleep(&time, NULL);
}

/* ---- progress ---- */

/* Thread-seconds per unit of cost, measured on the finished jobs of this kind or, without any, on all finished jobs. */
static double pace(const job_pool *pool, int kind)
{
    double cost = pool->cost[kind], seconds = pool->seconds[kind];
    for (int k = 0; pool->cost[kind] <= 0 && k < POOL_KINDS; k++) {
        cost += pool->cost[k];
        seconds += pool->seconds[k];
    }
    return cost > 0 ? seconds / cost : 0;
}

static double seconds_left(const job_pool *pool)
{
    double left = 0, now = progress_clock();
    for (int i = 0; i < pool->count; i++) {
        const pool_job *job = &pool->jobs[i];
        double rest = job->ended ? 0 : job->cost * pace(pool, job->kind);
        if (job->pid)
            rest -= (now - job->started) * job->threads;
        left += rest > 0 ? rest : 0;
    }
    return left / pool->threads;
}

static void format_time(char out[48], double seconds)
{
    int minutes = (int)(seconds / 60 + 0.5);
    if (seconds < 90)
        snprintf(out, 48, "%.0f s", seconds);
    else if (minutes < 90)
        snprintf(out, 48, "%d min", minutes);
    else
        snprintf(out, 48, "%d h %d min", minutes / 60, minutes % 60);
}

static void show(job_pool *pool)
{
    char text[256], left[48];
    int length = snprintf(text, sizeof text, "%d of %d runs finished", pool->done, pool->count);
    format_time(left, seconds_left(pool));
    if (pool->done > 0 && pool->running > 0)
        length += snprintf(text + length, sizeof text - (size_t)length, ", %s left", left);
    if (pool->running > 0)
        snprintf(text + length, sizeof text - (size_t)length, ", running %s", pool->jobs[pool->next - 1].label);
    progress_line_show(&pool->line, (double)pool->done / pool->count, text);
}

/* ---- jobs ---- */

static int spawn(pool_job *job)
{
    posix_spawn_file_actions_t files;
    int code = posix_spawn_file_actions_init(&files);
    if (code)
        return code;
    code = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!code)
        code = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, job->errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (!code)
        code = posix_spawnp(&job->pid, job->argv[0], &files, NULL, job->argv, environ);
    posix_spawn_file_actions_destroy(&files);
    return code;
}

static void start(job_pool *pool)
{
    static char flag[] = "--threads";
    pool_job *job = &pool->jobs[pool->next];
    int waiting = pool->count - pool->next, words = 0;
    char number[16];
    job->threads = (pool->threads - pool->busy) / waiting;
    if (job->threads < 1)
        job->threads = 1;
    snprintf(number, sizeof number, "%d", job->threads);
    while (job->argv[words])
        words++;
    job->argv[words] = flag;
    job->argv[words + 1] = number;
    int code = spawn(job);
    job->argv[words] = job->argv[words + 1] = NULL;
    pool->next++;
    if (code) {
        job->pid = 0;
        job->ended = 1;
        pool->failed++;
        print_error("cannot run %s: %s", job->argv[0], strerror(code));
        return;
    }
    job->started = progress_clock();
    pool->running++;
    pool->busy += job->threads;
}

/* Prints the first line of the stderr of a job that failed. */
static void print_failure(const pool_job *job)
{
    static const char prefix[] = "npgnn: error: ";
    char text[512] = "no error message";
    FILE *file = fopen(job->errors, "r");
    if (file && fgets(text, sizeof text, file))
        text[strcspn(text, "\n")] = '\0';
    if (file)
        fclose(file);
    print_error("%s failed: %s", job->label, strncmp(text, prefix, strlen(prefix)) == 0 ? text + strlen(prefix) : text);
}

static void finish(job_pool *pool, pool_job *job, int status)
{
    int good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    pool->running--;
    pool->busy -= job->threads;
    if (good) {
        pool->done++;
        pool->cost[job->kind] += job->cost;
        pool->seconds[job->kind] += (progress_clock() - job->started) * job->threads;
    } else if (!cancel_signal()) {
        pool->failed++;
        print_failure(job);
    }
    unlink(job->errors);
    job->pid = 0;
    job->ended = 1;
}

static void collect(job_pool *pool)
{
    for (int i = 0; i < pool->next; i++) {
        pool_job *job = &pool->jobs[i];
        int status;
        if (job->pid && waitpid(job->pid, &status, WNOHANG) == job->pid)
            finish(pool, job, status);
    }
}

static void kill_all(const job_pool *pool, int number)
{
    for (int i = 0; i < pool->next; i++)
        if (pool->jobs[i].pid)
            kill(pool->jobs[i].pid, number);
}

/* Ends all running jobs. This is safe at any time, since jobs write complete files or none. */
static void stop(job_pool *pool)
{
    double asked = progress_clock();
    kill_all(pool, SIGTERM);
    while (pool->running > 0) {
        pause_briefly();
        collect(pool);
        if (progress_clock() - asked > GRACE_SECONDS)
            kill_all(pool, SIGKILL);
    }
}

int pool_run(pool_job *jobs, int count, int threads, int quiet)
{
    job_pool pool = {.jobs = jobs, .count = count, .threads = threads};
    progress_line_begin(&pool.line, quiet);
    cancel_listen(CANCEL_WHEN_SAVED); /* the jobs have to be stopped first */
    while (!cancel_signal() && (pool.running > 0 || pool.next < count)) {
        while (pool.next < count && pool.busy < threads)
            start(&pool);
        if (progress_line_is_due(&pool.line, (double)pool.done / count))
            show(&pool);
        pause_briefly();
        collect(&pool);
    }
    stop(&pool);
    if (count > 0 && !pool.line.terminal)
        show(&pool);
    progress_line_erase();
    if (cancel_signal())
        return cancel_status();
    return pool.failed ? EXIT_FAILED : 0;
}
