/* Extending a graph with new nodes, which have features from a file and no edges. */
#include <stdio.h>
#include <string.h>

#include "features/match.h"
#include "io/readers.h"

/* Reads the features of the new nodes, which are on `side` of a two-sided graph, and prepares them in the same way as those
 * of the graph: encoded, binarised or normalised, with the same columns in the same order. *names becomes the ids of the rows,
 * NULL where they have none. */
static int read_features(npi_features **out, npi_names **names, const npgnn_graph *graph, const char *path, int side,
                         npgnn_error *err)
{
    const npgnn_env *env = &graph->env;
    const npgnn_load_options how = {.size = sizeof how,
                                    .encoding = graph->x->encoding ? graph->x->encoding->text : "raw"};
    npi_table table = {0};
    npi_features *x = NULL;
    npi_stream *stream = NULL;
    int code = npi_stream_open(&stream, path, env, err);
    if (code)
        return code;
    code = npi_table_read(&table, stream, &how, NULL, side, err);
    npi_stream_close(stream);
    if (!code && table.open && table.x.cols < graph->x->f)
        table.x.cols = graph->x->f; /* the last columns are zero in all rows of this file */
    if (!code)
        code = npi_features_from_csr(&x, &table.x, env, err);
    memset(&table.x, 0, sizeof table.x);
    if (!code) {
        x->columns = npi_names_share(table.columns);
        *names = npi_names_share(table.names);
        if (graph->binarized)
            npi_features_binarize(x);
        code = graph->normalized ? npi_features_normalize(x, err) : 0;
    }
    if (!code)
        code = npi_features_match(out, x, graph->x->columns, graph->x->f, "the graph", path, env, err);
    npi_features_free(x);
    npi_table_free(env, &table);
    return code;
}

/* The side whose columns the file has: that of sources or, where these do not fit, that of targets. */
static int read_either_side(npi_features **out, npi_names **names, int *side, const npgnn_graph *graph,
                            const char *path, npgnn_error *err)
{
    int columns[2] = {0, 0};
    const npi_encoding *encoding = graph->x->encoding;
    for (int32_t i = 0; encoding && i < encoding->count; i++)
        columns[encoding->columns[i].side] += encoding->columns[i].width;
    if (graph->side && !encoding)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "nodes can be added to a two-sided graph only where its features are tables of "
                        "text, whose columns tell the side");
    *side = columns[0] == 0 && columns[1] > 0;
    int code = read_features(out, names, graph, path, *side, err);
    if (code == NPGNN_E_MISMATCH && graph->side && *side == 0 && columns[1] > 0) {
        *side = 1;
        npi_names_free(*names);
        *names = NULL;
        code = read_features(out, names, graph, path, 1, err);
    }
    return code;
}

static int add_name(npi_names *names, const char *name, npgnn_error *err)
{
    int32_t index, before = npi_names_count(names);
    int code = npi_names_add(&index, names, name, strlen(name), err);
    if (!code && npi_names_count(names) == before)
        return npi_fail(err, NPGNN_E_MISMATCH, "new node '%.100s': there is a node of that name already", name);
    return code;
}

/* The names of all nodes. Where only one side has names, the nodes of the other are named by their numbers. NULL
 * where neither side has names. */
static int join_names(npi_names **out, const npgnn_graph *graph, const npi_names *added, int32_t count,
                      npgnn_error *err)
{
    char number[12];
    if (!graph->names && !added)
        return 0;
    npi_names *names = NULL;
    int code = npi_names_new(&names, &graph->env, err);
    for (int32_t i = 0; !code && i < graph->n; i++)
        code = add_name(names, npgnn_graph_name(graph, i, number), err);
    for (int32_t i = 0; !code && i < count; i++) {
        snprintf(number, sizeof number, "%d", graph->n + i);
        code = add_name(names, added ? npi_names_get(added, i) : number, err);
    }
    if (code)
        npi_names_free(names);
    else
        *out = names;
    return code;
}

int npgnn_graph_extend(npgnn_graph **out, const npgnn_graph *graph, const char *features, npgnn_error *err)
{
    npi_features *added = NULL, *x = NULL;
    npi_names *added_names = NULL, *names = NULL;
    int side = 0, code = read_either_side(&added, &added_names, &side, graph, features, err);
    if (!code)
        code = npi_features_stack(&x, graph->x, added, err);
    if (!code)
        code = join_names(&names, graph, added_names, added->n, err);
    if (!code)
        code = npi_graph_with_nodes(out, graph, x, names, side, err);
    npi_features_free(x);
    npi_names_free(names);
    npi_features_free(added);
    npi_names_free(added_names);
    return code;
}
