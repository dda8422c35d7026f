/* Streams: lines, gzip and fields. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <string.h>
#include <zlib.h>

#include "io/stream.h"
#include "io/text.h"

/* All lines of a stream, each followed by |. */
static int read_lines(char out[256], const void *bytes, size_t size, npgnn_error *err)
{
    npgnn_env env = npi_env_resolve(NULL);
    npi_stream *stream;
    char *line;
    int code = npi_stream_open_memory(&stream, "text", bytes, size, &env, err);
    if (code)
        return code;
    out[0] = '\0';
    while ((code = npi_stream_read_line(&line, stream, err)) > 0)
        snprintf(out + strlen(out), 256 - strlen(out), "%s|", line);
    npi_stream_close(stream);
    return code;
}

static void says(const npgnn_error *err, int64_t line, const char *wanted)
{
    assert_int_equal(err->code, NPGNN_E_FORMAT);
    assert_string_equal(err->file, "text");
    assert_int_equal(err->line, line);
    if (!strstr(err->text, wanted))
        fail_msg("'%s' does not say '%s'", err->text, wanted);
}

/* ---- lines ---- */

static void test_line_endings(void **state)
{
    char lines[256];
    npgnn_error err = {0};
    (void)state;
    assert_ok(read_lines(lines, "a\nb\r\n\n c ", 9, &err), err);
    assert_string_equal(lines, "a|b|| c |");
    assert_ok(read_lines(lines, "", 0, &err), err);
    assert_string_equal(lines, "");
}

/* A field in quotes may have several lines: the row keeps the number of the first, and the next line the right one. */
static void test_joined_lines(void **state)
{
    static const char text[] = "a\n\"b\r\n\nc\"\nd";
    npgnn_env env = npi_env_resolve(NULL);
    npgnn_error err = {0};
    npi_stream *stream;
    char *line;
    (void)state;
    assert_ok(npi_stream_open_memory(&stream, "text", text, sizeof text - 1, &env, &err), err);
    assert_int_equal(npi_stream_read_line(&line, stream, &err), 1);
    assert_int_equal(npi_stream_read_line(&line, stream, &err), 1);
    assert_int_equal(npi_stream_join_line(&line, stream, &err), 1);
    assert_int_equal(npi_stream_join_line(&line, stream, &err), 1);
    assert_string_equal(line, "\"b\n\nc\"");
    assert_int_equal(npi_stream_line_number(stream), 2);
    assert_int_equal(npi_stream_read_line(&line, stream, &err), 1);
    assert_string_equal(line, "d");
    assert_int_equal(npi_stream_line_number(stream), 5);
    assert_int_equal(npi_stream_join_line(&line, stream, &err), 0);
    assert_string_equal(line, "d");
    npi_stream_close(stream);
}

static void test_quotes(void **state)
{
    (void)state;
    assert_true(npi_text_ends_in_quotes("a,\"b", ',', 0));
    assert_false(npi_text_ends_in_quotes("a,\"b\"", ',', 0));
    assert_false(npi_text_ends_in_quotes("a\",b", ',', 0)); /* not at the beginning of a field */
    assert_false(npi_text_ends_in_quotes("b\",c", ',', 1));
    assert_true(npi_text_ends_in_quotes("b\"\",c", ',', 1));
    assert_true(npi_text_has_stray_quote("a,\"b\"c,d", ','));
    assert_false(npi_text_has_stray_quote("a,\"b\" ,\"\"\"d\"", ','));
    assert_false(npi_text_has_stray_quote("5\",6\"", ','));
}

static void test_nul_bytes(void **state)
{
    char lines[256];
    npgnn_error err = {0};
    (void)state;
    assert_int_equal(read_lines(lines, "0 1\n1\0 2\n", 9, &err), NPGNN_E_FORMAT);
    says(&err, 2, "NUL");
}

static void test_lines_longer_than_a_block(void **state)
{
    npgnn_env env = npi_env_resolve(NULL);
    npgnn_error err = {0};
    size_t size = 200000;
    char *text = malloc(size), *line;
    npi_stream *stream;
    (void)state;
    memset(text, 'x', size);
    text[150000] = '\n';
    assert_ok(npi_stream_open_memory(&stream, "long", text, size, &env, &err), err);
    assert_int_equal(npi_stream_read_line(&line, stream, &err), 1);
    assert_int_equal(strlen(line), 150000);
    assert_int_equal(npi_stream_read_line(&line, stream, &err), 1);
    assert_int_equal(strlen(line), 49999);
    assert_int_equal(npi_stream_line_number(stream), 2);
    assert_int_equal(npi_stream_read_line(&line, stream, &err), 0);
    npi_stream_close(stream);
    free(text);
}

/* ---- gzip ---- */

static size_t gzip(unsigned char *out, size_t room, const char *text)
{
    z_stream zip = {0};
    assert_int_equal(deflateInit2(&zip, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    unsigned char copy[256];
    size_t size = strlen(text);
    memcpy(copy, text, size);
    zip.next_in = copy;
    zip.avail_in = (uInt)size;
    zip.next_out = out;
    zip.avail_out = (uInt)room;
    assert_int_equal(deflate(&zip, Z_FINISH), Z_STREAM_END);
    deflateEnd(&zip);
    return room - zip.avail_out;
}

static void test_gzip(void **state)
{
    unsigned char bytes[512];
    char lines[256];
    npgnn_error err = {0};
    size_t size = gzip(bytes, sizeof bytes, "0 1\n");
    (void)state;
    size += gzip(bytes + size, sizeof bytes - size, "1 2\n"); /* two members are one text */
    assert_ok(read_lines(lines, bytes, size, &err), err);
    assert_string_equal(lines, "0 1|1 2|");
    bytes[15] ^= 0x55;
    assert_int_equal(read_lines(lines, bytes, size, &err), NPGNN_E_FORMAT);
    says(&err, 0, "damaged");
}

static void test_truncated_gzip(void **state)
{
    unsigned char bytes[512];
    char lines[256];
    size_t size = gzip(bytes, sizeof bytes, "0 1\n1 2\n2 3\n");
    (void)state;
    for (size_t cut = 2; cut < size; cut++) {
        npgnn_error err = {0};
        assert_int_equal(read_lines(lines, bytes, cut, &err), NPGNN_E_FORMAT);
        says(&err, err.line, "truncated");
    }
}

/* ---- fields ---- */

static void test_fields(void **state)
{
    char line[] = "a,\"b \"\"c\"\", d\", e ,,f";
    char *rest = line;
    (void)state;
    assert_int_equal(npi_text_find_separator(line), ',');
    assert_string_equal(npi_text_cut_field(&rest, ','), "a");
    assert_string_equal(npi_text_cut_field(&rest, ','), "b \"c\", d");
    assert_string_equal(npi_text_cut_field(&rest, ','), "e");
    assert_string_equal(npi_text_cut_field(&rest, ','), "");
    assert_string_equal(npi_text_cut_field(&rest, ','), "f");
    assert_null(npi_text_cut_field(&rest, ','));
    char open[] = "\"never closed, ";
    rest = open;
    assert_string_equal(npi_text_cut_field(&rest, ','), "never closed, ");
    assert_null(npi_text_cut_field(&rest, ','));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_endings),
        cmocka_unit_test(test_joined_lines),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_nul_bytes),
        cmocka_unit_test(test_lines_longer_than_a_block),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_truncated_gzip),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
