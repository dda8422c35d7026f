/* The last adjustment of a head to its graph: a ridge logistic regression on [s ; e ; 1] of held-out pairs, s the
 * score of the head and e the evidence, shrunk towards (1, 0, 0), which is the head as it is:
 *
 *     minimise  Σ_p log(1 + exp(∓ x_p · w)) + ½ τ ((w_s - 1)² + |w_e|²) + ½ β b²
 *
 * The more held-out pairs there are, the more the regression has to say. Being linear in s and e, it goes into the
 * weights of the head. */
#ifndef NPI_PROCESS_STACK_H
#define NPI_PROCESS_STACK_H

#include "process/head.h"

/* weight (e + 2): w_s, w_e, b, fitted to evidence (count, e), standardised; the first `positives` pairs are links.
 * With as many non-links as links, scores are log-odds at even odds. */
int npi_head_stack(double *weight, const npi_head *head, const float *evidence, size_t positives, size_t count,
                   const npgnn_env *env, npgnn_error *err);

/* Puts such weights into a head. */
void npi_head_apply(npi_head *head, const double *weight);

#endif
