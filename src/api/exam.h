/* What a method is asked in a run of an evaluation, and what its answers are worth. */
#ifndef NPI_API_EXAM_H
#define NPI_API_EXAM_H

#include "eval/bootstrap.h"
#include "graph/hard.h"
#include "graph/split.h"

/* All pairs to score are one list, so that a method need not know what they are for: the test set's links, its non-links,
 * then the hard non-links. */
typedef struct npi_exam {
    const npgnn_pair *pairs;
    size_t count, positives, tested; /* tested: links and non-links of the test set */
    npi_hard hard;                   /* empty where none are asked for */
    npgnn_pair *own;                 /* pairs, where they are not the split's */
} npi_exam;

int npi_exam_new(npi_exam *out, const npgnn_split *split, npgnn_negatives negatives, const npgnn_env *env,
                 npgnn_error *err);
void npi_exam_free(const npgnn_env *env, npi_exam *exam);

/* Fills the measures of `run`, whose seed is set, from score (exam->count). `resamples` gets the run added; it may be NULL. */
int npi_exam_mark(npgnn_eval_run *run, npi_resamples *resamples, const npi_exam *exam, const float *score,
                  const npgnn_env *env, npgnn_error *err);

/* The answers of a model: its scores of pairs of nodes of `graph`. */
int npi_exam_answer(float *score /* (count) */, const npgnn_model *model, const npgnn_graph *graph,
                    const npgnn_pair *pairs, size_t count, const npgnn_env *env, npgnn_error *err);

#endif
