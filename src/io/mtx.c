/* Matrix Market files (Boisvert, Pozo, Remington, NISTIR 5935).
 *
 *   file       = banner {comment} sizes {entry}
 *   banner     = "%%MatrixMarket" "matrix" format type symmetry
 *   format     = "coordinate" | "array"
 *   type       = "real" | "double" | "integer" | "pattern"       ("pattern" has no values; not with "array")
 *   symmetry   = "general" | "symmetric"
 *   sizes      = rows columns [entries]                          (entries with "coordinate" only)
 *   entry      = row column [value]                              ("coordinate": row and column count from 1)
 *              | value                                           ("array": column by column)
 *
 * Blank lines and lines that begin with % or # are skipped. Refused: other types and symmetries, indices out of
 * range, values that are not finite, and another number of entries than stated. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "io/lines.h"
#include "io/readers.h"
#include "io/text.h"

static const char banner[] = "%%MatrixMarket";

int npi_mtx_detect(const npi_stream *stream)
{
    size_t size;
    const unsigned char *bytes = npi_stream_peek(&size, stream);
    return size >= sizeof banner - 1 && memcmp(bytes, banner, sizeof banner - 1) == 0;
}

/* The index of the next field in `choices`, -1 where it is none of them. */
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
    static const char *const banners[] = {banner, NULL}, *const objects[] = {"matrix", NULL};
    static const char *const formats[] = {"coordinate", "array", NULL};
    static const char *const types[] = {"real", "double", "integer", "pattern", NULL};
    static const char *const symmetries[] = {"general", "symmetric", NULL};
    char *line;
    int code = npi_stream_read_line(&line, stream, err);
    if (code < 0)
        return code;
    if (code == 0 || choose(&line, banners) || choose(&line, objects))
        return npi_stream_fail(stream, err, "a Matrix Market file must begin with \"%s matrix\"", banner);
    out->array = choose(&line, formats);
    int type = choose(&line, types);
    out->pattern = type == 3;
    out->symmetric = choose(&line, symmetries);
    if (out->array < 0 || type < 0 || out->symmetric < 0 || (out->array && out->pattern))
        return npi_stream_fail(
            stream, err,
            "unsupported Matrix Market type: expected coordinate or array; real, integer or pattern; "
            "general or symmetric");
    return 0;
}

/* Reads the next line that is not skipped: 1, or 0 at the end. Entries are numbers: whatever begins with % or # is a
 * comment. */
static int content_line(char **line, npi_stream *stream, npgnn_error *err)
{
    npi_lines lines = {.stream = stream, .separator = ' '};
    int code;
    while ((code = npi_lines_next(line, &lines, err)) > 0 && (**line == '%' || **line == '#'))
        ;
    return code;
}

/* Cuts an integer from `low` to `high` off the line. Returns 0 where there is none. */
static int cut_int(int64_t *out, char **rest, int64_t low, int64_t high)
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
    if (code == 0 || !cut_int(&rows, &line, 0, INT32_MAX - 1) || !cut_int(&cols, &line, 0, INT32_MAX - 1) ||
        (!mtx.array && !cut_int(&mtx.entries, &line, 0, INT64_MAX)))
        return npi_stream_fail(stream, err, "expected the sizes \"rows columns%s\", each below 2^31",
                               mtx.array ? "" : " entries");
    mtx.rows = (int32_t)rows;
    mtx.cols = (int32_t)cols;
    if (mtx.array)
        mtx.entries = rows * cols;
    *out = mtx;
    return 0;
}

int npi_mtx_read_entry(npi_triple *entry, npi_mtx *mtx, npi_stream *stream, npgnn_error *err)
{
    char *line;
    int64_t row, col;
    int code = content_line(&line, stream, err);
    if (code < 0)
        return code;
    if (code == 0 && mtx->entries > 0)
        return npi_stream_fail(stream, err, "the file ends early; entries missing: %lld", (long long)mtx->entries);
    if (code == 0)
        return 0;
    if (mtx->entries == 0)
        return npi_stream_fail(stream, err, "more entries than the sizes line states");
    mtx->entries--;
    entry->val = 1;
    if (mtx->array) {
        /* one value per line, column by column */
        int64_t index = (int64_t)mtx->rows * mtx->cols - mtx->entries - 1;
        entry->row = (int32_t)(index % mtx->rows);
        entry->col = (int32_t)(index / mtx->rows);
    } else {
        if (!cut_int(&row, &line, 1, mtx->rows) || !cut_int(&col, &line, 1, mtx->cols))
            return npi_stream_fail(stream, err, "expected a row from 1 to %d and a column from 1 to %d", mtx->rows,
                                   mtx->cols);
        entry->row = (int32_t)row - 1;
        entry->col = (int32_t)col - 1;
    }
    if (!mtx->pattern) {
        const char *field = npi_text_cut_field(&line, ' ');
        npi_number_result result = field ? npi_number_parse_float(&entry->val, field) : NPI_NUMBER_BAD;
        if (result != NPI_NUMBER_OK)
            return npi_stream_fail(stream, err, "value '%.40s' %s", field ? field : "", npi_number_reason(result));
    }
    return 1;
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

int npi_mtx_read_edges(npi_edge_list *list, npi_table *table, npi_stream *stream, npgnn_error *err)
{
    (void)table; /* a matrix of links has no features */
    npi_mtx mtx;
    npi_triple entry;
    int64_t zeros = 0;
    int code = npi_mtx_read_header(&mtx, stream, err);
    if (code)
        return code;
    if (mtx.array)
        return npi_stream_fail(stream, err, "edges need a matrix in coordinate format");
    code = npi_edges_state_nodes(list, mtx.rows, mtx.cols, stream, err);
    if (code == 0 && mtx.symmetric && list->how->bipartite)
        code = npi_stream_fail(stream, err,
                               "a symmetric matrix has one kind of nodes: a two-sided graph needs a general one");
    if (code == 0)
        code = npi_table_check_size(stream, mtx.rows, list->how->bipartite ? mtx.cols : 0, mtx.entries, err);
    while (code == 0 && (code = npi_mtx_read_entry(&entry, &mtx, stream, err)) > 0) {
        npgnn_pair edge = {entry.row, entry.col};
        zeros += entry.val == 0;
        code = entry.val == 0 ? 0 : npi_edges_add_indices(list, edge, entry.val, stream, err);
    }
    if (zeros > 0)
        npi_log(&list->env, "%s: stored zeros are not links: %lld", npi_stream_name(stream), (long long)zeros);
    return code;
}
