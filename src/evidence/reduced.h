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
#include "evidence/tfidf.h"
#include "features/projection.h"

enum { NPI_REDUCED_WIDTH = 64 };

typedef struct npi_reduced {
    int width;          /* 64, or fewer where there are fewer features or nodes */
    real *row;          /* (r, width) unit rows of F; zeros for a node without features; r: see npi_reduced_new */
    real *neighbor_row; /* (r, width) of a projection: q, and `row` is u; NULL otherwise */
    real *map;          /* (columns, width) for nodes that come later: F = x map, made unit length */
    npi_tfidf tfidf;    /* the same features, not reduced; empty unless somebody prepares it */
} npi_reduced;

/* By subspace iteration, O(entries of X) with a constant of thousands. X without any entry gives width 0.
 * left_out (f), or NULL: columns that are treated as if they were not there. The processes of env->comm, which have all
 * been given the same, divide the nodes: each one gets its r rows (npi_partition_tall), of all n without others. All
 * have the map. All return the same code. */
int npi_reduced_new(npi_reduced *out, npi_features *x, const unsigned char *left_out, const npgnn_env *env,
                    npgnn_error *err);

/* Rows of further nodes, with features x, which have the columns and the encoding of those that `reduced` was made
 * from: *out has their rows of F, by the V of `reduced`; and, where `reduced` has T, the T of all nodes, theirs
 * last. */
int npi_reduced_extend(npi_reduced *out, const npi_reduced *reduced, npi_features *x, const npgnn_env *env,
                       npgnn_error *err);

/* The rows of a projection of the features x instead, divided in the same way: width 0 if it has none. */
int npi_reduced_project(npi_reduced *out, npi_features *x, const npi_projection *projection, const npgnn_env *env,
                        npgnn_error *err);
/* Prepares and keeps the tf-idf rows of the features x that `reduced` was made from, if it has any. x must outlive
 * them. */
int npi_reduced_keep_tfidf(npi_reduced *reduced, const npi_features *x, const npgnn_env *env, npgnn_error *err);

/* Memory for the rows of `capacity` nodes. E_MEMORY: nothing has changed but that some rows may have moved. */
int npi_reduced_reserve(npi_reduced *reduced, int32_t capacity, const npgnn_env *env, npgnn_error *err);
void npi_reduced_free(const npgnn_env *env, npi_reduced *reduced);

#endif
