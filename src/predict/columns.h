/* The features of a graph as a model wants them. */
#ifndef NPI_PREDICT_COLUMNS_H
#define NPI_PREDICT_COLUMNS_H

#include "model/model.h"

/* X with the columns of the model, in its order: matched by name where both have names, by number otherwise. A reference to
 * free with npi_features_free; where the order is the same already, it is `x` itself. E_MISMATCH names the columns that only one
 * of the two has. */
int npi_columns_match(npi_features **out, const npgnn_model *model, npi_features *x, const npgnn_env *env,
                      npgnn_error *err);

#endif
