/* DeepWalk (Perozzi, Al-Rfou, Skiena 2014, doi:10.1145/2623330.2623732): embeddings of nodes that random walks visit
 * together, by skip-gram with negative sampling (Mikolov et al. 2013, arXiv:1310.4546). See
 * docs/results/baselines.md. */
#ifndef NPI_BASELINES_DEEPWALK_H
#define NPI_BASELINES_DEEPWALK_H

#include "baselines/method.h"

/* Nodes without a training edge score 0. */
npi_learn_fn npi_deepwalk_learn;

#endif
