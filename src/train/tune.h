/* Tuning: fits the head of a process to one graph, by that graph's own links.
 *
 *   project    The features, so that nodes whose features go together in this graph are close (train/project.h).
 *   hide       Each link in turn, so that it becomes a labelled pair whose evidence does not contain it (train/folds.h).
 *   infer      z from the first tenth of the links (process/encoder.h). Tuning starts from the head of z.
 *   tune       Minimise the mean of  softplus(-s)  over links and  softplus(s)  over the others, s the score of the
 *              head, by Adam, in batches of 512, with a rate that falls along a cosine.
 *   calibrate  Tune once without the first tenth and calibrate on it; then tune on all. If the graph has new nodes, pairs of
 *              nodes that were hidden whole take part, in the proportion in which pairs of the graph touch a new node.
 *
 * Nothing is held back in the end: the projection and the evidence at prediction come from all known links. */
#ifndef NPI_TRAIN_TUNE_H
#define NPI_TRAIN_TUNE_H

#include "graph/graph.h"
#include "model/calibration.h"
#include "process/process.h"

/* Of the options it reads seed, iterations (passes over the rehearsed pairs), learning_rate and calibrate. `process`
 * gets its z, its change and its projection. *calibrated becomes 1 if `calibration` was fitted. A graph with too few
 * links to hide some leaves the process as it is, with the prior of z. On all threads and in all processes of
 * env->comm, which divide the folds and the chunks of every batch, with the same bits for any number of them.
 * E_CANCELLED, E_DIVERGED, E_MEMORY. */
int npi_tune(npi_process *process, npi_calibration *calibration, int *calibrated, const npgnn_graph *graph,
             const npgnn_options *options, const npgnn_env *env, npgnn_error *err);

#endif
