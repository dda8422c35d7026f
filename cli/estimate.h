/* --estimate: prints the memory and time that a command will take instead of running it. */
#ifndef CLI_ESTIMATE_H
#define CLI_ESTIMATE_H

#include "settings.h"

#define OPTION_ESTIMATE(offset_)                                                                                       \
    OPTION("estimate", 0, ARG_FLAG, offset_, NULL,                                                                     \
           "Print the memory and time that the command will take, and exit. Both are measured on a small part of the " \
           "job.")

/* Prints what an npgnn_estimate_* function measured, or writes it as JSON. Returns the exit status. */
typedef struct estimate_text {
    const char *steps;    /* what the steps are: "iterations", "nodes", "pairs" */
    int at_most;          /* 1: the job may end earlier */
    int64_t result_bytes; /* memory for results, which the library does not allocate */
} estimate_text;
int estimate_report(npgnn_cost cost, const estimate_text *text, const common_settings *common);

#endif
