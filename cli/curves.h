/* The curves of an evaluation, with at most about 100 points each: ROC and precision-recall from the scores of the test
 * pairs, loss and validation from the progress. A curve is {"x": [...], "y": [...]} in JSON. */
#ifndef CLI_CURVES_H
#define CLI_CURVES_H

#include <jansson.h>
#include <npgnn/npgnn.h>

/* A curve that keeps one point per step along its way from 0 to 1. */
typedef struct thin_curve {
    json_t *x, *y;
    int step; /* of the latest point; -1 before the first */
} thin_curve;

typedef struct cli_curves {
    json_t *runs;                     /* one object per finished run */
    thin_curve loss, val_auc, val_ap; /* of the current run */
} cli_curves;

void curves_begin(cli_curves *curves);

/* Call it with every progress of the evaluation. */
void curves_progress(cli_curves *curves, const npgnn_progress *progress);

/* The npgnn_scores_fn of the evaluation, with the curves as `user`. */
void curves_scores(void *user, const npgnn_eval_run *run, const float *scores, size_t positives, size_t count);

/* Adds the curves of each run to its object in the array `seeds`. */
void curves_merge(json_t *seeds, const cli_curves *curves);
void curves_end(cli_curves *curves);

#endif
