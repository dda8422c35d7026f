/* Feature tables: compiled once for each format, FUZZ_READER being its reader. Whatever was read, written as a Matrix
 * Market file, reads the same. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "io/readers.h"

/* The reader of text takes more arguments. */
#ifdef FUZZ_TEXT
#define FUZZ_READ(table, stream, err) FUZZ_READER(table, stream, NULL, NULL, 0, err)
#else
#define FUZZ_READ(table, stream, err) FUZZ_READER(table, stream, err)
#endif

static void check_table(const npi_table *table)
{
    const npi_csr *x = &table->x;
    fuzz_check(x->rows >= 0 && x->cols >= 0 && x->ptr[0] == 0);
    for (int32_t i = 0; i < x->rows; i++) {
        fuzz_check(x->ptr[i] <= x->ptr[i + 1]);
        for (int64_t p = x->ptr[i]; p < x->ptr[i + 1]; p++) {
            fuzz_check(x->col[p] >= 0 && x->col[p] < x->cols && isfinite(x->val[p]));
            fuzz_check(p == x->ptr[i] || x->col[p - 1] < x->col[p]);
        }
    }
    fuzz_check(!table->names || npi_names_count(table->names) == x->rows);
}

static char *as_matrix_market(size_t *size, const npi_csr *x)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    fuzz_check(file);
    fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %lld\n", x->rows, x->cols,
            (long long)x->ptr[x->rows]);
    for (int32_t i = 0; i < x->rows; i++)
        for (int64_t p = x->ptr[i]; p < x->ptr[i + 1]; p++)
            fprintf(file, "%d %d %.9g\n", i + 1, x->col[p] + 1, (double)x->val[p]);
    fclose(file);
    return text;
}

#ifdef FUZZ_TEXT
/* The same table, read with the encoding that was found from it, becomes the same numbers. */
static void check_encoding(fuzz_case *c, const npi_table *table, const uint8_t *data, size_t size)
{
    const npgnn_load_options how = {.size = sizeof how, .encoding = table->encoding->text};
    npi_table again = {0};
    npi_stream *stream = fuzz_stream(c, "table", data, size);
    if (stream && fuzz_code(c, npi_table_read_csv(&again, stream, &how, NULL, 0, &c->err)) == 0) {
        const npi_csr *x = &table->x;
        fuzz_check(again.x.rows == x->rows && again.x.cols == x->cols);
        fuzz_check(memcmp(again.x.ptr, x->ptr, ((size_t)x->rows + 1) * sizeof *x->ptr) == 0);
        fuzz_check(memcmp(again.x.col, x->col, (size_t)x->ptr[x->rows] * sizeof *x->col) == 0);
        fuzz_check(memcmp(again.x.val, x->val, (size_t)x->ptr[x->rows] * sizeof *x->val) == 0);
    }
    npi_table_free(&c->env, &again);
    npi_stream_close(stream);
}
#endif

static void check_written(fuzz_case *c, const npi_csr *x)
{
    size_t size;
    char *text = as_matrix_market(&size, x);
    npi_stream *stream = fuzz_stream(c, "again.mtx", text, size);
    npi_table again = {0};
    fuzz_check(npi_table_read_mtx(&again, stream, &c->err) == 0);
    fuzz_check(again.x.rows == x->rows && again.x.cols == x->cols);
    fuzz_check(memcmp(again.x.ptr, x->ptr, ((size_t)x->rows + 1) * sizeof *x->ptr) == 0);
    fuzz_check(memcmp(again.x.col, x->col, (size_t)x->ptr[x->rows] * sizeof *x->col) == 0);
    fuzz_check(memcmp(again.x.val, x->val, (size_t)x->ptr[x->rows] * sizeof *x->val) == 0);
    npi_table_free(&c->env, &again);
    npi_stream_close(stream);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    npi_table table = {0};
    fuzz_begin(&c, data, size);
    npi_stream *stream = fuzz_stream(&c, "table", data, size);
    if (stream && fuzz_code(&c, FUZZ_READ(&table, stream, &c.err)) == 0) {
        check_table(&table);
        check_written(&c, &table.x);
#ifdef FUZZ_TEXT
        if (table.encoding)
            check_encoding(&c, &table, data, size);
#endif
    }
    npi_table_free(&c.env, &table);
    npi_stream_close(stream);
    fuzz_end(&c);
    return 0;
}
