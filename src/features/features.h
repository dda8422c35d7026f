/* The feature matrix X: sparse or dense by its density, shared between a graph and its subgraphs. */
#ifndef NPI_FEATURES_FEATURES_H
#define NPI_FEATURES_FEATURES_H

#include "base/names.h"
#include "linalg/sparse.h"

/* X (n, f), immutable but for the transpose that the backward product of sparse features needs. */
typedef struct npi_features {
    npgnn_env env;
    int references;
    int32_t n, f;
    int64_t nonzeros;
    npi_csr x;          /* sparse form */
    npi_csr *xt;        /* its transpose, NULL until npi_features_transpose */
    real *dense;        /* dense form (n, f), NULL when sparse */
    npi_names *columns; /* (f) what each is called, NULL: nothing */
} npi_features;

/* Takes over `x` (also on failure, when it is freed) and chooses the storage: dense from 25 % of non-zeros on. Stored
 * zeros are dropped; values all 1 are not stored. */
int npi_features_from_csr(npi_features **out, npi_csr *x, const npgnn_env *env, npgnn_error *err);

/* Copies a dense matrix (n, f), choosing the storage likewise. */
int npi_features_from_dense(npi_features **out, const float *x, int32_t n, int32_t f, const npgnn_env *env,
                            npgnn_error *err);

/* The rows `rows[0 .. count)` of x as a new matrix. */
int npi_features_select_rows(npi_features **out, const npi_features *x, const int32_t *rows, int32_t count,
                             npgnn_error *err);

/* The rows of two matrices with the same columns, one below the other. */
int npi_features_stack(npi_features **out, const npi_features *above, const npi_features *below, npgnn_error *err);

/* x with its columns in another order, as a new matrix without names: column c of x is to[c] there. */
int npi_features_permute_columns(npi_features **out, const npi_features *x, const int32_t *to, const npgnn_env *env,
                                 npgnn_error *err);

/* Fills xt when it is missing; training needs it, prediction does not. Several threads may ask at once. */
int npi_features_transpose(npi_features *x, npgnn_error *err);

/* In place, before sharing: every non-zero becomes 1; each row divided by its sum of magnitudes. */
void npi_features_binarize(npi_features *x);
int npi_features_normalize(npi_features *x, npgnn_error *err);

/* The root of the mean square length of the rows. */
double npi_features_rms_length(const npi_features *x);

npi_features *npi_features_share(npi_features *x);
void npi_features_free(npi_features *x);

/* ---- products with the features X (n, f) ---- */

/* Y (n, width) = X W, W (f, width) with row stride ldw; Y contiguous. */
void npi_features_mul(real *y, const npi_features *x, const real *w, int ldw, int width, int threads);

/* dW (f, width) += Xᵀ dY, both contiguous. Needs npi_features_transpose. */
void npi_features_mul_t(real *dw, const npi_features *x, const real *dy, int width, int threads);

#endif
