/* Measuring: the all-pairs loss and whole iterations, and whether the loss that is timed is right. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <npgnn/npgnn.h>

#define BENCH_COLUMNS 32         /* width of the embeddings whose loss is timed: the model's default */
#define BENCH_PAIRS_PER_NODE 128 /* of the sampled loss: likewise */

/* The time of something done again and again. The shortest is what it costs; the mean shows what else the machine did. */
typedef struct bench_times {
    double best, mean;
    int count;
} bench_times;

/* A graph with this many nodes and edges like a citation graph's, for timing the loss alone: it needs few features. */
int bench_graph(npgnn_graph **graph, int nodes, const npgnn_env *env, npgnn_error *err);

/* Loss and gradient on made-up embeddings, for about `seconds`. pairs_per_node 0: exact. */
int bench_pairs(bench_times *times, const npgnn_graph *graph, int pairs_per_node, double seconds, const npgnn_env *env,
                npgnn_error *err);

/* The largest difference between the exact loss or its gradient and plain loops in double over all pairs, relative to the
 * largest value; and that of the mean of `draws` sampled losses. */
typedef struct bench_check {
    double exact, sampled;
} bench_check;
int bench_check_pairs(bench_check *check, const npgnn_graph *graph, int draws, const npgnn_env *env, npgnn_error *err);

/* Iterations of a training without validation: `most` of them, or for about `seconds` where that is 0. `progress` is the
 * state after the last. */
int bench_iterations(bench_times *times, npgnn_progress *progress, const npgnn_graph *graph,
                     const npgnn_options *options, int most, double seconds, const npgnn_env *env, npgnn_error *err);

#endif
