/* The decoder (docs/understand/math.md, eq. (6)): u = act(sigmoid(x W2x + z Wz + b1) W3 + b2), for all nodes
 * at once. */
#ifndef NPI_MODEL_MLP_H
#define NPI_MODEL_MLP_H

#include "base/partition.h"
#include "model/params.h"

/* hidden (n, g) and u (n, k) from xw = X W2x, given with its row stride; z (d) or NULL. hidden may be xw. Eq. (6). */
void npi_mlp_forward(real *u, real *hidden, const npi_params *params, const real *xw, int ldxw, const real *z,
                     int64_t n, npgnn_activation output, int threads);

/* Reals of scratch that the backward pass needs. */
size_t npi_mlp_scratch(const npi_partition *rows, npi_sizes size);

/* Backward of the above for the rows of this process: du is overwritten; adds the sums over all nodes into the
 * gradients, sets dz (d) and, unless `add` is 1, dxw. Eq. (B6). */
void npi_mlp_backward(real *dxw, int lddxw, int add, real *dz, npi_params *gradient, real *du, const npi_params *params,
                      const real *u, const real *hidden, const real *z, const npi_partition *rows,
                      npgnn_activation output, real *scratch, int threads);

#endif
