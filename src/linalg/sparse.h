/* Sparse matrices in compressed rows (CSR). */
#ifndef NPI_LINALG_SPARSE_H
#define NPI_LINALG_SPARSE_H

#include "base/env.h"
#include "linalg/real.h"

/* Compressed sparse rows. val NULL means that every stored entry is 1. */
typedef struct npi_csr {
    int32_t rows, cols;
    int64_t *ptr; /* (rows + 1) */
    int32_t *col; /* (ptr[rows]), ascending within a row */
    float *val;   /* (ptr[rows]) or NULL */
} npi_csr;

/* An empty matrix for `nonzeros` entries, with values or without. */
int npi_csr_new(npi_csr *out, int32_t rows, int32_t cols, int64_t nonzeros, int with_values, const npgnn_env *env,
                npgnn_error *err);
void npi_csr_free(const npgnn_env *env, npi_csr *a);

/* Where (row, col) is stored, or -1. O(log of the row's length). */
int64_t npi_csr_find(const npi_csr *a, int32_t row, int32_t col);

/* out = aᵀ, rows ascending. O(nonzeros + rows + cols). */
int npi_csr_transpose(npi_csr *out, const npi_csr *a, const npgnn_env *env, npgnn_error *err);

#endif
