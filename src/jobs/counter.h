/* Progress of a job of several trainings: a training counts its own iterations, the job also its runs. */
#ifndef NPI_JOBS_COUNTER_H
#define NPI_JOBS_COUNTER_H

#include "base/env.h"

typedef struct npi_counter {
    npgnn_env env; /* the caller's, resolved */
    int run, runs;
} npi_counter;

/* The environment for the trainings; `counter` must outlive it. */
npgnn_env npi_counter_env(npi_counter *counter);

#endif
