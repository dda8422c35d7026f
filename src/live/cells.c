#include "live/cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

/* A row of X in the making, one element after the other. */
typedef struct element {
    int32_t column;
    float value;
} element;

typedef struct rows {
    npgnn_env env;
    element *elements; /* of all rows */
    size_t count, capacity;
    size_t first; /* element of the row at hand */
} rows;

static int add_element(void *user, int32_t column, float value, npgnn_error *err)
{
    rows *r = user;
    int code = npi_grow(&r->env, &r->elements, &r->capacity, r->count, sizeof *r->elements, err);
    if (!code)
        r->elements[r->count++] = (element){column, value};
    return code;
}

static int by_column(const void *a, const void *b)
{
    const element *left = a, *right = b;
    return (left->column > right->column) - (left->column < right->column);
}

/* The text of the cell in a column; "" where there is none. E_ARGUMENT where there are two. */
static int find_cell(const char **text, const npgnn_new_node *node, const char *column, npgnn_error *err)
{
    *text = NULL;
    for (int32_t i = 0; i < node->cell_count; i++) {
        if (strcmp(node->cells[i].column, column) != 0)
            continue;
        if (*text)
            return npi_fail(err, NPGNN_E_ARGUMENT, "node '%.100s': column '%.100s' is given twice", node->name, column);
        *text = node->cells[i].text;
    }
    if (!*text)
        *text = "";
    return 0;
}

/* A number or a truth value as the table writes it, which the caller may write in another way, or have to: for the category
 * "1" also 1.0 and 1e0, for "1.0" also 1, for "True" also true. Returns `text` where the column has it as it is, or not
 * at all. */
static const char *find_spelling(char buffer[40], const npi_encoded *column, const char *text)
{
    char whole[32];
    double number;
    int category = column->kind == NPI_KIND_CATEGORY;
    if (category ? npi_names_find(column->values, text, strlen(text)) >= 0
                 : column->kind != NPI_KIND_FLAG || npi_cell_flag(text) >= 0)
        return text;
    if (category && (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0))
        for (int32_t v = 0; v < npi_names_count(column->values); v++)
            if (strcasecmp(npi_names_get(column->values, v), text) == 0)
                return npi_names_get(column->values, v);
    const char *digit = text + (*text == '-');
    if (*digit < '0' || *digit > '9' ||
        (digit[0] == '0' && digit[1] >= '0' && digit[1] <= '9') || /* a code such as 007 */
        npi_number_parse_double(&number, text) != NPI_NUMBER_OK)
        return text;
    npi_number_print(whole, sizeof whole, number);
    for (int decimals = 0; decimals < 2; decimals++) {
        snprintf(buffer, 40, "%s%s", whole, decimals ? ".0" : "");
        if (category ? npi_names_find(column->values, buffer, strlen(buffer)) >= 0 : npi_cell_flag(buffer) >= 0)
            return buffer;
    }
    return text;
}

/* A row of a table: every column of the node's side becomes elements of X. `scratch` as in npi_encoding_apply. */
static int encode_row(rows *r, const npi_encoding *encoding, const npgnn_new_node *node, int side, float *scratch,
                      npgnn_error *err)
{
    for (int32_t i = 0; i < node->cell_count; i++)
        if (npi_encoding_find(encoding, node->cells[i].column, side) < 0)
            return npi_fail(err, NPGNN_E_ARGUMENT, "node '%.100s': the table has no column '%.100s'", node->name,
                            node->cells[i].column);
    for (int32_t c = 0; c < encoding->count; c++) {
        const npi_encoded *column = &encoding->columns[c];
        const char *text = "", *why = "";
        char buffer[40];
        if (column->side != side || column->kind == NPI_KIND_IGNORED)
            continue;
        int code = column->name ? find_cell(&text, node, column->name, err) : 0;
        if (!code)
            code = npi_encoding_apply(column, find_spelling(buffer, column, text), scratch, add_element, r, &why, err);
        if (code > 0)
            return npi_fail(err, NPGNN_E_ARGUMENT, "node '%.100s': column '%.100s': '%.100s' %s", node->name,
                            column->name ? column->name : "", text, why);
        if (code)
            return code;
    }
    return 0;
}

