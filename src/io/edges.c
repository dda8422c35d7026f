/* Edge lists: text with two node ids per line, or a Matrix Market file.
 *
 *   list = [header] {edge}
 *   edge = id separator id [separator weight {separator anything}]
 *
 * The first line determines the separator: tab, comma, semicolon or blanks. Blank lines and lines that begin with #
 * or % are skipped. The first line is a header where its first field is a word such as "source", or where it has two
 * words and the second line two integers. A third column is the weight, which is read only where weights are wanted.
 *
 * Refused: lines with fewer than two ids, weights that are not positive and finite. Of Matrix Market, edges need a
 * square matrix in coordinate format. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "io/readers.h"
#include "io/text.h"

/* ---- the list ---- */

npi_edge_list npi_edges_start(const npgnn_env *env, int weighted)
{
    return (npi_edge_list){.env = *env, .weighted = weighted, .largest = -1};
}

void npi_edges_free(npi_edge_list *list)
{
    npi_free(&list->env, list->pairs);
    npi_free(&list->env, list->weights);
    npi_names_free(list->names);
    memset(list, 0, sizeof *list);
}

/* Whether an id is a plain integer, which can be an index: no sign, no leading zeros, below INT32_MAX. */
static int is_plain_integer(int32_t *out, const char *id)
{
    int64_t value;
    if (id[0] < '0' || id[0] > '9' || (id[0] == '0' && id[1] != '\0'))
        return 0;
    if (!npi_number_parse_int(&value, id) || value >= INT32_MAX)
        return 0;
    *out = (int32_t)value;
    return 1;
}

int npi_edges_to_names(npi_edge_list *list, npi_names *names, npgnn_error *err)
{
    npi_names *old = list->names, *table = NULL;
    int code = names ? 0 : npi_names_new(&table, &list->env, err);
    if (names)
        table = npi_names_share(names);
    for (int64_t i = 0; code == 0 && i < 2 * list->count; i++) {
        int32_t *id = i % 2 ? &list->pairs[i / 2].v : &list->pairs[i / 2].u;
        char number[12];
        const char *text = old ? npi_names_get(old, *id) : number;
        if (!old)
            snprintf(number, sizeof number, "%d", *id);
        code = npi_names_add(id, table, text, strlen(text), err);
    }
    if (code) {
        npi_names_free(table);
        return code;
    }
    npi_names_free(old);
    list->names = table;
    return 0;
}

int npi_edges_add(npi_edge_list *list, npgnn_pair edge, float weight, npi_stream *stream, npgnn_error *err)
{
    size_t count = (size_t)list->count;
    int code = npi_grow(&list->env, &list->pairs, &list->capacity, count, sizeof *list->pairs, err);
    if (code == 0 && list->weighted)
        code = npi_grow(&list->env, &list->weights, &list->weight_capacity, count, sizeof *list->weights, err);
    if (code)
        return code;
    if (list->weighted && !(weight > 0 && isfinite(weight)))
        return npi_stream_fail(stream, err, "weight %g must be positive and finite", (double)weight);
    if (list->weighted)
        list->weights[count] = weight;
    list->pairs[list->count++] = edge;
    list->other_weights |= weight != 1;
    return 0;
}

/* Turns one id into an index: that of its name, or the integer itself. */
static int resolve_id(int32_t *out, npi_edge_list *list, const char *id, npi_stream *stream, npgnn_error *err)
{
    if (list->names)
        return npi_names_add(out, list->names, id, strlen(id), err);
    is_plain_integer(out, id); /* npi_edges_add_ids has checked that it is one */
    if (*out > list->largest) {
        list->largest = *out;
        list->largest_line = npi_stream_line_number(stream);
    }
    return 0;
}

