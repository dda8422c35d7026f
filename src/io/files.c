/* Loads a graph from its files: edges, features, names of nodes and of columns, labels.
 *
 * The edges are read first, because their file may have features, labels and names too. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "io/lines.h"
#include "io/readers.h"
#include "io/text.h"

typedef struct files {
    npi_edge_list edges;
    npi_table
        table; /* has rows where there are features, node names or a number of nodes; of a two-sided graph, sources */
    npi_table targets; /* features of the targets of a two-sided graph */
    const npgnn_env *env;
} files;

/* ---- one function per file ---- */

static int read_edges(files *f, npi_stream *stream, npgnn_error *err)
{
    int code = npi_edges_read_any(&f->edges, &f->table, stream, err);
    if (code == 0 && f->edges.other_weights && !f->edges.weighted)
        npi_log(f->env, "%s: ignoring the weights of the edges (--weighted uses them)", npi_stream_name(stream));
    if (code == 0 && f->edges.weighted && !f->edges.other_weights)
        npi_log(f->env,
                "%s: the file has no weights, or all are 1: every row has the weight 1, and repeated links add up",
                npi_stream_name(stream));
    return code;
}

/* Replaces what the file of the edges may have given. */
static int read_features(files *f, npi_stream *stream, npgnn_error *err)
{
    if (f->table.x.cols > 0)
        npi_log(f->env, "%s: used instead of the features and labels in the file of the edges",
                npi_stream_name(stream));
    npi_table_free(f->env, &f->table);
    return npi_table_read(&f->table, stream, f->edges.how, &f->edges, 0, err);
}

static int read_target_features(files *f, npi_stream *stream, npgnn_error *err)
{
    return npi_table_read(&f->targets, stream, f->edges.how, &f->edges, 1, err);
}

static int read_plain_features(files *f, npi_stream *stream, npgnn_error *err)
{
    return npi_table_read_plain(&f->table, stream, err);
}

/* OGB: one line with the number of nodes. */
static int read_count(files *f, npi_stream *stream, npgnn_error *err)
{
    char *line;
    int64_t n;
    int code = npi_stream_read_line(&line, stream, err);
    if (code < 0)
        return code;
    if (code == 0 || !npi_number_parse_int(&n, npi_text_cut_field(&line, ',')) || n < 0 || n >= INT32_MAX)
        return npi_stream_fail(stream, err, "expected the number of nodes, below 2^31 - 1");
    code = npi_stream_read_line(&line, stream, err);
    if (code > 0)
        return npi_stream_fail(stream, err, "these files have several graphs: only one is supported");
    if (code == 0)
        code = npi_table_check_size(stream, n, 0, f->edges.count, err);
    f->edges.nodes = (int32_t)n;
    return code;
}

static int read_plain_labels(files *f, npi_stream *stream, npgnn_error *err)
{
    return npi_labels_read_plain(&f->table.label, &f->table.classes, stream, f->table.x.rows, err);
}

/* Reads the next line with a name: 1, or 0 at the end. */
static int next_name(const char **name, npi_stream *stream, npgnn_error *err)
{
    npi_lines lines = {.stream = stream, .separator = '\n'};
    char *line;
    int code = npi_lines_next(&line, &lines, err);
    if (code > 0)
        *name = npi_text_cut_field(&line, lines.separator);
    return code;
}

/* nodes.txt: one node name per line, in the order of the rows. */
static int read_nodes(files *f, npi_stream *stream, npgnn_error *err)
{
    npi_names *names = NULL;
    const char *name;
    int code = f->table.names ? npi_fail_at(err, NPGNN_E_MISMATCH, npi_stream_name(stream), 0,
                                            "the feature rows have ids already: remove this file or the ids")
                              : npi_names_new(&names, f->env, err);
    while (code == 0 && (code = next_name(&name, stream, err)) > 0) {
        int32_t index, before = npi_names_count(names);
        code = npi_names_add(&index, names, name, strlen(name), err);
        if (code == 0 && index < before)
            code = npi_stream_fail(stream, err, "node '%.60s' occurs twice", name);
    }
    if (code == 0 && !f->table.x.ptr)
        code = npi_table_empty(&f->table, npi_names_count(names), f->env, err);
    if (code == 0 && npi_names_count(names) != f->table.x.rows)
        code = npi_fail_at(err, NPGNN_E_MISMATCH, npi_stream_name(stream), 0, "%d node names for %d feature rows",
                           npi_names_count(names), f->table.x.rows);
    if (code)
        npi_names_free(names);
    else {
        f->table.names = names;
        f->table.numbered = 1;
    }
    return code;
}

/* columns.txt: one column name per line. */
static int read_columns(files *f, npi_stream *stream, npgnn_error *err)
{
    npi_column_names columns = {0};
    const char *name;
    int code = 0;
    while (code == 0 && (code = next_name(&name, stream, err)) > 0)
        code = npi_column_names_add(&columns, name, f->env, err);
    if (code == 0 && columns.count != f->table.x.cols)
        code = npi_fail_at(err, NPGNN_E_MISMATCH, npi_stream_name(stream), 0, "%d column names for %d feature columns",
                           columns.count, f->table.x.cols);
    if (code == 0) {
        npi_names_free(f->table.columns);
        f->table.columns = npi_column_names_take(&columns, npi_stream_name(stream), f->env);
    }
    npi_column_names_free(&columns);
    return code;
}

