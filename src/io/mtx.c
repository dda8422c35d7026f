/* Matrix Market files (Boisvert, Pozo, Remington, NISTIR 5935): coordinate and array. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "io/readers.h"
#include "io/text.h"

static const char banner[] = "%%MatrixMarket";

int npi_mtx_detect(const npi_stream *stream)
{
    size_t size;
    const unsigned char *bytes = npi_stream_peek(&size, stream);
    return size >= sizeof banner - 1 && memcmp(bytes, banner, sizeof banner - 1) == 0;
}

/* Which of the `choices` the next field is, -1 for none. */
static int choose(char **rest, const char *const choices[])
{
    const char *field = npi_text_cut_field(rest, ' ');
    for (int i = 0; field && choices[i]; i++)
        if (strcasecmp(field, choices[i]) == 0)
            return i;
    return -1;
}

static int read_banner(npi_mtx *out, npi_stream *stream, npgnn_error *err)
{
    static const char *const marks[] = {banner, NULL}, *const objects[] = {"matrix", NULL};
    static const char *const formats[] = {"coordinate", "array", NULL};
    static const char *const fields[] = {"real", "double", "integer", "pattern", NULL};
    static const char *const symmetries[] = {"general", "symmetric", NULL};
    char *line;
    int code = npi_stream_read_line(&line, stream, err);
    if (code < 0)
        return code;
    if (code == 0 || choose(&line, marks) || choose(&line, objects))
        return npi_stream_fail(stream, err, "a Matrix Market file begins with \"%s matrix\"", banner);
    out->array = choose(&line, formats);
    int field = choose(&line, fields);
    out->pattern = field == 3;
    out->symmetric = choose(&line, symmetries);
    if (out->array < 0 || field < 0 || out->symmetric < 0 || (out->array && out->pattern))
        return npi_stream_fail(stream, err,
                               "of Matrix Market, coordinate or array, real, integer or pattern, general or symmetric "
                               "are understood");
    return 0;
}

/* The next line with content: 1, 0 at the end. */
static int content_line(char **line, npi_stream *stream, npgnn_error *err)
{
    int code;
    while ((code = npi_stream_read_line(line, stream, err)) > 0 && npi_text_is_skippable(*line))
        ;
    return code;
}

/* A size or an index, from `low` to `high`. */
static int next_int(int64_t *out, char **rest, int64_t low, int64_t high)
{
    const char *field = npi_text_cut_field(rest, ' ');
    return field && npi_number_parse_int(out, field) && *out >= low && *out <= high;
}

int npi_mtx_read_header(npi_mtx *out, npi_stream *stream, npgnn_error *err)
{
    npi_mtx mtx = {0};
    int64_t rows, cols;
    char *line;
    int code = read_banner(&mtx, stream, err);
    if (code)
        return code;
    code = content_line(&line, stream, err);
    if (code < 0)
        return code;
    if (code == 0 || !next_int(&rows, &line, 0, INT32_MAX - 1) || !next_int(&cols, &line, 0, INT32_MAX - 1) ||
        (!mtx.array && !next_int(&mtx.entries, &line, 0, INT64_MAX)))
        return npi_stream_fail(stream, err, "the line of sizes must be \"rows columns%s\", each below 2^31",
                               mtx.array ? "" : " entries");
    mtx.rows = (int32_t)rows;
    mtx.cols = (int32_t)cols;
    if (mtx.array)
        mtx.entries = rows * cols;
    *out = mtx;
    return 0;
}

static int read_value(float *out, char **rest, npi_stream *stream, npgnn_error *err)
{
    const char *field = npi_text_cut_field(rest, ' ');
    npi_number_result result = field ? npi_number_parse_float(out, field) : NPI_NUMBER_BAD;
    if (result != NPI_NUMBER_OK)
        return npi_stream_fail(stream, err, "the value '%.40s' %s", field ? field : "", npi_number_reason(result));
    return 0;
}

/* Walks an array file, which has one value a line, down the columns. */
static void advance(npi_triple *entry, const npi_mtx *mtx, int64_t index)
{
    entry->row = (int32_t)(index % mtx->rows);
    entry->col = (int32_t)(index / mtx->rows);
}

int npi_mtx_read_entry(npi_triple *entry, npi_mtx *mtx, npi_stream *stream, npgnn_error *err)
{
    char *line;
    int64_t row, col;
    int code = content_line(&line, stream, err);
    if (code < 0)
        return code;
    if (code == 0 && mtx->entries > 0)
        return npi_stream_fail(stream, err, "the file ends %lld entries too early", (long long)mtx->entries);
    if (code == 0)
        return 0;
    if (mtx->entries == 0)
        return npi_stream_fail(stream, err, "more entries than the line of sizes says");
    mtx->entries--;
    entry->val = 1;
    if (mtx->array) {
        advance(entry, mtx, (int64_t)mtx->rows * mtx->cols - mtx->entries - 1);
    } else {
        if (!next_int(&row, &line, 1, mtx->rows) || !next_int(&col, &line, 1, mtx->cols))
            return npi_stream_fail(stream, err, "an entry needs a row from 1 to %d and a column from 1 to %d",
                                   mtx->rows, mtx->cols);
        entry->row = (int32_t)row - 1;
        entry->col = (int32_t)col - 1;
    }
    code = mtx->pattern ? 0 : read_value(&entry->val, &line, stream, err);
    return code ? code : 1;
}

int npi_table_read_mtx(npi_table *out, npi_stream *stream, npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    npi_table table = {0};
    npi_triples triples = {0};
    npi_triple entry;
    npi_mtx mtx;
    int code = npi_mtx_read_header(&mtx, stream, err);
    if (code)
        return code;
    if (mtx.symmetric)
        return npi_stream_fail(stream, err, "features need a general matrix, not a symmetric one");
    while (code == 0 && (code = npi_mtx_read_entry(&entry, &mtx, stream, err)) > 0)
        code = npi_triples_add(&triples, entry.row, entry.col, entry.val, env, err);
    if (code == 0)
        code = npi_table_check_size(stream, mtx.rows, mtx.cols, (int64_t)triples.count, err);
    if (code == 0)
        code = npi_triples_to_csr(&table.x, &triples, mtx.rows, mtx.cols, stream, err);
    npi_free(env, triples.items);
    if (code == 0)
        *out = table;
    return code;
}
