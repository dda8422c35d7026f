/* Feature tables as delimited text: one node per line.
 *
 *   table  = [header] {row}
 *   header = field {separator field}
 *   row    = [id] {number} [label]
 *
 * The first line determines the separator (tab, comma, semicolon or blanks) and the number of fields, which all
 * lines must have. Blank lines and lines that begin with # or % are skipped. What the columns mean is found out as
 * follows:
 *
 *   header    the first line, where its first field is a word such as "id", where a field in the middle is not a
 *             number, or where no field is;
 *   label     the last column, where the header calls it "label" or "class" or, without a header, where its first field
 *             is not a number;
 *   id        the first column, where the header says so, where a field is not a number, or where all fields are
 *             different integers from 0 on. Otherwise it is a feature.
 *
 * Refused: numbers that are not finite, ids that occur twice, lines with another number of fields. */
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
    int fields;    /* per line; 0: no line was read yet */
    int has_label; /* the last column is the label */
    int plain;     /* every field is a feature */
    first_column first;
    npi_names *names; /* the first column as ids, while it may be one */
    float *value;     /* the first column as numbers, while it may be a feature */
    size_t value_count, value_capacity;
    npi_rows rows; /* the other features: the second field is column 0 */
    char *header;  /* the header line, NULL: there is none */
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

/* ---- the first line ---- */

/* Determines the layout from the first line, which it cuts into fields. Returns 1 where the line is a header. */
static int detect_layout(reader *r, char *line)
{
    int fields = 0, numbers = 0, middle_words = 0, last_was_word = 0;
    int id_word = 0, first_number = 0, last_number = 0, label_word = 0;
    r->separator = npi_text_find_separator(line);
    for (char *field; (field = npi_text_cut_field(&line, r->separator)); fields++) {
        int number = is_number(field);
        numbers += number;
        if (fields == 0) {
            id_word = is_id_word(field);
            first_number = number;
        } else {
            middle_words += last_was_word; /* the previous field was neither the first nor, as we see now, the last */
            last_was_word = !number;
        }
        last_number = number;
        label_word = strcasecmp(field, "label") == 0 || strcasecmp(field, "class") == 0;
    }
    r->fields = fields;
    if (r->plain) {
        r->first = FIRST_FEATURE;
        return 0;
    }
    int header = id_word || middle_words > 0 || numbers == 0;
    r->has_label = fields > 1 && (header ? label_word : !last_number);
    if (id_word)
        r->first = FIRST_ID;
    else if (fields - r->has_label < 2 && first_number)
        r->first = FIRST_FEATURE; /* the only column of numbers must be a feature */
    return header;
}

/* ---- rows ---- */

/* Keeps the field both as an id and as a feature until one of the rules decides which it is. */
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
        return npi_stream_fail(r->stream, err, "node '%.60s' occurs twice", field);
    if (r->first == FIRST_FEATURE && number != NPI_NUMBER_OK)
        return npi_stream_fail(r->stream, err, "feature '%.40s' %s", field, npi_number_reason(number));
    if (r->first == FIRST_ID)
        return 0;
    code = npi_grow(&r->rows.env, &r->value, &r->value_capacity, r->value_count, sizeof *r->value, err);
    if (code == 0)
        r->value[r->value_count++] = value;
    return code;
}

static int read_row(reader *r, char *line, npgnn_error *err)
{
    int column = 0, code = 0;
    int32_t twice;
    for (char *field; code == 0 && (field = npi_text_cut_field(&line, r->separator)); column++) {
        if (column >= r->fields)
            return npi_stream_fail(r->stream, err, "too many fields: the first line has %d", r->fields);
        if (column == 0) {
            code = read_first(r, field, err);
        } else if (column == r->fields - 1 && r->has_label) {
            code = npi_labels_add(&r->labels, field, &r->rows.env, err);
        } else {
            float value;
            npi_number_result result = npi_number_parse_float(&value, field);
            if (result != NPI_NUMBER_OK)
                return npi_stream_fail(r->stream, err, "feature '%.40s' in field %d %s", field, column + 1,
                                       npi_number_reason(result));
            code = npi_rows_add(&r->rows, column - 1, value, err);
        }
    }
    if (code == 0 && column < r->fields)
        return npi_stream_fail(r->stream, err, "%d fields, but the first line has %d", column, r->fields);
    return code ? code : npi_rows_end(&twice, &r->rows, err); /* columns ascend, so that none occurs twice */
}

/* The first line with content. detect_layout cuts the line into fields, so that it gets a copy. */
static int read_first_line(reader *r, char *line, npgnn_error *err)
{
    const npgnn_env *env = &r->rows.env;
    char *copy = npi_strdup(env, line, err);
    if (!copy)
        return NPGNN_E_MEMORY;
    int header = detect_layout(r, copy);
    npi_free(env, copy);
    if (!header)
        return read_row(r, line, err);
    r->header = npi_strdup(env, line, err); /* named when it is known whether the first column is an id */
    return r->header ? 0 : NPGNN_E_MEMORY;
}

/* ---- the table ---- */

/* The matrix where the first column is a feature: that column, then the others. */
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

/* The names of the feature columns, from the header. */
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

static int make_table(npi_table *out, reader *r, npgnn_error *err)
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
        code = make_table(out, &r, err);
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
