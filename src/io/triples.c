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

int npi_triples_to_csr(npi_csr *out, const npi_triples *triples, int32_t rows, int32_t cols, npi_stream *stream,
                       npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    const npi_triple *items = triples->items;
    npi_rows builder;
    int64_t *start = npi_alloc(env, (size_t)rows + 1, sizeof *start, err);
    size_t *order = npi_alloc(env, triples->count, sizeof *order, err);
    int code = start && order ? npi_rows_start(&builder, env, err) : NPGNN_E_MEMORY;
    if (code == 0) {
        /* counting sort by row: order lists the triples; filling from the back keeps equal rows in order */
        for (size_t i = 0; i < triples->count; i++)
            start[items[i].row + 1]++;
        for (int32_t row = 0; row < rows; row++)
            start[row + 1] += start[row];
        for (size_t i = triples->count; i-- > 0;)
            order[--start[items[i].row + 1]] = i;
        /* npi_rows_end sorts each row by column and finds duplicates */
        size_t at = 0;
        for (int32_t row = 0; code == 0 && row < rows; row++) {
            int32_t twice = 0;
            for (; code == 0 && at < triples->count && items[order[at]].row == row; at++)
                code = npi_rows_add(&builder, items[order[at]].col, items[order[at]].val, err);
            if (code == 0)
                code = npi_rows_end(&twice, &builder, err);
            if (code > 0)
                code = npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                                   "row %d, column %d (counted from 1) occurs twice", row + 1, twice + 1);
        }
        if (code == 0)
            code = npi_rows_take(out, &builder, rows, cols, err);
        npi_rows_free(&builder);
    }
    npi_free(env, start);
    npi_free(env, order);
    return code;
}
