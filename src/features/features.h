/* The feature matrix X (n, f), stored sparse or dense depending on its density. Reference-counted: a graph and its
 * subgraphs on the same nodes share one. */
#ifndef NPI_FEATURES_FEATURES_H
#define NPI_FEATURES_FEATURES_H

#include "base/names.h"
#include "base/partition.h"
#include "features/encoding.h"
#include "linalg/sparse.h"

/* Immutable once it is shared, except for the transpose, which the backward product of a sparse X needs. */
typedef struct npi_features npi_features;
struct npi_features {
    npgnn_env env;
    int references;
    int32_t n, f;
    int64_t nonzeros;
    npi_csr x;              /* sparse form */
    npi_csr *xt;            /* Xᵀ (f, n) of the sparse form, NULL until npi_features_transpose */
    real *dense;            /* dense form (n, f), NULL when sparse */
    npi_names *columns;     /* (f) names of the columns, NULL: they have none */
    npi_encoding *encoding; /* how they were made from the columns of a table, NULL: they are the numbers of a file */
    npi_mapping *mapping;   /* the file that x or dense lie in; NULL: they are allocated */
    npi_features *viewed;   /* the matrix that the values of x, or dense, belong to; NULL: to this one */
    int32_t first;          /* of a view: the row of `viewed` that its first one is */
};

/* Takes ownership of `x`, also on failure, and chooses the storage: dense from 25 % of non-zeros on. Stored zeros are
 * removed; values that are all 1 are not stored. */
int npi_features_from_csr(npi_features **out, npi_csr *x, const npgnn_env *env, npgnn_error *err);

/* The same for the rows of this process of a matrix that `rows` divides; its storage depends on all rows. Collective,
 * but only this process may be out of memory. */
int npi_features_from_rows(npi_features **out, npi_csr *x, const npi_partition *rows, const npgnn_env *env,
                           npgnn_error *err);

/* Copies a dense matrix (n, f) and chooses the storage in the same way. */
int npi_features_from_dense(npi_features **out, const float *x, int32_t n, int32_t f, const npgnn_env *env,
                            npgnn_error *err);

/* X over arrays that lie in the file `mapping`: `csr`, or dense (n, f) where that is not NULL, which has `nonzeros`
 * non-zeros. The double build copies a dense matrix. */
int npi_features_map(npi_features **out, const npi_csr *csr, float *dense, int64_t nonzeros, npi_mapping *mapping,
                     const npgnn_env *env, npgnn_error *err);

/* Copies what is mapped into memory, where it can be changed. */
int npi_features_own(npi_features *x, npgnn_error *err);

/* A new matrix (count, f) with the rows rows[0 .. count) of x. */
int npi_features_select_rows(npi_features **out, const npi_features *x, const int32_t *rows, int32_t count,
                             npgnn_error *err);

/* A new matrix with the rows of `above` followed by those of `below`. Both have the same columns. */
int npi_features_stack(npi_features **out, const npi_features *above, const npi_features *below, npgnn_error *err);

/* A new matrix, without column names, in which column c of x is column to[c]. */
int npi_features_permute_columns(npi_features **out, const npi_features *x, const int32_t *to, const npgnn_env *env,
                                 npgnn_error *err);

/* Computes xt unless it exists. Training needs it, prediction does not. Several threads may call this at once. */
int npi_features_transpose(npi_features *x, npgnn_error *err);

/* In place, before x is shared, of an X that is not mapped: every non-zero becomes 1; each row is divided by its Σ
 * |x|. */
void npi_features_binarize(npi_features *x);
int npi_features_normalize(npi_features *x, npgnn_error *err);

/* sqrt(Σ x² / n): the root mean square of the lengths of the rows, of which x has those of this process. */
double npi_features_rms_length(const npi_features *x, const npi_partition *rows);

/* The rows [from, to) of x, as a matrix that shares its values and must not outlive it. */
int npi_features_view(npi_features **out, npi_features *x, int32_t from, int32_t to, npgnn_error *err);

/* Adds a reference and returns x; npi_features_free drops one, and the last one frees. */
npi_features *npi_features_share(npi_features *x);
void npi_features_free(npi_features *x);

/* ---- products with the features X (n, f) ---- */

/* Y (n, width) = X W, W (f, width) with row stride ldw; Y contiguous. */
void npi_features_mul(real *y, const npi_features *x, const real *w, int ldw, int width, int threads);

/* dW (f, width) += Xᵀ dY, both contiguous. Needs npi_features_transpose. */
void npi_features_mul_t(real *dw, const npi_features *x, const real *dy, int width, int threads);

/* The same where nodes are divided among processes: X and dY have the rows of this process, dW gets the sum over all.
 * scratch: npi_features_mul_t_scratch reals. */
void npi_features_mul_t_parts(real *dw, const npi_features *x, const real *dy, int width, const npi_partition *rows,
                              real *scratch, int threads);
size_t npi_features_mul_t_scratch(const npi_features *x, int width, const npi_partition *rows);

#endif
