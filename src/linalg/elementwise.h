/* Activations on whole arrays. */
#ifndef NPI_LINALG_ELEMENTWISE_H
#define NPI_LINALG_ELEMENTWISE_H

#include "npgnn/npgnn.h"

#include "linalg/real.h"

/* y = act(y). */
void npi_activate(real *y, int64_t count, npgnn_activation act, int threads);

/* dy *= act'(x), given y = act(x): each of the activations has a derivative that its value tells. */
void npi_activate_backward(real *dy, const real *y, int64_t count, npgnn_activation act, int threads);

#endif
