/* Features as somebody else wants them. */
#ifndef NPI_FEATURES_MATCH_H
#define NPI_FEATURES_MATCH_H

#include "features/features.h"

/* X with the `count` columns `wanted`, in that order: matched by name where both have names, by number otherwise. A reference to
 * free with npi_features_free; where the order is the same already, it is `x` itself. E_MISMATCH names the columns that only one
 * of the two has; `owner` ("the model") has the wanted ones, `bearer` ("the graph") those of x. */
int npi_features_match(npi_features **out, npi_features *x, npi_names *wanted, int32_t count, const char *owner,
                       const char *bearer, const npgnn_env *env, npgnn_error *err);

#endif
