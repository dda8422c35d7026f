/* npgnn_graph_new: a graph from the caller's arrays, with names, weights, times, sides, and features as a matrix or
 * as a table.
 *
 * A table is written out as cells of text, numbers with as many digits as tell them apart, and then goes the way of a
 * CSV file (io/csv.c): the same values give the same features. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/sized.h"
#include "io/cells.h"
#include "io/header.h"

#define NUMBER_SIZE 32 /* a double as text */

/* ---- tables ---- */

/* The columns of one side as cells. With names, the first row is the header. cells->line counts rows from 1. */
static int write_cells(npi_cells *out, const npgnn_column *const *columns, int fields, int32_t rows, int named,
                       const npgnn_env *env, npgnn_error *err)
{
    npi_cells cells = {.env = *env, .fields = fields, .rows = rows + named};
    size_t lines = (size_t)cells.rows, size = 0;
    for (int c = 0; c < fields; c++) {
        size += named ? strlen(columns[c]->name) + 1 : 0;
        for (int32_t i = 0; i < rows; i++)
            size += columns[c]->numbers ? NUMBER_SIZE : columns[c]->texts[i] ? strlen(columns[c]->texts[i]) + 1 : 1;
    }
    cells.text = npi_resize(env, NULL, size + 1, 1, err);
    cells.row = npi_alloc(env, lines, sizeof *cells.row, err);
    cells.line = npi_alloc(env, lines, sizeof *cells.line, err);
    cells.cell = npi_alloc(env, lines * (size_t)fields, sizeof *cells.cell, err);
    int code = cells.text && cells.row && cells.line && cells.cell ? 0 : NPGNN_E_MEMORY;
    for (int32_t i = 0; code == 0 && i < cells.rows; i++) {
        cells.row[i] = cells.used;
        cells.line[i] = i + 1 - named;
        for (int c = 0; code == 0 && c < fields; c++) {
            const npgnn_column *column = columns[c];
            int32_t node = i - named;
            char number[NUMBER_SIZE];
            const char *text = node < 0 ? column->name : column->texts ? column->texts[node] : number;
            number[0] = '\0';
            if (node >= 0 && column->numbers && !isnan(column->numbers[node]))
                npi_number_print(number, sizeof number, column->numbers[node]);
            size_t length = text ? strlen(text) : 0;
            if (length > 0)
                memcpy(cells.text + cells.used, text, length);
            cells.text[cells.used + length] = '\0';
            cells.cell[(size_t)i * (size_t)fields + (size_t)c] = (uint32_t)(cells.used - cells.row[i]);
            cells.used += length + 1;
            if (cells.used - cells.row[i] > UINT32_MAX / 2)
                code = npi_fail_at(err, NPGNN_E_ARGUMENT, "nodes", cells.line[i], "the row is too long");
        }
    }
    if (code)
        npi_cells_free(&cells);
    else
        *out = cells;
    return code;
}

/* What messages call the table of one side. */
static const char *table_name(const npgnn_graph_data *data, int side)
{
    return data->sources == 0 ? "nodes" : side ? "targets" : "sources";
}

/* Checks the columns of one side, and lists them with their kinds. Returns how many there are. */
static int list_columns(const npgnn_column **columns, npi_kind *kinds, int *named, const npgnn_graph_data *data,
                        int side, int32_t rows, npgnn_error *err)
{
    int fields = 0, names = 0;
    for (int32_t c = 0; c < data->table_columns; c++) {
        const npgnn_column *column = &data->table[c];
        const char *name = column->name ? column->name : "(without a name)";
        npi_kind kind = column->kind ? npi_kind_find(column->kind) : NPI_KINDS;
        if (column->kind && kind == NPI_KINDS)
            return npi_fail(err, NPGNN_E_ARGUMENT,
                            "column '%.60s': '%.40s' is not a kind: number, category, flag, date, text, raw or ignored",
                            name, column->kind);
        if (!column->numbers == !column->texts && rows > 0)
            return npi_fail(err, NPGNN_E_ARGUMENT, "column '%.60s' must have either numbers or texts", name);
        if (column->side != 0 && (column->side != 1 || data->sources == 0))
            return npi_fail(err, NPGNN_E_ARGUMENT, "column '%.60s' is of side %d, but the graph is %s", name,
                            column->side, data->sources ? "two-sided: 0 or 1" : "one-sided");
        if (column->side != side)
            continue;
        for (int32_t i = 0; column->numbers && i < rows; i++)
            if (isinf(column->numbers[i]))
                return npi_fail_at(err, NPGNN_E_ARGUMENT, table_name(data, side), i + 1,
                                   "the number in column '%.60s' is not finite", name);
        names += column->name != NULL;
        kinds[fields] = kind;
        columns[fields++] = column;
    }
    if (names > 0 && names < fields)
        return npi_fail(err, NPGNN_E_ARGUMENT, "either all columns of a table have names or none has");
    *named = names > 0;
    return fields;
}

