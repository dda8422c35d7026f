/* An encoding, and a table that it is applied to. What was read is written as text that reads the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "io/readers.h"

enum { ENCODING, TABLE, PARTS };

static void apply(fuzz_case *c, const char *text, fuzz_part part)
{
    const npgnn_load_options how = {.size = sizeof how, .encoding = text, .skip_bad_rows = 1};
    npi_table table = {0};
    npi_stream *stream = fuzz_stream(c, "table", part.data, part.size);
    if (stream && fuzz_code(c, npi_table_read_csv(&table, stream, &how, NULL, 0, &c->err)) == 0)
        for (int64_t p = 0; p < table.x.ptr[table.x.rows]; p++)
            fuzz_check(isfinite(table.x.val[p]) && table.x.col[p] < table.x.cols);
    npi_table_free(&c->env, &table);
    npi_stream_close(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    fuzz_part parts[PARTS];
    npi_encoding *encoding = NULL, *again = NULL;
    fuzz_begin(&c, data, size);
    fuzz_parts(parts, PARTS, data, size);
    char *text = malloc(parts[ENCODING].size + 1);
    fuzz_check(text);
    memcpy(text, parts[ENCODING].data, parts[ENCODING].size);
    text[parts[ENCODING].size] = '\0';
    if (fuzz_code(&c, npi_encoding_parse(&encoding, text, "encoding", &c.env, &c.err)) == 0) {
        if (fuzz_code(&c, npi_encoding_parse(&again, encoding->text, "again", &c.env, &c.err)) == 0)
            fuzz_check(strcmp(again->text, encoding->text) == 0 && again->width == encoding->width);
        apply(&c, encoding->text, parts[TABLE]);
    }
    npi_encoding_free(encoding);
    npi_encoding_free(again);
    free(text);
    fuzz_end(&c);
    return 0;
}
