/* Sums over the short paths between two nodes of a graph, each path weighing the product of what its inner nodes
 * weigh. */
#ifndef NPI_HEURISTICS_PATHS_H
#define NPI_HEURISTICS_PATHS_H

#include "base/env.h"
#include "linalg/sparse.h"

/* A sparse vector over the nodes, to which positive values are added. */
typedef struct npi_accumulator {
    double *value; /* (n) 0 except at the nodes below */
    int32_t *node; /* (n) nodes with a value, in the order they were reached */
    int32_t count;
} npi_accumulator;

/* Zero-initialise it; it may be freed at any time. */
int npi_accumulator_new(npi_accumulator *sum, int32_t n, const npgnn_env *env, npgnn_error *err);
void npi_accumulator_free(const npgnn_env *env, npi_accumulator *sum);

/* Back to zero. O(count). */
void npi_accumulator_clear(npi_accumulator *sum);

/* Makes the nodes ascend where they are a large part of all: later passes are faster then. */
void npi_accumulator_order(npi_accumulator *sum, int32_t n);

/* Adds `value` at the neighbours of a node. */
static inline void npi_accumulator_add_neighbors(npi_accumulator *sum, const npi_csr *a, int32_t node, double value)
{
    double *sums = sum->value;
    int32_t count = sum->count;
    for (int64_t p = a->ptr[node]; p < a->ptr[node + 1]; p++) {
        int32_t next = a->col[p];
        if (sums[next] == 0)
            sum->node[count++] = next;
        sums[next] += value;
    }
    sum->count = count;
}

/* In all functions, weight (n) is positive wherever a node has neighbours; NULL: 1. */

/* Over paths of two links: Σ of weight over the neighbours that u and v share. With weight = 1 / degree this is
 * resource allocation, with 1 / log(degree) Adamic-Adar. O(degrees of u and v). */
double npi_paths_two(const npi_csr *a, const double *weight, npgnn_pair pair);

/* The same from one node to all, to the bit: adds to sum. O(npi_paths_reach). */
void npi_paths_two_row(npi_accumulator *sum, const npi_csr *a, const double *weight, int32_t node);

/* Over walks of three links. `walk` is zero before and after. O(degree of one end, and the degrees of all neighbours of
 * the other): the cheaper way round. */
double npi_paths_three(npi_accumulator *walk, const npi_csr *a, const double *weight, npgnn_pair pair);

/* From one node to all, but for rounding: given what npi_paths_two_row adds to an empty `walk`, adds to sum the walks
 * with one more link. O(degrees of the nodes of walk). */
void npi_paths_third(npi_accumulator *sum, const npi_accumulator *walk, const npi_csr *a, const double *weight);

/* Number of walks of two links from a node: the degrees of its neighbours. */
int64_t npi_paths_reach(const npi_csr *a, int32_t node);

#endif
