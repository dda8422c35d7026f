/* Hard negatives: non-links that look like links (docs/use/evaluate.md). */
#ifndef NPI_EVAL_HARD_H
#define NPI_EVAL_HARD_H

#include "graph/negative.h"

enum { NPI_HARD_PER_END = 250 }; /* 500 for a positive, which has two ends */

/* What an end of a positive is paired with does not depend on its other end: each node's list is kept once, whatever
 * the number of positives it is in. Zero-initialise it; npi_hard_free may then be called at any time. */
typedef struct npi_hard {
    int32_t *place;    /* (n) which end a node is, -1 where it is none */
    int64_t *start;    /* (ends + 1) */
    npgnn_pair *pairs; /* (start[ends]) of end e, pairs[start[e] .. start[e + 1]): {end, other}, the hardest first */
    int32_t ends;
} npi_hard;

/* For every end of `positives` the per_end most likely others among the nodes it is not linked to in the complete
 * graph and could be held out with, `among->graph` and `among`, or all of these where they are fewer. Likely: by resource allocation or personalised PageRank over the links
 * of `known`, or by the cosine of the features; a node's place is the best of its three. A function of the graphs and
 * the ends alone. */
int npi_hard_new(npi_hard *out, const npi_population *among, const npgnn_graph *known, const npgnn_pair *positives,
                 size_t count, int per_end, const npgnn_env *env, npgnn_error *err);
void npi_hard_free(const npgnn_env *env, npi_hard *hard);

#endif
