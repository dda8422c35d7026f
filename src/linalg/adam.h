/* One step of Adam on a block of numbers (docs/understand/math.md, (A1)-(A3)):
 *
 *     m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g²
 *     w <- w - rate m̂ / (√v̂ + epsilon),   m̂ = m / (1 - beta1^t),   v̂ = v / (1 - beta2^t)
 *
 * The kernel knows no bias corrections; both go into the rate and epsilon: with c1 = 1 - beta1^t and c2 = 1 - beta2^t,
 *
 *     m̂ / (√v̂ + epsilon) = (√c2 / c1) m / (√v + epsilon √c2) */
#ifndef NPI_LINALG_ADAM_H
#define NPI_LINALG_ADAM_H

#include <math.h>
#include <stdint.h>

#include "linalg/kernels.h"
#include "linalg/real.h"

typedef struct npi_adam_rates {
    double rate, beta1, beta2, epsilon;
} npi_adam_rates;

/* The rates of step t = 1, 2, ... with both bias corrections: (rate √c2 / c1, epsilon √c2). */
static inline npi_adam_rates npi_adam_corrected(npi_adam_rates r, int64_t t)
{
    double root2 = sqrt(1 - pow(r.beta2, (double)t));
    return (npi_adam_rates){r.rate * root2 / (1 - pow(r.beta1, (double)t)), r.beta1, r.beta2, r.epsilon * root2};
}

/* Moves w (count) and its running means m, v (count) by the gradient, with corrected rates. On the calling thread. */
static inline void npi_adam_move(real *w, real *m, real *v, const real *gradient, int64_t count, npi_adam_rates r)
{
    npi_kernels_best()->adam(w, m, v, gradient, count, (real)r.rate, (real)r.beta1, (real)r.beta2, (real)r.epsilon);
}

/* A rate that falls along a cosine, from rate (1 + last) to rate `last`. */
static inline double npi_rate_along_cosine(double rate, double last, int64_t step, int64_t steps)
{
    return rate * ((1 + cos(3.14159265358979323846 * (double)step / (double)steps)) / 2 + last);
}

#endif
