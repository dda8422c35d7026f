/* The files that a graph is in, read one after the other. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "io/readers.h"
#include "io/text.h"

typedef struct files {
    npi_edge_list edges;
    npi_table table; /* rows where there are features, or names or a number of nodes */
    const npgnn_env *env;
} files;

/* ---- one file each ---- */

static int read_edges(files *f, npi_stream *stream, npgnn_error *err)
{
    int code = npi_edges_read_any(&f->edges, &f->table, stream, err);
    if (code == 0 && f->edges.other_weights && !f->edges.weighted)
        npi_log(f->env, "%s: weights are ignored; with --weighted they count", npi_stream_name(stream));
    return code;
}

/* They take the place of rows that have none. */
static int read_features(files *f, npi_stream *stream, npgnn_error *err)
{
    if (f->table.x.cols > 0)
        return npi_fail_at(err, NPGNN_E_ARGUMENT, npi_stream_name(stream), 0,
                           "the file of the edges has features too: one of them is too much");
    npi_table_free(f->env, &f->table);
    return npi_table_read(&f->table, stream, err);
}

static int read_plain_features(files *f, npi_stream *stream, npgnn_error *err)
{
    return npi_table_read_plain(&f->table, stream, err);
}

/* The number of nodes, in a file of its own. */
static int read_count(files *f, npi_stream *stream, npgnn_error *err)
{
    char *line;
    int64_t n;
    int code = npi_stream_read_line(&line, stream, err);
    if (code < 0)
        return code;
    if (code == 0 || !npi_number_parse_int(&n, npi_text_cut_field(&line, ',')) || n < 0 || n >= INT32_MAX)
        return npi_stream_fail(stream, err, "the number of nodes should be here, below 2^31 - 1");
    code = npi_stream_read_line(&line, stream, err);
    if (code > 0)
        return npi_stream_fail(stream, err, "there are several graphs in these files: one is understood");
    if (code == 0)
        code = npi_table_check_size(stream, n, 0, f->edges.count, err);
    f->edges.nodes = (int32_t)n;
    return code;
}

static int read_plain_labels(files *f, npi_stream *stream, npgnn_error *err)
{
    return npi_labels_read_plain(&f->table.label, &f->table.classes, stream, f->table.x.rows, err);
}

/* The next name of a file with one a line: 1, or 0 at the end. */
static int next_name(const char **name, npi_stream *stream, npgnn_error *err)
{
    char *line;
    int code;
    while ((code = npi_stream_read_line(&line, stream, err)) > 0 && npi_text_is_skippable(line))
        ;
    if (code > 0)
        *name = npi_text_cut_field(&line, '\n');
    return code;
}

static int read_nodes(files *f, npi_stream *stream, npgnn_error *err)
{
    npi_names *names = NULL;
    const char *name;
    int code = f->table.names ? npi_fail_at(err, NPGNN_E_MISMATCH, npi_stream_name(stream), 0,
                                            "the rows of features have names of their own")
                              : npi_names_new(&names, f->env, err);
    while (code == 0 && (code = next_name(&name, stream, err)) > 0) {
        int32_t index, before = npi_names_count(names);
        code = npi_names_add(&index, names, name, strlen(name), err);
        if (code == 0 && index < before)
            code = npi_stream_fail(stream, err, "node '%.60s' is there already", name);
    }
    if (code == 0 && !f->table.x.ptr)
        code = npi_table_empty(&f->table, npi_names_count(names), f->env, err);
    if (code == 0 && npi_names_count(names) != f->table.x.rows)
        code = npi_fail_at(err, NPGNN_E_MISMATCH, npi_stream_name(stream), 0, "%d nodes, but %d rows of features",
                           npi_names_count(names), f->table.x.rows);
    if (code)
        npi_names_free(names);
    else
        f->table.names = names;
    return code;
}

static int read_columns(files *f, npi_stream *stream, npgnn_error *err)
{
    npi_column_names columns = {0};
    const char *name;
    int code = 0;
    while (code == 0 && (code = next_name(&name, stream, err)) > 0)
        code = npi_column_names_add(&columns, name, f->env, err);
    if (code == 0 && columns.count != f->table.x.cols)
        code = npi_fail_at(err, NPGNN_E_MISMATCH, npi_stream_name(stream), 0, "%d names for %d columns of features",
                           columns.count, f->table.x.cols);
    if (code == 0) {
        npi_names_free(f->table.columns);
        f->table.columns = npi_column_names_take(&columns, npi_stream_name(stream), f->env);
    }
    npi_column_names_free(&columns);
    return code;
}

/* ---- all of them ---- */

typedef int read_fn(files *f, npi_stream *stream, npgnn_error *err);

static int with_file(files *f, const char *path, read_fn *read, npgnn_error *err)
{
    npi_stream *stream = NULL;
    if (!*path)
        return 0;
    int code = npi_stream_open(&stream, path, f->env, err);
    if (code == 0)
        code = read(f, stream, err);
    npi_stream_close(stream);
    return code;
}

/* OGB's: nothing has an id or a header, the number of nodes is in a file of its own. */
static int read_plain(files *f, const npi_location *where, npgnn_error *err)
{
    int code = with_file(f, where->count, read_count, err);
    if (code == 0)
        code = with_file(f, where->features, read_plain_features, err);
    if (code == 0 && !f->table.x.ptr)
        code = npi_table_empty(&f->table, f->edges.nodes, f->env, err);
    if (code == 0)
        code = with_file(f, where->labels, read_plain_labels, err);
    return code;
}

static int read_named(files *f, const npi_location *where, npgnn_error *err)
{
    int code = with_file(f, where->features, read_features, err);
    if (code == 0)
        code = with_file(f, where->nodes, read_nodes, err);
    if (code == 0)
        code = with_file(f, where->columns, read_columns, err);
    return code;
}

int npi_location_load(npgnn_graph **out, const npi_location *where, int weighted, const npgnn_env *env,
                      npgnn_error *err)
{
    files f = {.edges = npi_edges_start(env, weighted), .env = env};
    npi_stream *labels = NULL;
    int plain = where->kind == NPI_OGB;
    int code = with_file(&f, where->edges, read_edges, err);
    if (code == 0)
        code = plain ? read_plain(&f, where, err) : read_named(&f, where, err);
    if (code == 0 && !plain && *where->labels)
        code = npi_stream_open(&labels, where->labels, env, err);
    if (code == 0)
        code = npi_edges_to_graph(out, &f.edges, where->edges, f.table.x.ptr ? &f.table : NULL, labels, env, err);
    else
        npi_table_free(env, &f.table);
    npi_edges_free(&f.edges);
    npi_stream_close(labels);
    return code;
}
