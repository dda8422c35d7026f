/* Training, with whatever validation the options need. */
#ifndef NPI_JOBS_FIT_H
#define NPI_JOBS_FIT_H

#include "graph/split.h"

/* A model trained to the end, on the known part of `split` or, when that is NULL, on all of `graph`; `last` (may be NULL) is
 * where its training stood then. It is calibrated on the validation links of `split` or, without those, in the first training,
 * which `calibrate` asks for where the options do not. */
int npi_fit(npgnn_model **out, npgnn_progress *last, const npgnn_graph *graph, const npgnn_split *split,
            const npgnn_options *options, int calibrate, const npgnn_env *env, npgnn_error *err);

#endif