/* The features of the first `rows` nodes of one side. */
static int encode_side(npi_table *out, const npgnn_graph_data *data, int side, int32_t rows, const npgnn_env *env,
                       npgnn_error *err)
{
    const npgnn_load_options how = {
        .size = sizeof how, .encoding = data->encoding, .skip_bad_rows = data->skip_bad_cells};
    const npgnn_column **columns = npi_alloc(env, (size_t)data->table_columns, sizeof *columns, err);
    npi_kind *kinds = npi_alloc(env, (size_t)data->table_columns, sizeof *kinds, err);
    unsigned char *printed = npi_alloc(env, (size_t)data->table_columns, 1, err);
    npi_cells cells = {.env = *env};
    int named = 0, code = columns && kinds && printed ? 0 : NPGNN_E_MEMORY;
    int fields = code ? code : list_columns(columns, kinds, &named, data, side, rows, err);
    if (fields < 0)
        code = fields;
    if (fields > 0) {
        for (int c = 0; c < fields; c++)
            printed[c] = columns[c]->numbers != NULL;
        code = write_cells(&cells, columns, fields, rows, named, env, err);
        if (code == 0)
            code = npi_table_from_columns(out, &cells, !named, kinds, printed, &how, side, table_name(data, side), err);
    }
    npi_cells_free(&cells);
    npi_free(env, columns);
    npi_free(env, kinds);
    npi_free(env, printed);
    return code;
}

/* Adds rows of zeros up to n, and moves row i to node[i]; NULL: all stay. The added rows take the other places. */
static int place_rows(npi_table *table, const int32_t *node, int32_t n, const char *what, const npgnn_env *env,
                      npgnn_error *err)
{
    int32_t rows = table->x.rows, next = rows;
    int code = rows < n ? npi_table_extend(table, n, env, err) : 0;
    int32_t *place = code || !node ? NULL : npi_resize(env, NULL, (size_t)n, sizeof *place, err);
    unsigned char *taken = code || !node ? NULL : npi_alloc(env, (size_t)n, 1, err);
    if (node && (!place || !taken))
        code = NPGNN_E_MEMORY;
    for (int32_t i = 0; node && code == 0 && i < rows; i++) {
        if (node[i] < 0 || node[i] >= n || taken[node[i]]++)
            code = npi_fail_at(err, NPGNN_E_ARGUMENT, what, i + 1, "the row is that of node %d, which is %s", node[i],
                               node[i] < 0 || node[i] >= n ? "out of range" : "that of another row too");
        place[i] = node[i];
    }
    for (int32_t i = 0; node && code == 0 && i < n; i++)
        if (!taken[i])
            place[next++] = i;
    if (node && code == 0)
        code = npi_table_permute(table, place, env, err);
    npi_free(env, place);
    npi_free(env, taken);
    return code;
}

