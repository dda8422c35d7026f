/* The results of the paper: Liang and Gao, "How Neural Processes Improve Graph Link Prediction". */
#ifndef CLI_PAPER_H
#define CLI_PAPER_H

#include <npgnn/npgnn.h>

/* AUC and AP in percent, as printed. */
typedef struct paper_result {
    const char *dataset, *method;
    npgnn_protocol protocol;
    int percent; /* few-shot: percent of the nodes in the training graph; otherwise 0 */
    double auc, ap;
} paper_result;

/* The paper's result for this cell, or NULL where it has none. */
const paper_result *paper_find(const char *dataset, const char *method, npgnn_protocol protocol, int percent);

/* The name of the class of a data set that has so many nodes, or NULL. The files number the classes; the published
 * descriptions name them, with their sizes, which are all different. */
const char *paper_class(const char *dataset, int nodes);

/* The number of training iterations on this data set. */
int paper_iterations(const char *dataset);

#endif
