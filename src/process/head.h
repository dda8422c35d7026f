/* The decoder for one z: with z fixed, its scales and shifts go into the weights, and what is left is a plain
 * network.
 *
 *     W1' = W1 diag(1 + a1),  b1' = b1 (1 + a1) + a2,  W2' = W2 diag(1 + a3),  b2' = b2 (1 + a3) + a4
 *     score = relu(relu(e W1' + b1') W2' + b2') · w3 + e · w + w0
 *
 * A head is all that is needed to score pairs of one graph. It can be tuned further on pairs of that graph
 * (train/tune.c). */
#ifndef NPI_PROCESS_HEAD_H
#define NPI_PROCESS_HEAD_H

#include "linalg/kernels.h"
#include "process/params.h"

enum { NPI_HEAD_MOST = NPI_SMALL_NETWORK_MOST }; /* columns of evidence, and units of a hidden layer */

typedef struct npi_head {
    int e, h;
    size_t count;
    real *block;        /* (count), owned: */
    real *w1, *b1;      /* (e, h), (h) */
    real *w2, *b2;      /* (h, h), (h) */
    real *w3;           /* (h) */
    real *line, *shift; /* (e) w, (1) w0 + b3 */
} npi_head;

int npi_head_new(npi_head *out, int e, int h, const npgnn_env *env, npgnn_error *err);
void npi_head_free(const npgnn_env *env, npi_head *head);

/* Fills a head with the decoder of `params` at z (d). Columns beyond those of the decoder count 0. */
void npi_head_specialize(npi_head *head, const npi_process_params *params, const real *z);

/* The score of one pair with standardised evidence (e), in double, whatever it is computed together with. */
float npi_head_score(const npi_head *head, const float *evidence);

/* Memory for scores of up to `capacity` pairs at a time. */
typedef struct npi_head_workspace {
    int capacity;
    real *input;   /* (capacity, e) */
    real *h1, *h2; /* (capacity, h) */
    real *dh, *dx; /* (capacity, h) for the way back */
} npi_head_workspace;
int npi_head_workspace_new(npi_head_workspace *out, const npi_head *head, int capacity, const npgnn_env *env,
                           npgnn_error *err);
void npi_head_workspace_free(const npgnn_env *env, npi_head_workspace *workspace);

/* score (count) of many pairs at once, in `real` through BLAS, on the calling thread inside npi_blas_begin:
 * npi_head_score up to rounding. */
void npi_head_scores(real *score, npi_head_workspace *workspace, const npi_head *head, const float *evidence,
                     int count);

/* The same for evidence (e, count), column by column with `stride` numbers from one to the next, without BLAS. */
void npi_head_scores_of_columns(real *score, const npi_head *head, const real *evidence, int stride, int count);

/* Adds to `gradient`, given dscore (count); after npi_head_scores with the same evidence. */
void npi_head_scores_backward(npi_head *gradient, npi_head_workspace *workspace, const npi_head *head,
                              const real *dscore, int count);

/* How steep a head is. */
typedef struct npi_slopes {
    double column[NPI_HEAD_MOST]; /* (e) by how much the score can change, at most, per unit of each column, */
    double least[NPI_HEAD_MOST], most[NPI_HEAD_MOST]; /* (e) and between what its derivatives are */
    double
        terms; /* what the magnitudes of all that is added up to a score can sum to, biases apart, if no column exceeds 1 */
} npi_slopes;

/* O(e h²). */
void npi_head_slopes(npi_slopes *slopes, const npi_head *head);

#endif
