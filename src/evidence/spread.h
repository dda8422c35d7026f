/* Products of vectors of nodes with the graph, whose nodes may be divided among processes:
 *
 *     y_i = s_i (s_i x_i + Σ_j s_j x_j)      j the neighbours of i, s_i a function of the degree; links have no weights
 *
 * Each process has its rows of x and y (npi_partition_tall), and fetches those of its neighbours in other processes. */
#ifndef NPI_EVIDENCE_SPREAD_H
#define NPI_EVIDENCE_SPREAD_H

#include "linalg/adj.h"

typedef struct npi_spread {
    npgnn_env env;
    const npi_csr *a;   /* the links of all nodes, borrowed */
    npi_partition rows; /* the nodes of this process, of which there are r */
    npi_adj adj;        /* their links; of one process those of `a` itself */
    real *halo;         /* (neighbours in other processes, a few columns) their rows, a slice of columns at a time */
} npi_spread;

/* All processes of env->comm have been given the same `a`, which must outlive it. Collective. E_MEMORY. */
int npi_spread_new(npi_spread *out, const npi_csr *a, const npgnn_env *env, npgnn_error *err);
void npi_spread_free(npi_spread *spread);

/* s_i = scale(d_i, given), until the next call. */
typedef real npi_scale_fn(int64_t degree, double given);
void npi_spread_scale(npi_spread *spread, npi_scale_fn *scale, double given);

/* 1 / √(d + given) */
real npi_scale_padded(int64_t degree, double given);

/* y (r, width) from x (r, width), which do not overlap. Collective. */
void npi_spread_mul(real *y, const npi_spread *spread, const real *x, int width);

/* y_i = (x_i + Σ_j x_j) / (d_i + 1): the mean over a node and its neighbours. Collective; changes the scale. */
void npi_spread_average(real *y, npi_spread *spread, const real *x, int width);

#endif
