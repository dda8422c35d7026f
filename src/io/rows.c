/* Builds a sparse matrix row by row. Memory grows with the elements that are added. */
#include "io/rows.h"

#include <stdlib.h>
#include <string.h>

typedef struct element {
    int32_t col;
    float val;
} element;

int npi_rows_start(npi_rows *rows, const npgnn_env *env, npgnn_error *err)
{
    memset(rows, 0, sizeof *rows);
    rows->env = *env;
    int code = npi_grow(env, &rows->ptr, &rows->ptr_capacity, 0, sizeof *rows->ptr, err);
    if (code == 0)
        code = npi_grow(env, &rows->col, &rows->col_capacity, 0, sizeof *rows->col, err);
    if (code == 0)
        code = npi_grow(env, &rows->val, &rows->val_capacity, 0, sizeof *rows->val, err);
    if (code)
        npi_rows_free(rows);
    else
        rows->ptr[0] = 0;
    return code;
}

int npi_rows_add(npi_rows *rows, int32_t col, float val, npgnn_error *err)
{
    size_t used = (size_t)rows->elements;
    if (rows->cols <= col)
        rows->cols = col + 1;
    if (val == 0)
        return 0;
    int code = npi_grow(&rows->env, &rows->col, &rows->col_capacity, used, sizeof *rows->col, err);
    if (code == 0)
        code = npi_grow(&rows->env, &rows->val, &rows->val_capacity, used, sizeof *rows->val, err);
    if (code)
        return code;
    rows->col[used] = col;
    rows->val[used] = val;
    rows->elements++;
    return 0;
}

static int by_column(const void *a, const void *b)
{
    int32_t left = ((const element *)a)->col, right = ((const element *)b)->col;
    return (left > right) - (left < right);
}

static int sort_row(npi_rows *rows, int64_t begin, npgnn_error *err)
{
    size_t count = (size_t)(rows->elements - begin);
    element *row = npi_alloc(&rows->env, count, sizeof *row, err);
    if (!row)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        row[i].col = rows->col[begin + (int64_t)i];
        row[i].val = rows->val[begin + (int64_t)i];
    }
    qsort(row, count, sizeof *row, by_column);
    for (size_t i = 0; i < count; i++) {
        rows->col[begin + (int64_t)i] = row[i].col;
        rows->val[begin + (int64_t)i] = row[i].val;
    }
    npi_free(&rows->env, row);
    return 0;
}

int npi_rows_end(int32_t *twice, npi_rows *rows, npgnn_error *err)
{
    int64_t begin = rows->ptr[rows->count];
    int sorted = 1;
    if (rows->count == INT32_MAX - 1)
        return npi_fail(err, NPGNN_E_FORMAT, "too many rows: the limit is %d", INT32_MAX - 1);
    /* most files list columns in ascending order; such a row has no duplicates either */
    for (int64_t i = begin + 1; i < rows->elements; i++)
        sorted &= rows->col[i - 1] < rows->col[i];
    int code = sorted ? 0 : sort_row(rows, begin, err);
    for (int64_t i = begin + 1; code == 0 && !sorted && i < rows->elements; i++)
        if (rows->col[i - 1] == rows->col[i]) {
            *twice = rows->col[i];
            return 1;
        }
    if (code == 0)
        code = npi_grow(&rows->env, &rows->ptr, &rows->ptr_capacity, (size_t)rows->count + 1, sizeof *rows->ptr, err);
    if (code == 0)
        rows->ptr[++rows->count] = rows->elements;
    return code;
}

int npi_rows_take(npi_csr *out, npi_rows *rows, int32_t count, int32_t cols, npgnn_error *err)
{
    int64_t *ptr = npi_resize(&rows->env, rows->ptr, (size_t)count + 1, sizeof *ptr, err);
    if (!ptr)
        return NPGNN_E_MEMORY;
    for (int32_t i = rows->count; i < count; i++)
        ptr[i + 1] = rows->elements;
    npi_csr x = {.rows = count, .cols = cols, .ptr = ptr, .col = rows->col, .val = rows->val};
    rows->ptr = NULL;
    rows->col = NULL;
    rows->val = NULL;
    *out = x;
    return 0;
}

void npi_rows_free(npi_rows *rows)
{
    npi_free(&rows->env, rows->ptr);
    npi_free(&rows->env, rows->col);
    npi_free(&rows->env, rows->val);
    memset(rows, 0, sizeof *rows);
}
