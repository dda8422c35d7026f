/* Building one graph from edges, features and labels.
 *
 * Edges and feature rows must agree on the nodes:
 *
 *   rows with ids       a node is a row, matched by id; ids that only edges have get a row of zeros;
 *   rows without ids    node i is row i, and the edges must use these indices;
 *   no features         integer ids that are dense enough are the indices, all others become names.
 *
 * Nodes that have names are numbered in the canonical order of these (base/names.h), whatever the order of the lines
 * is. Only where a file gives nodes their places, as nodes.txt and archives of arrays do, they keep these. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "io/header.h"
#include "io/readers.h"

/* ---- feature tables ---- */

void npi_table_free(const npgnn_env *env, npi_table *table)
{
    npi_csr_free(env, &table->x);
    npi_names_free(table->names);
    npi_names_free(table->columns);
    npi_encoding_free(table->encoding);
    npi_free(env, table->label);
    npi_free(env, table->side);
    npi_free(env, table->line);
    memset(table, 0, sizeof *table);
}

int npi_table_empty(npi_table *out, int32_t rows, const npgnn_env *env, npgnn_error *err)
{
    npi_csr x = {.rows = rows};
    x.ptr = npi_alloc(env, (size_t)rows + 1, sizeof *x.ptr, err);
    x.col = npi_alloc(env, 0, sizeof *x.col, err);
    if (!x.ptr || !x.col) {
        npi_csr_free(env, &x);
        return NPGNN_E_MEMORY;
    }
    out->x = x;
    return 0;
}

int npi_table_check_size(npi_stream *stream, int64_t rows, int64_t cols, int64_t elements, npgnn_error *err)
{
    int64_t larger = rows > cols ? rows : cols;
    if (larger <= NPI_UNCHECKED_SIZE || larger / NPI_MAX_SPARSITY <= elements)
        return 0;
    return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                       "%lld rows and %lld columns are too many for %lld elements", (long long)rows, (long long)cols,
                       (long long)elements);
}

/* ---- matching the nodes of edges and features ---- */

int npi_table_extend(npi_table *table, int32_t n, const npgnn_env *env, npgnn_error *err)
{
    int32_t rows = table->x.rows;
    if (table->side)
        return npi_fail(err, NPGNN_E_MISMATCH, "a node of the edges has no side: the folder is damaged");
    int64_t *ptr = npi_resize(env, table->x.ptr, (size_t)n + 1, sizeof *ptr, err);
    if (!ptr)
        return NPGNN_E_MEMORY;
    table->x.ptr = ptr;
    table->x.rows = n;
    npi_free(env, table->line); /* the new rows have none */
    table->line = NULL;
    for (int32_t i = rows; i < n; i++)
        ptr[i + 1] = ptr[rows];
    if (!table->label)
        return 0;
    int32_t *label = npi_resize(env, table->label, (size_t)n, sizeof *label, err);
    if (!label)
        return NPGNN_E_MEMORY;
    for (int32_t i = rows; i < n; i++)
        label[i] = -1;
    table->label = label;
    return 0;
}

/* *items (count), each of `size` bytes: item i moves to place[i]. */
static int permute(void *items_pointer, const int32_t *place, int32_t count, size_t size, const npgnn_env *env,
                   npgnn_error *err)
{
    unsigned char *items;
    memcpy(&items, items_pointer, sizeof items);
    if (!items)
        return 0;
    unsigned char *moved = npi_resize(env, NULL, (size_t)count, size, err);
    if (!moved)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < count; i++)
        memcpy(moved + (size_t)place[i] * size, items + (size_t)i * size, size);
    npi_free(env, items);
    memcpy(items_pointer, &moved, sizeof moved);
    return 0;
}

int npi_table_permute(npi_table *table, const int32_t *place, const npgnn_env *env, npgnn_error *err)
{
    const npi_csr *x = &table->x;
    npi_csr moved;
    int code = npi_csr_new(&moved, x->rows, x->cols, x->ptr[x->rows], x->val != NULL, env, err);
    if (code)
        return code;
    for (int32_t i = 0; i < x->rows; i++)
        moved.ptr[place[i] + 1] = x->ptr[i + 1] - x->ptr[i];
    for (int32_t i = 0; i < x->rows; i++)
        moved.ptr[i + 1] += moved.ptr[i];
    for (int32_t i = 0; i < x->rows; i++) {
        size_t count = (size_t)(x->ptr[i + 1] - x->ptr[i]);
        int64_t from = x->ptr[i], to = moved.ptr[place[i]];
        if (count > 0)
            memcpy(moved.col + to, x->col + from, count * sizeof *x->col);
        if (count > 0 && x->val)
            memcpy(moved.val + to, x->val + from, count * sizeof *x->val);
    }
    npi_csr_free(env, &table->x);
    table->x = moved;
    code = permute(&table->label, place, moved.rows, sizeof *table->label, env, err);
    if (code == 0)
        code = permute(&table->line, place, moved.rows, sizeof *table->line, env, err);
    return code ? code : permute(&table->side, place, moved.rows, 1, env, err);
}

