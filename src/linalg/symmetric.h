/* Small symmetric matrices, in double: eigenvectors and linear equations. For the few hundred rows that are left once
 * a large problem has been reduced to a subspace. */
#ifndef NPI_LINALG_SYMMETRIC_H
#define NPI_LINALG_SYMMETRIC_H

#include "linalg/real.h"

/* All eigenvalues, the largest magnitude first, and their orthonormal eigenvectors: A (k, k) = V diag(values) Vᵀ, the
 * vectors in the columns of V. Overwrites A. Jacobi rotations: slow (O(k³) per sweep, about eight sweeps), simple,
 * and accurate. */
void npi_symmetric_eigen(double *values /* (k) */, double *vectors /* (k, k) */, double *a /* (k, k) */, int k);

/* A = L Lᵀ in place: the lower triangle of A (k, k) becomes L. A dimension in which A is not above `least` any more
 * counts as lost: it gets a pivot of √least and nothing below it. */
void npi_cholesky(double *a, int k, double least);

/* X (k, columns) with L Lᵀ X = B, in place of B. */
void npi_cholesky_solve(double *b, const double *l, int k, int columns);

#endif
