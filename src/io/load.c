/* npgnn_load: loads a graph from files, from a data set by name, or from the synthetic generator, and prepares its
 * features. */
#include <string.h>

#include "io/locate.h"
#include "io/planetoid.h"
#include "io/readers.h"

/* Binarises and normalises the features, in that order, where the options ask for it. */
static int prepare_features(npgnn_graph *graph, const npgnn_load_options *options, npgnn_error *err)
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
    int code = where ? npi_location_find(where, data, options, err) : NPGNN_E_MEMORY;
    if (code == 0 && where->kind == NPI_PLANETOID)
        code = npi_planetoid_load(out, where->prefix, env, err);
    else if (code == 0)
        code = npi_location_load(out, where, options->weighted, env, err);
    npi_free(env, where);
    return code;
}

/* Whether `data` is "synthetic" or "synthetic:KEY=VALUE,...". *spec becomes what follows the colon, NULL where
 * nothing does. */
static int is_synthetic(const char **spec, const char *data)
{
    static const char word[] = "synthetic";
    const size_t length = sizeof word - 1;
    if (!data || strncmp(data, word, length) != 0 || (data[length] != '\0' && data[length] != ':'))
        return 0;
    *spec = data[length] ? data + length + 1 : NULL;
    return 1;
}

int npgnn_load(npgnn_graph **out, const char *data, const npgnn_load_options *options, const npgnn_env *env,
               npgnn_error *err)
{
    static const npgnn_load_options defaults = {0};
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_graph *graph = NULL;
    if (!options)
        options = &defaults;
    const char *spec;
    int code;
    if (!is_synthetic(&spec, data))
        code = load_files(&graph, data, options, &resolved, err);
    else if (options->edges || options->features)
        code = npi_fail(err, NPGNN_E_ARGUMENT,
                        "a synthetic graph has its own edges and features: do not give files for them");
    else
        code = npgnn_graph_synthetic(&graph, spec, &resolved, err);
    if (code == 0)
        code = prepare_features(graph, options, err);
    if (code)
        npgnn_graph_free(graph);
    else
        *out = graph;
    return code;
}