/* Whether some edge has a node below `limit`, or there are no edges. */
static int any_below(const npi_edge_list *edges, int32_t limit)
{
    for (int64_t i = 0; i < edges->count; i++) {
        npgnn_pair pair = edges->pairs[i];
        if (pair.u < limit || pair.v < limit)
            return 1;
    }
    return edges->count == 0;
}

/* Logs names that differ in case, in blanks around them or in a final .0 alone, which pandas adds to integers: they are
 * probably meant to be the same node. */
static int log_similar(const npi_names *names, const char *edges_name, const npgnn_env *env, npgnn_error *err)
{
    enum { MAX_NAMES = 1 << 20, MAX_LENGTH = 255 };
    int32_t count = npi_names_count(names), similar = 0, index, *first = NULL;
    npi_names *folded = NULL;
    char pair[2][48] = {"", ""};
    if (count > MAX_NAMES) /* that many are identifiers of a machine */
        return 0;
    int code = npi_names_new(&folded, env, err);
    if (code == 0 && !(first = npi_alloc(env, (size_t)count, sizeof *first, err))) /* of each in `folded` */
        code = NPGNN_E_MEMORY;
    for (int32_t i = 0; code == 0 && i < count; i++) {
        char name[MAX_LENGTH + 1];
        const char *given = npi_names_get(names, i), *begin = given + strspn(given, " \t");
        size_t length = strlen(begin);
        while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t'))
            length--;
        if (length > 2 && memcmp(begin + length - 2, ".0", 2) == 0 && strspn(begin, "0123456789") == length - 2)
            length -= 2;
        if (length > MAX_LENGTH)
            continue;
        for (size_t c = 0; c < length; c++)
            name[c] = begin[c] >= 'A' && begin[c] <= 'Z' ? (char)(begin[c] - 'A' + 'a') : begin[c];
        int32_t before = npi_names_count(folded);
        code = npi_names_add(&index, folded, name, length, err);
        if (code == 0 && index == before) {
            first[index] = i;
        } else if (code == 0 && similar++ == 0) {
            snprintf(pair[0], sizeof pair[0], "%.40s", npi_names_get(names, first[index]));
            snprintf(pair[1], sizeof pair[1], "%.40s", given);
        }
    }
    if (code == 0 && similar > 0)
        npi_log(env, "%s: ids that differ only in case, blanks or a final .0 are different nodes: '%s' and '%s'%s",
                edges_name, pair[0], pair[1], similar > 1 ? ", and others" : "");
    npi_names_free(folded);
    npi_free(env, first);
    return code;
}

/* Rows with ids. */
static int match_by_name(npi_edge_list *edges, const char *edges_name, npi_table *table, const npgnn_env *env,
                         npgnn_error *err)
{
    int32_t rows = table->x.rows;
    int code = npi_edges_to_names(edges, table->names, err);
    if (code)
        return code;
    /* names from `rows` on were added by edges: these nodes have no row */
    int32_t n = npi_names_count(table->names);
    if (!any_below(edges, rows))
        return npi_fail_at(err, NPGNN_E_MISMATCH, edges_name, 0,
                           "none of the node ids in this file, such as '%.40s', is the id of a feature row, such as "
                           "'%.40s'",
                           npi_names_get(table->names, rows), rows > 0 ? npi_names_get(table->names, 0) : "");
    if (n > rows) {
        char examples[160] = "";
        for (int32_t i = rows; i < n && i < rows + 3; i++)
            snprintf(examples + strlen(examples), sizeof examples - strlen(examples), "%s'%.40s'", i > rows ? ", " : "",
                     npi_names_get(table->names, i));
        npi_log(env, "nodes with edges but without a feature row: %d, such as %s; their features are zero", n - rows,
                examples);
    }
    return n > rows ? npi_table_extend(table, n, env, err) : 0;
}

/* Rows without ids are the nodes 0, 1, 2...: edges must use these indices. */
static int match_by_index(const npi_edge_list *edges, const char *edges_name, const npi_table *table, npgnn_error *err)
{
    int32_t rows = table->x.rows;
    if (edges->names)
        return npi_fail_at(err, NPGNN_E_MISMATCH, edges_name, edges->name_line,
                           "the feature rows have no ids, so node ids must be integers from 0 to %d", rows - 1);
    if (edges->largest >= rows)
        return npi_fail_at(err, NPGNN_E_MISMATCH, edges_name, edges->largest_line,
                           "node %d has no features: with %d feature rows, ids must be from 0 to %d", edges->largest,
                           rows, rows - 1);
    if (edges->nodes != 0 && edges->nodes != rows)
        return npi_fail_at(err, NPGNN_E_MISMATCH, edges_name, 0,
                           "the matrix has %d nodes, but there are %d feature rows", edges->nodes, rows);
    return 0;
}

