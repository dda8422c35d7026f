/* The normalised adjacency Â = D̃^-½ (A + I) D̃^-½, kept as the pattern of A and the diagonal of D̃^-½. */
#ifndef NPI_LINALG_ADJ_H
#define NPI_LINALG_ADJ_H

#include "linalg/matrix.h"

typedef struct npi_adj {
    npi_csr a;   /* symmetric pattern without diagonal; borrowed or owned by whoever made it; val NULL: weights 1 */
    real *scale; /* (rows) 1 / sqrt(1 + sum of the row's weights) */
} npi_adj;

/* Fills scale (room for a.rows) from the pattern. */
void npi_adj_normalize(npi_adj *adj, int threads);

/* Y = Â P, both (rows, w), with row strides; Y must not overlap P. Â is symmetric, so this is the backward product too. */
void npi_adj_mul(real *y, int ldy, const npi_adj *adj, const real *p, int ldp, int w, int threads);

/* out (rows) = the column sums of Â. */
void npi_adj_colsum(real *out, const npi_adj *adj, int threads);

#endif
