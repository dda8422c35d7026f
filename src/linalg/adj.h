/* The normalised adjacency Â = D̃^-½ (A + I) D̃^-½, kept as the pattern of A and the diagonal of D̃^-½. */
#ifndef NPI_LINALG_ADJ_H
#define NPI_LINALG_ADJ_H

#include "linalg/kernels.h"
#include "linalg/sparse.h"

typedef struct npi_adj {
    npi_csr a;   /* symmetric pattern without diagonal; borrowed or owned by whoever made it; val NULL: weights 1 */
    real *scale; /* (rows) 1 / sqrt(1 + sum of the row's weights) */
} npi_adj;

/* Fills scale (a.rows) from the pattern. */
void npi_adj_normalize(npi_adj *adj, int threads);

/* Y = Â P, both (rows, w), with row strides; Y must not overlap P. Â is symmetric, so this is the backward
 * product too. */
void npi_adj_mul(real *y, int ldy, const npi_adj *adj, const real *p, int ldp, int w, int threads);

/* Parts of it, on the calling thread, for loops that have more to do with a row: row i into y (w), and the sum of the
 * column i of Â. */
void npi_adj_row(real *y, const npi_adj *adj, int32_t i, const real *p, int ldp, int w, const npi_kernels *kernels);
real npi_adj_column_sum(const npi_adj *adj, int32_t i);

#endif
