/* The simplest guess: linked nodes have similar features. */
#ifndef NPI_BASELINES_COSINE_H
#define NPI_BASELINES_COSINE_H

#include "baselines/method.h"

npi_learn_fn npi_cosine_learn;

#endif
