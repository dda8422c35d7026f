/* Personalised PageRank by forward push (Andersen, Chung and Lang, FOCS 2006, doi:10.1109/FOCS.2006.44). */
#ifndef NPI_GRAPH_PAGERANK_H
#define NPI_GRAPH_PAGERANK_H

#include "linalg/sparse.h"

/* The workspace, for one source after another; rank and residue are zero between two of them. */
typedef struct npi_pagerank {
    double *rank, *residue; /* (n) */
    int32_t *queue;         /* (n) nodes whose residue is to be pushed, a ring */
    unsigned char *queued;  /* (n) */
    int32_t *touched;       /* (n) nodes with a residue or rank, in the order they were reached */
    unsigned char *reached; /* (n) */
    int32_t touched_count;
} npi_pagerank;

int npi_pagerank_new(npi_pagerank *p, int32_t n, const npgnn_env *env, npgnn_error *err);
void npi_pagerank_free(const npgnn_env *env, npi_pagerank *p);

/* Where walks from `source` over the links `a` end that stop at every node with probability `stop`: rank[w] for the
 * nodes in touched. Each is too low by at most tolerance * degree(w). O(1 / (stop * tolerance)) time, whatever the size
 * of the graph. */
void npi_pagerank_from(npi_pagerank *p, const npi_csr *a, int32_t source, double stop, double tolerance);

/* Back to zero, at the cost of what was touched. */
void npi_pagerank_clear(npi_pagerank *p);

#endif