/* A row of numbers, by the names or the numbers of the columns of X. */
static int number_row(rows *r, const npi_features *x, const npgnn_new_node *node, npgnn_error *err)
{
    for (int32_t i = 0; i < node->cell_count; i++) {
        const npgnn_cell *cell = &node->cells[i];
        int64_t column = -1;
        float value = 0;
        if (x->columns)
            column = npi_names_find(x->columns, cell->column, strlen(cell->column));
        else if (!npi_number_parse_int(&column, cell->column))
            column = -1;
        if (column < 0 || column >= x->f)
            return npi_fail(err, NPGNN_E_ARGUMENT,
                            x->columns ? "node '%.100s': the graph has no feature column '%.100s'"
                                       : "node '%.100s': '%.100s' is no feature column: they are numbered from 0",
                            node->name, cell->column);
        npi_number_result result = npi_number_parse_float(&value, cell->text);
        if (result != NPI_NUMBER_OK)
            return npi_fail(err, NPGNN_E_ARGUMENT, "node '%.100s': column '%.100s': '%.100s' %s", node->name,
                            cell->column, cell->text, npi_number_reason(result));
        int code = add_element(r, (int32_t)column, value, err);
        if (code)
            return code;
    }
    if (r->count > r->first)
        qsort(r->elements + r->first, r->count - r->first, sizeof *r->elements, by_column);
    for (size_t i = r->first + 1; i < r->count; i++)
        if (r->elements[i].column == r->elements[i - 1].column)
            return npi_fail(err, NPGNN_E_ARGUMENT, "node '%.100s': feature column %d is given twice", node->name,
                            (int)r->elements[i].column);
    return 0;
}

int npi_cells_encode(npi_features **out, const npgnn_graph *graph, const npgnn_new_node *nodes, size_t count,
                     npgnn_error *err)
{
    const npgnn_env *env = &graph->env;
    const npi_encoding *encoding = graph->x->encoding;
    rows r = {.env = *env};
    int32_t widest = 0;
    for (int32_t c = 0; encoding && c < encoding->count; c++)
        widest = encoding->columns[c].width > widest ? encoding->columns[c].width : widest;
    float *scratch = npi_alloc(env, (size_t)widest + 1, sizeof *scratch, err);
    size_t *begin = npi_alloc(env, count + 1, sizeof *begin, err);
    npi_csr csr = {0};
    npi_features *x = NULL;
    int code = scratch && begin ? 0 : NPGNN_E_MEMORY;
    for (size_t i = 0; !code && i < count; i++) {
        r.first = begin[i] = r.count;
        code = encoding ? encode_row(&r, encoding, &nodes[i], graph->side ? nodes[i].side : 0, scratch, err)
                        : number_row(&r, graph->x, &nodes[i], err);
        begin[i + 1] = r.count;
    }
    if (!code)
        code = npi_csr_new(&csr, (int32_t)count, graph->x->f, (int64_t)r.count, 1, env, err);
    if (!code) {
        for (size_t i = 0; i <= count; i++)
            csr.ptr[i] = (int64_t)begin[i];
        for (size_t i = 0; i < r.count; i++) {
            csr.col[i] = r.elements[i].column;
            csr.val[i] = r.elements[i].value;
        }
        code = npi_features_from_csr(&x, &csr, env, err);
    }
    if (!code && graph->binarized)
        npi_features_binarize(x);
    if (!code && graph->normalized)
        code = npi_features_normalize(x, err);
    if (code)
        npi_features_free(x);
    else {
        x->columns = npi_names_share(graph->x->columns);
        *out = x;
    }
    npi_free(env, scratch);
    npi_free(env, begin);
    npi_free(env, r.elements);
    return code;
}
