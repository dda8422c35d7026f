/* The methods that can be evaluated, by name. */
#ifndef NPI_API_METHODS_H
#define NPI_API_METHODS_H

#include "baselines/method.h"

/* The method with this name (NULL: "npgnn"), or NULL with the known ones listed in err. */
npi_method_fn *npi_method_find(const char *name, npgnn_error *err);

#endif
