/* Labelled pairs of a graph some of whose links are hidden, and their evidence: the one place that computes what known
 * links say about hidden ones, for the context of a process, for tuning it and for learning it across graphs. */
#ifndef NPI_EXAMPLES_HIDDEN_H
#define NPI_EXAMPLES_HIDDEN_H

#include "evidence/columns.h"
#include "features/projection.h"
#include "graph/graph.h"

typedef struct npi_hidden {
    const npgnn_graph *graph; /* with all links */
    const npgnn_graph *known; /* the same nodes without the hidden links */
    const npgnn_pair *pairs;  /* (count) `links` hidden links, then pairs that the graph does not link */
    size_t links, count;
} npi_hidden;

/* The features that evidence is computed from. */
typedef struct npi_hidden_features {
    npi_reduced *reduced;             /* NULL: none */
    const npi_projection *projection; /* also projections of the features: these or, */
    int project;                      /* if 1, such as are learnt from the known links, */
    uint64_t project_seed;            /* with this seed */
} npi_hidden_features;

/* evidence (hidden->count, columns): what the known links and the features say about each pair. Collective: the
 * processes of env->comm divide the work, and each one gets all rows. E_CANCELLED, E_MEMORY. */
int npi_hidden_evidence(float *evidence, const npi_hidden *hidden, const npi_hidden_features *features,
                        const npgnn_env *env, npgnn_error *err);

/* evidence (count, columns) of pairs that are the same in all processes among which the columns are divided. Collective:
 * each process computes a share of the rows and gets all of them. */
int npi_evidence_shared(float *evidence, const npi_columns *columns, const npgnn_pair *pairs, size_t count,
                        npgnn_error *err);

#endif
