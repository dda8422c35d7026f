/* A process across graphs, ready for use: its parameters and the units that it measures evidence in. */
#ifndef NPI_PROCESS_PROCESS_H
#define NPI_PROCESS_PROCESS_H

#include "process/encoder.h"
#include "process/head.h"

#define NPI_CLIP 8 /* standardised evidence is cut off at so many deviations */

typedef struct npi_process {
    npi_process_params params;
    float *mean, *deviation; /* (e) of the columns over the corpus */
    int feature_columns;     /* the first so many columns are 0, not standardised, in a graph without features */
} npi_process;

int npi_process_new(npi_process *out, npi_process_sizes size, int feature_columns, const npgnn_env *env,
                    npgnn_error *err);
void npi_process_free(const npgnn_env *env, npi_process *process);
int npi_process_copy(npi_process *out, const npi_process *process, const npgnn_env *env, npgnn_error *err);

/* Evidence (count, e) in the units of the process, in place. */
void npi_process_standardize(float *evidence, const npi_process *process, int has_features, size_t count);

#endif
