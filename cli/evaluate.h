/* Running an evaluation, and the names of the protocols. */
#ifndef CLI_EVALUATE_H
#define CLI_EVALUATE_H

#include "progress.h"

const char *evaluate_protocol_name(npgnn_protocol protocol);

/* Runs the evaluation and prints errors. Returns the exit status. The first *done runs are valid in any case. */
int evaluate_run(npgnn_eval_run *runs, int *done, const npgnn_graph *graph, int seeds,
                 const npgnn_eval_options *options, cli_progress *progress, const npgnn_env *env);

#endif
