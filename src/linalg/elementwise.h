/* Activations on whole arrays. */
#ifndef NPI_LINALG_ELEMENTWISE_H
#define NPI_LINALG_ELEMENTWISE_H

#include "npgnn/npgnn.h"

#include "linalg/real.h"

/* y = act(y). */
void npi_activate(real *y, int64_t count, npgnn_activation act, int threads);

/* dy *= act'(x), given y = act(x): each of the activations has a derivative that its value tells. */
void npi_activate_backward(real *dy, const real *y, int64_t count, npgnn_activation act, int threads);

/* y = 0. */
void npi_zero(real *y, int64_t count, int threads);

/* Whether there is neither a NaN nor an infinity among x. */
int npi_all_finite(const real *x, int64_t count);

#endif
