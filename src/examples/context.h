/* What a process is told about a graph: labelled pairs, and their evidence, which was computed without their links. */
#ifndef NPI_EXAMPLES_CONTEXT_H
#define NPI_EXAMPLES_CONTEXT_H

#include "evidence/columns.h"
#include "graph/graph.h"
#include "process/process.h"

/* Which part of a sample a pair is from. */
typedef enum {
    NPI_EXAMPLE_RANDOM,
    NPI_EXAMPLE_NEAR, /* at the ends of a walk: near.h */
    NPI_EXAMPLE_NEW   /* an end is a node that was hidden with all its links */
} npi_example_kind;

typedef struct npi_examples {
    npgnn_env env;
    const npi_process *process;
    float *link, *other;                   /* (links, e), (others, e) standardized evidence of links and of non-links */
    npgnn_pair *other_pair;                /* (others) */
    float *other_weight;                   /* (others) how many pairs each stands for, up to a factor */
    unsigned char *link_kind, *other_kind; /* (links), (others) npi_example_kind */
    size_t links, others;
} npi_examples;

void npi_examples_free(npi_examples *examples);

typedef struct npi_aside {
    const npgnn_graph *graph;
    npi_reduced *reduced; /* the reduced features */
    double new_share;     /* how many of the links, and of the non-links, are those of hidden nodes */
    uint64_t seed;
    npgnn_comm *comm; /* the processes that divide the evidence; NULL: one */
} npi_aside;

/* How many links are set aside at a time: a share, within limits. */
int64_t npi_aside_count(const npgnn_graph *graph);

/* Sets a share of the known links aside, and appends them and up to `non_links` non-links with the evidence of the
 * other links. Every node that is not hidden keeps a link (graph/hold_out.h), so that fewer may be set aside. Rounds 0,
 * 1, ... choose other links. Appends nothing where the graph has too few links or non-links; round 0 says so in the
 * log. Where nodes are divided among processes, it is collective, and all get the same examples. E_CANCELLED,
 * E_MEMORY. */
int npi_examples_set_aside(npi_examples *examples, const npi_aside *how, int round, int non_links, npgnn_error *err);

/* evidence (up to `most`, e) of the first non-links that are not near. Returns how many they are. */
size_t npi_examples_take_random(float *evidence, const npi_examples *examples, size_t most);

/* evidence (others, e), standardized: of the non-links, but from other links, those of `columns`. That of pairs with
 * hidden nodes is copied: new nodes have no links in either case. Collective. E_MEMORY. */
int npi_examples_again(float *evidence, const npi_examples *examples, const npi_columns *columns, npgnn_error *err);

#endif
