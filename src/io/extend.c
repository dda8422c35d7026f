/* Extending a graph with new nodes, which have features from a file and no edges. */
#include <stdio.h>
#include <string.h>

#include "features/match.h"
#include "io/readers.h"

/* The new nodes. */
typedef struct addition {
    const char *path;
    int side;        /* of a two-sided graph */
    npi_features *x; /* prepared in the same way as the features of the graph */
    npi_names *ids;  /* NULL: they have none */
    int64_t *line;   /* (x->n) of the file, NULL: not known */
} addition;

static void addition_free(addition *added, const npgnn_env *env)
{
    npi_features_free(added->x);
    npi_names_free(added->ids);
    npi_free(env, added->line);
    *added = (addition){.path = added->path, .side = added->side};
}

/* Reads the features of the new nodes and prepares them in the same way as those of the graph: encoded, binarised or
 * normalised, with the same columns in the same order. */
static int read_features(addition *out, const npgnn_graph *graph, npgnn_error *err)
{
    const char *path = out->path;
    const npgnn_env *env = &graph->env;
    const npgnn_load_options how = {.size = sizeof how,
                                    .encoding = graph->x->encoding ? graph->x->encoding->text : "raw"};
    npi_table table = {0};
    npi_features *x = NULL;
    npi_stream *stream = NULL;
    int code = npi_stream_open(&stream, path, env, err);
    if (code)
        return code;
    code = npi_table_read(&table, stream, &how, NULL, out->side, err);
    if (!code)
        npi_stream_log_encoding(stream);
    npi_stream_close(stream);
    if (!code && table.names && !table.numbered) { /* in the canonical order of their ids, as the nodes of a graph */
        int32_t *place = NULL;
        code = npi_names_sort(&place, table.names, 0, err);
        if (place)
            code = npi_table_permute(&table, place, env, err);
        npi_free(env, place);
    }
    if (!code && table.open && table.x.cols < graph->x->f)
        table.x.cols = graph->x->f; /* the last columns are zero in all rows of this file */
    if (!code)
        code = npi_features_from_csr(&x, &table.x, env, err);
    memset(&table.x, 0, sizeof table.x);
    if (!code) {
        x->columns = npi_names_share(table.columns);
        x->encoding = npi_encoding_share(table.encoding);
        out->ids = npi_names_share(table.names);
        out->line = table.line;
        table.line = NULL;
        if (graph->binarized)
            npi_features_binarize(x);
        code = graph->normalized ? npi_features_normalize(x, err) : 0;
    }
    if (!code)
        code = npi_features_match(&out->x, x, graph->x->columns, graph->x->encoding, graph->x->f, "the graph", path,
                                  env, err);
    npi_features_free(x);
    npi_table_free(env, &table);
    return code;
}

/* The side whose columns the file has: that of sources or, where these do not fit, that of targets. */
static int read_either_side(addition *out, const npgnn_graph *graph, npgnn_error *err)
{
    int columns[2] = {0, 0};
    const npi_encoding *encoding = graph->x->encoding;
    for (int32_t i = 0; encoding && i < encoding->count; i++)
        columns[encoding->columns[i].side] += encoding->columns[i].width;
    if (graph->side && !encoding)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "nodes can be added to a two-sided graph only where its features are tables of "
                        "text, whose columns tell the side");
    out->side = columns[0] == 0 && columns[1] > 0;
    int code = read_features(out, graph, err);
    if (code == NPGNN_E_MISMATCH && graph->side && out->side == 0 && columns[1] > 0) {
        addition_free(out, &graph->env);
        out->side = 1;
        code = read_features(out, graph, err);
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

/* The names of all nodes. Where only the graph or only the new nodes have names, the others are named by their numbers.
 * NULL where neither have names. New nodes of a two-sided graph are called as the others of their side. */
static int join_names(npi_names **out, const npgnn_graph *graph, const addition *added, npgnn_error *err)
{
    char number[12], prefix[80];
    if (!graph->names && !added->ids)
        return 0;
    npi_names *names = NULL;
    int32_t index;
    find_prefix(prefix, sizeof prefix, graph, added->side);
    int code = npi_names_new(&names, &graph->env, err);
    for (int32_t i = 0; !code && i < graph->n; i++) {
        const char *name = npgnn_graph_name(graph, i, number);
        code = npi_names_add(&index, names, name, strlen(name), err);
    }
    for (int32_t i = 0; !code && i < added->x->n; i++) {
        snprintf(number, sizeof number, "%d", graph->n + i);
        const char *id = added->ids ? npi_names_get(added->ids, i) : number;
        size_t length = strlen(prefix) + strlen(id) + 1;
        char *name = npi_alloc(&graph->env, length, 1, err);
        if (!name) {
            code = NPGNN_E_MEMORY;
            break;
        }
        /* an id may have been given with the prefix */
        snprintf(name, length, "%s%s", strncmp(id, prefix, strlen(prefix)) == 0 ? "" : prefix, id);
        if (i == 0 && *prefix)
            npi_log(&graph->env, "new nodes are %s; the first is called %.100s", added->side ? "targets" : "sources",
                    name);
        code = npi_names_add(&index, names, name, strlen(name), err);
        if (!code && index < graph->n + i)
            code = npi_fail_at(err, NPGNN_E_MISMATCH, added->path, added->line ? added->line[i] : 0,
                               "the graph already has a node '%.100s': new nodes need ids of their own", name);
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
    npi_features *x = NULL;
    npi_names *names = NULL;
    addition added = {.path = features};
    int code = read_either_side(&added, graph, err);
    if (!code)
        code = npi_features_stack(&x, graph->x, added.x, err);
    if (!code)
        code = join_names(&names, graph, &added, err);
    if (!code)
        code = npi_graph_with_nodes(out, graph, x, names, added.side, err);
    npi_features_free(x);
    npi_names_free(names);
    addition_free(&added, &graph->env);
    return code;
}
