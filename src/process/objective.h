/* The loss of one task: a context to infer z from, and target pairs whose labels are to be predicted.
 *
 *     z_r = mean + ε_r / √λ                                                       for each draw r
 *     s_p, s_n = scores of target links p and non-links n with z_r
 *     loss = mean_r [ ½ mean_p softplus(-s_p) + ½ mean_n softplus(s_n) + ρ mean_{p,n} softplus(s_n - s_p) ]
 *
 * The first two terms are the negative log-likelihood with links and non-links weighing the same; the third is a
 * smooth AUC. */
#ifndef NPI_PROCESS_OBJECTIVE_H
#define NPI_PROCESS_OBJECTIVE_H

#include "process/decoder.h"
#include "process/encoder.h"

typedef struct npi_process_task {
    npi_process_context context;
    const float *target; /* (links + non_links, e), links first */
    int links, non_links;
} npi_process_task;

/* Memory of one thread. */
typedef struct npi_process_workspace {
    npi_process_encoder encoder;
    npi_process_decoder decoder;
    real *mean, *precision, *dmean, *dprecision, *z, *dz; /* (d) */
    real *score, *dscore;                                 /* (targets) */
} npi_process_workspace;

int npi_process_workspace_new(npi_process_workspace *out, npi_process_sizes size, int context, int targets,
                              const npgnn_env *env, npgnn_error *err);
void npi_process_workspace_free(const npgnn_env *env, npi_process_workspace *workspace);

/* Returns the loss; adds its gradient to `gradient` unless that is NULL. epsilon (draws, d): standard normal numbers;
 * draws 0: z is its mean. */
double npi_process_loss(npi_process_params *gradient, npi_process_workspace *workspace,
                        const npi_process_params *params, const npi_process_task *task, const real *epsilon, int draws,
                        double rank_weight);

#endif
