/* The pairs that a run of an evaluation scores, and the metrics of the scores. */
#ifndef NPI_JOBS_TEST_SET_H
#define NPI_JOBS_TEST_SET_H

#include "eval/bootstrap.h"
#include "eval/hard.h"
#include "graph/split.h"

/* All pairs to score are one list, so that a method cannot tell them apart: the test set's links, its non-links, the
 * degree-matched non-links, then the hard ones. */
typedef struct npi_test_set {
    const npgnn_pair *pairs;
    size_t count, positives, tested; /* tested: links and non-links of the test set */
    size_t matched;                  /* degree-matched non-links; 0 in npgnn_test */
    npi_hard hard;                   /* empty unless asked for */
    npgnn_pair *own;                 /* `pairs`, unless they are the split's */
    double link_rate;                /* of all pairs that could have been tested */
} npi_test_set;

int npi_test_set_new(npi_test_set *out, const npgnn_split *split, npgnn_negatives negatives, const npgnn_env *env,
                     npgnn_error *err);
void npi_test_set_free(const npgnn_env *env, npi_test_set *set);

/* Adds hard non-links for the links of a set. */
int npi_test_set_add_hard(npi_test_set *set, const npi_population *among, const npgnn_graph *known,
                          const npgnn_env *env, npgnn_error *err);

/* Fills the metrics of `run` from score and probability (set->count). Its seed and the link rate of its calibration
 * (NaN: the method has no probabilities) are set already. Adds the run to `resamples`, which may be NULL. */
int npi_test_set_measure(npgnn_eval_run *run, npi_resamples *resamples, const npi_test_set *set, const float *score,
                         const float *probability, const npgnn_env *env, npgnn_error *err);

/* Scores and probabilities that a model gives to pairs of nodes of `graph`. */
int npi_test_set_predict(float *score /* (count) */, float *probability /* (count) */, const npgnn_model *model,
                         const npgnn_graph *graph, const npgnn_pair *pairs, size_t count,
                         const npgnn_predict_options *how, const npgnn_env *env, npgnn_error *err);

#endif
