/* Options may ask for things that only held-out links can tell: which iteration was best, what each part of a score weighs. Where a
 * split has no validation links (few-shot, or no split at all), a first training, the rehearsal, holds some of the known links
 * out and finds out; a second one, on everything that is known, uses what it found. */
#ifndef NPI_TRAIN_REHEARSAL_H
#define NPI_TRAIN_REHEARSAL_H

#include "graph/split.h"

int npi_rehearsal_wanted(const npgnn_options *options, const npgnn_split *split);

/* Holds links of what `split` knows out, or of `graph` when it is NULL, in the way that those of `split` are. */
int npi_rehearsal_split(npgnn_split **out, const npgnn_graph *graph, const npgnn_split *split,
                        const npgnn_options *options, const npgnn_env *env, npgnn_error *err);

/* What the rehearsal of a training with the options `asked` trains with. */
npgnn_options npi_rehearsal_options(const npgnn_options *asked);

/* The options of the training proper: what did best in the rehearsal, `found` after `iterations`, in place of the wish to find
 * it. */
npgnn_options npi_rehearsal_settle(const npgnn_options *asked, const npgnn_options *found, int iterations);

#endif
