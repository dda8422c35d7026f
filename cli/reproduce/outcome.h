/* The results of the cells of a plan compared with the paper, as tables and as JSON. */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <stdio.h>

#include "paper.h"
#include "plan.h"
#include "report.h"

typedef struct cell_outcome {
    const plan_cell *cell;
    npgnn_eval_run *runs; /* (count): the seeds that are finished */
    int count;
    int64_t peak_bytes;        /* maximum over the seeds */
    json_t *curves;            /* of the first seed, or NULL */
    const paper_result *paper; /* NULL where the paper has none */
} cell_outcome;

/* Reads the results of a cell; some seeds may be missing. Returns 0 or EXIT_FAILED. */
int outcome_load(cell_outcome *outcome, const cli_plan *plan, const plan_cell *cell);
void outcome_free(cell_outcome *outcome);

/* "above": AUC and AP are both more than 0.3 points above the paper's; "below": one of them is more than 0.3 points
 * below; "reached": otherwise; "-": the paper has no result for this cell, or no seed is finished. */
const char *outcome_verdict(const cell_outcome *outcome);

/* The row label: "npgnn", "npgnn, authors' split", "no latent", ... */
void outcome_label(char *label, size_t size, const cell_outcome *outcome);

/* Prints the tables of all outcomes, in the order of the plan. */
void outcome_print(FILE *out, const cell_outcome *outcomes, int count, const cli_plan *plan);

/* All outcomes as JSON; with `curves`, including the curves of the first seed. */
json_t *outcome_json(const cell_outcome *outcomes, int count, const cli_plan *plan, int curves);

#endif
