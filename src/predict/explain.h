/* An explanation as its parts see it: the facts behind the columns (facts.c), these in words (words.c), and what the
 * columns contribute (explain.c). */
#ifndef NPI_PREDICT_EXPLAIN_H
#define NPI_PREDICT_EXPLAIN_H

#include "features/encoding.h"
#include "predict/predictor.h"

/* Nodes or feature columns in the order of a key. */
typedef struct npi_ranking {
    uint64_t *keys; /* (2, capacity) key and item; scratch */
    int32_t *items; /* (capacity) */
    size_t count, capacity;
} npi_ranking;

typedef struct npi_explainer {
    npgnn_env env;
    npi_columns_workspace workspace;
    double average[NPI_ALL_COLUMNS]; /* standardised evidence of an average non-link */
    int32_t *holders;      /* (f) how many nodes have a feature column; -1: a measurement, which nodes cannot share */
    unsigned char *marked; /* (n) scratch, 0 between calls */
    npgnn_contribution columns[NPI_ALL_COLUMNS];
    npi_ranking neighbors, features; /* what the last explanation lists */
    char text[1024];
    /* where several processes have divided the evidence, what npgnn_predictor_gather has gathered: */
    uint64_t *pairs; /* (gathered) in ascending order: smaller node, larger node */
    float *evidence; /* (gathered, columns) */
    size_t gathered;
} npi_explainer;

/* ---- facts.c ---- */

/* The column of the table that became feature column c, NULL where the features are no table. */
const npi_encoded *npi_explain_column(const npi_features *x, int32_t c);

/* Fills the holders of the explainer. E_MEMORY. */
int npi_explain_count_holders(npi_explainer *explainer, const npi_features *x, npgnn_error *err);

/* The neighbours that two nodes share, those with the fewest links first; and the number of walks of three steps
 * between them, Σ over neighbours x of u of | N(x) ∩ N(v) |. */
int npi_explain_neighbors(npgnn_explanation *out, npi_explainer *explainer, const npi_csr *a, npgnn_pair pair,
                          npgnn_error *err);

/* The feature columns that two nodes share, rarest first. */
int npi_explain_features(npgnn_explanation *out, npi_explainer *explainer, const npi_features *x, npgnn_pair pair,
                         npgnn_error *err);

/* ---- words.c ---- */

/* Fills the text of the explainer: the reasons that matter, the one that contributes most first. */
void npi_explain_say(const npgnn_explanation *why, npi_explainer *explainer, const npgnn_graph *graph, npgnn_pair pair);

#endif
