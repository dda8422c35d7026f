/* A feature matrix under construction, row by row, as the readers meet it. */
#ifndef NPI_IO_ROWS_H
#define NPI_IO_ROWS_H

#include "linalg/sparse.h"

typedef struct npi_rows {
    npgnn_env env;
    int64_t *ptr; /* (count + 1) */
    int32_t *col;
    float *val;
    size_t ptr_capacity, col_capacity, val_capacity;
    int32_t count;    /* rows ended */
    int64_t elements; /* in them and in the row under way */
    int32_t cols;     /* largest column + 1 */
} npi_rows;

int npi_rows_start(npi_rows *rows, const npgnn_env *env, npgnn_error *err);

/* One element of the row under way, in any order; zeros are skipped. */
int npi_rows_add(npi_rows *rows, int32_t col, float val, npgnn_error *err);

/* Ends the row and sorts it. Returns 1 with *twice set where a column came twice. */
int npi_rows_end(int32_t *twice, npi_rows *rows, npgnn_error *err);

/* The matrix with `cols` columns, empty rows appended up to `count` (at least the rows there are). Leaves `rows` empty. */
int npi_rows_take(npi_csr *out, npi_rows *rows, int32_t count, int32_t cols, npgnn_error *err);
void npi_rows_free(npi_rows *rows);

#endif
