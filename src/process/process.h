/* A process across graphs, ready for use: its parameters and the units that it measures evidence in. One that was tuned
 * on a graph (train/tune.h) also has the z of that graph, how far its head has moved from the head of z, and, where the
 * graph has features, a projection of these, which gives it a few columns of evidence more:
 *
 *     head of a draw z' = (the decoder at z', 0 for the columns that it does not know) + change */
#ifndef NPI_PROCESS_PROCESS_H
#define NPI_PROCESS_PROCESS_H

#include "features/projection.h"
#include "process/encoder.h"
#include "process/head.h"

#define NPI_CLIP 8 /* standardised evidence is cut off at so many deviations */

typedef struct npi_process {
    npi_process_params params;
    int columns;               /* of the evidence: e, or more with a projection */
    float *mean, *deviation;   /* (columns) over the corpus; of those beyond e, over the graph */
    int feature_columns;       /* the first so many columns are 0, not standardised, in a graph without features */
    real *z;                   /* (2, d) mean and precision; NULL: not tuned */
    npi_head change;           /* of a tuned one */
    npi_projection projection; /* of the features of its graph; width 0: none */
} npi_process;

int npi_process_new(npi_process *out, npi_process_sizes size, int feature_columns, const npgnn_env *env,
                    npgnn_error *err);
void npi_process_free(const npgnn_env *env, npi_process *process);
int npi_process_copy(npi_process *out, const npi_process *process, const npgnn_env *env, npgnn_error *err);

/* Allocates what tuning adds: z and change, 0; mean and deviation of the columns beyond e, which are 0 and 1. */
int npi_process_make_tuned(npi_process *process, int columns, const npgnn_env *env, npgnn_error *err);

/* mean (d) and precision (d) of z, from standardised evidence of links (links, columns) and of pairs without a link
 * (non_links, columns), of which the first e columns count: as many votes of each. Returns how many of each voted;
 * negative: an error code. */
int npi_process_infer(real *mean, real *precision, const npi_process *process, const float *link, size_t links,
                      const float *non_link, size_t non_links, const npgnn_env *env, npgnn_error *err);

/* Fills a head of (columns, h): the decoder at z (d) and, of a tuned process, the change. */
void npi_process_head(npi_head *head, const npi_process *process, const real *z);

/* A bound of the largest number that any score can meet on its way, for whatever evidence and context; infinite or NaN
 * where the weights are so large that there is none. */
double npi_process_bound(const npi_process *process);

/* Evidence (count, columns) in the units of the process, in place. */
void npi_process_standardize(float *evidence, const npi_process *process, int has_features, size_t count);

/* The same column by column: evidence (columns, count). */
void npi_process_standardize_columns(real *evidence, const npi_process *process, int has_features, size_t count);

#endif
