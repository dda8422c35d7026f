/* Short vectors: one per node, whose inner products tell which pairs may have a high score.
 *
 * The score of a pair is fitted, by least squares, to cosines of rows of banks (evidence/bank.h), to numbers of its two ends
 * and to its walks:
 *
 *     score(u, v) ≈ p_u M p_vᵀ + w · walks(u, v) + w0
 *
 * p_u are the rows of u in all banks, each of length 1, its numbers, and a 1; M has the weights of the fit. With Σ = L Lᵀ
 * the second moment of p, the eigenvectors G of Lᵀ M L with the eigenvalues Λ of largest magnitude give
 *
 *     x_u = |Λ|^½ Gᵀ L⁻¹ p_u,    p_u M p_vᵀ ≈ Σ_c sign(Λ_c) x_uc x_vc,
 *
 * the closest form of this rank for a random pair. */
#ifndef NPI_SEARCH_VECTORS_H
#define NPI_SEARCH_VECTORS_H

#include "search/bank_rows.h"

enum { NPI_VECTOR_WIDTH = NPI_EMBEDDING_WIDTH };

/* Walks that the fit knows besides: NPI_COLUMN_COMMON and the following ones. */
enum { NPI_WALK_COLUMNS = 4 };

/* What the vectors are for. */
typedef enum npi_vectors_use {
    NPI_VECTORS_SEARCH, /* to retrieve candidates, as above */
    /* Embeddings, whose plain inner product ranks: only positive Λ, hence all signs are 1. The fit has no walks, so that the
     * vectors take over what they can of them, and no more than the first sample. A form with fewer positive Λ than `width`
     * leaves the last columns 0. */
    NPI_VECTORS_EMBED
} npi_vectors_use;

typedef struct npi_vectors {
    int width;
    int32_t n;
    real *row;                    /* (n, width) x */
    float sign[NPI_VECTOR_WIDTH]; /* (width) */
    real walks
        [NPI_WALK_COLUMNS]; /* w, 0 for embeddings: of the columns COMMON, JACCARD, LIFT2, LIFT3 as they are, not standardised */
    npi_vector_map *map; /* from the rows of the banks to x: for nodes that come later */
} npi_vectors;

/* The predictor's evidence is complete. A function of graph, model and seed. E_MEMORY, E_CANCELLED. */
int npi_vectors_new(npi_vectors *out, const npgnn_predictor *predictor, npi_vectors_use use, npgnn_error *err);
void npi_vectors_free(const npgnn_env *env, npi_vectors *vectors);

/* Embeddings (n, NPI_EMBEDDING_WIDTH), for the table of the kinds (model/kind.h). Columns beyond the width of the vectors are
 * 0. */
int npi_process_embed(float *embedding, npgnn_predictor *predictor, npgnn_error *err);

/* q (width) with q · x_v = p_u M p_vᵀ: what a searched node is compared with. A node that came after the vectors gets one
 * from its rows. */
void npi_vectors_query(real *query, const npi_vectors *vectors, const npi_columns *columns, int32_t node);

/* product (count) = q · x_v of the nodes of a list; 0 of those without a vector. */
void npi_vectors_products(real *product, const npi_vectors *vectors, const real *query, const int32_t *list,
                          int32_t count);

#endif
