/* svmlight files: one node per line,
 *
 *   line = label {column:value} [# comment]
 *
 * Columns count from 1 and come in any order. The number of columns is not stated: it is the largest one that
 * occurs. Refused: a column that occurs twice in a line, values that are not finite. */
#include <string.h>

#include "base/number.h"
#include "io/lines.h"
#include "io/readers.h"
#include "io/text.h"

/* By the second field of the first line, such as 12:0.5. */
int npi_svmlight_detect(const npi_stream *stream)
{
    size_t size, at = 0;
    const char *text = (const char *)npi_stream_peek(&size, stream);
    while (at < size && text[at] != ' ' && text[at] != '\n')
        at++;
    while (at < size && text[at] == ' ')
        at++;
    size_t digits = at;
    while (at < size && text[at] >= '0' && text[at] <= '9')
        at++;
    return at > digits && at < size && text[at] == ':';
}

static int read_row(npi_rows *rows, npi_labels *labels, char *line, npi_stream *stream, npgnn_error *err)
{
    int32_t twice = 0;
    line[strcspn(line, "#")] = '\0';
    char *field = npi_text_cut_field(&line, ' ');
    int code = npi_labels_add(labels, field ? field : "", &rows->env, err);
    while (code == 0 && (field = npi_text_cut_field(&line, ' '))) {
        char *colon = strchr(field, ':');
        int64_t col;
        float val;
        if (!colon)
            return npi_stream_fail(stream, err, "expected column:value, got '%.40s'", field);
        *colon = '\0';
        if (!npi_number_parse_int(&col, field) || col < 1 || col >= INT32_MAX)
            return npi_stream_fail(stream, err, "column '%.40s' must be an integer from 1 to 2^31 - 2", field);
        npi_number_result result = npi_number_parse_float(&val, colon + 1);
        if (result != NPI_NUMBER_OK)
            return npi_stream_fail(stream, err, "value '%.40s' %s", colon + 1, npi_number_reason(result));
        code = npi_rows_add(rows, (int32_t)col - 1, val, err);
    }
    if (code == 0)
        code = npi_rows_end(&twice, rows, err);
    return code > 0 ? npi_stream_fail(stream, err, "column %d occurs twice", twice + 1) : code;
}

int npi_table_read_svmlight(npi_table *out, npi_stream *stream, npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    npi_table table = {.open = 1};
    npi_lines lines = {.stream = stream, .separator = ' '};
    npi_labels labels = {0};
    npi_rows rows;
    char *line;
    int code = npi_rows_start(&rows, env, err);
    if (code)
        return code;
    while (code == 0 && (code = npi_lines_next(&line, &lines, err)) > 0)
        code = read_row(&rows, &labels, line, stream, err);
    if (code == 0)
        code = npi_table_check_size(stream, rows.count, rows.cols, rows.elements, err);
    if (code == 0)
        code = npi_rows_take(&table.x, &rows, rows.count, rows.cols, err);
    if (code == 0) {
        code = npi_labels_take(&table.label, &table.classes, &labels, env, err);
        *out = table;
    }
    npi_labels_free(&labels, env);
    npi_rows_free(&rows);
    return code;
}
