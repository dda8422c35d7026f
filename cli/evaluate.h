/* What eval and demo share: from settings to an evaluation, and from its outcome to an exit status. */
#ifndef CLI_EVALUATE_H
#define CLI_EVALUATE_H

#include "progress.h"
#include "settings.h"

/* In the order of npgnn_protocol. */
#define EVALUATE_PROTOCOLS "transductive|inductive|few-shot|inductive-hidden|production"

const char *evaluate_protocol_name(npgnn_protocol protocol);

/* The name of the index-th method, and the choices and help of an option that takes one: from the library's list. */
const char *evaluate_method_name(int index);
void evaluate_method_option(arg_option *option);

/* Fills `options` from the settings: their model, fractions and first seed. */
void evaluate_options(npgnn_eval_options *options, npgnn_split_options *split, const cli_settings *settings,
                      npgnn_protocol protocol, const char *method);

/* Runs it and says what went wrong, if anything did; returns the exit status. `*done` runs are valid in any case. */
int evaluate_run(npgnn_eval_run *runs, int *done, const npgnn_graph *graph, int seeds,
                 const npgnn_eval_options *options, cli_progress *progress, const npgnn_env *env);

#endif
