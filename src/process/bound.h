/* A network that costs less than half as much as a head and is never below it, to find out which pairs need the head at
 * all.
 *
 * With h1 the first layer and p = h1 W2 + b2 the second before its relu, a head is Σ_j w3_j relu(p_j) + e · w + w0. For
 * all p,
 *
 *     relu(p) >= α p                           for 0 <= α <= 1: for units that lower the score, w3_j <= 0
 *     relu(p) = p / 2 + |p| / 2
 *             <= p / 2 + p² / (4 c) + c / 4    for c > 0, since 2 |p| c <= p² + c²: for the others
 *
 * The sum of these squares is a quadratic form of (h1, 1), whose matrix M has eigenvalues λ_1 >= λ_2 >= ... and
 * eigenvectors g_r. With R of them,
 *
 *     (h1, 1) M (h1, 1)ᵀ <= Σ_(r <= R) (λ_r - λ_(R+1)) (g_r · (h1, 1))² + λ_(R+1) (|h1|² + 1)
 *
 * so that R squares, a multiple of |h1|² and something linear in h1 take the place of the second layer. α and c are
 * chosen by a sample of pairs, which decides how close the bound is, but not whether it holds. */
#ifndef NPI_PROCESS_BOUND_H
#define NPI_PROCESS_BOUND_H

#include "linalg/kernels.h"
#include "process/head.h"

enum { NPI_BOUND_BOXES = 8 };

typedef struct npi_head_bound {
    real *block;           /* owned; NULL: there is no bound */
    npi_small_network net; /* borrows from the head, too, which must outlive it */
    npi_slopes slopes;     /* of the head */
    npi_pieces *boxes;     /* (box_count), owned: bounds as of npi_head_box, of boxes around groups of the sample */
    int box_count;         /* at most NPI_BOUND_BOXES */
} npi_head_bound;

/* evidence (count, e): of the sample, standardised. A head that is too large for npi_small_network has no bound. */
int npi_head_bound_new(npi_head_bound *out, const npi_head *head, const float *evidence, size_t count,
                       const npgnn_env *env, npgnn_error *err);
void npi_head_bound_free(const npgnn_env *env, npi_head_bound *bound);

/* A bound that costs a tenth as much, and is close for evidence in and near a box low (e) <= e <= high (e).
 *
 * In the box, a unit with an input y from l to u, l < 0 < u, is between two lines,
 *
 *     α y <= relu(y) <= u (y - l) / (u - l)      α = 1 if u > -l, otherwise 0
 *
 * and other units are lines themselves. With these in place of the units, layer by layer and as the signs of the
 * weights demand, the head is at most a · e + b (Zhang et al. 2018, arXiv:1811.00866). Everywhere, the derivative of
 * the head by column c is from least_c to most_c (npi_head_slopes). Hence for all e, with e' the nearest point of the
 * box and x₊ = max(x, 0),
 *
 *     head(e) <= a · e' + b + Σ_c most_c (e_c - high_c)₊ - least_c (low_c - e_c)₊
 *             <= b + Σ_c max(a_c e_c, a_c high_c + most_c (e_c - high_c), a_c low_c + least_c (e_c - low_c))
 *
 * For a head that has a bound as above. */
void npi_head_box(npi_pieces *out, const npi_head *head, const npi_slopes *slopes, const double *low,
                  const double *high);

#endif
