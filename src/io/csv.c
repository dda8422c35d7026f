/* Feature tables: one node a line, fields separated by commas, tabs, semicolons or blanks. The first column may be the id
 * of the node, the last one its class label, the first line a header. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "io/readers.h"
#include "io/text.h"

typedef enum { FIRST_UNKNOWN, FIRST_ID, FIRST_FEATURE } first_column;

typedef struct reader {
    npi_stream *stream;
    char separator;
    int fields; /* a line; 0: no line yet */
    int has_label;
    int plain; /* nothing but numbers */
    first_column first;
    npi_names *names; /* of the first column, while it may be the id */
    float *value;     /* the same as numbers, while it may be a feature */
    size_t value_count, value_capacity;
    npi_rows rows; /* the columns from the second on, the second being column 0 */
    char *header;  /* the line, NULL: there is none */
    npi_labels labels;
} reader;

static int is_number(const char *field)
{
    float value;
    return npi_number_parse_float(&value, field) != NPI_NUMBER_BAD;
}

static int is_id_word(const char *field)
{
    static const char *const words[] = {"", "id", "node", "node_id", "nodeid", "name", "key", "index"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(field, words[i]) == 0)
            return 1;
    return 0;
}

/* ---- the first line: how many fields, is it a header, is there a label ---- */

typedef struct first_line {
    int fields, numbers;
    int middle_words; /* between the first and the last field */
    int id_word, first_number, last_number, last_is_label_word;
} first_line;

static first_line look_at(char *line, char separator)
{
    first_line seen = {0};
    int last_was_word = 0;
    for (char *field; (field = npi_text_cut_field(&line, separator)); seen.fields++) {
        int number = is_number(field);
        seen.numbers += number;
        if (seen.fields == 0) {
            seen.id_word = is_id_word(field);
            seen.first_number = number;
        } else {
            seen.middle_words += last_was_word;
            last_was_word = !number;
        }
        seen.last_number = number;
        seen.last_is_label_word = strcasecmp(field, "label") == 0 || strcasecmp(field, "class") == 0;
    }
    return seen;
}

/* Settles what a line can tell; returns 1 when it is a header. */
static int settle(reader *r, char *line)
{
    r->separator = npi_text_find_separator(line);
    first_line seen = look_at(line, r->separator);
    int header = seen.id_word || seen.middle_words > 0 || seen.numbers == 0;
    r->fields = seen.fields;
    if (r->plain) {
        r->first = FIRST_FEATURE;
        return 0;
    }
    if (header && seen.id_word)
        r->first = FIRST_ID;
    r->has_label = seen.fields > 1 && (header ? seen.last_is_label_word : !seen.last_number);
    if (seen.fields - r->has_label < 2 && !seen.id_word && seen.first_number)
        r->first = FIRST_FEATURE; /* a single column of numbers */
    return header;
}

/* ---- rows ---- */

static int keep_value(reader *r, float value, npgnn_error *err)
{
    int code = npi_grow(&r->rows.env, &r->value, &r->value_capacity, r->value_count, sizeof *r->value, err);
    if (code == 0)
        r->value[r->value_count++] = value;
    return code;
}

/* The first column is the id when a header says so, when it has a word, or when it holds integers from 0 on that are all
 * different. Until one of these fails both readings are kept. */
static int read_first(reader *r, const char *field, npgnn_error *err)
{
    int32_t before = npi_names_count(r->names), index;
    float value = 0;
    npi_number_result number = npi_number_parse_float(&value, field);
    int64_t integer;
    int code = 0;
    if (r->first != FIRST_FEATURE)
        code = npi_names_add(&index, r->names, field, strlen(field), err);
    if (code)
        return code;
    int repeated = r->first != FIRST_FEATURE && npi_names_count(r->names) == before;
    if (r->first == FIRST_UNKNOWN && number == NPI_NUMBER_BAD)
        r->first = FIRST_ID;
    else if (r->first == FIRST_UNKNOWN && (repeated || !npi_number_parse_int(&integer, field) || integer < 0))
        r->first = FIRST_FEATURE;
    if (r->first == FIRST_ID && repeated)
        return npi_stream_fail(r->stream, err, "node '%.60s' has its features already", field);
    if (r->first == FIRST_FEATURE && number != NPI_NUMBER_OK)
        return npi_stream_fail(r->stream, err, "the value '%.40s' %s", field, npi_number_reason(number));
    return r->first == FIRST_ID ? 0 : keep_value(r, value, err);
}

static int read_feature(reader *r, const char *field, int column, npgnn_error *err)
{
    float value;
    npi_number_result result = npi_number_parse_float(&value, field);
    if (result != NPI_NUMBER_OK)
        return npi_stream_fail(r->stream, err, "the value '%.40s' in field %d %s", field, column + 1,
                               npi_number_reason(result));
    return npi_rows_add(&r->rows, column - 1, value, err);
}

