/* JSON, in two forms (parsed by base/json.c):
 *
 *   edges      one object per line, or one array of objects: {"source": ID, "target": ID, "weight": NUMBER}, where ID is
 *              a string or an integer. "src", "from" and "u" also mean "source"; "dst", "to" and "v" mean "target". The
 *              weight may be missing. Other members are ignored. The caller may choose other members
 *              (npgnn_load_options).
 *   features   one object: {ID: [COLUMN, ...], ...}. The listed columns of the node, integers from 0 on, are 1.
 *
 * Refused: duplicate members, ids that are empty or contain NUL, a column listed twice. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/date.h"
#include "base/json.h"
#include "io/lines.h"
#include "io/readers.h"
#include "io/text.h"

#define MAX_SIZE ((size_t)1 << 31) /* bytes of a file that is one JSON value */

static int is_array(const npi_stream *stream)
{
    size_t size;
    const char *text = npi_text_peek(&size, stream);
    return size > 0 && *text == '[';
}

/* Whether text begins with a JSON object, or with an array of objects: an id may well begin with a bracket. */
int npi_json_detect(const npi_stream *stream)
{
    size_t size, at = 1;
    const char *text = npi_text_peek(&size, stream);
    if (!is_array(stream))
        return size > 0 && *text == '{';
    while (at < size && text[at] && strchr(" \t\r\n", text[at]))
        at++;
    return at < size && (text[at] == '{' || text[at] == ']');
}

/* ---- edges ---- */

/* The member that the caller chose or, where that is NULL, the first that has one of these names. NULL where there is
 * none. */
static json_t *member(json_t *object, const char *chosen, const char *const names[])
{
    if (chosen)
        return json_object_get(object, chosen);
    for (int i = 0; names[i]; i++) {
        json_t *value = json_object_get(object, names[i]);
        if (value)
            return value;
    }
    return NULL;
}

/* An id as text: a string that is not empty and has no NUL, or an integer, printed into `buffer`. NULL for anything
 * else. */
static const char *id_text(json_t *value, char buffer[24])
{
    if (json_is_string(value))
        return json_string_length(value) == strlen(json_string_value(value)) && *json_string_value(value)
                   ? json_string_value(value)
                   : NULL;
    if (!json_is_integer(value))
        return NULL;
    snprintf(buffer, 24, "%lld", (long long)json_integer_value(value));
    return buffer;
}

/* A time: a number, or a date as text. */
static int read_time(double *out, json_t *value)
{
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return 1;
    }
    for (int order = 0; json_is_string(value) && order < NPI_DATE_ORDERS; order++)
        if (npi_date_parse(out, json_string_value(value), (npi_date_order)order))
            return 1;
    return 0;
}

static int read_edge(npi_edge_list *list, json_t *object, npi_stream *stream, npgnn_error *err)
{
    static const char *const sources[] = {"source", "src", "from", "u", NULL};
    static const char *const targets[] = {"target", "dst", "to", "v", NULL};
    static const char *const weights[] = {"weight", NULL};
    const npgnn_load_options *how = list->how;
    char buffers[2][24];
    double time = 0;
    if (!json_is_object(object))
        return npi_stream_fail(stream, err,
                               "expected a JSON object with one edge per line: this is another JSON value");
    const char *from = id_text(member(object, how->source, sources), buffers[0]);
    const char *to = id_text(member(object, how->target, targets), buffers[1]);
    json_t *weight = member(object, how->weight, weights);
    if (!from || !to)
        return npi_stream_fail(stream, err, "an edge needs a source and a target, each a string or an integer");
    if (weight && !json_is_number(weight))
        return npi_stream_fail(stream, err, "the weight must be a number");
    if (how->time && !read_time(&time, json_object_get(object, how->time)))
        return npi_stream_fail(stream, err, "'%.60s' must be a number or a date such as \"2024-03-31\"", how->time);
    return npi_edges_add_ids(list, from, to, weight ? (float)json_number_value(weight) : 1, time, stream, err);
}

static json_t *load_all(npi_stream *stream, int array, npgnn_error *err);

