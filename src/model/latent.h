/* The latent z: aggregation over nodes, reparameterised draw, KL (docs/understand/math.md, eq. (4), (5), (10)).
 * A distribution is q (2, d): the mean, then log sigma. */
#ifndef NPI_MODEL_LATENT_H
#define NPI_MODEL_LATENT_H

#include "base/partition.h"
#include "linalg/sparse.h"

/* q from the heads r (n, 2 d), of which this process has its rows: columns mu | log sigma, the latter from `start` on.
 * Eq. (4). */
void npi_latent_aggregate_forward(real *q, const real *r, const npi_partition *rows, int d, npgnn_aggregate how,
                                  npgnn_sigma_mean sigma, double start);

/* dr (n, 2 d) from dq. Eq. (B4). */
void npi_latent_aggregate_backward(real *dr, const real *dq, const real *q, const real *r, const npi_partition *rows,
                                   int d, npgnn_aggregate how, npgnn_sigma_mean sigma, double start);

/* The same where the mean over nodes is already taken: q from mean (2 d). Only for mean-log. */
void npi_latent_mean_forward(real *q, const real *mean, int d, npgnn_aggregate how, double start);
void npi_latent_mean_backward(real *dmean, const real *dq, int d, npgnn_aggregate how);

/* z (d) = mu + sigma ⊙ epsilon, or without epsilon, NULL, mu. Eq. (5), (5'). dq += its backward. Eq. (B5). */
void npi_latent_sample_forward(real *z, const real *q, const real *epsilon, int d);
void npi_latent_sample_backward(real *dq, const real *dz, const real *q, const real *epsilon, int d);

/* KL[q ‖ p]; adds weight times its gradient into dq and dp when they are not NULL. Eq. (10), (B10). */
double npi_latent_kl(real *dq, real *dp, const real *q, const real *p, int d, double weight);

#endif
