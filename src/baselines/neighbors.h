/* Scores from the neighbourhoods of two nodes in the training graph (Liben-Nowell & Kleinberg 2007,
 * doi:10.1002/asi.20591; docs/results/baselines.md). Nodes without a training edge score 0. */
#ifndef NPI_BASELINES_NEIGHBORS_H
#define NPI_BASELINES_NEIGHBORS_H

#include "baselines/method.h"

npi_learn_fn npi_common_neighbors_learn;    /* how many neighbours they share */
npi_learn_fn npi_adamic_adar_learn;         /* each weighs 1 / log of its degree (doi:10.1016/S0378-8733(03)00009-1) */
npi_learn_fn npi_resource_allocation_learn; /* each weighs 1 / its degree (doi:10.1140/epjb/e2009-00335-8) */
npi_learn_fn npi_pagerank_learn;            /* random walks with restart between them, both ways */
npi_learn_fn npi_three_steps_learn;         /* random walks of three steps, both ways */
npi_learn_fn npi_item_cosine_learn;         /* cosine of the neighbourhoods of one and of the neighbours of the other */
npi_learn_fn npi_katz_learn;                /* walks between them, the longer the lighter (doi:10.1007/BF02289026) */

/* The same with the tolerance of the push (katz.c); 0: exact. */
int npi_katz_learn_to(npi_heuristic *out, double tolerance, const npi_task *task, npgnn_error *err);

#endif
