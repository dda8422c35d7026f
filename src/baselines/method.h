/* What every link predictor is, so that one evaluation serves them all: a function that learns from the known part of a
 * split and scores pairs. */
#ifndef NPI_BASELINES_METHOD_H
#define NPI_BASELINES_METHOD_H

#include "graph/split.h"

enum { NPI_TASK_ROWS = 64 }; /* nodes at most that are scored with all nodes at a time */

/* Scores pairs with what a method has learnt, on all threads: fills score (count) and, for methods that have them,
 * probability (count), which may be NULL. rows > 0: the pairs are those of `rows` nodes with all n nodes, in order;
 * pairs[r * n].u is the r-th. */
typedef int npi_score_fn(float *score, float *probability, const void *learnt, const npgnn_pair *pairs, size_t count,
                         int rows, npgnn_error *err);

typedef int npi_search_fn(void *user, npi_score_fn *fn, const void *learnt, npgnn_error *err);

typedef struct npi_task {
    const npgnn_graph *graph; /* all nodes, with the training edges alone: nothing in here tells what is held out */
    const npgnn_split *split; /* split->train is the part that training knows, its pairs are for validation */
    const npgnn_pair *pairs;  /* to be scored */
    size_t count;
    float *probability; /* (count) for methods that have them, which then set the link rate in the run's calibration, */
    double link_rate;   /* this one */
    const npgnn_options *options; /* of the model; its seed is the run's */
    const npgnn_env *env;         /* resolved; progress counts the runs of an evaluation */
    /* Nodes (node_count), all different, whose scores with all nodes are asked for besides; `row` receives those of
     * nodes[index], score (n). It returns a code. */
    const int32_t *nodes;
    int32_t node_count;
    int (*row)(void *user, int32_t index, const float *score, npgnn_error *err);
    void *row_user;
    /* NULL, or: called with what the method has learnt, instead of scoring anything. Returns a code. */
    npi_search_fn *search;
    void *search_user;
} npi_task;

/* What every method ends with: scores the pairs of the task into score (task->count), and its nodes with all nodes. */
int npi_task_score(float *score, const npi_task *task, npi_score_fn *fn, const void *learnt, npgnn_error *err);

/* The score of one pair, on any thread. */
typedef double npi_pair_fn(const void *learnt, npgnn_pair pair);

/* The same for a method that scores each pair by itself, on all threads. */
int npi_task_score_each(float *score, const npi_task *task, npi_pair_fn *fn, const void *learnt, npgnn_error *err);

/* Learns, then calls npi_task_score or npi_task_score_each. Fills score (count), and what it knows of iterations, validation and seconds in
 * `run`. */
typedef int npi_method_fn(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err);

/* ---- progress of methods that take their time ---- */

npgnn_progress npi_method_begin(int iterations);

/* Counts one more iteration and shows it; E_CANCELLED when the caller has seen enough. `start`: npi_clock_seconds() at
 * the beginning. */
int npi_method_advance(npgnn_progress *progress, double start, const npgnn_env *env, npgnn_error *err);

/* ---- methods that walk from one end ---- */

/* Pairs by their first node. */
typedef struct npi_groups {
    const npgnn_pair *pairs;
    int64_t *ptr;  /* (n + 1) where each node's pairs begin in `order` */
    size_t *order; /* (count) indices of pairs */
} npi_groups;

int npi_groups_new(npi_groups *g, const npgnn_pair *pairs, size_t count, int32_t n, const npgnn_env *env,
                   npgnn_error *err);
void npi_groups_free(const npgnn_env *env, npi_groups *g);

/* ---- methods that embed nodes ---- */

/* Scores the pairs by the inner products of u (n, k), and fills the validation figures of `run`. */
int npi_method_score_embeddings(float *score, npgnn_eval_run *run, const real *u, int k, const npi_task *task,
                                npgnn_error *err);

/* E_ARGUMENT where a method that learns from features and links has none of one; `who` needs them. */
int npi_method_check_features(const npgnn_graph *train, const char *who, npgnn_error *err);

#endif
