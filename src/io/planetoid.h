/* Planetoid files of a citation graph (Yang, Cohen, Salakhutdinov, ICML 2016): pickles and a list of test nodes. */
#ifndef NPI_IO_PLANETOID_H
#define NPI_IO_PLANETOID_H

#include "graph/graph.h"
#include "io/stream.h"

/* The files that are read. Two more, x and y, repeat the first rows of allx and ally. */
typedef enum {
    NPI_PLANETOID_ALLX,
    NPI_PLANETOID_ALLY,
    NPI_PLANETOID_TX,
    NPI_PLANETOID_TY,
    NPI_PLANETOID_GRAPH,
    NPI_PLANETOID_TEST,
    NPI_PLANETOID_FILES
} npi_planetoid_file;

/* "allx", "test.index" and so on: the name of a file is PREFIX.SUFFIX. */
const char *npi_planetoid_suffix(npi_planetoid_file file);

/* The graph in the files PREFIX.allx and so on; npi_planetoid_read takes open streams. */
int npi_planetoid_load(npgnn_graph **out, const char *prefix, const npgnn_env *env, npgnn_error *err);
int npi_planetoid_read(npgnn_graph **out, npi_stream *files[NPI_PLANETOID_FILES], const npgnn_env *env,
                       npgnn_error *err);

#endif
