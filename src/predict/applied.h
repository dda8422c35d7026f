/* A process applied to a graph: z inferred from a context of held-out links of that graph, the head it gives, and the
 * calibration of its scores. Nothing is trained but the few weights of the stacked fit (process/stack.h). */
#ifndef NPI_PREDICT_APPLIED_H
#define NPI_PREDICT_APPLIED_H

#include "examples/context.h"
#include "model/scorer.h"
#include "process/bound.h"

typedef struct npi_applied {
    npgnn_env env;
    const npi_process *process;
    npi_reduced reduced;
    npi_reduced projection;      /* of a process that has one */
    npi_columns columns;         /* of all known links */
    real *mean, *precision;      /* (d) of z */
    npi_head head;               /* of the mean of z */
    int context;                 /* links that z was inferred from */
    npi_calibration calibration; /* without a rate */
    int calibrated;
    int draws;
    npi_head *draw_head;               /* (draws) */
    npi_calibration *draw_calibration; /* (draws) */
    npi_head_bound bound;              /* of `head`, after npi_applied_prepare_bounds */
} npi_applied;

typedef struct npi_applied_options {
    uint64_t seed;
    size_t
        memory; /* the evidence is kept if it takes no more bytes (npi_columns_new); 0: half of the machine's memory */
    int draws;  /* to make besides the head: what a process that is not tuned would have learnt from other examples */
    const npi_model_scorer *scorer; /* of a tuned process: what its training has found */
} npi_applied_options;

/* z, the stacked fit and the calibration are learnt from links of the graph: some are set aside, a function of the seed,
 * several times, and then all known links count. A graph with too few links for that keeps the prior of z. x are the
 * features of the graph, with the columns that the process was tuned on. Process and graph must outlive it. The
 * processes of env->comm divide the nodes: each one has the evidence of its own, columns.rows.comm is set, and
 * npi_applied_scores and npi_applied_complete are collective. E_CANCELLED, E_MEMORY. */
int npi_applied_new(npi_applied *out, const npi_process *process, const npgnn_graph *graph, npi_features *x,
                    const npi_applied_options *options, const npgnn_env *env, npgnn_error *err);
void npi_applied_free(npi_applied *applied);

/* Makes the evidence that was not kept: what searches and explanations need. E_MEMORY. */
int npi_applied_complete(npi_applied *applied, npgnn_error *err);

/* Prepares quick searches for the partners of one node: rounded rows of the columns, and bounds of the head. It takes
 * as long as a few dozen such searches. E_MEMORY. */
int npi_applied_prepare_bounds(npi_applied *applied, uint64_t seed, npgnn_error *err);

/* How far a score that npi_head_scores_of_columns computes from npi_columns_rows may be from npi_head_score of
 * npi_columns_pair: a bound from the rounding of each column and how steep the head is in it. rounded: 1 if the columns
 * are those of npi_columns_rounded, besides its `error` with the weights slope / deviation. */
double npi_applied_error(const npi_applied *applied, const npi_head *head, const npi_slopes *slopes, int rounded);

/* By how much more for the nodes of rows u and j, per unit of columns.reach[j]. */
double npi_applied_error_along(const npi_applied *applied, const npi_slopes *slopes, int32_t u, int rounded);

/* score (count) of pairs with each of `heads` heads: score[h * count + i]. On `threads` threads. Where the evidence is divided
 * among processes, each one gives pairs of its own. */
int npi_applied_scores(float *score, const npi_applied *applied, const npi_head *heads, int head_count,
                       const npgnn_pair *pairs, size_t count, int threads, npgnn_error *err);

#endif
