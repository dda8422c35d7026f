/* What a method is asked in a run of an evaluation, and what its answers are worth. */
#ifndef NPI_JOBS_EXAM_H
#define NPI_JOBS_EXAM_H

#include "eval/bootstrap.h"
#include "eval/hard.h"
#include "graph/split.h"

/* All pairs to score are one list, so that a method need not know what they are for: the test set's links, its non-links,
 * then the hard non-links. */
typedef struct npi_exam {
    const npgnn_pair *pairs;
    size_t count, positives, tested; /* tested: links and non-links of the test set */
    npi_hard hard;                   /* empty where none are asked for */
    npgnn_pair *own;                 /* pairs, where they are not the split's */
    double link_rate;                /* of all pairs that could have been tested */
} npi_exam;

int npi_exam_new(npi_exam *out, const npgnn_split *split, npgnn_negatives negatives, const npgnn_env *env,
                 npgnn_error *err);
void npi_exam_free(const npgnn_env *env, npi_exam *exam);

/* Adds the hard non-links of an exam's links. */
int npi_exam_add_hard(npi_exam *exam, const npgnn_graph *complete, const npgnn_graph *known, const npgnn_env *env,
                      npgnn_error *err);

/* Fills the measures of `run`, whose seed and the link rate of whose calibration (NaN: there are no probabilities) are set, from
 * score and probability (exam->count). `resamples` gets the run added; it may be NULL. */
int npi_exam_mark(npgnn_eval_run *run, npi_resamples *resamples, const npi_exam *exam, const float *score,
                  const float *probability, const npgnn_env *env, npgnn_error *err);

/* The answers of a model: its scores of pairs of nodes of `graph`, and their probabilities. */
int npi_exam_answer(float *score /* (count) */, float *probability /* (count) */, const npgnn_model *model,
                    const npgnn_graph *graph, const npgnn_pair *pairs, size_t count, const npgnn_predict_options *how,
                    const npgnn_env *env, npgnn_error *err);

#endif
