/* The time that each step of an iteration takes. The clock is read at the end of every step, about a dozen times per
 * iteration. A reading takes tens of nanoseconds, so that profiling is always on. */
#ifndef NPI_BASE_PROFILE_H
#define NPI_BASE_PROFILE_H

#include "npgnn/npgnn.h"

typedef struct npi_profile {
    double *seconds; /* (NPGNN_STEPS) */
    double lap;      /* when the current step began */
} npi_profile;

/* Begins the first step. */
void npi_profile_start(npi_profile *profile);

/* Adds the time since the previous call to `step` and begins the next one. NULL: no profiling. */
void npi_profile_end(npi_profile *profile, npgnn_step step);

#endif
