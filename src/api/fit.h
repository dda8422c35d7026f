/* Training, with whatever validation the options need. */
#ifndef NPI_API_FIT_H
#define NPI_API_FIT_H

#include "graph/split.h"

/* A trainer that has run to its end, on the known part of `split` or, when that is NULL, on all of `graph`. */
int npi_fit(npgnn_trainer **out, const npgnn_graph *graph, const npgnn_split *split, const npgnn_options *options,
            const npgnn_env *env, npgnn_error *err);

#endif
