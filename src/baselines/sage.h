/* Unsupervised GraphSAGE (docs/results/baselines.md). */
#ifndef NPI_BASELINES_SAGE_H
#define NPI_BASELINES_SAGE_H

#include "baselines/method.h"

int npi_sage_method(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err);

#endif
