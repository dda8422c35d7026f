/* The normalised adjacency Â = D̃^-½ (A + I) D̃^-½, kept as the pattern of A and the diagonal of D̃^-½. */
#ifndef NPI_LINALG_ADJ_H
#define NPI_LINALG_ADJ_H

#include "linalg/fetch.h"
#include "linalg/kernels.h"
#include "linalg/sparse.h"

/* The nodes of other processes that are neighbours of this process's nodes, and memory for their rows of a product. */
typedef struct npi_halo {
    int32_t count;
    int32_t *node;  /* (count) ascending */
    uint64_t *bits; /* (n / 64 + 1) one bit per node of the graph: 1 for those in the halo, */
    int32_t *below; /* (n / 64 + 1) and how many there are before each word */
    real *rows;     /* (count, width) of whoever multiplies, who sets this before */
    npi_fetch fetch;
} npi_halo;

/* All rows of Â or, where the nodes are divided among processes, those of this process: then the columns of a row are
 * nodes of processes before this one, own nodes, and nodes of processes after it, in this order. Own nodes are counted
 * from the first of them, the others are indices into the halo. */
typedef struct npi_adj {
    npi_csr a;      /* symmetric pattern without diagonal; borrowed or owned by whoever made it; val NULL: weights 1 */
    real *scale;    /* (rows) 1 / sqrt(1 + sum of the row's weights) */
    npi_halo *halo; /* NULL: all rows are here */
    real *halo_scale;        /* (halo->count) the scale of its nodes */
    int32_t *before, *after; /* (rows) entries of a row that are in processes before and after this one */
} npi_adj;

/* Where a node of another process is in the halo; it is there. */
int32_t npi_halo_find(const npi_halo *halo, int32_t node);

/* The rows of this process of the matrix `a` of all nodes. `width` is the most columns of a product. Collective. */
int npi_adj_divide(npi_adj *out, const npi_csr *a, const npi_partition *rows, int width, const npgnn_env *env,
                   npgnn_error *err);

/* Frees what npi_adj_divide has made. */
void npi_adj_free(const npgnn_env *env, npi_adj *adj);

/* Fills scale (a.rows) from the pattern. */
void npi_adj_normalize(npi_adj *adj, int threads);

/* Fetches the rows of P (rows, w) that other processes have, for the rows of Â P that follow. Does nothing without a
 * halo. */
void npi_adj_fetch(const npi_adj *adj, const real *p, int ldp, int w, int threads);

/* Where the entries of own nodes in row i begin and end: all of them, without a halo. */
static inline void npi_adj_own(int64_t *begin, int64_t *end, const npi_adj *adj, int32_t i)
{
    *begin = adj->a.ptr[i] + (adj->halo ? adj->before[i] : 0);
    *end = adj->a.ptr[i + 1] - (adj->halo ? adj->after[i] : 0);
}

/* Y = Â P, both (rows, w), with row strides; Y must not overlap P. Â is symmetric, so this is the backward
 * product too. It fetches what it needs. */
void npi_adj_mul(real *y, int ldy, const npi_adj *adj, const real *p, int ldp, int w, int threads);

/* The rows [first, last) of it, without a halo. */
void npi_adj_mul_rows(real *y, int ldy, const npi_adj *adj, const real *p, int ldp, int w, int64_t first, int64_t last,
                      int threads);

/* Parts of it, on the calling thread, for loops that have more to do with a row, after npi_adj_fetch: row i into y (w),
 * and the sum of the column i of Â. */
void npi_adj_row(real *y, const npi_adj *adj, int32_t i, const real *p, int ldp, int w, const npi_kernels *kernels);
real npi_adj_column_sum(const npi_adj *adj, int32_t i);

#endif
