/* What the cells of a plan came to, beside the paper: for people (tables) and for programs (JSON). */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <stdio.h>

#include "paper.h"
#include "plan.h"
#include "report.h"

typedef struct cell_outcome {
    const plan_cell *cell;
    npgnn_eval_run *runs; /* of the seeds that are there */
    int count;
    int64_t peak_bytes; /* the most memory that one of them took */
    json_t *curves;     /* of the first seed, or NULL */
    const paper_figure *paper;
} cell_outcome;

/* Reads what is there; the cell may be unfinished. Returns 0 or EXIT_FAILED. */
int outcome_load(cell_outcome *outcome, const cli_plan *plan, const plan_cell *cell);
void outcome_free(cell_outcome *outcome);

/* "above": AUC and AP are both more than 0.3 points above the paper's; "below": one of them is more than that below;
 * "reached" otherwise; "-" where the paper has no figure or nothing was measured. */
const char *outcome_verdict(const cell_outcome *outcome);

/* "npgnn", "npgnn, authors' split", "no latent": what tells it from its neighbours in the table. */
void outcome_label(char *label, size_t size, const cell_outcome *outcome);

/* The tables of all outcomes, in the order of the plan. */
void outcome_print(FILE *out, const cell_outcome *outcomes, int count, const cli_plan *plan);

/* The same and more as JSON. With `curves`, also those. */
json_t *outcome_json(const cell_outcome *outcomes, int count, const cli_plan *plan, int curves);

#endif
