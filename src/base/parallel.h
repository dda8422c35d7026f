/* Loops on several threads.
 *
 * The threads are POSIX threads that wait for the next loop: a bounded time awake, then asleep. The calling thread
 * always takes part, so a loop ends with whatever number of threads the system grants, none included. */
#ifndef NPI_BASE_PARALLEL_H
#define NPI_BASE_PARALLEL_H

#include <stdint.h>

/* The iterations [first, last) of a loop. Calls for different iterations run at the same time. */
typedef void npi_body(const void *arg, int64_t first, int64_t last);

/* Runs the iterations [0, count) on at most `threads` threads and returns when all are done.
 *
 * chunk 0: one range of equal size per thread, and the same thread for the same range from loop to loop where possible,
 * for the sake of its cache. chunk > 0: a thread takes the next `chunk` iterations whenever it is through with its last
 * ones, in ascending order. Which thread runs an iteration, and in how many calls, is not determined: results must not
 * depend on it.
 *
 * A loop inside a body runs on the calling thread alone. Threads of the application may run loops at the same time;
 * each loop has threads of its own. In a child after fork() the threads are created anew. A body must not call
 * fork(). */
void npi_parallel(int threads, int64_t count, int64_t chunk, npi_body *body, const void *arg);

/* In a body: which of the loop's threads this is, from 0 to threads - 1, for workspaces per thread. Elsewhere 0. */
int npi_worker(void);

/* Cores that this process may use: its affinity mask, and the quota of its control group where there is one. */
int npi_cores(void);

/* Cores' worth of time that the file cpu.max of a control group grants, rounded up; 0 where there is no limit or no such
 * file. */
int npi_cores_quota(const char *path);

#endif
