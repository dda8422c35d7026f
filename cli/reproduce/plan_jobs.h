/* From a plan to the processes that carry it out: one `npgnn eval` per cell and seed without a result. */
#ifndef CLI_PLAN_JOBS_H
#define CLI_PLAN_JOBS_H

#include "plan.h"
#include "process_pool.h"

typedef struct plan_jobs {
    pool_job *jobs;
    int count;
    int found; /* results that exist already */
} plan_jobs;

/* Lists the jobs for missing results. With --fresh, removes existing results first. With --html, adds one training per
 * data set, for the plot of its embeddings. Returns 0 or EXIT_FAILED. */
int plan_jobs_make(plan_jobs *jobs, const cli_plan *plan);
void plan_jobs_free(plan_jobs *jobs);

/* The result that `npgnn eval` wrote to `path`, or NULL where there is none or it is incomplete. */
json_t *plan_load_result(const char *path);

#endif
