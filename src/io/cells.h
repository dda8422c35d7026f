/* A table of text, before it is known what is in it: all cells as they are in the file. */
#ifndef NPI_IO_CELLS_H
#define NPI_IO_CELLS_H

#include "io/readers.h"

typedef struct npi_cells {
    npgnn_env env;
    char *text; /* the cells, each terminated, row by row */
    size_t used, text_capacity;
    size_t *row;    /* (rows) where the row begins in text */
    int64_t *line;  /* (rows) the line of the file on which it begins */
    uint32_t *cell; /* (rows, fields) where the cell begins in its row */
    size_t row_capacity, line_capacity, cell_capacity;
    int32_t rows;
    int fields; /* per row; 0: there are no rows */
    char separator;
    npi_skipped skipped; /* rows with another number of fields */
} npi_cells;

/* Reads all rows. The first line determines the separator and the number of fields. A field in quotes may contain line
 * breaks. Blank lines and comments are skipped. E_FORMAT for a row with another number of fields, unless bad rows are
 * to be skipped. The caller frees `out`, also on failure. */
int npi_cells_read(npi_cells *out, npi_stream *stream, const npgnn_load_options *how, npgnn_error *err);
void npi_cells_free(npi_cells *cells);

/* Adds a row of `count` cells, as many as the rows before it have, which is on this line of the file. */
int npi_cells_add_row(npi_cells *cells, const char *const *values, int count, int64_t line, npgnn_error *err);

static inline const char *npi_cells_get(const npi_cells *cells, int32_t row, int column)
{
    return cells->text + cells->row[row] + cells->cell[(size_t)row * (size_t)cells->fields + (size_t)column];
}

/* Replaces the bytes of cells that are not UTF-8 with question marks: categories and words are stored as JSON. */
void npi_cells_clean(npi_cells *cells, int column);

/* How a column writes decimals, from row `first` on. */
typedef enum {
    NPI_DECIMAL_NONE,   /* fewer than nine of ten values are numbers */
    NPI_DECIMAL_EITHER, /* nothing tells: 12, or 1.234, which may have a separator of thousands */
    NPI_DECIMAL_POINT,  /* some number has a decimal point for certain: 1.5 or 0.125 */
    NPI_DECIMAL_COMMA   /* no number has, and some have a decimal comma */
} npi_decimal;

/* Commas are decimal only where they do not separate cells. 1,234 alone may be a thousand: it shows a decimal comma
 * only where semicolons separate the cells, which commas are usually the reason for. */
npi_decimal npi_cells_decimal(const npi_cells *cells, int column, int32_t first);

/* Turns a number with a decimal comma, or with points between thousands, into one with a decimal point, in place.
 * Returns 0 where the cell is something else, which stays as it is. */
int npi_cells_take_decimal_comma(npi_cells *cells, int32_t row, int column);

/* The table of cells whose first row is a header and whose first column has the ids. Takes the cells, also on
 * failure. */
int npi_table_from_cells(npi_table *out, npi_cells *cells, const char *file, const npgnn_load_options *how,
                         npgnn_error *err);

/* The same of cells that came from memory: all columns are features, and the first row is a header unless the columns
 * are `unnamed`. kinds[i] is the kind that the caller chose for a column, NPI_KINDS: none. printed[i] is 1 where the
 * cells of a column are numbers of the caller, which have decimal points whatever the encoding says. `what` stands for
 * the file in messages. */
int npi_table_from_columns(npi_table *out, npi_cells *cells, int unnamed, const npi_kind *kinds,
                           const unsigned char *printed, const npgnn_load_options *how, int side, const char *what,
                           npgnn_error *err);

/* ---- what is in a column ---- */

/* Whether a cell is no plain number, but one with signs of money, percent or thousands, or with a decimal comma:
 * $45,876, 12 %, 1.234.567 or 3,5. Units may mean more: 12 kg is none. */
int npi_cell_is_decorated(const char *cell);

/* Finds out the kind of a column from its rows `first` and on, unless `kind` says it (NPI_KINDS: it does not), and all
 * that its encoding needs. E_FORMAT names the first cell that does not fit, unless bad rows are to be skipped: such
 * cells count as missing then. */
int npi_cells_infer(npi_encoded *out, const npi_cells *cells, int column, int32_t first, npi_kind kind,
                    const npgnn_load_options *how, const char *file, npgnn_error *err);

#endif
