/* Results for people (tables) and for programs (JSON). Numbers that are not known are NaN here and null there. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "settings.h"

/* The measured columns of an npgnn_eval_run, in the order of the JSON. */
typedef enum {
    COLUMN_AUC,
    COLUMN_AP,
    COLUMN_MRR,
    COLUMN_HITS1,
    COLUMN_HITS10,
    COLUMN_HITS100,
    COLUMN_HARD_MRR,
    COLUMN_HARD_HITS1,
    COLUMN_HARD_HITS10,
    COLUMN_HARD_HITS100,
    COLUMN_ECE,
    COLUMN_BALANCED_ECE,
    COLUMN_VAL_AUC,
    COLUMN_VAL_AP,
    COLUMN_SECONDS,
    COLUMNS
} report_column;

typedef struct report_stats {
    double mean, std, se; /* std with n - 1, NaN for a single run */
} report_stats;

double report_value(const npgnn_eval_run *run, report_column column);
report_stats report_summary(const npgnn_eval_run *runs, int count, report_column column);

/* One number for the splits of all runs: the split's own hash where they are the same, else a hash over all in order. */
uint64_t report_split_hash(const npgnn_eval_run *runs, int count);

/* The table of an evaluation: a line per run with its split, mean, standard deviation and, where there are any, intervals. */
void report_table(FILE *out, const npgnn_eval_run *runs, int count);

/* The same as JSON; the caller owns it. NULL when memory is out. */
json_t *report_json(const npgnn_eval_run *runs, int count, const cli_settings *settings, const char *dataset,
                    const char *protocol, const char *method);

/* Reads one of its runs back. Returns 0, or EXIT_FAILED where the object is not a run. */
int report_read_run(npgnn_eval_run *run, const json_t *object);

/* Pieces for other reports. */
const char *report_name(report_column column);              /* in JSON */
json_t *report_interval(const npgnn_eval_run *last);        /* null without bootstrap */
json_t *report_runs(const npgnn_eval_run *runs, int count); /* seeds, mean, std, se */
json_t *report_real(double value);                          /* null for NaN */
json_t *report_hash(uint64_t hash);                         /* 16 hexadecimal digits: JSON's numbers cannot hold it */
json_t *report_options(const npgnn_options *options);

/* The most memory that this program has had so far. */
int64_t report_peak_bytes(void);

/* Takes ownership of `json` and writes it to `path` ("-": standard output), whole or not at all. 0 or EXIT_FAILED. */
int report_write(json_t *json, const char *path);

/* One line of --log. */
void report_log_line(FILE *out, const npgnn_progress *progress);

#endif
