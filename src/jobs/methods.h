/* The methods that can be evaluated, by name. */
#ifndef NPI_JOBS_METHODS_H
#define NPI_JOBS_METHODS_H

#include "baselines/method.h"

/* A method: one that learns and then scores pairs and rows, or a model. */
typedef struct npi_method {
    const char *name, *help;
    npi_learn_fn *learn; /* NULL: a model */
    /* Trains a model and scores the task. */
    int (*run)(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err);
    int uses; /* NPGNN_USES_* */
} npi_method;

/* The method with this name (NULL: "npgnn"), or NULL with the known ones listed in err. */
const npi_method *npi_method_find(const char *name, npgnn_error *err);

/* Learns from a task and scores it: fills score (count), and `run` with what is known of iterations, validation and
 * seconds. */
int npi_method_run(float *score, npgnn_eval_run *run, const npi_task *task, const npi_method *method, npgnn_error *err);

/* 1 where it iterates as the options of the model say; the others have their own number of iterations. */
int npi_method_is_model(const char *name);

#endif
