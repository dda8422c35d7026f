/* The page of `npgnn compare`: the tables, and the ROC and precision-recall curves of all methods. */
#ifndef CLI_COMPARE_PAGE_H
#define CLI_COMPARE_PAGE_H

#include "curves.h"
#include "report.h"

enum { COMPARE_METRICS = 4 };

/* What is compared. */
typedef struct compared_metric {
    report_column column;
    const char *title;
} compared_metric;

/* A method and its results, one run per seed. */
typedef struct compared_method {
    const char *name;
    const char *file; /* of scores from outside, or NULL */
    npgnn_eval_run *runs;
    cli_curves curves;
    npgnn_paired difference[COMPARE_METRICS]; /* to the first method; unused in the first */
} compared_method;

typedef struct comparison {
    const char *dataset, *protocol;
    int seeds, count, metric_count;
    compared_method *methods; /* (count); the first is the reference */
    compared_metric
        metrics[COMPARE_METRICS]; /* (metric_count): AUC, AP, MRR and, with other negatives, the MRR among these */
} comparison;

/* The p-value as text, "-" for NaN. */
void compare_p_text(char *text, size_t size, double p);

/* The interval of a difference in percent, "-" where there is none. */
void compare_interval_text(char *text, size_t size, const npgnn_paired *difference);

/* Why there are no p-values, or NULL where there are. */
const char *compare_missing_p(const comparison *all);

void compare_page_write(FILE *out, const comparison *all);

#endif
