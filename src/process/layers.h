/* The layers that encoder and decoder are made of. X is (rows, in), Y (rows, out), W (in, out). */
#ifndef NPI_PROCESS_LAYERS_H
#define NPI_PROCESS_LAYERS_H

#include <math.h>

#include "linalg/real.h"

/* Y = X W + b. */
void npi_layer_forward(real *y, const real *x, const real *w, const real *b, int rows, int in, int out);

/* dX = dY Wᵀ (unless NULL), dW += Xᵀ dY, db += column sums of dY. */
void npi_layer_backward(real *dx, real *dw, real *db, const real *dy, const real *x, const real *w, int rows, int in,
                        int out);

static inline void npi_relu(real *y, int count)
{
    for (int i = 0; i < count; i++)
        y[i] = y[i] > 0 ? y[i] : 0;
}

/* dy *= relu'(y), given y = relu(x). */
static inline void npi_relu_backward(real *dy, const real *y, int count)
{
    for (int i = 0; i < count; i++)
        dy[i] = y[i] > 0 ? dy[i] : 0;
}

/* log(1 + exp(x)) without overflow, and its derivative. */
static inline double npi_softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

static inline double npi_logistic_of(double x)
{
    return 1 / (1 + exp(-x));
}

#endif
