/* Graph auto-encoders (Kipf & Welling 2016), trained on the known part of a split. */
#ifndef NPI_BASELINES_VGAE_H
#define NPI_BASELINES_VGAE_H

#include "baselines/method.h"

npi_learn_fn npi_vgae_learn; /* variational */
npi_learn_fn npi_gae_learn;  /* not: no noise, no KL */

#endif
