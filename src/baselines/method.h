/* What every link predictor is, so that one evaluation and one search serve them all: a function that learns from the
 * known part of a split and then scores pairs and rows (heuristics/heuristic.h). */
#ifndef NPI_BASELINES_METHOD_H
#define NPI_BASELINES_METHOD_H

#include "graph/split.h"
#include "heuristics/heuristic.h"

enum { NPI_TASK_ROWS = 64 }; /* nodes at most that are scored with all nodes at a time */

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
} npi_task;

/* Learns from the task, and fills `run` with what it knows of iterations, validation and seconds. `out` is to be freed,
 * on failure, too, and needs the graph of the task. */
typedef int npi_learn_fn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err);

/* Scores the pairs of the task into score (task->count), and its nodes with all nodes. */
int npi_task_score(float *score, const npi_task *task, const npi_heuristic *heuristic, npgnn_error *err);

/* Fills score (count, n): `count` nodes with all nodes. */
typedef int npi_rows_fn(float *score, const void *user, const int32_t *nodes, int count, npgnn_error *err);

/* Ranks the nodes of the task by the scores of `rows`. */
int npi_task_rank(const npi_task *task, npi_rows_fn *rows, const void *user, npgnn_error *err);

/* ---- progress of methods that take their time ---- */

npgnn_progress npi_method_begin(int iterations);

/* Counts one more iteration and shows it; E_CANCELLED when the caller has seen enough. `start`: npi_clock_seconds() at
 * the beginning. */
int npi_method_advance(npgnn_progress *progress, double start, const npgnn_env *env, npgnn_error *err);

/* ---- methods that embed nodes ---- */

/* Scores are inner products of u (n, k), a block of memory that becomes part of `out`, also on failure. Fills the
 * validation figures of `run`. */
int npi_method_use_embeddings(npi_heuristic *out, npgnn_eval_run *run, real *u, int k, const npi_task *task,
                              npgnn_error *err);

/* E_ARGUMENT where a method that learns from features and links has none of one; `who` needs them. */
int npi_method_check_features(const npgnn_graph *train, const char *who, npgnn_error *err);

#endif
