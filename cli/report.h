/* Results as tables for people and as JSON for programs. Unknown numbers are NaN here and null in JSON. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "settings.h"

/* The measured columns of an npgnn_eval_run, in the order of the JSON. */
typedef enum {
    COLUMN_AUC,
    COLUMN_AP,
    COLUMN_DEGREE_AUC,
    COLUMN_MRR,
    COLUMN_HITS1,
    COLUMN_HITS10,
    COLUMN_HITS100,
    COLUMN_HARD_MRR,
    COLUMN_HARD_HITS1,
    COLUMN_HARD_HITS10,
    COLUMN_HARD_HITS100,
    COLUMN_FULL_MRR,
    COLUMN_FULL_MRR_SE,
    COLUMN_FULL_HITS10,
    COLUMN_FULL_HITS10_SE,
    COLUMN_FULL_ENDS,
    COLUMN_ECE,
    COLUMN_BALANCED_ECE,
    COLUMN_VAL_AUC,
    COLUMN_VAL_AP,
    COLUMN_SECONDS,
    COLUMN_UNTUNED_AUC,
    COLUMN_UNTUNED_AP,
    COLUMN_EMPTIED_LINKS, /* from here on in JSON only */
    COLUMN_EMPTIED_NON_LINKS,
    COLUMN_EMPTIED_AUC,
    COLUMN_TEST_LINKS,
    COLUMNS
} report_column;

typedef struct report_stats {
    double mean, std, se; /* std with n - 1, NaN for a single run */
} report_stats;

double report_value(const npgnn_eval_run *run, report_column column);
report_stats report_summary(const npgnn_eval_run *runs, int count, report_column column);

/* One hash for the splits of all runs: that of the split where all use the same one, otherwise a hash over all. */
uint64_t report_split_hash(const npgnn_eval_run *runs, int count);

/* The table of an evaluation: one line per run, the mean, the standard deviation and, with --bootstrap, intervals. */
void report_table(FILE *out, const npgnn_eval_run *runs, int count);

/* What it is worth on these splits to see that an end of a pair has lost its links. */
void report_emptied(FILE *out, const npgnn_eval_run *runs, int count);

/* What an evaluation was made of, for its JSON. */
typedef struct report_source {
    const char *dataset, *protocol, *method;
    const char *preset; /* NULL where the method takes none */
    const npgnn_options *options;
    int threads;
} report_source;

/* The same as JSON; the caller owns it. NULL when out of memory. */
json_t *report_json(const npgnn_eval_run *runs, int count, const report_source *source);

/* Reads a run from its JSON. Returns 0, or EXIT_FAILED where the object is not a run. */
int report_read_run(npgnn_eval_run *run, const json_t *object);

/* Parts of other reports. */
const char *report_name(report_column column);              /* in JSON */
json_t *report_interval(const npgnn_eval_run *last);        /* null without bootstrap */
json_t *report_runs(const npgnn_eval_run *runs, int count); /* seeds, mean, std, se */
json_t *report_real(double value);                          /* null for NaN */
json_t *report_hash(uint64_t hash); /* 16 hexadecimal digits, since a JSON number cannot hold 64 bits */
json_t *report_options(const npgnn_options *options);

/* Peak resident memory of this process so far. */
int64_t report_peak_bytes(void);

/* Writes `json` to `path` ("-": standard output), completely or not at all, and frees it. Returns 0, or EXIT_FAILED
 * after printing why. */
int report_write(json_t *json, const char *path);

/* One line of --log. */
void report_log_line(FILE *out, const npgnn_progress *progress);

#endif