static int features_from_table(npi_features **out, const npgnn_graph_data *data, const npgnn_env *env, npgnn_error *err)
{
    int32_t n[2] = {data->sources > 0 ? data->sources : data->nodes,
                    data->sources > 0 ? data->nodes - data->sources : 0};
    npi_table tables[2];
    int given = data->encoding && strcmp(data->encoding, "raw") != 0;
    memset(tables, 0, sizeof tables);
    int code = 0;
    for (int side = 0; code == 0 && side < (data->sources > 0 ? 2 : 1); side++) {
        int32_t rows = data->table_rows[side];
        if (rows < 0 || rows > n[side])
            code = npi_fail(err, NPGNN_E_ARGUMENT, "the table has %d rows, but there are %d nodes", rows, n[side]);
        else
            code = encode_side(&tables[side], data, side, rows > 0 ? rows : n[side], env, err);
        if (code == 0 && tables[side].x.ptr)
            code = place_rows(&tables[side], data->table_nodes[side], n[side], table_name(data, side), env, err);
    }
    if (code == 0 && data->sources > 0) {
        code = npi_sides_join(out, tables, n, given, env, err);
    } else if (code == 0 && tables[0].x.ptr) {
        code = npi_features_from_csr(out, &tables[0].x, env, err); /* takes x, also on failure */
        memset(&tables[0].x, 0, sizeof tables[0].x);
        if (code == 0) {
            (*out)->columns = npi_names_share(tables[0].columns);
            (*out)->encoding = npi_encoding_share(tables[0].encoding);
        }
    }
    npi_table_free(env, &tables[0]);
    npi_table_free(env, &tables[1]);
    return code;
}

/* ---- matrices ---- */

/* The calls for graphs without names check and copy a matrix: the features of one without edges are what is wanted. */
static int features_from_matrix(npi_features **out, const npgnn_graph_data *data, const npgnn_env *env,
                                npgnn_error *err)
{
    npgnn_graph *bare = NULL;
    npi_column_names columns = {0};
    int code = data->ptr
                   ? npgnn_graph_from_csr(&bare, NULL, data->ptr, data->col, data->val, data->nodes, 0, data->columns,
                                          env, err)
                   : npgnn_graph_from_arrays(&bare, NULL, data->features, data->nodes, 0, data->columns, env, err);
    for (int32_t c = 0; code == 0 && data->column_names && c < data->columns; c++)
        code = npi_column_names_add(&columns, data->column_names[c], env, err);
    if (code == 0) {
        *out = npi_features_share(bare->x);
        if (data->column_names)
            (*out)->columns = npi_column_names_take(&columns, "features", env);
    }
    npi_column_names_free(&columns);
    npgnn_graph_free(bare);
    if (code || (*out)->dense || (*out)->f == 0)
        return code;
    npi_table view = {.x = (*out)->x, .columns = (*out)->columns};
    code = npi_table_log_dominant(&view, "features", env, err);
    if (code) {
        npi_features_free(*out);
        *out = NULL;
    }
    return code;
}

/* ---- the graph ---- */

static int check(const npgnn_graph_data *data, npgnn_error *err)
{
    int forms = (data->features != NULL) + (data->ptr != NULL) + (data->table_columns > 0);
    if (data->nodes < 0 || data->edge_count < 0 || data->columns < 0 || data->table_columns < 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "sizes must not be negative, got %d nodes, %lld edges, %d columns",
                        data->nodes, (long long)data->edge_count,
                        data->columns < 0 ? data->columns : data->table_columns);
    if (data->sources < 0 || data->sources > data->nodes)
        return npi_fail(err, NPGNN_E_ARGUMENT, "%d sources, but there are %d nodes", data->sources, data->nodes);
    if (forms > 1)
        return npi_fail(err, NPGNN_E_ARGUMENT, "features must be a matrix, CSR or a table: give only one of them");
    for (int64_t e = 0; e < data->edge_count; e++) {
        npgnn_pair edge = data->edges[e];
        if (edge.u < 0 || edge.u >= data->nodes || edge.v < 0 || edge.v >= data->nodes)
            return npi_fail(err, NPGNN_E_ARGUMENT, "edge %lld joins nodes %d and %d, but nodes are numbered 0 to %d",
                            (long long)e, edge.u, edge.v, data->nodes - 1);
        if (data->sources > 0 && (edge.u < data->sources) == (edge.v < data->sources))
            return npi_fail(err, NPGNN_E_ARGUMENT, "edge %lld joins nodes %d and %d, which are on the same side",
                            (long long)e, edge.u, edge.v);
        if (data->weights && !(data->weights[e] > 0 && isfinite(data->weights[e])))
            return npi_fail(err, NPGNN_E_ARGUMENT, "the weight %g of edge %lld is not positive and finite",
                            (double)data->weights[e], (long long)e);
        if (data->times && !isfinite(data->times[e]))
            return npi_fail(err, NPGNN_E_ARGUMENT, "the time of edge %lld is not finite", (long long)e);
    }
    return 0;
}

