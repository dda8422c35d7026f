/* Reorder feature columns to match a model or another graph. */
#ifndef NPI_FEATURES_MATCH_H
#define NPI_FEATURES_MATCH_H

#include "features/features.h"

/* *out is x with its columns in the order of `wanted` (count). Columns are matched by name where both sides have names,
 * and by position otherwise; both sides must have been made from tables in the same way (`encoding`, NULL: from none),
 * because the same name is another number otherwise. *out is a reference, to be freed with npi_features_free; it is x
 * itself where the order is the same. E_MISMATCH lists the columns that only one side has; the message calls the sides
 * `owner` (of the wanted columns: "the model") and `bearer` (of x: "the graph"). */
int npi_features_match(npi_features **out, npi_features *x, npi_names *wanted, npi_encoding *encoding, int32_t count,
                       const char *owner, const char *bearer, const npgnn_env *env, npgnn_error *err);

#endif
