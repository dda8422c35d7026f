/* Tuning: fits the head of a process to one graph, by that graph's own links.
 *
 *   project    The features, so that nodes whose features go together in this graph are close (examples/project.h).
 *   hide       Each link in turn, so that it becomes a labelled pair whose evidence does not contain it (examples/folds.h).
 *   infer      z from the first tenth of the links (process/encoder.h). Tuning starts from the head of z.
 *   rehearse   Tune without the first tenth of the links, in a small graph without each of several tenths in turn, and
 *              score the pairs that were left out: those of hidden links, and those of hidden nodes. The process as it
 *              is, with its stacked fit (process/stack.h), scores them too. If tuning does not help, it is not kept.
 *   calibrate  On the scores of the rehearsal. If the graph has new nodes, pairs of nodes that were hidden whole take
 *              part, in the proportion in which pairs of the graph touch a new node.
 *   tune       On all pairs (train/tuner.h).
 *
 * Nothing is held back in the end: the projection and the evidence at prediction come from all known links. */
#ifndef NPI_TRAIN_TUNE_H
#define NPI_TRAIN_TUNE_H

#include "eval/delong.h"
#include "graph/graph.h"
#include "model/scorer.h"
#include "process/process.h"

typedef struct npi_tuning {
    int kept; /* 0: the process was left as it is, because tuning does not help or the graph has too few links */
    npi_model_scorer scorer;   /* fitted if it was kept and the options ask for it */
    npi_auc_pair links, nodes; /* of pairs of hidden links and of hidden nodes: the process as it is, then tuned; NaN
                                    where there were none */
} npi_tuning;

/* Of the options it reads seed, iterations (passes over the rehearsed pairs), learning_rate, beta1, beta2, epsilon and
 * calibrate. `process` gets its z, its change and its projection if tuning is kept. On all threads and in all processes
 * of env->comm, which divide the folds and the chunks of every batch, with the same bits for any number of them.
 * E_CANCELLED, E_DIVERGED, E_MEMORY. */
int npi_tune(npi_process *process, npi_tuning *out, const npgnn_graph *graph, const npgnn_options *options,
             const npgnn_env *env, npgnn_error *err);

#endif
