/* A model: a network trained on one graph, or a process learnt across graphs; what its scores mean; and what it was trained on.
 * What a model can do is in the table of its kind. */
#ifndef NPI_MODEL_MODEL_H
#define NPI_MODEL_MODEL_H

#include "base/names.h"
#include "features/encoding.h"
#include "model/kind.h"
#include "model/params.h"
#include "model/scorer.h"
#include "process/process.h"

struct npgnn_model {
    npgnn_env env;
    const npi_model_kind *kind;
    npgnn_options options;
    npgnn_model_info info;
    npi_model_scorer scorer;
    npi_names *columns;     /* (f) of the features it was trained on, NULL: they had no names */
    npi_encoding *encoding; /* how these were made from a table, NULL: they were numbers already */
    /* read by the functions of networks only: */
    npi_params params;
    real *
        q; /* (2, d) mean and log sigma of z, encoded from the training graph or, by npgnn_model_adapt, from another; NULL
                without latent */
    /* read by the functions of processes only: */
    npi_process process;
};

/* A network of these options on f feature columns; its parameters are 0. */
int npi_model_new(npgnn_model **out, const npgnn_options *options, int32_t f, const npgnn_env *env, npgnn_error *err);

/* A copy of a network. */
int npi_model_copy(npgnn_model **out, const npgnn_model *model, const npgnn_env *env, npgnn_error *err);

/* A model that is a process, which it takes over. */
int npi_model_from_process(npgnn_model **out, npi_process *process, const npgnn_env *env, npgnn_error *err);

/* Hash of all numbers that predictions depend on. */
uint64_t npi_model_hash(const npgnn_model *model);

/* Resets the calibration to what the training objective implies. Needs the size of the training graph. */
void npi_model_uncalibrate(npgnn_model *model);

/* ---- for the tables of the kinds ---- */

uint64_t npi_network_hash(uint64_t hash, const npgnn_model *model);
uint64_t npi_process_hash(uint64_t hash, const npgnn_model *model);
void npi_network_free_parameters(npgnn_model *model);
void npi_process_free_parameters(npgnn_model *model);

/* E_ARGUMENT: a process cannot do `what`. */
int npi_process_refuse(const char *what, npgnn_error *err);

#endif
