/* Features that two nodes have in common to the letter: rows of
 *
 *     T_ic = x_ic log(1 + n / n_c) / (length of row i)      n_c nodes have feature c
 *
 * which are not reduced. Their inner product T_u · T_v is the column OVERLAP. */
#ifndef NPI_EVIDENCE_TFIDF_H
#define NPI_EVIDENCE_TFIDF_H

#include "base/partition.h"
#include "features/features.h"

typedef struct npi_tfidf {
    const npi_features *x; /* X, borrowed; NULL: T is not wanted */
    double *weight;        /* (f) log(1 + n / n_c) */
    npi_csr rows;          /* (n, f) T, after npi_tfidf_keep; ptr NULL: not there */
    npi_csr by_column;     /* (f, n) its transpose; (f, r) after npi_tfidf_index */
} npi_tfidf;

/* Prepares rows of the features x, which must outlive them. Where X is dense or a table there is nothing to prepare:
 * the reduced features say the same. E_MEMORY. */
int npi_tfidf_new(npi_tfidf *out, const npi_features *x, const npgnn_env *env, npgnn_error *err);
void npi_tfidf_free(const npgnn_env *env, npi_tfidf *t);

/* Keeps T, which takes 16 bytes per entry of X, for comparisons of one node with all. */
int npi_tfidf_keep(npi_tfidf *t, const npgnn_env *env, npgnn_error *err);

/* Keeps the transpose of the rows of one process, for comparisons of any node with these. Not collective. */
int npi_tfidf_index(npi_tfidf *t, const npi_partition *rows, const npgnn_env *env, npgnn_error *err);

/* *out becomes T of all nodes, those of `known` and then those of x. known->rows is there. */
int npi_tfidf_extend(npi_tfidf *out, const npi_tfidf *known, const npi_features *x, const npgnn_env *env,
                     npgnn_error *err);

/* Puts the kept rows of `from` in the place of those of t. */
void npi_tfidf_move(npi_tfidf *t, npi_tfidf *from, const npgnn_env *env);

/* T_u · T_v, the same bits whether T is kept or not. */
double npi_tfidf_pair(const npi_tfidf *t, int32_t u, int32_t v);

/* out (columns of by_column) = T_u with the rows whose transpose is kept. */
void npi_tfidf_row(double *out, const npi_tfidf *t, int32_t u);

#endif
