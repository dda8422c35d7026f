/* Reads a table of text into memory: 1 byte per character, 4 per cell and 16 per row. */
#include "io/cells.h"

#include <string.h>

#include "base/number.h"
#include "io/text.h"

void npi_cells_free(npi_cells *cells)
{
    npi_free(&cells->env, cells->text);
    npi_free(&cells->env, cells->row);
    npi_free(&cells->env, cells->line);
    npi_free(&cells->env, cells->cell);
    memset(cells, 0, sizeof *cells);
}

/* Makes memory for `more` further bytes of text. */
static int reserve(npi_cells *cells, size_t more, npgnn_error *err)
{
    if (cells->used + more <= cells->text_capacity)
        return 0;
    size_t wanted = (cells->used + more) + (cells->used + more) / 2;
    char *grown = npi_resize(&cells->env, cells->text, wanted, 1, err);
    if (!grown)
        return NPGNN_E_MEMORY;
    cells->text = grown;
    cells->text_capacity = wanted;
    return 0;
}

/* Copies the row that begins with `line` to the end of text, with the further lines that belong to it. */
static int copy_row(npi_cells *cells, char *line, npi_stream *stream, npgnn_error *err)
{
    int64_t begun = npi_stream_line_number(stream);
    size_t start = cells->used;
    for (int inside = 0;;) {
        size_t length = strlen(line);
        int code = reserve(cells, length + 1, err);
        if (code)
            return code;
        memcpy(cells->text + cells->used, line, length + 1);
        cells->used += length + 1;
        if (cells->used - start > UINT32_MAX / 2)
            return npi_stream_fail(stream, err, "the row is too long");
        /* each line by itself: a field may have many lines */
        inside = (inside || memchr(line, '"', length)) && npi_text_ends_in_quotes(line, cells->separator, inside);
        if (!inside)
            return 0;
        code = npi_stream_read_line(&line, stream, err);
        if (code < 0)
            return code;
        if (code == 0)
            return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), begun, NPI_TEXT_OPEN_QUOTE);
        cells->text[cells->used - 1] = '\n'; /* the line break is part of the field */
    }
}

void npi_cells_clean(npi_cells *cells, int column)
{
    for (int32_t row = 0; row < cells->rows; row++) {
        char *cell = cells->text + (npi_cells_get(cells, row, column) - cells->text);
        unsigned char seen = 0;
        for (const char *at = cell; *at; at++)
            seen |= (unsigned char)*at;
        if (seen < 0x80 || npi_text_is_utf8(cell))
            continue;
        for (; *cell; cell++)
            if ((unsigned char)*cell >= 0x80)
                *cell = '?';
    }
}

npi_decimal npi_cells_decimal(const npi_cells *cells, int column, int32_t first)
{
    int64_t values = 0, numbers = 0, commas = 0;
    int points = 0, certain = cells->separator == ';';
    int possible = cells->separator == ';' || cells->separator == '\t';
    for (int32_t row = first; row < cells->rows; row++) {
        const char *cell = npi_cells_get(cells, row, column);
        char copy[64];
        double number;
        values += !npi_cell_is_missing(cell);
        if (strlen(cell) >= sizeof copy)
            continue;
        memcpy(copy, cell, strlen(cell) + 1);
        int decimals = npi_number_take_decimal_comma(copy, 0), comma = strchr(cell, ',') != NULL;
        int plain = npi_number_parse_double(&number, cell) == NPI_NUMBER_OK;
        numbers += plain || (possible && decimals > 0);
        points |= plain && strchr(cell, '.') && decimals == 0; /* a separator of thousands cannot stand there */
        commas += comma && decimals > 0;
        certain |= comma && decimals > 0 && decimals != 3;
    }
    if (10 * numbers < 9 * values || numbers == 0)
        return NPI_DECIMAL_NONE;
    return points ? NPI_DECIMAL_POINT : possible && commas > 0 && certain ? NPI_DECIMAL_COMMA : NPI_DECIMAL_EITHER;
}

int npi_cells_take_decimal_comma(npi_cells *cells, int32_t row, int column)
{
    return npi_number_take_decimal_comma(cells->text + (npi_cells_get(cells, row, column) - cells->text), 0) > 0;
}

