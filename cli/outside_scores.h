/* The test pairs of a comparison, for programs outside, and the scores that these give back. */
#ifndef CLI_OUTSIDE_SCORES_H
#define CLI_OUTSIDE_SCORES_H

#include "curves.h"
#include "settings.h"

/* In both functions, `fixed` is the split of every seed; NULL: each has its own.
 *
 * Writes, for each seed, the split to FOLDER/split-SEED.tsv and its test pairs, without labels, to
 * FOLDER/pairs-SEED.tsv. Pairs are sorted by node, which tells nothing about links. Returns 0, or EXIT_FAILED after
 * printing why. */
int outside_save_splits(const char *folder, const npgnn_graph *graph, const split_settings *splits,
                        const npgnn_split *fixed, const npgnn_env *env);

/* Reads a file with one score for each test pair of each seed and fills the runs (seeds) with AUC, AP, MRR and hits;
 * the other metrics are NaN. Adds the curves of each run. Returns 0, or EXIT_FAILED after printing which line is wrong
 * or which pair has no score. */
int outside_evaluate(npgnn_eval_run *runs, cli_curves *curves, const char *path, const npgnn_graph *graph,
                     const split_settings *splits, const npgnn_split *fixed, const npgnn_env *env);

#endif
