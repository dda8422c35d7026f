/* What a process is told about a graph: labelled pairs, and their evidence, which was computed without their links. */
#ifndef NPI_EXAMPLES_CONTEXT_H
#define NPI_EXAMPLES_CONTEXT_H

#include "evidence/columns.h"
#include "graph/graph.h"
#include "process/process.h"

/* Labelled pairs of a graph that are not among its known links: `positives` links first. */
typedef struct npi_held_out {
    const npgnn_pair *pairs;
    size_t positives, count;
} npi_held_out;

typedef struct npi_examples {
    npgnn_env env;
    const npi_process *process;
    float *link, *other; /* (links, e) and (others, e): the standardized evidence of links and of non-links */
    size_t links, others;
} npi_examples;

void npi_examples_free(npi_examples *examples);

/* Appends held-out pairs with their evidence. Where nodes are divided among processes, it is collective, and all give the
 * same pairs and get all of their evidence. E_MEMORY. */
int npi_examples_add(npi_examples *examples, const npi_columns *columns, const npi_held_out *held_out,
                     npgnn_error *err);

/* ---- setting links aside ---- */

typedef struct npi_aside {
    const npgnn_graph *graph;
    npi_reduced *reduced; /* of its features */
    double new_share;     /* how many of the links, and of the non-links, are those of hidden nodes */
    uint64_t seed;
    npgnn_comm *comm; /* of processes that divide the evidence */
} npi_aside;

/* How many links are set aside at a time: a tenth, within limits. */
int64_t npi_aside_count(const npgnn_graph *graph);

/* Sets a tenth of the known links aside, and appends them and up to `non_links` non-links with the evidence of the
 * other links. Rounds 0, 1, ... choose other links. Appends nothing where the graph has too few links or non-links;
 * round 0 says so in the log. E_CANCELLED, E_MEMORY. */
int npi_examples_set_aside(npi_examples *examples, const npi_aside *how, int round, int non_links, npgnn_error *err);

#endif