/* No features. Integer ids are indices where the file states the number of nodes, or where 0 is an id and at least
 * half of the numbers up to the largest id are used. All other ids become names. */
static int settle_without_features(npi_edge_list *edges, npgnn_error *err)
{
    int64_t range = (int64_t)edges->largest + 1, distinct = 0;
    if (edges->nodes > 0 || edges->names)
        return 0;
    /* m edges have at most 2 m ids: more than 4 m numbers cannot be half used, whatever the ids are */
    if (range <= 4 * edges->count) {
        unsigned char *seen = npi_alloc(&edges->env, (size_t)range, 1, err);
        if (!seen)
            return NPGNN_E_MEMORY;
        for (int64_t i = 0; i < edges->count; i++) {
            npgnn_pair pair = edges->pairs[i];
            seen[pair.u] = seen[pair.v] = 1;
        }
        for (int64_t i = 0; i < range; i++)
            distinct += seen[i];
        if (range > 0 && seen[0] && 2 * distinct >= range)
            edges->nodes = edges->largest + 1;
        npi_free(&edges->env, seen);
    }
    return edges->nodes > 0 ? 0 : npi_edges_to_names(edges, NULL, err);
}

/* Whether names[i] is "i" for all i: such names need not be stored. */
static int names_are_indices(const npi_names *names)
{
    char text[12];
    int32_t count = npi_names_count(names);
    for (int32_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%d", i);
        if (strcmp(npi_names_get(names, i), text) != 0)
            return 0;
    }
    return 1;
}

/* ---- scales ---- */

/* Logs a column that rules the features of a file of numbers: comparisons of rows depend on little else. Tables of text
 * are scaled, and need no warning. */
int npi_table_log_dominant(const npi_table *table, const char *what, const npgnn_env *env, npgnn_error *err)
{
    const npi_csr *x = &table->x;
    const npi_names *columns = table->columns;
    double *square = npi_alloc(env, (size_t)x->cols, sizeof *square, err), sum = 0;
    int32_t largest = 0;
    if (!square)
        return NPGNN_E_MEMORY;
    for (int64_t p = 0; x->val && p < x->ptr[x->rows]; p++)
        square[x->col[p]] += (double)x->val[p] * (double)x->val[p];
    for (int32_t c = 0; c < x->cols; c++) {
        sum += square[c];
        largest = square[c] > square[largest] ? c : largest;
    }
    /* with few columns one of them has most of the sum by chance */
    if (x->cols >= 3 && square[largest] > 0.9 * sum && square[largest] * x->cols > 20 * sum) {
        char number[24];
        snprintf(number, sizeof number, "%d", largest + 1);
        npi_log(env,
                "%s: column %s has %.3g %% of the squared length of all features, so that the others hardly count: "
                "scale the columns alike, or give them as a table of text, which is scaled",
                what, columns ? npi_names_get(columns, largest) : number, 100 * square[largest] / sum);
    }
    npi_free(env, square);
    return 0;
}

/* ---- the graph ---- */

/* Numbers the nodes from `first` on in the canonical order of their names. */
static int order_nodes(npi_edge_list *edges, npi_table *table, int32_t first, const npgnn_env *env, npgnn_error *err)
{
    int32_t *place = NULL;
    int code = npi_names_sort(&place, edges->names, first, err);
    for (int64_t i = 0; place && i < edges->count; i++) {
        npgnn_pair *pair = &edges->pairs[i];
        *pair = (npgnn_pair){place[pair->u], place[pair->v]};
    }
    if (place && table)
        code = npi_table_permute(table, place, env, err);
    npi_free(env, place);
    return code;
}

/* Matches the nodes. Sets n and names of the graph. */
static int match_nodes(npi_graph_content *content, npi_edge_list *edges, const char *edges_name, npi_table *table,
                       const npgnn_env *env, npgnn_error *err)
{
    const npi_names *nodes[2] = {table ? table->names : NULL, table ? table->names : NULL};
    int32_t placed = table && table->numbered ? table->x.rows : 0;
    int code = npi_edges_settle_header(edges, edges_name, nodes, err);
    if (code)
        return code;
    if (!table)
        code = settle_without_features(edges, err);
    else if (table->names)
        code = match_by_name(edges, edges_name, table, env, err);
    else
        code = match_by_index(edges, edges_name, table, err);
    if (code == 0 && edges->names)
        code = order_nodes(edges, table, placed, env, err);
    if (code)
        return code;
    if (table)
        content->n = table->x.rows;
    else
        content->n = edges->names ? npi_names_count(edges->names) : edges->nodes;
    if (edges->names && !names_are_indices(edges->names)) {
        content->names = npi_names_share(edges->names);
        code = log_similar(edges->names, edges_name, env, err);
    }
    return code;
}

