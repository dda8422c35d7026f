/* A sparse matrix under construction, row by row. */
#ifndef NPI_IO_ROWS_H
#define NPI_IO_ROWS_H

#include "linalg/sparse.h"

typedef struct npi_rows {
    npgnn_env env;
    int64_t *ptr; /* (count + 1) */
    int32_t *col;
    float *val;
    size_t ptr_capacity, col_capacity, val_capacity;
    int32_t count;    /* complete rows */
    int64_t elements; /* in these and in the current row */
    int32_t cols;     /* largest column + 1 */
} npi_rows;

int npi_rows_start(npi_rows *rows, const npgnn_env *env, npgnn_error *err);

/* Adds an element to the current row, in any order. Zeros are not stored, but count for `cols`. */
int npi_rows_add(npi_rows *rows, int32_t col, float val, npgnn_error *err);

/* Completes the current row and sorts it. Returns 1, with *twice set, where a column occurs twice. */
int npi_rows_end(int32_t *twice, npi_rows *rows, npgnn_error *err);

/* The matrix (count, cols). `count` is at least the number of complete rows; further rows are empty. Leaves `rows`
 * empty. */
int npi_rows_take(npi_csr *out, npi_rows *rows, int32_t count, int32_t cols, npgnn_error *err);
void npi_rows_free(npi_rows *rows);

#endif
