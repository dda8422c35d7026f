/* Some things only held-out links can tell: which iteration was best, and what a score means as a probability. Where a
 * split has no validation links (few-shot, or no split at all), a first training, the rehearsal, holds out some of the
 * known links to find them. The training proper then uses everything that is known. */
#ifndef NPI_TRAIN_REHEARSAL_H
#define NPI_TRAIN_REHEARSAL_H

#include "graph/split.h"
#include "model/scorer.h"

/* What the rehearsal found. */
typedef struct npi_findings {
    int iterations; /* after which its model did best */
    npi_model_scorer scorer;
} npi_findings;

/* Whether a training with these options begins with a rehearsal. */
int npi_rehearsal_wanted(const npgnn_options *options, const npgnn_split *split);

/* Whether such a training can do without: it then ends with an uncalibrated model. */
int npi_rehearsal_dispensable(const npgnn_options *options);

/* Holds out links of what `split` knows, or of `graph` when split is NULL, the way `split` does: links of new nodes, or
 * of known ones. E_ARGUMENT where there are too few. */
int npi_rehearsal_split(npgnn_split **out, const npgnn_graph *graph, const npgnn_split *split,
                        const npgnn_options *options, const npgnn_env *env, npgnn_error *err);

/* The options of the rehearsal, and those of the training proper that follows it. */
npgnn_options npi_rehearsal_options(const npgnn_options *asked);
npgnn_options npi_rehearsal_proper(const npgnn_options *asked, const npi_findings *found);

#endif
