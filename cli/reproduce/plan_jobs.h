/* From a plan to the programs that carry it out: `npgnn eval` once per cell and seed that is not there yet. */
#ifndef CLI_PLAN_JOBS_H
#define CLI_PLAN_JOBS_H

#include "plan.h"
#include "pool.h"

typedef struct plan_jobs {
    pool_job *jobs;
    int count;
    int found; /* outcomes that were there already */
} plan_jobs;

/* Lists what is missing; with --fresh, everything, and outcomes that are there are removed. With --html also a model per
 * data set. Returns 0 or EXIT_FAILED. */
int plan_jobs_make(plan_jobs *jobs, const cli_plan *plan);
void plan_jobs_free(plan_jobs *jobs);

/* The object that `npgnn eval` wrote there, or NULL where there is none that is whole. */
json_t *plan_load_result(const char *path);

#endif
