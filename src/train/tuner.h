/* Fits a head to the labelled pairs of a graph: minimises the mean of  softplus(-s)  over links and  softplus(s)  over
 * the others, s the score of the head, by Adam, in batches of 512, with a rate that falls along a cosine. */
#ifndef NPI_TRAIN_TUNER_H
#define NPI_TRAIN_TUNER_H

#include "examples/folds.h"
#include "process/process.h"

enum { NPI_TUNER_CHUNKS = 4 }; /* of a batch: a thread computes one at a time */

/* A head and the state of Adam; a batch is computed in chunks, each with a gradient of its own, which are added up in
 * order: the same bits whichever thread computes which. */
typedef struct npi_tuner {
    npi_head head;
    npi_head *gradient;            /* (NPI_TUNER_CHUNKS) */
    npi_head_workspace *workspace; /* (NPI_TUNER_CHUNKS) */
    real *m, *v;                   /* (head.count) */
    size_t *order;                 /* (count) the pairs that are used, in random order */
    size_t count;
    npgnn_env env;
    const npi_folds *folds;
    size_t first, last;   /* of the current batch, in `order` */
    int chunk, chunk_end; /* those that this process computes */
    real *total;          /* (head.count) the sum of the gradients of all chunks */
    double *losses;       /* (NPI_TUNER_CHUNKS, batches) of one pass */
    double new_level;     /* log of folds->new_odds, which scores of pairs of new nodes contain */
} npi_tuner;

/* For the evidence of `folds`, in the units of the process, on all threads and in all processes of env->comm. */
int npi_tuner_new(npi_tuner *out, const npi_folds *folds, const npi_process *process, const npgnn_env *env,
                  npgnn_error *err);
void npi_tuner_free(npi_tuner *tuner);

/* Fits tuner->head, from where it is, to all pairs but those of part `left_out`; NPI_FOLDS_PARTS: to all. Of the
 * options it reads seed, iterations (passes over the pairs), learning_rate, beta1, beta2 and epsilon. Collective.
 * E_CANCELLED, E_DIVERGED. */
int npi_tuner_run(npi_tuner *tuner, int left_out, const npgnn_options *options, npgnn_progress *progress,
                  npgnn_error *err);

#endif
