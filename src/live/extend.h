/* A predictor of a process follows a graph that has grown. */
#ifndef NPI_LIVE_EXTEND_H
#define NPI_LIVE_EXTEND_H

#include "predict/predictor.h"

/* Extends the evidence of a predictor to `graph`, which has the nodes of the predictor's graph first. `touched` (count) are
 * nodes whose links have changed: it may have repetitions and nodes that the predictor does not know; these are new to it
 * and need no mention. Nobody may use the predictor meanwhile. E_MEMORY: nothing has changed. */
int npi_process_extend(npgnn_predictor *predictor, const npgnn_graph *graph, const int32_t *touched, size_t count,
                       npgnn_error *err);

#endif
