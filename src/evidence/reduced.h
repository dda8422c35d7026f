/* The features of a node in a few dimensions: the rows of F = T V, made unit length, where
 *
 *     T_ic = x_ic log(1 + n / n_c) / (length of row i)      tf-idf; n_c nodes have feature c
 *     V    = the leading right singular vectors of T
 *
 * The numbers and dates of a table (features/encoding.h) are compared by how far apart they are. Their x, from -1.5 to
 * 1.5, is an angle θ = x π / 3, and becomes four columns,
 *
 *     (cos θ, sin θ, cos 2θ, sin 2θ) / √2      whose inner product with those of φ is (cos(θ - φ) + cos 2(θ - φ)) / 2:
 *
 * 1 for equal numbers, whatever they are, where x itself would have 0 at the median. Neither these columns nor flags
 * nor counts are weighted by log(1 + n / n_c): nearly every row has them.
 *
 * Cosines in this space compare what features mean together rather than one by one, and rows of F can be averaged over
 * neighbours at little cost. */
#ifndef NPI_EVIDENCE_REDUCED_H
#define NPI_EVIDENCE_REDUCED_H

#include "base/partition.h"
#include "features/projection.h"

enum { NPI_REDUCED_WIDTH = 64 };

typedef struct npi_reduced {
    int width;    /* 64, or fewer where there are fewer features or nodes */
    real *row;    /* (r, width) unit rows of F; zeros for a node without features; r: see npi_reduced_new */
    real *around; /* (r, width) of a projection: q, and `row` is u; NULL otherwise */
    real *map;    /* (columns, width) for nodes that come later: F = x map, made unit length */
    npi_csr exact,
        exact_t;          /* (n, f) T and (f, n) its transpose, after npi_reduced_keep_exact; ptr NULL: not there. After
                             * npi_reduced_index_exact the transpose alone, (f, r) */
    double *exact_weight; /* (f) log(1 + n / n_c) in T, after npi_reduced_weigh_exact, */
    const npi_features *exact_x; /* and X, borrowed; NULL: T is not wanted */
} npi_reduced;

/* By subspace iteration, O(entries of X) with a constant of thousands. X without any entry gives width 0.
 * left_out (f), or NULL: columns that are treated as if they were not there. The processes of env->comm, which have all
 * been given the same, divide the nodes: each one gets its r rows (npi_partition_tall), of all n without others. All
 * have the map. All return the same code. */
int npi_reduced_new(npi_reduced *out, npi_features *x, const unsigned char *left_out, const npgnn_env *env,
                    npgnn_error *err);

/* Prepares T itself too, where X is sparse: for features that two nodes have in common to the letter. x, with all nodes,
 * must outlive it. */
int npi_reduced_weigh_exact(npi_reduced *reduced, const npi_features *x, const npgnn_env *env, npgnn_error *err);

/* T_u · T_v, from X and its weights: the same bits as from the rows of T. */
double npi_reduced_overlap(const npi_features *x, const double *weight, int32_t u, int32_t v);

/* Keeps T, which takes 16 bytes per entry of X, for comparisons of one node with all. Prepares it where that has not been
 * done. */
int npi_reduced_keep_exact(npi_reduced *reduced, const npi_features *x, const npgnn_env *env, npgnn_error *err);

/* Of T, keeps the transpose of the rows of one process, for comparisons of any node with these. After
 * npi_reduced_weigh_exact; where T is not wanted, nothing. Not collective. */
int npi_reduced_index_exact(npi_reduced *reduced, const npi_partition *rows, const npgnn_env *env, npgnn_error *err);

/* out (r) = T_u with the rows of T whose transpose is by_column (f, r), from X and its weights. */
void npi_reduced_overlap_row(double *out, const npi_csr *by_column, const npi_features *x, const double *weight,
                             int32_t u);

/* Rows of further nodes, with features x, which have the columns and the encoding of those that `reduced` was made from:
 * *out has their rows of F, by the V of `reduced`; and, where words has T, the T of all nodes, theirs last. */
int npi_reduced_extend(npi_reduced *out, const npi_reduced *reduced, npi_features *x, const npgnn_env *env,
                       npgnn_error *err);

/* The rows of a projection of the features x instead, divided in the same way: width 0 if it has none. */
int npi_reduced_project(npi_reduced *out, npi_features *x, const npi_projection *projection, const npgnn_env *env,
                        npgnn_error *err);
void npi_reduced_free(const npgnn_env *env, npi_reduced *reduced);

#endif