/* Names, labels and sides of the nodes. */
static int copy_nodes(npi_graph_content *content, const npgnn_graph_data *data, const npgnn_env *env, npgnn_error *err)
{
    int code = data->names ? npi_names_new(&content->names, env, err) : 0;
    for (int32_t i = 0; code == 0 && data->names && i < data->nodes; i++) {
        int32_t index = i;
        if (!data->names[i] || !*data->names[i])
            code = npi_fail(err, NPGNN_E_ARGUMENT, "node %d has an empty name", i);
        else
            code = npi_names_add(&index, content->names, data->names[i], strlen(data->names[i]), err);
        if (code == 0 && index < i)
            code =
                npi_fail(err, NPGNN_E_ARGUMENT, "nodes %d and %d have the same name '%.60s'", index, i, data->names[i]);
    }
    if (code == 0 && data->labels &&
        !(content->label = npi_alloc(env, (size_t)data->nodes, sizeof *content->label, err)))
        code = NPGNN_E_MEMORY;
    for (int32_t i = 0; code == 0 && data->labels && i < data->nodes; i++) {
        int32_t label = data->labels[i];
        if (label < -1 || label == INT32_MAX)
            code = npi_fail(err, NPGNN_E_ARGUMENT, "the label %d of node %d is not a class from 0 on, or -1", label, i);
        content->label[i] = label;
        content->classes = label >= content->classes ? label + 1 : content->classes;
    }
    if (code == 0 && data->sources > 0) {
        content->side = npi_alloc(env, (size_t)data->nodes, 1, err);
        if (!content->side)
            return NPGNN_E_MEMORY;
        memset(content->side + data->sources, 1, (size_t)(data->nodes - data->sources));
    }
    return code;
}

int npgnn_graph_new(npgnn_graph **out, const npgnn_graph_data *data, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_graph_data given = {0};
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_graph *graph = NULL;
    int code = npi_sized_read(&given, sizeof given, data, "npgnn_graph_data", err);
    if (code == 0)
        code = check(&given, err);
    if (code)
        return code;
    npi_graph_content content = {.n = given.nodes,
                                 .edges = given.edges,
                                 .edge_count = given.edge_count,
                                 .weights = given.weights,
                                 .times = given.times};
    if (given.table_columns > 0)
        code = features_from_table(&content.x, &given, &resolved, err);
    else if (given.features || given.ptr)
        code = features_from_matrix(&content.x, &given, &resolved, err);
    /* the order matters: a binarised row is normalised by its number of ones */
    if (code == 0 && given.binarize && content.x)
        npi_features_binarize(content.x);
    if (code == 0 && given.normalize && content.x)
        code = npi_features_normalize(content.x, err);
    if (code == 0)
        code = copy_nodes(&content, &given, &resolved, err);
    if (code == 0) {
        code = npi_graph_build(&graph, &content, &resolved, err); /* takes the content, also on failure */
    } else {
        npi_features_free(content.x);
        npi_names_free(content.names);
        npi_free(&resolved, content.label);
        npi_free(&resolved, content.side);
    }
    if (code)
        return code;
    graph->binarized = given.binarize != 0;
    graph->normalized = given.normalize != 0;
    *out = graph;
    return 0;
}

int npgnn_names_are_ends(const char *source, const char *target)
{
    return npi_header_are_ends(source, target);
}

int npgnn_names_are_two_kinds(const char *source, const char *target)
{
    return npi_header_are_two_kinds(source, target);
}

int npgnn_name_is_id(const char *name)
{
    return npi_header_has_role(name, NPI_ROLE_ID);
}
