/* Files of text that are no lists of pairs, although each line begins with two fields. */
#ifndef NPI_IO_NOT_EDGES_H
#define NPI_IO_NOT_EDGES_H

#include "io/readers.h"

/* E_FORMAT, with the line and what to do, where the beginning of the stream shows triples (subject, relation, object),
 * an adjacency matrix, a METIS file or another format of graphs. Call it before the first line is read. A caller who
 * chooses the columns of the ends (how->source, how->target) knows better: then nothing is refused. */
int npi_not_edges_refuse(const npi_stream *stream, const npgnn_load_options *how, npgnn_error *err);

/* E_FORMAT where the first link of a list is instead the numbers of nodes and of lines that follow; a note where it may
 * be. `line` is the first line with content. */
int npi_not_edges_check_counts(const npi_edge_list *list, const npi_stream *stream, int64_t line, npgnn_error *err);

#endif
