/* Runs processes side by side and shows the progress. Small jobs run most efficiently on one thread each, so a job gets
 * more threads only when fewer jobs than threads are left. */
#ifndef CLI_PROCESS_POOL_H
#define CLI_PROCESS_POOL_H

#include <sys/types.h>

typedef struct pool_job {
    char **argv;     /* NULL-terminated, with space for --threads N, which is added when the job starts; owned */
    char label[128]; /* for messages */
    char *errors;    /* path of the file for its stderr, removed afterwards; owned */
    int kind;        /* 0 .. POOL_KINDS - 1: jobs of one kind take time in proportion to their cost */
    double cost;     /* estimated, in any unit */
    /* set by the pool */
    pid_t pid; /* 0 while the job is not running */
    int ended, threads;
    double started;
} pool_job;

enum { POOL_KINDS = 32 };

/* Runs all jobs, with at most `threads` threads at any time. Where a job fails, its error is printed and the others
 * continue. A signal ends all jobs. Returns 0, EXIT_FAILED when a job failed, or the exit status of the signal. */
int pool_run(pool_job *jobs, int count, int threads, int quiet);

#endif
