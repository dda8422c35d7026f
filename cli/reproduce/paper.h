/* What the paper reports: Liang and Gao, "How Neural Processes Improve Graph Link Prediction". */
#ifndef CLI_PAPER_H
#define CLI_PAPER_H

#include <npgnn/npgnn.h>

/* AUC and AP in percent, as printed. */
typedef struct paper_figure {
    const char *dataset, *method;
    npgnn_protocol protocol;
    int percent; /* few-shot: of the nodes known in training; otherwise 0 */
    double auc, ap;
} paper_figure;

/* The paper's figure for this cell, or NULL where it has none. */
const paper_figure *paper_find(const char *dataset, const char *method, npgnn_protocol protocol, int percent);

/* The iterations that the paper trains for on this data set. */
int paper_iterations(const char *dataset);

#endif
