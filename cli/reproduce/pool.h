/* Runs programs, several at a time, and tells how far it is. Small jobs run fastest on one core each, so a job gets more
 * than one thread only when fewer jobs than threads are left. */
#ifndef CLI_POOL_H
#define CLI_POOL_H

#include <sys/types.h>

typedef struct pool_job {
    char **argv;     /* NULL-terminated, with room for --threads N, which is added when it starts; owned */
    char label[128]; /* for people */
    char *errors;    /* the file that takes what it says, removed afterwards; owned */
    int kind;        /* 0 .. POOL_KINDS - 1: jobs of one kind take time in proportion to their cost */
    double cost;     /* a guess, in any unit */
    /* the pool's own */
    pid_t pid; /* 0 while it does not run */
    int ended, threads;
    double started;
} pool_job;

enum { POOL_KINDS = 32 };

/* Runs all jobs, `threads` threads at most at any time. What a job that fails said is passed on, and the others go on. Returns
 * 0, EXIT_FAILED when a job failed, or the status of a signal, which ends all jobs. */
int pool_run(pool_job *jobs, int count, int threads, int quiet);

#endif
