/* Where the time of an iteration goes: a stopwatch that is read at the end of every step. Reading it costs tens of
 * nanoseconds, a dozen times an iteration, so it always runs. */
#ifndef NPI_BASE_PROFILE_H
#define NPI_BASE_PROFILE_H

#include "npgnn/npgnn.h"

typedef struct npi_profile {
    double *seconds; /* (NPGNN_STEPS) */
    double lap;      /* when the step under way began */
} npi_profile;

/* Starts the stopwatch: the first step begins now. */
void npi_profile_start(npi_profile *profile);

/* Adds the time since the latest reading to `step`; the next one begins now. NULL: nobody wants to know. */
void npi_profile_end(npi_profile *profile, npgnn_step step);

#endif
