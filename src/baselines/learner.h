/* What the baselines that learn by gradients have in common: parameters, Adam, and the loop. */
#ifndef NPI_BASELINES_LEARNER_H
#define NPI_BASELINES_LEARNER_H

#include "baselines/method.h"
#include "train/adam.h"

typedef struct npi_learner {
    const npi_task *task;
    const char *who; /* for errors: "the auto-encoder" */
    npi_params params, gradient;
    npi_adam adam;
    npgnn_progress progress;
} npi_learner;

/* Room to learn parameters of these sizes from the features and links of the task's training graph. */
int npi_learner_new(npi_learner *out, const npi_task *task, const char *who, npi_sizes size, double rate,
                    npgnn_error *err);
void npi_learner_free(npi_learner *learner);

/* One iteration of a method: adds into learner->gradient, and sets learner->progress.loss, and .kl where it has one. */
typedef void npi_learner_fn(npi_learner *learner, void *method);

/* Iterates, and fills what `run` tells of the training. E_DIVERGED, E_CANCELLED. */
int npi_learner_run(npi_learner *learner, npgnn_eval_run *run, npi_learner_fn *step, void *method, int iterations,
                    npgnn_error *err);

#endif
