/* Orthonormal bases of subspaces, for subspace iteration: multiply a basis by a large matrix, make it orthonormal
 * again, repeat, and it turns towards the eigenvectors with the largest eigenvalues. */
#ifndef NPI_LINALG_BASIS_H
#define NPI_LINALG_BASIS_H

#include "base/comm.h"
#include "linalg/real.h"

typedef struct npi_basis {
    int64_t rows;
    int width;
    real *at;         /* (rows, width) the basis, one vector per column */
    real *next;       /* (rows, width) where a product goes */
    real *small;      /* (width, width) */
    real *scratch;    /* of tall products */
    double *square;   /* (3, width, width) */
    npgnn_comm *comm; /* the processes that divide the work; NULL: one */
    int64_t from, to; /* rows that this process has computed */
} npi_basis;

/* Random signs, a function of `stream`: the same basis for any number of threads, and of processes of env->comm. Each
 * of these has memory for all rows, and computes its own: npi_basis_gather gives them to all. */
int npi_basis_new(npi_basis *out, int64_t rows, int width, uint32_t stream, const npgnn_env *env, npgnn_error *err);
void npi_basis_free(const npgnn_env *env, npi_basis *basis);

/* All rows of `at` in all processes. */
void npi_basis_gather(npi_basis *basis);

/* Exchanges `at` and `next`. */
void npi_basis_swap(npi_basis *basis);

/* Makes the columns of `at` orthonormal, keeping the space they span: Y <- Y L⁻ᵀ with Yᵀ Y = L Lᵀ, twice, since one
 * pass in single precision leaves an error. A dimension that has been lost stays small instead of becoming NaN. */
void npi_basis_orthonormalize(npi_basis *basis, int threads);

/* Rotates the basis to the eigenvectors of the symmetric (width, width) matrix atᵀ `next`, where next = S at for a
 * symmetric S: Rayleigh-Ritz. values (width): the eigenvalues, the largest magnitude first, as are the columns. */
void npi_basis_rotate(double *values, npi_basis *basis, int threads);

#endif
