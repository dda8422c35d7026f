/* Eigenvectors of large symmetric matrices, through ARPACK (Lehoucq, Sorensen, Yang
 * 1998, doi:10.1137/1.9780898719628). */
#ifndef NPI_LINALG_EIGEN_H
#define NPI_LINALG_EIGEN_H

#include "base/env.h"

/* y (n) = S x (n), S symmetric. */
typedef void npi_operator_fn(double *y, const double *x, const void *user);

/* The k largest eigenvalues of S, ascending, and their orthonormal eigenvectors, one a row: values (k), vectors (k, n);
 * 0 < k < n. `start` (n), which is overwritten, is where the iteration starts: the result depends on it in signs and,
 * where eigenvalues coincide, in the choice of a basis. ARPACK keeps state of its own, so one call runs at a time, the
 * others wait. E_DIVERGED when it does not converge. O(n k) memory. */
int npi_eigen_largest(double *values, double *vectors, double *start, int32_t n, int k, npi_operator_fn *multiply,
                      const void *user, const npgnn_env *env, npgnn_error *err);

#endif
