/* Validation on held-out pairs during a training: measures AUC and AP, and keeps the best parameters. */
#ifndef NPI_TRAIN_VALIDATION_H
#define NPI_TRAIN_VALIDATION_H

#include "graph/split.h"
#include "model/embedder.h"

typedef struct npi_validation {
    const npgnn_graph *graph; /* all nodes with the known edges: pairs may have nodes that training does not know */
    npi_features *x;          /* of its nodes or, where they are divided among processes, of this process's; borrowed */
    npi_partition rows;       /* how they are divided */
    const npgnn_pair *pairs;  /* (count) of the split, links first */
    size_t count, positives;  /* 0 pairs: no validation */
    npi_embedder embedder;
    float *score; /* (count) */
    real *best;   /* (parameters) at the best one, with keep_best */
    double best_auc, best_ap;
    int without_better; /* validations since the best one */
} npi_validation;

/* On the validation pairs of `split`, none when it is NULL. Where the nodes are divided among processes, `rows` says
 * how, and x are the features of this process's nodes; otherwise both are NULL. */
int npi_validation_new(npi_validation *out, const npgnn_split *split, const npi_partition *rows, npi_features *x,
                       const npgnn_options *options, const npi_params *params, const npgnn_env *env, npgnn_error *err);
void npi_validation_free(const npgnn_env *env, npi_validation *validation);

/* AUC and AP with these parameters and z (NULL without latent). Returns 1 when it is the best so far, 0 when it is not,
 * or an error code. */
int npi_validation_run(double *auc, double *ap, npi_validation *validation, const npi_params *params, const real *z,
                       const npgnn_options *options, const npgnn_env *env, npgnn_error *err);

#endif
