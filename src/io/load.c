#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "io/locate.h"
#include "io/planetoid.h"
#include "io/readers.h"

/* Prepares the features as asked: ones first, then rows that sum to 1. */
static int prepare(npgnn_graph *graph, const npgnn_load_options *options, npgnn_error *err)
{
    int code = 0;
    if (options->binarize)
        npi_features_binarize(graph->x);
    if (options->normalize)
        code = npi_features_normalize(graph->x, err);
    graph->binarized = options->binarize != 0;
    graph->normalized = options->normalize != 0;
    return code;
}

static int load_files(npgnn_graph **out, const char *data, const npgnn_load_options *options, const npgnn_env *env,
                      npgnn_error *err)
{
    npi_location *where = npi_alloc(env, 1, sizeof *where, err);
    int code = where ? npi_locate(where, data, options, err) : NPGNN_E_MEMORY;
    if (code == 0 && where->planetoid)
        code = npi_planetoid_load(out, where->prefix, env, err);
    else if (code == 0)
        code = npi_tables_load(out, where->edges, where->features, where->labels, env, err);
    npi_free(env, where);
    return code;
}

/* What follows "synthetic" in the name of a generated graph: "" or its settings; NULL for any other name. */
static const char *synthetic_spec(const char *data)
{
    if (!data || strncmp(data, "synthetic", 9) != 0 || (data[9] != '\0' && data[9] != ':'))
        return NULL;
    return data + 9 + (data[9] == ':');
}

int npgnn_load(npgnn_graph **out, const char *data, const npgnn_load_options *options, const npgnn_env *env,
               npgnn_error *err)
{
    static const npgnn_load_options defaults = {0};
    npgnn_env resolved = npi_env(env);
    npgnn_graph *graph = NULL;
    if (!options)
        options = &defaults;
    const char *spec = synthetic_spec(data);
    int code = spec ? npgnn_graph_synthetic(&graph, spec, &resolved, err)
                    : load_files(&graph, data, options, &resolved, err);
    if (code == 0)
        code = prepare(graph, options, err);
    if (code)
        npgnn_graph_free(graph);
    else
        *out = graph;
    return code;
}
