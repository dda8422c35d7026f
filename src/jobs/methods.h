/* The methods that can be evaluated, by name. */
#ifndef NPI_JOBS_METHODS_H
#define NPI_JOBS_METHODS_H

#include "baselines/method.h"

/* The method with this name (NULL: "npgnn"), or NULL with the known ones listed in err. */
npi_method_fn *npi_method_find(const char *name, npgnn_error *err);

/* 1 where it iterates as the options of the model say; the others have their own number of iterations. */
int npi_method_is_model(const char *name);

#endif
