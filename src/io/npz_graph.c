/* Graphs and feature tables in .npz files; npz.h lists the kinds of files. */
#include <stdio.h>
#include <string.h>

#include "io/npz.h"

/* ---- features ---- */

static int sparse_features(npi_csr *out, npi_zip *zip, const char *prefix, npgnn_error *err)
{
    npi_triples triples = {0};
    int32_t rows, cols;
    int code = npi_npz_read_sparse(&triples, &rows, &cols, zip, prefix, err);
    if (code == 0)
        code = npi_triples_to_csr(out, &triples, rows, cols, npi_zip_stream(zip), err);
    npi_free(npi_zip_env(zip), triples.items);
    return code;
}

static int dense_features(npi_table *table, npi_zip *zip, const char *key, npgnn_error *err)
{
    npi_stream *stream = NULL;
    int code = npi_npz_stream(&stream, zip, "", key, err);
    if (code == 0)
        code = npi_table_read_npy(table, stream, err);
    npi_stream_close(stream);
    return code;
}

/* Where the features of a graph are. */
static const char *const sparse_prefixes[] = {"attr_", "attr_matrix.", NULL};
static const char *const dense_keys[] = {"x", "features", "attr_matrix", "feat", "node_feat", NULL};

static int has_features(npi_zip *zip)
{
    for (int i = 0; sparse_prefixes[i]; i++)
        if (npi_npz_has(zip, sparse_prefixes[i], "data"))
            return 1;
    return npi_npz_first(zip, dense_keys) != NULL;
}

/* Reads the features of a graph. Leaves the table empty where the archive has none. */
static int read_features(npi_table *table, npi_zip *zip, npgnn_error *err)
{
    const char *key = npi_npz_first(zip, dense_keys);
    for (int i = 0; sparse_prefixes[i]; i++)
        if (npi_npz_has(zip, sparse_prefixes[i], "data"))
            return sparse_features(&table->x, zip, sparse_prefixes[i], err);
    return key ? dense_features(table, zip, key, err) : 0;
}

int npi_table_read_npz(npi_table *out, npi_stream *stream, npgnn_error *err)
{
    static const char *const first[] = {"arr_0", NULL};
    npi_zip *zip = NULL;
    npi_table table = {0};
    int code = npi_zip_open(&zip, stream, err);
    if (code == 0 && npi_npz_has(zip, "", "format"))
        code = sparse_features(&table.x, zip, "", err);
    else if (code == 0 && npi_npz_first(zip, first))
        code = dense_features(&table, zip, first[0], err);
    else if (code == 0)
        code = read_features(&table, zip, err);
    if (code == 0 && !table.x.ptr)
        code =
            npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                        "no features in this file: expected a sparse matrix of scipy or an array x, features or arr_0");
    npi_zip_close(zip);
    if (code == 0)
        *out = table;
    return code;
}

/* ---- names and labels ---- */

/* Where the texts of an array go. */
typedef struct text_sink {
    npi_zip *zip;
    npi_names *names;
    npi_column_names columns;
    npi_labels labels;
} text_sink;

static int add_name(void *user, char *text, npgnn_error *err)
{
    text_sink *sink = user;
    int32_t index, before = npi_names_count(sink->names);
    int code = npi_names_add(&index, sink->names, text, strlen(text), err);
    if (code == 0 && index != before)
        return npi_fail_at(err, NPGNN_E_FORMAT, npi_zip_name(sink->zip), 0, "node name '%.60s' occurs twice", text);
    return code;
}

static int add_column(void *user, char *text, npgnn_error *err)
{
    text_sink *sink = user;
    return npi_column_names_add(&sink->columns, text, npi_zip_env(sink->zip), err);
}

/* -1 means that a node has no label. */
static int add_label(void *user, char *text, npgnn_error *err)
{
    text_sink *sink = user;
    return npi_labels_add(&sink->labels, strcmp(text, "-1") == 0 ? "" : text, npi_zip_env(sink->zip), err);
}

