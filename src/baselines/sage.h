/* Unsupervised GraphSAGE (docs/results/baselines.md). */
#ifndef NPI_BASELINES_SAGE_H
#define NPI_BASELINES_SAGE_H

#include "baselines/method.h"

npi_learn_fn npi_sage_learn;

#endif
