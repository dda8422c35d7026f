/* Learning a process from many graphs (process/objective.h has the loss of a task). */
#ifndef NPI_TRAIN_PRETRAIN_H
#define NPI_TRAIN_PRETRAIN_H

#include "process/process.h"
#include "train/tasks.h"

typedef struct npi_pretrain_options {
    int steps, batch;   /* tasks per step */
    int hidden, latent; /* widths */
    double learning_rate;
    uint64_t seed;
} npi_pretrain_options;

npi_pretrain_options npi_pretrain_defaults(void);

/* Learns a process from the tasks, whose evidence it standardises in place. Calls env.progress after every step. The
 * same bits for any number of threads. */
int npi_pretrain(npi_process *out, npi_tasks *tasks, const npi_pretrain_options *options, const npgnn_env *env,
                 npgnn_error *err);

#endif
