/* Reads a table of text into memory: 1 byte per character, 4 per cell and 16 per row. */
#include "io/cells.h"

#include <string.h>

#include "base/number.h"
#include "io/lines.h"
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

/* Copies a text to the end of those of all cells. */
static int add_text(npi_cells *cells, const char *text, npgnn_error *err)
{
    size_t size = strlen(text) + 1;
    int code = reserve(cells, size, err);
    if (code)
        return code;
    memcpy(cells->text + cells->used, text, size);
    cells->used += size;
    return 0;
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
        if (cells->used - start + strlen(values[i]) > UINT32_MAX / 2)
            return npi_fail(err, NPGNN_E_FORMAT, "the values of a row are too long");
        code = npi_grow(&cells->env, &cells->cell, &cells->cell_capacity, first + (size_t)i, sizeof *cells->cell, err);
        if (code)
            return code;
        cells->cell[first + (size_t)i] = (uint32_t)(cells->used - start);
        code = add_text(cells, values[i], err);
    }
    return code ? code : end_row(cells, start, count, line, err);
}

/* Cuts the row at text + start into cells. E_FORMAT where it has another number of them than the first row. */
static int cut_row(npi_cells *cells, size_t start, npi_stream *stream, npgnn_error *err)
{
    char *rest = cells->text + start, *begin = rest;
    size_t first = (size_t)cells->rows * (size_t)cells->fields;
    int fields = 0, code = 0;
    for (char *field; code == 0 && (field = npi_text_cut_field(&rest, cells->separator)); fields++) {
        if (cells->rows > 0 && fields >= cells->fields)
            return npi_stream_fail(stream, err, "too many fields: the first line has %d", cells->fields);
        code = npi_grow(&cells->env, &cells->cell, &cells->cell_capacity, first + (size_t)fields, sizeof *cells->cell,
                        err);
        if (code == 0)
            cells->cell[first + (size_t)fields] = (uint32_t)(field - begin);
    }
    if (code == 0 && cells->rows > 0 && fields < cells->fields)
        return npi_stream_fail(stream, err, "%d fields, but the first line has %d", fields, cells->fields);
    return code ? code : end_row(cells, start, fields, npi_stream_line_number(stream), err);
}

int npi_cells_read(npi_cells *out, npi_stream *stream, const npgnn_load_options *how, npgnn_error *err)
{
    npgnn_error why = {0}; /* the caller may want no text, but the first bad row is logged with one */
    npi_lines lines = {.stream = stream};
    char *row;
    int code = 0;
    *out = (npi_cells){.env = *npi_stream_env(stream)};
    while (code == 0 && (code = npi_lines_next_row(&row, &lines, &why)) != 0) {
        size_t start = out->used;
        out->separator = lines.separator;
        if (code > 0)
            code = add_text(out, row, &why);
        if (code == 0)
            code = cut_row(out, start, stream, &why);
        if (code == NPGNN_E_FORMAT)
            out->used = start;
        if (!lines.broken)
            code = npi_skipped_add(&out->skipped, code, how, &why);
    }
    if (code && err)
        *err = why;
    return code;
}
