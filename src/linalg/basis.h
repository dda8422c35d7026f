/* Orthonormal bases of subspaces, for subspace iteration: multiply a basis by a large matrix, make it orthonormal
 * again, repeat, and it turns towards the eigenvectors with the largest eigenvalues. */
#ifndef NPI_LINALG_BASIS_H
#define NPI_LINALG_BASIS_H

#include "base/partition.h"
#include "linalg/real.h"

typedef struct npi_basis {
    npi_partition rows; /* those of this process, of which there are r */
    int width;
    real *at;       /* (r, width) the basis, one vector per column */
    real *next;     /* (r, width) where a product goes */
    real *small;    /* (width, width) */
    real *scratch;  /* of tall products */
    double *square; /* (3, width, width) */
} npi_basis;

/* Random signs, a function of `stream`: the same basis for any number of threads, and of processes of env->comm, which
 * divide its rows (npi_partition_tall). Not collective; what follows is. */
int npi_basis_new(npi_basis *out, int32_t rows, int width, uint32_t stream, const npgnn_env *env, npgnn_error *err);
void npi_basis_free(const npgnn_env *env, npi_basis *basis);

/* Exchanges `at` and `next`. */
void npi_basis_swap(npi_basis *basis);

/* Makes the columns of `at` orthonormal, keeping the space they span: Y <- Y L⁻ᵀ with Yᵀ Y = L Lᵀ, twice, since one
 * pass in single precision leaves an error. A dimension that has been lost stays small instead of becoming NaN. */
void npi_basis_orthonormalize(npi_basis *basis, int threads);

/* Rotates the basis to the eigenvectors of the symmetric (width, width) matrix atᵀ `next`, where next = S at for a
 * symmetric S: Rayleigh-Ritz. values (width): the eigenvalues, the largest magnitude first, as are the columns. */
void npi_basis_rotate(double *values, npi_basis *basis, int threads);

#endif
