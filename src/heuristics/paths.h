/* Sums over the short paths between two nodes of a graph, each path weighing the product of what its inner nodes
 * weigh. */
#ifndef NPI_HEURISTICS_PATHS_H
#define NPI_HEURISTICS_PATHS_H

#include "linalg/sparse.h"

/* Over paths of two links: Σ of weight (n) over the neighbours that u and v share. With weight = 1 / degree this is
 * resource allocation, with 1 / log(degree) Adamic-Adar. O(degrees of u and v). */
double npi_paths_two(const npi_csr *a, const double *weight, npgnn_pair pair);

/* Over walks of three links. `walk` (n) is zero before and after. O(degree of one end, and the degrees of all
 * neighbours of the other): the cheaper way round. */
double npi_paths_three(double *walk, const npi_csr *a, const double *weight, npgnn_pair pair);

/* The same from one node to all: adds to sum (n). */
void npi_paths_two_row(double *sum, const npi_csr *a, const double *weight, int32_t node);
void npi_paths_three_row(double *sum, double *walk, const npi_csr *a, const double *weight, int32_t node);

#endif
