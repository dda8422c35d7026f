/* Learning a process from many graphs (process/objective.h has the loss of a task). */
#ifndef NPI_TRAIN_PRETRAIN_H
#define NPI_TRAIN_PRETRAIN_H

#include "examples/tasks.h"
#include "process/process.h"

typedef struct npi_pretrain_options {
    int steps, batch;   /* tasks per step */
    int hidden, latent; /* widths */
    double learning_rate;
    uint64_t seed;
} npi_pretrain_options;

npi_pretrain_options npi_pretrain_defaults(void);

/* What a training has reached: together with the tasks and the options, all that its next steps depend on. */
typedef struct npi_pretrain_state {
    int step; /* steps done */
    size_t count;
    real *params, *m, *v; /* (count) parameters, and the moments of Adam */
} npi_pretrain_state;

/* For checkpoints. `restore`, unless NULL, fills the state before the first step. `save`, unless NULL, is called every
 * `every` steps and when the training is cancelled. Both return a code; a failure of `save` is logged, and training
 * goes on. */
typedef struct npi_pretrain_hooks {
    int (*restore)(void *user, npi_pretrain_state *state, npgnn_error *err);
    int (*save)(void *user, const npi_pretrain_state *state, npgnn_error *err);
    void *user;
    int every;
} npi_pretrain_hooks;

/* Learns a process from the tasks, whose evidence it standardises in place. Calls env.progress after every step; its
 * loss is that of process/objective.h, which has no KL term. The same bits for any number of threads, and for a
 * training that was resumed. `hooks` may be NULL.
 *
 * The processes of env->comm, all of which have all tasks, divide the tasks of every step among them. All get the same
 * process, and call their own hooks. */
int npi_pretrain(npi_process *out, npi_tasks *tasks, const npi_pretrain_options *options,
                 const npi_pretrain_hooks *hooks, const npgnn_env *env, npgnn_error *err);

#endif