int npi_json_read_edges(npi_edge_list *edges, npi_table *table, npi_stream *stream, npgnn_error *err)
{
    (void)table;           /* a list of links has no features */
    npgnn_error why = {0}; /* the caller may want no text, but the first bad row is logged with one */
    npi_lines lines = {.stream = stream, .separator = '\n'};
    char *line;
    int code = 0;
    if (is_array(stream)) {
        json_t *array = load_all(stream, 1, &why);
        code = array ? 0 : why.code;
        for (size_t i = 0; code == 0 && i < json_array_size(array); i++) {
            code = read_edge(edges, json_array_get(array, i), stream, &why);
            if (code == NPGNN_E_FORMAT) { /* an array has elements, not lines */
                char text[256];
                snprintf(text, sizeof text, "%.250s", npi_error_reason(&why));
                npi_fail_at(&why, code, npi_stream_name(stream), 0, "element %zu: %s", i + 1, text);
            }
            code = npi_skipped_add(&edges->skipped, code, edges->how, &why);
        }
        json_decref(array);
    } else {
        while (code == 0 && (code = npi_lines_next(&line, &lines, &why)) > 0) {
            npi_json_fault fault = {0};
            json_t *object = NULL;
            code = npi_json_parse(&object, &fault, line, strlen(line));
            if (code == NPGNN_E_MEMORY)
                npi_fail(&why, code, "out of memory while reading %s", npi_stream_name(stream));
            else
                code = object ? read_edge(edges, object, stream, &why)
                              : npi_stream_fail(stream, &why, "expected a JSON object with one edge per line: %.100s",
                                                fault.text);
            json_decref(object);
            code = npi_skipped_add(&edges->skipped, code, edges->how, &why);
        }
    }
    if (code && err)
        *err = why;
    if (code == 0)
        npi_edges_log_rows(edges, npi_stream_name(stream));
    return code;
}

/* ---- features ---- */

static int read_row(npi_rows *rows, const char *node, json_t *list, npi_stream *stream, npgnn_error *err)
{
    int32_t twice = 0;
    int code = 0;
    for (size_t i = 0; code == 0 && i < json_array_size(list); i++) {
        json_t *column = json_array_get(list, i);
        json_int_t index = json_integer_value(column);
        if (!json_is_integer(column) || index < 0 || index >= INT32_MAX)
            return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                               "node '%.60s': feature columns must be integers from 0 to 2^31 - 2", node);
        code = npi_rows_add(rows, (int32_t)index, 1, err);
    }
    if (code == 0)
        code = npi_rows_end(&twice, rows, err);
    if (code > 0)
        return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0, "node '%.60s': column %d occurs twice",
                           node, twice);
    return code;
}

static int read_rows(npi_rows *rows, npi_names *names, json_t *object, npi_stream *stream, npgnn_error *err)
{
    int code = 0;
    for (void *at = json_object_iter(object); code == 0 && at; at = json_object_iter_next(object, at)) {
        const char *node = json_object_iter_key(at);
        json_t *list = json_object_iter_value(at);
        int32_t index;
        code = npi_names_add(&index, names, node, strlen(node), err);
        if (code == 0 && !json_is_array(list))
            return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                               "node '%.60s': expected a list of feature columns", node);
        if (code == 0)
            code = read_row(rows, node, list, stream, err);
    }
    if (code == 0)
        code = npi_table_check_size(stream, rows->count, rows->cols, rows->elements, err);
    return code;
}

/* The whole file as an array or an object; NULL with err filled where it is not one. */
static json_t *load_all(npi_stream *stream, int array, npgnn_error *err)
{
    unsigned char *bytes = NULL;
    size_t size, mark = 0;
    npi_json_fault why = {0};
    int code = npi_stream_read_all(&bytes, &size, stream, MAX_SIZE, err);
    if (code) {
        if (err)
            err->code = code;
        return NULL;
    }
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        mark = 3;
    json_t *value = NULL;
    code = npi_json_parse(&value, &why, (const char *)bytes + mark, size - mark);
    npi_free(npi_stream_env(stream), bytes);
    if (code == NPGNN_E_MEMORY) {
        npi_fail(err, code, "out of memory while reading %s", npi_stream_name(stream));
        return NULL;
    }
    if (value && (array ? json_is_array(value) : json_is_object(value)))
        return value;
    npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), value ? 0 : why.line,
                array ? "expected edges as one JSON array, [{\"source\": ..., \"target\": ...}, ...]: %.100s"
                      : "expected features as one JSON object, {\"node\": [columns], ...}: %.100s",
                value ? "this is another JSON value" : why.text);
    json_decref(value);
    return NULL;
}

int npi_table_read_json(npi_table *out, npi_stream *stream, npgnn_error *err)
{
    npgnn_error why = {.code = NPGNN_E_MEMORY};
    npi_table table = {0};
    npi_rows rows = {0};
    json_t *object = load_all(stream, 0, &why);
    if (!object) {
        if (err)
            *err = why;
        return why.code;
    }
    int code = npi_rows_start(&rows, npi_stream_env(stream), err);
    if (code == 0)
        code = npi_names_new(&table.names, npi_stream_env(stream), err);
    if (code == 0)
        code = read_rows(&rows, table.names, object, stream, err);
    if (code == 0)
        code = npi_rows_take(&table.x, &rows, rows.count, rows.cols, err);
    npi_rows_free(&rows);
    json_decref(object);
    if (code)
        npi_table_free(npi_stream_env(stream), &table);
    else
        *out = table;
    return code;
}
