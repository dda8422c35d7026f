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
        x->encoding = npi_encoding_share(table.encoding);
        *names = npi_names_share(table.names);
        if (graph->binarized)
            npi_features_binarize(x);
        code = graph->normalized ? npi_features_normalize(x, err) : 0;
    }
    if (!code)
        code =
            npi_features_match(out, x, graph->x->columns, graph->x->encoding, graph->x->f, "the graph", path, env, err);
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

/* Where a side's ids are not unique in the graph, the names of all its nodes begin with its name, as in "item_id:7"
 * (sides.c). `prefix` becomes that part with its colon, or "" where the names of the sides do not begin so. */
static void find_prefix(char *prefix, size_t size, const npgnn_graph *graph, int side)
{
    const char *first[2] = {NULL, NULL};
    size_t length[2] = {0, 0};
    prefix[0] = '\0';
    for (int32_t i = 0; graph->side && graph->names && i < graph->n; i++) {
        int of = graph->side[i];
        const char *name = npi_names_get(graph->names, i), *colon = strchr(name, ':');
        if (!first[of] && colon) {
            first[of] = name;
            length[of] = (size_t)(colon - name) + 1;
        }
        if (!first[of] || strncmp(name, first[of], length[of]) != 0)
            return;
    }
    if (first[0] && first[1] && length[side] < size &&
        (length[0] != length[1] || strncmp(first[0], first[1], length[0]) != 0))
        snprintf(prefix, size, "%.*s", (int)length[side], first[side]);
}

static int add_name(npi_names *names, const char *name, npgnn_error *err)
{
    int32_t index, before = npi_names_count(names);
    int code = npi_names_add(&index, names, name, strlen(name), err);
    if (!code && npi_names_count(names) == before)
        return npi_fail(err, NPGNN_E_MISMATCH, "new node '%.100s': there is a node of that name already", name);
    return code;
}

/* The names of all nodes. Where only the graph or only the new nodes have names, the others are named by their numbers. NULL
 * where neither have names. New nodes of a two-sided graph are called as the others of their side. */
static int join_names(npi_names **out, const npgnn_graph *graph, const npi_names *added, int32_t count, int side,
                      npgnn_error *err)
{
    char number[12], prefix[80];
    if (!graph->names && !added)
        return 0;
    npi_names *names = NULL;
    find_prefix(prefix, sizeof prefix, graph, side);
    int code = npi_names_new(&names, &graph->env, err);
    for (int32_t i = 0; !code && i < graph->n; i++)
        code = add_name(names, npgnn_graph_name(graph, i, number), err);
    for (int32_t i = 0; !code && i < count; i++) {
        snprintf(number, sizeof number, "%d", graph->n + i);
        const char *id = added ? npi_names_get(added, i) : number;
        size_t length = strlen(prefix) + strlen(id) + 1;
        char *name = npi_alloc(&graph->env, length, 1, err);
        if (!name) {
            code = NPGNN_E_MEMORY;
            break;
        }
        /* an id may have been given with the prefix */
        snprintf(name, length, "%s%s", strncmp(id, prefix, strlen(prefix)) == 0 ? "" : prefix, id);
        if (i == 0 && *prefix)
            npi_log(&graph->env, "new nodes are %s; the first is called %.100s", side ? "targets" : "sources", name);
        code = add_name(names, name, err);
        npi_free(&graph->env, name);
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
        code = join_names(&names, graph, added_names, added->n, side, err);
    if (!code)
        code = npi_graph_with_nodes(out, graph, x, names, side, err);
    npi_features_free(x);
    npi_names_free(names);
    npi_features_free(added);
    npi_names_free(added_names);
    return code;
}
