/* A model: either a network trained on one graph (parameters, distribution of z, scorer) or a process learnt across
 * graphs; and what it was trained on. */
#ifndef NPI_MODEL_MODEL_H
#define NPI_MODEL_MODEL_H

#include "base/names.h"
#include "features/encoding.h"
#include "model/params.h"
#include "model/scorer.h"
#include "process/process.h"

struct npgnn_model {
    npgnn_env env;
    npgnn_options options;
    npgnn_model_info info;
    npi_model_scorer scorer;
    npi_process process; /* of a model that was learnt across graphs; params.block NULL: a network */
    npi_params params;
    npi_names *columns;     /* (f) of the features it was trained on, NULL: they had no names */
    npi_encoding *encoding; /* how these were made from a table, NULL: they were numbers already */
    real *q; /* (2, d): mean and log sigma of z, encoded from the training graph or, by npgnn_model_adapt, from
                             another; NULL without latent */
};

/* Whether it is a process across graphs. */
static inline int npi_model_is_process(const npgnn_model *model)
{
    return model->process.params.block != NULL;
}

/* A model that is a process, which it takes over. */
int npi_model_from_process(npgnn_model **out, npi_process *process, const npgnn_env *env, npgnn_error *err);

/* E_ARGUMENT for a process, which cannot do `what`. */
int npi_model_need_network(const npgnn_model *model, const char *what, npgnn_error *err);

/* Allocates a model of these options on f feature columns; its parameters are 0. */
int npi_model_new(npgnn_model **out, const npgnn_options *options, int32_t f, const npgnn_env *env, npgnn_error *err);

int npi_model_copy(npgnn_model **out, const npgnn_model *model, const npgnn_env *env, npgnn_error *err);

/* Of all numbers that predictions depend on. */
uint64_t npi_model_hash(const npgnn_model *model);

/* Resets the calibration to what the training objective implies. Needs the size of the training graph. */
void npi_model_uncalibrate(npgnn_model *model);

#endif
