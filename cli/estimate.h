/* --estimate: what a command will take, said instead of done. */
#ifndef CLI_ESTIMATE_H
#define CLI_ESTIMATE_H

#include "settings.h"

#define SETTING_ESTIMATE                                                                                               \
    SETTING("estimate", 0, ARG_FLAG, estimate, NULL,                                                                   \
            "Print the memory and time that this will take, measured on a small part of it, and stop.")

/* Where a cost comes from; `input` is what the command has loaded. */
typedef int estimate_fn(npgnn_cost *cost, const void *input, const cli_settings *settings, const npgnn_env *env,
                        npgnn_error *err);

typedef struct cli_estimate {
    estimate_fn *measure;
    const char *steps; /* what is counted: "iterations", "nodes", "pairs" */
    int at_most;       /* 1: it may end earlier */
    int64_t results;   /* bytes that they take, which the library does not know of */
} cli_estimate;

/* Measures, and prints it or, with --json, writes it. Returns the exit status. */
int estimate(const cli_estimate *what, const void *input, const cli_settings *settings);

/* The same for a command whose input is the graph DATA, its first operand. */
int estimate_data(const cli_estimate *what, const cli_settings *settings);

#endif
