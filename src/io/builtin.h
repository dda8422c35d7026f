/* The graph that comes with the library. */
#ifndef NPI_IO_BUILTIN_H
#define NPI_IO_BUILTIN_H

#include "graph/graph.h"

#define NPI_BUILTIN "debian-python"

/* Whether `data` is its name. */
int npi_builtin_is(const char *data);

int npi_builtin_load(npgnn_graph **out, const npgnn_env *env, npgnn_error *err);

#endif
