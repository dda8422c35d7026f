/* The curves of an evaluation, thinned to what a picture needs: ROC and precision-recall from the scores of the test pairs, loss
 * and validation from the progress. A curve is {"x": [...], "y": [...]}. */
#ifndef CLI_CURVES_H
#define CLI_CURVES_H

#include <jansson.h>
#include <npgnn/npgnn.h>

/* A curve under construction keeps one point per step of its way from 0 to 1. */
typedef struct thin_curve {
    json_t *x, *y;
    int step; /* of the latest point; -1 before the first */
} thin_curve;

typedef struct cli_curves {
    json_t *runs;                     /* an object per finished run */
    thin_curve loss, val_auc, val_ap; /* of the run under way */
} cli_curves;

void curves_begin(cli_curves *curves);

/* To be called with every progress of the evaluation, */
void curves_progress(cli_curves *curves, const npgnn_progress *progress);

/* and as its npgnn_scores_fn, with the curves as user. */
void curves_scores(void *user, const npgnn_eval_run *run, const float *scores, size_t positives, size_t count);

/* Adds the curves of each run to its object in `seeds`. */
void curves_merge(json_t *seeds, const cli_curves *curves);
void curves_end(cli_curves *curves);

#endif
