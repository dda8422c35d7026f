/* Scores of pairs by functions of pairs, without a model: of a pair, and of a row, which is one node with all nodes, at
 * the cost of what it reaches. A pair has the same bits, whichever way it was asked for. */
#ifndef NPI_HEURISTICS_HEURISTIC_H
#define NPI_HEURISTICS_HEURISTIC_H

#include "graph/graph.h"
#include "graph/pagerank.h"
#include "heuristics/paths.h"

enum { NPI_HEURISTIC_WALKS = 4 }; /* accumulators of a scratch, at most */

/* The scores of one node with all nodes. */
typedef struct npi_row {
    float *score;  /* (n) 0 except at the nodes below */
    int32_t *node; /* (n) nodes with a score other than 0, each once */
    int32_t count;
} npi_row;

/* Memory of one thread. */
typedef struct npi_scratch {
    npi_row row;
    int32_t source; /* the node of the row; -1: none */
    int is_own;     /* 1: the row may have other bits for other nodes, whatever npi_heuristic says */
    npi_accumulator walk[NPI_HEURISTIC_WALKS]; /* as many as the heuristic wants; empty between two calls */
    npi_pagerank push;                         /* if the heuristic wants it */
} npi_scratch;

typedef struct npi_heuristic npi_heuristic;

/* The score of a pair, and those of a node with all nodes, by npi_row_set into scratch->row, which is empty. */
typedef float npi_pair_fn(npi_scratch *scratch, const npi_heuristic *heuristic, npgnn_pair pair);
typedef void npi_row_fn(npi_scratch *scratch, const npi_heuristic *heuristic, int32_t node);

/* A method that is ready to score. It has `pair`, or `row`, or both. */
struct npi_heuristic {
    const npgnn_graph *graph;
    npi_pair_fn *pair; /* NULL: a pair is read from the row of its first node */
    npi_row_fn *row;   /* NULL: a row is scored pair by pair */
    void *learnt;      /* what the method has learnt of the graph; NULL: nothing */
    void (*free)(const npgnn_env *env, void *learnt);
    int walks;     /* accumulators of a scratch */
    int is_local;  /* 1: nodes with the same neighbours have the same row */
    int is_pushed; /* 1: a scratch has memory for PageRank */
};

void npi_heuristic_free(const npgnn_env *env, npi_heuristic *heuristic);

/* Zero-initialise a scratch; it may be freed at any time. */
int npi_scratch_new(npi_scratch *scratch, const npi_heuristic *heuristic, const npgnn_env *env, npgnn_error *err);
void npi_scratch_free(const npgnn_env *env, npi_scratch *scratch);

/* One for each thread of env. */
int npi_scratches_new(npi_scratch **out, const npi_heuristic *heuristic, const npgnn_env *env, npgnn_error *err);
void npi_scratches_free(const npgnn_env *env, npi_scratch *scratch);

/* The scratch keeps its last row: pairs are best asked for by their first node. */
float npi_heuristic_pair(npi_scratch *scratch, const npi_heuristic *heuristic, npgnn_pair pair);

/* Valid until the scratch is used for another node. A node with the neighbours of the last one is given the same row,
 * and scratch->source stays: the leaves of a star share theirs. */
const npi_row *npi_heuristic_row(npi_scratch *scratch, const npi_heuristic *heuristic, int32_t node);

static inline void npi_row_set(npi_row *row, int32_t node, float score)
{
    if (score != 0) {
        row->score[node] = score;
        row->node[row->count++] = node;
    }
}

#endif