int npi_edges_add_ids(npi_edge_list *list, const char *from, const char *to, float weight, npi_stream *stream,
                      npgnn_error *err)
{
    npgnn_pair edge = {0, 0};
    int32_t index;
    int code = 0;
    if (!list->names && !(is_plain_integer(&index, from) && is_plain_integer(&index, to))) {
        /* the first id that is not a plain integer: from now on all ids are names */
        list->name_line = npi_stream_line_number(stream);
        code = npi_edges_to_names(list, NULL, err);
    }
    if (code == 0)
        code = resolve_id(&edge.u, list, from, stream, err);
    if (code == 0)
        code = resolve_id(&edge.v, list, to, stream, err);
    return code ? code : npi_edges_add(list, edge, weight, stream, err);
}

/* ---- text ---- */

static int is_header_word(const char *field)
{
    static const char *const words[] = {"source", "src", "from", "u", "node1", "id1", "head", "citing", "target"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(field, words[i]) == 0)
            return 1;
    return 0;
}

typedef struct layout {
    char separator;   /* 0: no line was read yet */
    int first_words;  /* the only line so far has two words: it is a header if integers follow */
    int more_columns; /* some line has more than two columns */
} layout;

static void log_header(const npi_edge_list *list, const npi_stream *stream)
{
    npi_log(&list->env, "%s: skipping the first line, a header", npi_stream_name(stream));
}

static int read_line(npi_edge_list *list, layout *columns, char *line, npi_stream *stream, npgnn_error *err)
{
    char *id[2], *rest = line;
    float weight = 1;
    int32_t index;
    int first = columns->separator == 0;
    if (first)
        columns->separator = npi_text_find_separator(line);
    for (int i = 0; i < 2; i++) {
        id[i] = npi_text_cut_field(&rest, columns->separator);
        if (!id[i] || !*id[i])
            return npi_stream_fail(stream, err, "an edge needs two node ids");
    }
    const char *weight_text = npi_text_cut_field(&rest, columns->separator);
    columns->more_columns |= weight_text != NULL;

    if (first && is_header_word(id[0])) {
        log_header(list, stream);
        return 0;
    }
    int integers = is_plain_integer(&index, id[0]) + is_plain_integer(&index, id[1]);
    if (columns->first_words && integers == 2) {
        /* the first line has words and this one integers: the first line was a header, so drop what it added */
        npi_names_free(list->names);
        list->names = NULL;
        list->name_line = 0;
        list->count = 0;
        log_header(list, stream);
    }
    columns->first_words = first && integers == 0;

    if (list->weighted && weight_text) {
        npi_number_result result = npi_number_parse_float(&weight, weight_text);
        if (result != NPI_NUMBER_OK)
            return npi_stream_fail(stream, err, "weight '%.40s' %s", weight_text, npi_number_reason(result));
    }
    return npi_edges_add_ids(list, id[0], id[1], weight, stream, err);
}

static int read_lines(npi_edge_list *list, npi_stream *stream, npgnn_error *err)
{
    layout columns = {0};
    char *line;
    int code = 0;
    while (code == 0 && (code = npi_stream_read_line(&line, stream, err)) > 0)
        code = npi_text_is_skippable(line) ? 0 : read_line(list, &columns, line, stream, err);
    if (code == 0 && columns.more_columns && !list->weighted)
        npi_log(&list->env, "%s: ignoring the columns after the second", npi_stream_name(stream));
    return code;
}

/* ---- Matrix Market ---- */

static int read_mtx(npi_edge_list *list, npi_stream *stream, npgnn_error *err)
{
    npi_mtx mtx;
    npi_triple entry;
    int code = npi_mtx_read_header(&mtx, stream, err);
    if (code)
        return code;
    if (mtx.array || mtx.rows != mtx.cols)
        return npi_stream_fail(stream, err, "edges need a square matrix in coordinate format");
    code = npi_table_check_size(stream, mtx.rows, 0, mtx.entries, err);
    list->nodes = mtx.rows;
    while (code == 0 && (code = npi_mtx_read_entry(&entry, &mtx, stream, err)) > 0) {
        npgnn_pair edge = {entry.row, entry.col};
        code = npi_edges_add(list, edge, entry.val, stream, err);
    }
    return code;
}

int npi_edges_read_text(npi_edge_list *list, npi_stream *stream, npgnn_error *err)
{
    return npi_mtx_detect(stream) ? read_mtx(list, stream, err) : read_lines(list, stream, err);
}
