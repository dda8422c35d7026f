/* What a method may know of a graph. */
#ifndef NPI_BASELINES_KNOWN_H
#define NPI_BASELINES_KNOWN_H

#include "baselines/method.h"

/* The complete graph's nodes and features with the training edges alone: nodes that training does not know are isolated.
 * The caller frees it. E_ARGUMENT where there is no training edge. */
int npi_known_graph(npgnn_graph **out, const npi_task *task, npgnn_error *err);

#endif