/* Completes the row of `fields` cells that begins at text + start. */
static int end_row(npi_cells *cells, size_t start, int fields, int64_t line, npgnn_error *err)
{
    int code = npi_grow(&cells->env, &cells->row, &cells->row_capacity, (size_t)cells->rows, sizeof *cells->row, err);
    if (code == 0)
        code =
            npi_grow(&cells->env, &cells->line, &cells->line_capacity, (size_t)cells->rows, sizeof *cells->line, err);
    if (code)
        return code;
    if (cells->rows == INT32_MAX - 1)
        return npi_fail(err, NPGNN_E_FORMAT, "too many rows: the limit is %d", INT32_MAX - 1);
    cells->fields = fields;
    cells->row[cells->rows] = start;
    cells->line[cells->rows++] = line;
    return 0;
}

int npi_cells_add_row(npi_cells *cells, const char *const *values, int count, int64_t line, npgnn_error *err)
{
    size_t start = cells->used, first = (size_t)cells->rows * (size_t)count;
    int code = 0;
    for (int i = 0; code == 0 && i < count; i++) {
        size_t length = strlen(values[i]) + 1;
        if (cells->used - start + length > UINT32_MAX / 2)
            return npi_fail(err, NPGNN_E_FORMAT, "the values of a row are too long");
        code = reserve(cells, length, err);
        if (code == 0)
            code =
                npi_grow(&cells->env, &cells->cell, &cells->cell_capacity, first + (size_t)i, sizeof *cells->cell, err);
        if (code)
            return code;
        cells->cell[first + (size_t)i] = (uint32_t)(cells->used - start);
        memcpy(cells->text + cells->used, values[i], length);
        cells->used += length;
    }
    return code ? code : end_row(cells, start, count, line, err);
}

/* Cuts the row at text + start into cells. E_FORMAT where it has another number of them than the first row. */
static int cut_row(npi_cells *cells, size_t start, int64_t line, npi_stream *stream, npgnn_error *err)
{
    char *rest = cells->text + start, *begin = rest;
    size_t first = (size_t)cells->rows * (size_t)cells->fields;
    int fields = 0, code = 0;
    for (char *field; code == 0 && (field = npi_text_cut_field(&rest, cells->separator)); fields++) {
        if (cells->rows > 0 && fields >= cells->fields)
            return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), line,
                               "too many fields: the first line has %d", cells->fields);
        code = npi_grow(&cells->env, &cells->cell, &cells->cell_capacity, first + (size_t)fields, sizeof *cells->cell,
                        err);
        if (code == 0)
            cells->cell[first + (size_t)fields] = (uint32_t)(field - begin);
    }
    if (code == 0 && cells->rows > 0 && fields < cells->fields)
        return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), line, "%d fields, but the first line has %d",
                           fields, cells->fields);
    return code ? code : end_row(cells, start, fields, line, err);
}

int npi_cells_read(npi_cells *out, npi_stream *stream, const npgnn_load_options *how, npgnn_error *err)
{
    npgnn_error why = {0}; /* the caller may want no text, but the first bad row is logged with one */
    char *line;
    int code = 0;
    *out = (npi_cells){.env = *npi_stream_env(stream)};
    while (code == 0 && (code = npi_stream_read_line(&line, stream, &why)) > 0) {
        code = 0;
        if (npi_text_is_skippable(line))
            continue;
        int64_t begun = npi_stream_line_number(stream);
        size_t start = out->used;
        if (out->separator == 0)
            out->separator = npi_text_find_separator(line);
        code = copy_row(out, line, stream, &why);
        if (code)
            break; /* a row without an end takes the rest of the file with it: there is no single row to skip */
        int stray = npi_text_has_stray_quote(out->text + start, out->separator);
        int several = npi_stream_line_number(stream) > begun;
        if (stray)
            code = npi_fail_at(&why, NPGNN_E_FORMAT, npi_stream_name(stream), begun,
                               several ? NPI_TEXT_OPEN_QUOTE : NPI_TEXT_STRAY_QUOTE);
        else
            code = cut_row(out, start, begun, stream, &why);
        if (code == NPGNN_E_FORMAT)
            out->used = start;
        if (!(stray && several)) /* as above: the lines of such a row are probably several rows */
            code = npi_skipped_add(&out->skipped, code, how, &why);
    }
    if (code && err)
        *err = why;
    return code;
}
