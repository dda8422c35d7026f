/* npgnn_load: loads a graph from files, from a data set by name, from the generator or from what is built in, and
 * prepares its features. */
#include <string.h>

#include "base/sized.h"
#include "io/builtin.h"
#include "io/locate.h"
#include "io/npg.h"
#include "io/planetoid.h"
#include "io/readers.h"

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

/* E_ARGUMENT for an option that says how to read text, of a graph that is not read from text. */
static int refuse_text_options(const char *data, const npgnn_load_options *how, npgnn_error *err)
{
    const char *given = how->source                        ? "source"
                        : how->target                      ? "target"
                        : how->weight                      ? "weight"
                        : how->time                        ? "time"
                        : how->id                          ? "id"
                        : how->kind_count > 0              ? "column"
                        : how->ignored_count > 0           ? "ignore"
                        : how->header != NPGNN_HEADER_AUTO ? "data-header"
                        : how->bipartite                   ? "bipartite"
                        : how->target_features             ? "target-features"
                                                           : NULL;
    return given ? npi_fail(err, NPGNN_E_ARGUMENT, "%s is not read from a table of text: leave --%s out", data, given)
                 : 0;
}

int npgnn_load(npgnn_graph **out, const char *data, const npgnn_load_options *options, const npgnn_env *env,
               npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_load_options chosen = {0};
    npgnn_env resolved = npi_env_resolve(env);
    npi_location *where = NULL; /* too large for the stack */
    npgnn_graph *graph = NULL;
    const char *spec;
    int code = npi_sized_read(&chosen, sizeof chosen, options, "npgnn_load_options", err);
    if (code)
        return code;

    if (is_synthetic(&spec, data)) {
        if ((code = refuse_text_options(data, &chosen, err)) != 0)
            return code;
        if (chosen.edges || chosen.features)
            code = npi_fail(err, NPGNN_E_ARGUMENT,
                            "a synthetic graph has its own edges and features: do not give files for them");
        else
            code = npgnn_graph_synthetic(&graph, spec, &resolved, err);
    } else if (npi_builtin_is(data)) {
        if ((code = refuse_text_options(data, &chosen, err)) != 0)
            return code;
        if (chosen.edges || chosen.features)
            code = npi_fail(err, NPGNN_E_ARGUMENT,
                            "the graph " NPI_BUILTIN " has its own edges and features: do not give files for them");
        else
            code = npi_builtin_load(&graph, &resolved, err);
    } else {
        where = npi_alloc(&resolved, 1, sizeof *where, err);
        code = where ? npi_location_find(where, data, &chosen, err) : NPGNN_E_MEMORY;
        if (code == 0 && where->kind == NPI_PLANETOID)
            code = refuse_text_options(data, &chosen, err);
        if (code == 0 && where->kind == NPI_PLANETOID)
            code = npi_planetoid_load(&graph, where->prefix, &resolved, err);
        else if (code == 0 && npi_npg_detect(where->edges))
            code = npi_npg_load(&graph, where, &chosen, &resolved, err);
        else if (code == 0)
            code = npi_location_load(&graph, where, &chosen, &resolved, err);
        npi_free(&resolved, where);
    }

    if (code == 0 && (chosen.weighted || chosen.weight) && !graph->a.val)
        npi_log(&resolved, "%s: the links of this graph have no weights: every link counts once",
                data ? data : chosen.edges);

    /* the order matters: a binarised row is normalised by its number of ones */
    if (code == 0 && (chosen.binarize || chosen.normalize)) {
        graph->fingerprinted = 0;
        code = npi_features_own(graph->x, err);
    }
    if (code == 0) {
        graph->binarized = chosen.binarize != 0;
        graph->normalized = chosen.normalize != 0;
        if (graph->binarized)
            npi_features_binarize(graph->x);
        if (graph->normalized)
            code = npi_features_normalize(graph->x, err);
    }
    if (code)
        npgnn_graph_free(graph);
    else
        *out = graph;
    return code;
}
