/* The adjacency matrix of more edges than memory should hold. */
#ifndef NPI_GRAPH_EXTERNAL_H
#define NPI_GRAPH_EXTERNAL_H

#include "graph/graph.h"

/* A pass over the links of such a graph gives their memory back after this many rows. */
#define NPI_LINKS_WINDOW (1 << 16)

/* Fills a, time, m and what the input had, in temporary files of content->spill.folder: the same bits as
 * npi_graph_build computes in memory. graph->n and graph->x are set. About spill.limit bytes of memory; 24 bytes of
 * disk per edge, and 32 more each for weights and times. O(edges log(edges / limit)). E_IO where the disk is full. */
int npi_graph_sort_links(npgnn_graph *graph, const npi_graph_content *content, npgnn_error *err);

#endif
