/* Benchmarks of the all-pairs loss, of training iterations and of predictions, and checks of what is timed. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <npgnn/npgnn.h>

#define BENCH_COLUMNS 32         /* width of the embeddings: the model's default */
#define BENCH_PAIRS_PER_NODE 128 /* of the sampled loss: the model's default */

/* Times of repetitions. The shortest is the cost; the mean shows how much other programs disturbed the measurement. */
typedef struct bench_times {
    double best, mean;
    int count;
} bench_times;

/* A graph with this many nodes and edges like a citation network. It has few features, since only the loss is timed. */
int bench_graph(npgnn_graph **graph, int nodes, const npgnn_env *env, npgnn_error *err);

/* Times loss and gradient on artificial embeddings, for about `seconds`. pairs_per_node 0: the exact loss. */
int bench_pairs(bench_times *times, const npgnn_graph *graph, int pairs_per_node, double seconds, const npgnn_env *env,
                npgnn_error *err);

/* exact: the largest difference between the exact loss or its gradient and plain loops in double over all pairs,
 * relative to the largest value. sampled: the same for the mean of `draws` sampled losses. */
typedef struct bench_check {
    double exact, sampled;
} bench_check;
int bench_check_pairs(bench_check *check, const npgnn_graph *graph, int draws, const npgnn_env *env, npgnn_error *err);

/* Times iterations of a training without validation: `limit` of them or, where that is 0, for about `seconds`.
 * `progress` is the state after the last one. */
int bench_iterations(bench_times *times, npgnn_progress *progress, const npgnn_graph *graph,
                     const npgnn_options *options, int limit, double seconds, const npgnn_env *env, npgnn_error *err);

/* What one of several processes does per iteration. */
typedef struct bench_process {
    double sent, received; /* bytes */
    double cpu;            /* processor seconds: a process that waits uses none */
} bench_process;

/* Simulates the training in `ranks` processes by threads, without validation, for so many iterations after the
 * first. */
int bench_simulate(bench_process *out /* (ranks) */, const npgnn_graph *graph, const npgnn_options *options, int ranks,
                   int iterations, const npgnn_env *env, npgnn_error *err);

/* Times of predictions with the model `universal`. Each is measured once. */
typedef struct bench_predictions {
    double prepare; /* the evidence of the graph, and what is learnt from links that are set aside */
    double seconds; /* the pairs or the search */
    double cpu;     /* processor time of both */
    double pairs;   /* that were scored: given ones, or all of the graph */
} bench_predictions;

/* Scores `pairs` given pairs, every second one a link, or, if 0, finds the ten best partners of every node. The
 * partners of some nodes are compared with a search among the scores of all their pairs: E_ARGUMENT where they
 * differ. */
int bench_predict(bench_predictions *out, const npgnn_graph *graph, size_t pairs, const npgnn_env *env,
                  npgnn_error *err);

#endif
