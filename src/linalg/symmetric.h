/* Small symmetric matrices, in double: eigenvectors and linear equations. For the few hundred rows that are left once
 * a large problem has been reduced to a subspace. */
#ifndef NPI_LINALG_SYMMETRIC_H
#define NPI_LINALG_SYMMETRIC_H

#include <stddef.h>

#include "base/rng.h"
#include "linalg/real.h"

/* All eigenvalues, the largest magnitude first, and their orthonormal eigenvectors: A (k, k) = V diag(values) Vᵀ, the
 * vectors in the columns of V. Overwrites A. Jacobi rotations: slow (O(k³) per sweep, about eight sweeps), simple,
 * and accurate. */
void npi_symmetric_eigen(double *values /* (k) */, double *vectors /* (k, k) */, double *a /* (k, k) */, int k);

/* The eigenvalues of A (rows, rows) of largest magnitude, about, and their eigenvectors, in the columns of V (rows, columns):
 * by subspace iteration, eight times. An eigenvector whose value is near that of the first one left out may be mixed with it,
 * and where A has fewer than `columns` values other than 0, the rest of V is 0 or any basis. O(rows² columns). */
enum { NPI_MOST_LEADING = 128 };
void npi_symmetric_leading(double *values /* (columns) */, double *vectors, const double *a, int rows, int columns,
                           double *scratch, npi_rng *rng);

/* Numbers that `scratch` needs. */
size_t npi_symmetric_leading_scratch(int rows, int columns);

/* A = L Lᵀ in place: the lower triangle of A (k, k) becomes L. A dimension in which A is not above `least` any more
 * counts as lost: it gets a pivot of √least and nothing below it. */
void npi_cholesky(double *a, int k, double least);

/* X (k, columns) with L Lᵀ X = B, in place of B. */
void npi_cholesky_solve(double *b, const double *l, int k, int columns);

#endif
