/* Evidence (docs/understand/math.md, eq. (15)): what the features and the known links say of a pair besides its embeddings,
 *
 *     score = shift + own u_i · u_j + Σ_c weight_c column_c(i, j)
 *
 * with weights, none below 0, fitted on labelled pairs. A pair that is a known link is judged with that link in the graph. */
#ifndef NPI_EVIDENCE_EVIDENCE_H
#define NPI_EVIDENCE_EVIDENCE_H

#include "evidence/regions.h"
#include "features/features.h"

enum {
    NPI_EVIDENCE_COSINE,    /* cos(x_i, x_j) */
    NPI_EVIDENCE_DEGREES,   /* e_i + e_j: how far the logarithm of a degree is above its mean */
    NPI_EVIDENCE_NEIGHBORS, /* neighbours in common, those with few links telling most */
    NPI_EVIDENCE_PATHS,     /* paths of three links, likewise */
    NPI_EVIDENCE_REGIONS,   /* how far both lie in the same region of the graph */
    NPI_EVIDENCE_COLUMNS
};

/* ---- weights: fitted in training, kept in the model ---- */

typedef struct npi_weights {
    double shift, own, column[NPI_EVIDENCE_COLUMNS];
} npi_weights;

/* The score is the inner product of the embeddings and nothing else. */
#define NPI_WEIGHTS_PLAIN ((npi_weights){.own = 1})

/* The name of a column, in model files and for people. */
const char *npi_evidence_name(int column);

/* Sets of columns: bit c stands for column c. Those that an option asks for, and those that have a weight. */
unsigned npi_evidence_asked(npgnn_evidence evidence);
unsigned npi_evidence_weighed(const npi_weights *weights);

/* ---- the columns of a graph ---- */

typedef struct npi_evidence {
    npgnn_env env;
    const npi_csr *a;
    npi_features *x;
    int count;                        /* of the columns in use */
    int column[NPI_EVIDENCE_COLUMNS]; /* which they are, ascending */
    double *norm;                     /* (n) lengths of the feature rows, for the cosine */
    double *excess;                   /* (n) e_i, for the degrees */
    double *share;                    /* (n) 1 / degree, for neighbours and paths */
    double *walks;                    /* (threads, n) for paths, zero in between */
    npi_regions regions;
} npi_evidence;

/* Prepares a set of columns for the known links `a` and the features `x`, which must outlive it. */
int npi_evidence_new(npi_evidence *out, unsigned columns, const npi_csr *a, npi_features *x, const npgnn_env *env,
                     npgnn_error *err);
void npi_evidence_free(npi_evidence *evidence);

/* value (evidence->count, count): each column of each pair. Same bits for any number of threads, and for (i, j) as for
 * (j, i). Not for two callers at once. */
void npi_evidence_pairs(float *value, npi_evidence *evidence, const npgnn_pair *pairs, size_t count);

/* score (count): from u_i · u_j to the complete one. */
void npi_evidence_add(float *score, const float *value, const npi_evidence *evidence, const npi_weights *weights,
                      size_t count);

/* The weights for which the complete score explains best that the first `positives` of the pairs are links and the others
 * are not (linalg/logistic.h), with the shift for even odds. Columns that are not in use get 0, and so does one that chance would explain as well. */
npi_weights npi_evidence_fit(const float *score, const float *value, const npi_evidence *evidence, size_t positives,
                             size_t count);

/* ---- one node with all others ---- */

/* Room of one thread, for up to `block` nodes at a time. */
typedef struct npi_evidence_desk {
    int block;
    real *value;  /* (block, n) a column */
    real *picked; /* (block, ...) their rows of dense features, or of the regions */
    double *sum;  /* (n) zero between two nodes */
    double *walk; /* (n) likewise */
} npi_evidence_desk;

int npi_evidence_desk_new(npi_evidence_desk *out, const npi_evidence *evidence, int block, npgnn_error *err);
void npi_evidence_desk_free(const npgnn_env *env, npi_evidence_desk *desk);

/* value (evidence->count): each column of one pair, to the bit as npi_evidence_pairs has them, on the calling thread. */
void npi_evidence_pair(float *value, npi_evidence_desk *desk, const npi_evidence *evidence, npgnn_pair pair);

/* score (count, n): those of the `count` nodes with every node, from u_i · u_j to the complete ones, on the calling thread, inside
 * npi_blas_begin. Equal to npi_evidence_pairs up to rounding. */
void npi_evidence_rows(real *score, npi_evidence_desk *desk, const npi_evidence *evidence, const npi_weights *weights,
                       const int32_t *nodes, int count);

#endif