/* Logs that directions are ignored where the file seems to mean them: some edges are given in both directions,
 * others in one. */
static void log_directions(const npgnn_graph *graph, const npi_edge_list *edges, const char *edges_name,
                           const npgnn_env *env)
{
    if (edges->directed || (graph->reverse > 0 && graph->reverse < graph->m))
        npi_log(env, "%s: ignoring directions: %lld links, %lld of them given in both directions", edges_name,
                (long long)graph->m, (long long)graph->reverse);
}

/* Logs that the ends of links seem to be two kinds of nodes, and how many ids are those of one of each. */
static int log_two_kinds(const npi_edge_list *edges, const char *edges_name, int32_t n, const npgnn_env *env,
                         npgnn_error *err)
{
    if (edges->how->bipartite || !npi_header_are_two_kinds(edges->ends[0], edges->ends[1]))
        return 0;
    unsigned char *ends = npi_alloc(env, (size_t)n, sizeof *ends, err);
    int32_t both = 0;
    if (!ends)
        return NPGNN_E_MEMORY;
    for (int64_t i = 0; i < edges->count; i++) {
        npgnn_pair pair = edges->pairs[i];
        ends[pair.u] |= 1;
        ends[pair.v] |= 2;
    }
    for (int32_t i = 0; i < n; i++)
        both += ends[i] == 3;
    npi_free(env, ends);
    if (both > 0)
        npi_log(env,
                "%s: '%.40s' and '%.40s' look like two kinds of nodes, but ids that are in both columns became one "
                "node: %d (--bipartite keeps them apart)",
                edges_name, edges->ends[0], edges->ends[1], both);
    else
        npi_log(env,
                "%s: '%.40s' and '%.40s' look like two kinds of nodes (--bipartite predicts links between the two "
                "only)",
                edges_name, edges->ends[0], edges->ends[1]);
    return 0;
}

int npi_edges_to_graph(npgnn_graph **out, npi_edge_list *edges, const char *edges_name, npi_table *table,
                       npi_stream *labels, const npgnn_env *env, npgnn_error *err)
{
    npi_graph_content content = {0};
    int code = match_nodes(&content, edges, edges_name, table, env, err);
    if (code == 0 && !(table && table->side))
        code = log_two_kinds(edges, edges_name, content.n, env, err);
    if (code == 0 && table && !table->encoding && table->x.cols > 0)
        code = npi_table_log_dominant(table, "features", env, err);
    /* the graph takes features, labels and column names out of the table */
    if (code == 0 && table) {
        content.label = table->label;
        content.classes = table->classes;
        table->label = NULL;
        code = npi_features_from_csr(&content.x, &table->x, env, err);
        memset(&table->x, 0, sizeof table->x);
    }
    if (code == 0 && table) {
        content.x->columns = table->columns;
        content.x->encoding = table->encoding;
        table->columns = NULL;
        table->encoding = NULL;
    }
    /* a file of labels replaces those of the table */
    if (code == 0 && labels) {
        npi_free(env, content.label);
        content.label = NULL;
        code = npi_labels_read(&content.label, &content.classes, labels, content.names, content.n, err);
    }
    if (code == 0 && table && table->side) {
        content.side = table->side;
        table->side = NULL;
        for (int64_t i = 0; code == 0 && i < edges->count; i++) {
            npgnn_pair pair = edges->pairs[i];
            if (content.side[pair.u] == content.side[pair.v])
                code = npi_fail_at(err, NPGNN_E_MISMATCH, edges_name, 0, "a link joins two nodes of the same side");
        }
    }
    if (code == 0 && edges->how->time && edges->count > 0 && !edges->times)
        code = npi_fail_at(err, NPGNN_E_ARGUMENT, edges_name, 0, "a file of this format has no times of links");
    if (table)
        npi_table_free(env, table);
    if (code) {
        npi_features_free(content.x);
        npi_names_free(content.names);
        npi_free(env, content.label);
        npi_free(env, content.side);
        return code;
    }
    npi_edges_describe(&content, edges);
    code = npi_graph_build(out, &content, env, err);
    if (code == 0)
        log_directions(*out, edges, edges_name, env);
    return code;
}
