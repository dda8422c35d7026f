/* Sorts the elements of a matrix, given in any order, into rows. */
#include "io/readers.h"

int npi_triples_add(npi_triples *triples, int32_t row, int32_t col, float val, const npgnn_env *env, npgnn_error *err)
{
    npi_triple triple = {row, col, val};
    int code = npi_grow(env, &triples->items, &triples->capacity, triples->count, sizeof *triples->items, err);
    if (code == 0)
        triples->items[triples->count++] = triple;
    return code;
}

/* order (count) = the triples ordered by row, by counting sort; start (rows + 1), zeroed, is used to count. */
static void sort_by_row(size_t *order, int64_t *start, const npi_triples *triples, int32_t rows)
{
    for (size_t i = 0; i < triples->count; i++)
        start[triples->items[i].row + 1]++;
    for (int32_t row = 0; row < rows; row++)
        start[row + 1] += start[row];
    for (size_t i = triples->count; i-- > 0;)
        order[--start[triples->items[i].row + 1]] = i;
}

static int fill_rows(npi_rows *out, const npi_triples *triples, const size_t *order, int32_t rows, npi_stream *stream,
                     npgnn_error *err)
{
    size_t at = 0;
    int code = 0;
    for (int32_t row = 0; code == 0 && row < rows; row++) {
        int32_t twice = 0;
        for (; code == 0 && at < triples->count && triples->items[order[at]].row == row; at++)
            code = npi_rows_add(out, triples->items[order[at]].col, triples->items[order[at]].val, err);
        if (code == 0)
            code = npi_rows_end(&twice, out, err);
        if (code > 0)
            code = npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                               "row %d, column %d (counted from 1) occurs twice", row + 1, twice + 1);
    }
    return code;
}

int npi_triples_to_csr(npi_csr *out, const npi_triples *triples, int32_t rows, int32_t cols, npi_stream *stream,
                       npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    npi_rows builder;
    int64_t *start = npi_alloc(env, (size_t)rows + 1, sizeof *start, err);
    size_t *order = npi_alloc(env, triples->count, sizeof *order, err);
    int code = start && order ? npi_rows_start(&builder, env, err) : NPGNN_E_MEMORY;
    if (code == 0) {
        sort_by_row(order, start, triples, rows);
        code = fill_rows(&builder, triples, order, rows, stream, err);
        if (code == 0)
            code = npi_rows_take(out, &builder, rows, cols, err);
        npi_rows_free(&builder);
    }
    npi_free(env, start);
    npi_free(env, order);
    return code;
}
