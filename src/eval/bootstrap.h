/* How much AUC and AP depend on the pairs that happened to be tested: the percentile bootstrap (Efron 1979,
 * doi:10.1214/aos/1176344552). */
#ifndef NPI_EVAL_BOOTSTRAP_H
#define NPI_EVAL_BOOTSTRAP_H

#include "base/env.h"

/* AUC and AP of each resample, summed over the runs of an evaluation. */
typedef struct npi_resamples {
    double *auc, *ap; /* (count) */
    double *scratch;  /* (count) */
    int count, runs;
} npi_resamples;

int npi_resamples_new(npi_resamples *r, int count, const npgnn_env *env, npgnn_error *err);
void npi_resamples_free(const npgnn_env *env, npi_resamples *r);

/* Forgets all runs. */
void npi_resamples_reset(npi_resamples *r);

/* Adds a run: positives and negatives are drawn with replacement, as many as there are of each. A function of the
 * scores and the seed. The scores are sorted once; a resample is then linear in their number. */
int npi_resamples_add(npi_resamples *r, const float *positive, const float *negative, size_t positives,
                      size_t negatives, uint64_t seed, const npgnn_env *env, npgnn_error *err);

/* The central 95 % of the means over the runs so far, low and high. */
void npi_resamples_interval(double auc[2], double ap[2], npi_resamples *r);

#endif