static int read_row(reader *r, char *line, npgnn_error *err)
{
    int column = 0, code = 0;
    int32_t twice;
    for (char *field; code == 0 && (field = npi_text_cut_field(&line, r->separator)); column++) {
        if (column >= r->fields)
            return npi_stream_fail(r->stream, err, "more than the %d fields of the first line", r->fields);
        if (column == 0)
            code = read_first(r, field, err);
        else if (column == r->fields - 1 && r->has_label)
            code = npi_labels_add(&r->labels, field, &r->rows.env, err);
        else
            code = read_feature(r, field, column, err);
    }
    if (code == 0 && column < r->fields)
        return npi_stream_fail(r->stream, err, "%d fields, but the first line has %d", column, r->fields);
    return code ? code : npi_rows_end(&twice, &r->rows, err); /* ascending: no column twice */
}

/* ---- the end ---- */

/* The first column turned out to be a feature: the matrix with it in front. */
static int prepend_values(npi_csr *out, const reader *r, int32_t cols, npgnn_error *err)
{
    npi_rows rows;
    int32_t twice;
    int code = npi_rows_start(&rows, &r->rows.env, err);
    if (code)
        return code;
    for (int32_t i = 0; code == 0 && i < r->rows.count; i++) {
        code = npi_rows_add(&rows, 0, r->value[i], err);
        for (int64_t p = r->rows.ptr[i]; code == 0 && p < r->rows.ptr[i + 1]; p++)
            code = npi_rows_add(&rows, r->rows.col[p] + 1, r->rows.val[p], err);
        if (code == 0)
            code = npi_rows_end(&twice, &rows, err);
    }
    if (code == 0)
        code = npi_rows_take(out, &rows, rows.count, cols, err);
    npi_rows_free(&rows);
    return code;
}

/* The header's fields over the features. */
static int name_columns(npi_names **out, reader *r, npgnn_error *err)
{
    const npgnn_env *env = &r->rows.env;
    npi_column_names columns = {0};
    char *rest = r->header;
    int first = r->first != FIRST_FEATURE, end = r->fields - r->has_label, code = 0;
    for (int i = 0; code == 0 && i < end; i++) {
        const char *name = npi_text_cut_field(&rest, r->separator);
        code = i < first ? 0 : npi_column_names_add(&columns, name, env, err);
    }
    if (code)
        npi_column_names_free(&columns);
    else
        *out = npi_column_names_take(&columns, npi_stream_name(r->stream), env);
    return code;
}

static int finish(npi_table *out, reader *r, npgnn_error *err)
{
    npi_table table = {0};
    int32_t cols = r->fields > 0 ? r->fields - 1 - r->has_label : 0;
    int code = r->header ? name_columns(&table.columns, r, err) : 0;
    if (code)
        return code;
    if (r->first == FIRST_FEATURE) {
        code = prepend_values(&table.x, r, cols + 1, err);
    } else {
        code = npi_rows_take(&table.x, &r->rows, r->rows.count, cols, err);
        table.names = r->names;
        r->names = code ? r->names : NULL;
    }
    if (code) {
        npi_names_free(table.columns);
        return code;
    }
    if (r->has_label)
        npi_labels_take(&table.label, &table.classes, &r->labels, &r->rows.env);
    *out = table;
    return 0;
}

/* The first line with content: a header, which is kept, or a row. Looking at a line cuts it: a copy is looked at. */
static int read_first_line(reader *r, char *line, npgnn_error *err)
{
    const npgnn_env *env = &r->rows.env;
    char *copy = npi_strdup(env, line, err);
    if (!copy)
        return NPGNN_E_MEMORY;
    int header = settle(r, copy);
    npi_free(env, copy);
    if (!header)
        return read_row(r, line, err);
    r->header = npi_strdup(env, line, err);
    return r->header ? 0 : NPGNN_E_MEMORY;
}

static int read_table(npi_table *out, npi_stream *stream, int plain, npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    reader r = {.stream = stream, .plain = plain};
    char *line;
    int code = npi_rows_start(&r.rows, env, err);
    if (code == 0)
        code = npi_names_new(&r.names, env, err);
    while (code == 0 && (code = npi_stream_read_line(&line, stream, err)) > 0) {
        if (npi_text_is_skippable(line))
            code = 0;
        else
            code = r.fields == 0 ? read_first_line(&r, line, err) : read_row(&r, line, err);
    }
    if (code == 0)
        code = finish(out, &r, err);
    npi_names_free(r.names);
    npi_free(env, r.header);
    npi_free(env, r.value);
    npi_labels_free(&r.labels, env);
    npi_rows_free(&r.rows);
    return code;
}

int npi_table_read_csv(npi_table *out, npi_stream *stream, npgnn_error *err)
{
    return read_table(out, stream, 0, err);
}

int npi_table_read_plain(npi_table *out, npi_stream *stream, npgnn_error *err)
{
    return read_table(out, stream, 1, err);
}