/* Calls `see` for each element of a vector of texts or integers, as text. */
static int each_text(const npi_npy_header *array, npi_stream *stream, npi_text_fn *see, void *user, npgnn_error *err)
{
    int64_t *numbers = NULL;
    if (array->type.kind == 'U' || array->type.kind == 'S')
        return npi_npy_read_texts(array, stream, see, user, err);
    int code = npi_npy_read_ints(&numbers, array, stream, err);
    for (int64_t i = 0; code == 0 && i < array->rows; i++) {
        char text[24];
        snprintf(text, sizeof text, "%lld", (long long)numbers[i]);
        code = see(user, text, err);
    }
    npi_free(npi_stream_env(stream), numbers);
    return code;
}

/* Reads the first of the arrays `keys` that the archive has. An array that is not a vector of `count` texts or
 * integers, such as Python objects, is ignored with a notice: the graph does not depend on it. */
static int read_texts(text_sink *sink, const char *const keys[], npi_text_fn *see, int64_t count, npgnn_error *err)
{
    const npgnn_env *env = npi_zip_env(sink->zip);
    const char *key = npi_npz_first(sink->zip, keys);
    npi_stream *stream = NULL;
    npi_npy_header array = {0};
    npgnn_error why = {0};
    if (!key)
        return 0;
    int code = npi_npz_open(&stream, &array, sink->zip, "", key, &why);
    if (code == NPGNN_E_FORMAT) {
        npi_log(env, "%s; ignoring this array", why.text);
        return 0;
    }
    if (code) {
        if (err)
            *err = why;
        return code;
    }
    if (array.rows == count && array.cols == 1 && array.type.kind != 'f')
        code = each_text(&array, stream, see, sink, err);
    else
        npi_log(env, "%s: ignoring this array: expected a vector of %lld texts or integers", npi_stream_name(stream),
                (long long)count);
    npi_stream_close(stream);
    return code;
}

/* Reads the names of nodes and columns and the labels into the table. */
static int read_names(npi_table *table, text_sink *sink, int32_t n, npgnn_error *err)
{
    static const char *const nodes[] = {"node_names", NULL}, *const columns[] = {"attr_names", NULL};
    static const char *const labels[] = {"labels", "y", "target", "node_label", NULL};
    const npgnn_env *env = npi_zip_env(sink->zip);
    int code = npi_names_new(&sink->names, env, err);
    if (code == 0)
        code = read_texts(sink, nodes, add_name, n, err);
    if (code == 0 && table->x.cols > 0)
        code = read_texts(sink, columns, add_column, table->x.cols, err);
    if (code == 0)
        code = read_texts(sink, labels, add_label, n, err);
    if (code)
        return code;
    if (npi_names_count(sink->names) > 0) {
        table->names = sink->names;
        table->numbered = 1;
        sink->names = NULL;
    }
    table->columns = npi_column_names_take(&sink->columns, npi_zip_name(sink->zip), env);
    return npi_labels_take(&table->label, &table->classes, &sink->labels, env, err);
}

/* ---- edges ---- */

/* The edges of an adjacency matrix. */
static int matrix_edges(npi_edge_list *list, npi_zip *zip, const char *prefix, npgnn_error *err)
{
    npi_triples triples = {0};
    int32_t rows = 0, cols = 0;
    int code = npi_npz_read_sparse(&triples, &rows, &cols, zip, prefix, err);
    if (code == 0)
        code = npi_edges_state_nodes(list, rows, cols, npi_zip_stream(zip), err);
    for (size_t i = 0; code == 0 && i < triples.count; i++) {
        npgnn_pair edge = {triples.items[i].row, triples.items[i].col};
        code = npi_edges_add_indices(list, edge, triples.items[i].val, npi_zip_stream(zip), err);
    }
    npi_free(npi_zip_env(zip), triples.items);
    return code;
}

/* Adds edges from an array of ids: edge i joins ids[i * step] and ids[i * step + across]. */
static int add_listed(npi_edge_list *list, const int64_t *ids, int64_t count, int64_t step, int64_t across,
                      npi_zip *zip, npgnn_error *err)
{
    int code = 0;
    for (int64_t i = 0; code == 0 && i < count; i++) {
        int64_t u = ids[i * step], v = ids[i * step + across], larger = u > v ? u : v;
        if (u < 0 || v < 0 || larger >= INT32_MAX)
            return npi_fail_at(err, NPGNN_E_FORMAT, npi_zip_name(zip), 0,
                               "edge %lld (counted from 0) joins nodes %lld and %lld: ids must be from 0 to 2^31 - 2",
                               (long long)i, (long long)u, (long long)v);
        if (larger > list->largest)
            list->largest = (int32_t)larger;
        npgnn_pair edge = {(int32_t)u, (int32_t)v};
        code = npi_edges_add_indices(list, edge, 1, npi_zip_stream(zip), err);
    }
    return code;
}