/* sides.txt: "source" or "target" for each node. */
static int read_sides(files *f, npi_stream *stream, npgnn_error *err)
{
    const char *word;
    int32_t count = 0, rows = f->table.x.rows;
    int code = 0;
    f->table.side = npi_alloc(f->env, (size_t)rows, 1, err);
    if (!f->table.side)
        return NPGNN_E_MEMORY;
    while (code == 0 && (code = next_name(&word, stream, err)) > 0) {
        int target = strcmp(word, "target") == 0;
        code = 0;
        if (!target && strcmp(word, "source") != 0)
            code = npi_stream_fail(stream, err, "expected source or target, got '%.40s'", word);
        else if (count < rows)
            f->table.side[count] = (unsigned char)target;
        count++;
    }
    if (code == 0 && count != rows)
        code = npi_fail_at(err, NPGNN_E_MISMATCH, npi_stream_name(stream), 0, "%d sides for %d nodes", count, rows);
    return code;
}

int npi_encoding_accept(const npi_encoding *encoding, int32_t columns, const char *wanted, const char *file,
                        npgnn_error *err)
{
    if (encoding->width != columns)
        return npi_fail_at(err, NPGNN_E_MISMATCH, file, 0, "the encoding has %d columns, but the features have %d",
                           encoding->width, columns);
    if (wanted && strcmp(wanted, "raw") != 0 && strcmp(wanted, encoding->text) != 0)
        return npi_fail_at(
            err, NPGNN_E_MISMATCH, file, 0,
            "these features were made from their table in another way than those of the model: give the table "
            "itself, which is then encoded as for the model");
    return 0;
}

/* encoding.json: how the features were made. */
static int read_encoding(files *f, npi_stream *stream, npgnn_error *err)
{
    enum { MAX_SIZE = 1 << 30 };
    unsigned char *bytes = NULL;
    size_t size;
    if (f->table.encoding)
        return 0; /* the features are a table of text, which has just been encoded */
    int code = npi_stream_read_all(&bytes, &size, stream, MAX_SIZE, err);
    char *text = code ? NULL : npi_resize(f->env, bytes, size + 1, 1, err);
    if (code)
        return code;
    if (!text) {
        npi_free(f->env, bytes);
        return NPGNN_E_MEMORY;
    }
    text[size] = '\0';
    code = npi_encoding_parse(&f->table.encoding, text, npi_stream_name(stream), f->env, err);
    npi_free(f->env, text);
    return code ? code
                : npi_encoding_accept(f->table.encoding, f->table.x.cols, f->edges.how->encoding,
                                      npi_stream_name(stream), err);
}

/* ---- all files ---- */

typedef int read_fn(files *f, npi_stream *stream, npgnn_error *err);

/* Opens a file and passes it to `read`. Does nothing where the path is empty. */
static int with_file(files *f, const char *path, read_fn *read, npgnn_error *err)
{
    npi_stream *stream = NULL;
    if (!*path)
        return 0;
    int code = npi_stream_open(&stream, path, f->env, err);
    if (code == 0)
        code = read(f, stream, err);
    if (code == 0)
        npi_stream_log_encoding(stream);
    npi_stream_close(stream);
    return code;
}

int npi_location_load(npgnn_graph **out, const npi_location *where, const npgnn_load_options *how, const npgnn_env *env,
                      npgnn_error *err)
{
    files f = {.edges = npi_edges_start(env, how), .env = env};
    if (*where->target_features && !f.edges.how->bipartite)
        return npi_fail(err, NPGNN_E_ARGUMENT, "features of targets need a two-sided graph (bipartite)");
    npi_stream *labels = NULL;
    int code = with_file(&f, where->edges, read_edges, err);
    if (code == 0 && where->kind == NPI_OGB) {
        /* no file has ids or headers, and the number of nodes is in a file of its own */
        code = with_file(&f, where->count, read_count, err);
        if (code == 0)
            code = with_file(&f, where->features, read_plain_features, err);
        if (code == 0 && !f.table.x.ptr)
            code = npi_table_empty(&f.table, f.edges.nodes, env, err);
        if (code == 0)
            code = with_file(&f, where->labels, read_plain_labels, err);
    } else if (code == 0) {
        code = with_file(&f, where->features, read_features, err);
        if (code == 0)
            code = with_file(&f, where->nodes, read_nodes, err);
        if (code == 0)
            code = with_file(&f, where->columns, read_columns, err);
        if (code == 0)
            code = with_file(&f, where->encoding, read_encoding, err);
        if (code == 0 && f.table.x.ptr)
            code = with_file(&f, where->sides, read_sides, err);
        if (code == 0)
            code = with_file(&f, where->target_features, read_target_features, err);
        /* labels refer to nodes by name, so that they are read when the nodes are known */
        if (code == 0 && *where->labels)
            code = npi_stream_open(&labels, where->labels, env, err);
    }
    int has_table = *where->features || *where->target_features || f.table.encoding;
    if (code == 0 && !has_table && (f.edges.how->id || f.edges.how->kind_count > 0 || f.edges.how->ignored_count > 0))
        code = npi_fail(err, NPGNN_E_ARGUMENT,
                        "there is no table of features, of which columns could be chosen (id, column, ignore)");
    if (code == 0 && f.edges.how->bipartite && !f.table.side) {
        npi_table tables[2] = {f.table, f.targets};
        code = npi_sides_to_graph(out, &f.edges, where->edges, tables, env, err);
        memset(&f.table, 0, sizeof f.table);
        memset(&f.targets, 0, sizeof f.targets);
    } else if (code == 0)
        code = npi_edges_to_graph(out, &f.edges, where->edges, f.table.x.ptr ? &f.table : NULL, labels, env, err);
    else
        npi_table_free(env, &f.table);
    npi_table_free(env, &f.targets);
    npi_edges_free(&f.edges);
    if (code == 0 && labels)
        npi_stream_log_encoding(labels);
    npi_stream_close(labels);
    return code;
}
