/* Edge lists: two ids a line. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "io/readers.h"
#include "io/text.h"

/* An id that can be an index: an integer without sign or leading zeros. */
static int plain_index(int32_t *out, const char *id)
{
    int64_t value;
    if (id[0] < '0' || id[0] > '9' || (id[0] == '0' && id[1] != '\0'))
        return 0;
    if (!npi_number_parse_int(&value, id) || value >= INT32_MAX)
        return 0;
    *out = (int32_t)value;
    return 1;
}

npi_edge_list npi_edges_start(const npgnn_env *env, int weighted)
{
    return (npi_edge_list){.env = *env, .weighted = weighted, .largest = -1};
}

static int add_number_name(int32_t *index, npi_names *names, int32_t number, npgnn_error *err)
{
    char text[12];
    int length = snprintf(text, sizeof text, "%d", number);
    return npi_names_add(index, names, text, (size_t)length, err);
}

int npi_edges_to_names(npi_edge_list *list, npi_names *names, npgnn_error *err)
{
    npi_names *old = list->names, *table = NULL;
    int code = names ? 0 : npi_names_new(&table, &list->env, err);
    if (names)
        table = npi_names_share(names);
    for (int64_t i = 0; code == 0 && i < 2 * list->count; i++) {
        int32_t *id = i % 2 ? &list->pairs[i / 2].v : &list->pairs[i / 2].u;
        const char *text = old ? npi_names_get(old, *id) : NULL;
        if (text)
            code = npi_names_add(id, table, text, strlen(text), err);
        else
            code = add_number_name(id, table, *id, err);
    }
    if (code) {
        npi_names_free(table);
        return code;
    }
    npi_names_free(old);
    list->names = table;
    return 0;
}

static int read_id(int32_t *out, npi_edge_list *list, const char *id, npi_stream *stream, npgnn_error *err)
{
    if (list->names)
        return npi_names_add(out, list->names, id, strlen(id), err);
    plain_index(out, id);
    if (*out > list->largest) {
        list->largest = *out;
        list->largest_line = npi_stream_line_number(stream);
    }
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
        return npi_stream_fail(stream, err, "the weight %g: weights must be positive", (double)weight);
    if (list->weighted)
        list->weights[count] = weight;
    list->pairs[list->count++] = edge;
    list->other_weights |= weight != 1;
    return 0;
}

/* The first id that cannot be an index turns all ids into names. */
int npi_edges_add_ids(npi_edge_list *list, const char *from, const char *to, float weight, npi_stream *stream,
                      npgnn_error *err)
{
    npgnn_pair edge = {0, 0};
    int32_t index;
    int code = 0;
    if (!list->names && !(plain_index(&index, from) && plain_index(&index, to))) {
        list->name_line = npi_stream_line_number(stream);
        code = npi_edges_to_names(list, NULL, err);
    }
    if (code == 0)
        code = read_id(&edge.u, list, from, stream, err);
    if (code == 0)
        code = read_id(&edge.v, list, to, stream, err);
    return code ? code : npi_edges_add(list, edge, weight, stream, err);
}

static int is_header_word(const char *field)
{
    static const char *const words[] = {"source", "src", "from", "u", "node1", "id1", "head", "citing", "target"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(field, words[i]) == 0)
            return 1;
    return 0;
}

/* What the columns are, and how far we are. */
typedef struct layout {
    char separator;  /* 0: no line yet */
    int first_words; /* the only line so far has two words, no integers: perhaps a header */
    int more_fields; /* some line has a third column */
} layout;

/* The ids, and the third column, NULL where there is none. */
static int split_edge(char *id[2], char **weight, layout *columns, char *line, npi_stream *stream, npgnn_error *err)
{
    char *rest = line;
    for (int i = 0; i < 2; i++) {
        id[i] = npi_text_cut_field(&rest, columns->separator);
        if (!id[i] || !*id[i])
            return npi_stream_fail(stream, err, "an edge needs two node ids");
    }
    *weight = npi_text_cut_field(&rest, columns->separator);
    columns->more_fields |= *weight != NULL;
    return 0;
}

/* 1 where weights are not wanted, or the line has none. */
static int read_weight(float *out, const npi_edge_list *list, const char *text, npi_stream *stream, npgnn_error *err)
{
    *out = 1;
    if (!list->weighted || !text)
        return 0;
    npi_number_result result = npi_number_parse_float(out, text);
    if (result != NPI_NUMBER_OK)
        return npi_stream_fail(stream, err, "the weight '%.40s' %s", text, npi_number_reason(result));
    return 0;
}

static void note_header(const npi_edge_list *list, const npi_stream *stream)
{
    npi_log(&list->env, "%s: the first line is taken as a header", npi_stream_name(stream));
}

static void forget_edges(npi_edge_list *list)
{
    npi_names_free(list->names);
    list->names = NULL;
    list->name_line = 0;
    list->count = 0;
}

static int read_line(npi_edge_list *list, layout *columns, char *line, npi_stream *stream, npgnn_error *err)
{
    char *id[2] = {NULL, NULL}, *text = NULL;
    float weight;
    int32_t index;
    int first = columns->separator == 0;
    if (first)
        columns->separator = npi_text_find_separator(line);
    int code = split_edge(id, &text, columns, line, stream, err);
    if (code)
        return code;
    if (first && is_header_word(id[0])) {
        note_header(list, stream);
        return 0;
    }
    int integers = plain_index(&index, id[0]) + plain_index(&index, id[1]);
    if (columns->first_words && integers == 2) { /* words over integers: the words were a header */
        forget_edges(list);
        note_header(list, stream);
    }
    columns->first_words = first && integers == 0;
    code = read_weight(&weight, list, text, stream, err);
    return code ? code : npi_edges_add_ids(list, id[0], id[1], weight, stream, err);
}

static int read_text(npi_edge_list *list, npi_stream *stream, npgnn_error *err)
{
    layout columns = {0};
    char *line;
    int code = 0;
    while (code == 0 && (code = npi_stream_read_line(&line, stream, err)) > 0)
        code = npi_text_is_skippable(line) ? 0 : read_line(list, &columns, line, stream, err);
    if (code == 0 && columns.more_fields && !list->weighted)
        npi_log(&list->env, "%s: columns after the second, such as weights, are ignored", npi_stream_name(stream));
    return code;
}

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
    return npi_mtx_detect(stream) ? read_mtx(list, stream, err) : read_text(list, stream, err);
}

void npi_edges_free(npi_edge_list *list)
{
    npi_free(&list->env, list->pairs);
    npi_free(&list->env, list->weights);
    npi_names_free(list->names);
    memset(list, 0, sizeof *list);
}