/* The edges of an array (2, m) or (m, 2). A (2, 2) array is (2, m) where it is called edge_index. */
static int list_edges(npi_edge_list *list, npi_zip *zip, const char *key, npgnn_error *err)
{
    int64_t *ids = NULL;
    npi_npy_header array;
    int code = npi_npz_read_ints(&ids, &array, zip, "", key, err);
    if (code)
        return code;
    if (array.rows == 2 && (array.cols != 2 || strcmp(key, "edge_index") == 0))
        code = add_listed(list, ids, array.cols, 1, array.cols, zip, err);
    else if (array.cols == 2)
        code = add_listed(list, ids, array.rows, 2, 1, zip, err);
    else
        code = npi_fail_at(err, NPGNN_E_FORMAT, npi_zip_name(zip), 0, "%s must have the shape 2 x edges or edges x 2",
                           key);
    npi_free(npi_zip_env(zip), ids);
    return code;
}

static int read_edges(npi_edge_list *list, npi_zip *zip, npgnn_error *err)
{
    static const char *const prefixes[] = {"adj_", "adj_matrix.", NULL};
    static const char *const lists[] = {"edge_index", "edges", NULL};
    const char *key = npi_npz_first(zip, lists);
    for (int i = 0; prefixes[i]; i++)
        if (npi_npz_has(zip, prefixes[i], "data"))
            return matrix_edges(list, zip, prefixes[i], err);
    if (key)
        return list_edges(list, zip, key, err);
    if (npi_npz_has(zip, "", "format"))
        return matrix_edges(list, zip, "", err);
    return npi_fail_at(err, NPGNN_E_FORMAT, npi_zip_name(zip), 0,
                       "no graph in this file: expected adj_data, edge_index, edges or a sparse matrix of scipy");
}

/* ---- the graph ---- */

/* Edges refer to rows by index: gives them the names of the rows. */
static int share_names(npi_edge_list *list, const npi_table *table, npi_zip *zip, npgnn_error *err)
{
    int32_t rows = table->x.rows;
    if (list->largest >= rows || (list->nodes != 0 && list->nodes != rows))
        return npi_fail_at(err, NPGNN_E_MISMATCH, npi_zip_name(zip), 0,
                           "the edges have %d nodes, but there are %d node names",
                           list->nodes ? list->nodes : list->largest + 1, rows);
    list->names = npi_names_share(table->names);
    return 0;
}

static int read_graph(npi_edge_list *list, npi_table *table, npi_zip *zip, npgnn_error *err)
{
    text_sink sink = {.zip = zip};
    int code = read_edges(list, zip, err);
    if (code == 0 && list->how->bipartite) {
        static const char *const others[] = {"node_names", "labels", "y", "target", "node_label", NULL};
        if (has_features(zip) || npi_npz_first(zip, others))
            return npi_fail_at(err, NPGNN_E_ARGUMENT, npi_zip_name(zip), 0,
                               "this file has features, names or labels of one set of nodes: a two-sided graph takes "
                               "features from a file per side");
        return 0;
    }
    if (code == 0)
        code = read_features(table, zip, err);
    /* names and labels are read where the number of nodes is known, from features or from a matrix */
    int32_t n = table->x.ptr ? table->x.rows : list->nodes;
    if (code == 0 && n > 0)
        code = read_names(table, &sink, n, err);
    if (code == 0 && !table->x.ptr && (table->names || table->label))
        code = npi_table_empty(table, n, npi_zip_env(zip), err);
    if (code == 0 && table->names)
        code = share_names(list, table, zip, err);
    npi_names_free(sink.names);
    npi_column_names_free(&sink.columns);
    npi_labels_free(&sink.labels, npi_zip_env(zip));
    return code;
}

int npi_npz_read_graph(npi_edge_list *list, npi_table *table, npi_stream *stream, npgnn_error *err)
{
    npi_zip *zip = NULL;
    int code = npi_zip_open(&zip, stream, err);
    if (code == 0)
        code = read_graph(list, table, zip, err);
    npi_zip_close(zip);
    return code;
}
