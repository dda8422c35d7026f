/* The one training path: rehearse where nothing is held out, train, calibrate. npgnn_fit, evaluations and estimates
 * call it; `npgnn train` drives the same trainer step by step, for its checkpoints. */
#ifndef NPI_JOBS_FIT_H
#define NPI_JOBS_FIT_H

#include "graph/split.h"

/* A model trained to the end on the known part of `split` or, when that is NULL, on all of `graph`. `last` (may be
 * NULL) is the progress it ended with. */
int npi_fit(npgnn_model **out, npgnn_progress *last, const npgnn_graph *graph, const npgnn_split *split,
            const npgnn_options *options, const npgnn_env *env, npgnn_error *err);

/* The same for options that are complete, for the tables of the kinds (model/kind.h). */
int npi_network_fit(npgnn_model **out, npgnn_progress *last, const npgnn_graph *graph, const npgnn_split *split,
                    const npgnn_options *options, const npgnn_env *env, npgnn_error *err);
int npi_process_fit(npgnn_model **out, npgnn_progress *last, const npgnn_graph *graph, const npgnn_split *split,
                    const npgnn_options *options, const npgnn_env *env, npgnn_error *err);

#endif
