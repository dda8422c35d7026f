/* Streams: lines, gzip and fields. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <string.h>
#include <zlib.h>

#include "folder.h"
#include "io/lines.h"
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
    int stray = 0;
    assert_true(npi_text_ends_in_quotes(&stray, "a,\"b", ',', 0));
    assert_false(npi_text_ends_in_quotes(&stray, "a,\"b\"", ',', 0));
    assert_false(npi_text_ends_in_quotes(&stray, "a\",b", ',', 0)); /* not at the beginning of a field */
    assert_false(npi_text_ends_in_quotes(&stray, "b\",c", ',', 1));
    assert_true(npi_text_ends_in_quotes(&stray, "b\"\",c", ',', 1));
    assert_false(npi_text_ends_in_quotes(&stray, "a,\"b\" ,\"\"\"d\"", ',', 0));
    assert_false(npi_text_ends_in_quotes(&stray, "5\",6\"", ',', 0));
    assert_false(stray);
    assert_false(npi_text_ends_in_quotes(&stray, "a,\"b\"c,d", ',', 0));
    assert_true(stray);
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

static void test_look_ahead(void **state)
{
    npgnn_env env = npi_env_resolve(NULL);
    npgnn_error err = {0};
    size_t size = 200000, seen;
    char *text = malloc(size), *line;
    npi_stream *stream;
    (void)state;
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(i % 1000 == 999 ? '\n' : 'a' + i % 26);
    assert_ok(npi_stream_open_memory(&stream, "long", text, size, &env, &err), err);
    for (size_t lines = 0; lines < 200; lines += 20) {
        for (int i = 0; i < 20; i++)
            assert_int_equal(npi_stream_read_line(&line, stream, &err), 1);
        size_t at = 1000 * (lines + 20), left = size - at;
        const unsigned char *bytes = npi_stream_look_ahead(&seen, stream);
        assert_int_equal(seen, left < 65536 ? left : 65536);
        assert_memory_equal(bytes, text + at, seen);
    }
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
    char open[] = "\"never closed, \"6\" 7 , \" 8 \" ";
    rest = open;
    assert_string_equal(npi_text_cut_field(&rest, ','), "\"never closed");
    assert_string_equal(npi_text_cut_field(&rest, ','), "\"6\" 7");
    assert_string_equal(npi_text_cut_field(&rest, ','), " 8 ");
    assert_null(npi_text_cut_field(&rest, ','));
}

static void test_separator_of_names(void **state)
{
    (void)state;
    assert_int_equal(npi_text_find_separator_of_names("a b,c;d\te"), '\t');
    assert_int_equal(npi_text_find_separator_of_names("a;b,c d"), ',');
    assert_int_equal(npi_text_find_separator_of_names("a;b c;d e"), ';');
    assert_int_equal(npi_text_find_separator_of_names("a;b"), ';');
    assert_int_equal(npi_text_find_separator_of_names(" a;b  c;d "), ' '); /* two words are two names */
}

/* ---- rows ---- */

/* All rows with their lines, such as "1:a|3:b|"; after a failure, whether the rest can be read is "broken" or "whole". */
static int read_rows(char out[256], const char *text, npgnn_error *err)
{
    npgnn_env env = npi_env_resolve(NULL);
    npi_lines rows = {0};
    char *row;
    int code;
    assert_ok(npi_stream_open_memory(&rows.stream, "text", text, strlen(text), &env, err), *err);
    out[0] = '\0';
    while ((code = npi_lines_next_row(&row, &rows, err)) > 0)
        snprintf(out + strlen(out), 256 - strlen(out), "%d:%s|", (int)npi_stream_line_number(rows.stream), row);
    if (code < 0)
        snprintf(out + strlen(out), 256 - strlen(out), "%s", rows.broken ? "broken" : "whole");
    npi_stream_close(rows.stream);
    return code;
}

static void test_rows(void **state)
{
    char rows[256];
    npgnn_error err = {0};
    (void)state;
    assert_ok(read_rows(rows, "# note\n\na,b\n%\n\"c\n\n\",d\n#e,f\n", &err), err);
    assert_string_equal(rows, "3:a,b|5:\"c\n\n\",d|8:#e,f|");
    assert_ok(read_rows(rows, "\"a b\nc d\"\n", &err), err); /* blanks separate, and quotes need not be closed */
    assert_string_equal(rows, "1:\"a b|2:c d\"|");
    assert_int_equal(read_rows(rows, "a,b\n\"c,d\ne,f\n", &err), NPGNN_E_FORMAT);
    assert_string_equal(rows, "1:a,b|broken");
    says(&err, 2, "a quote is opened on this line but not closed");
    assert_int_equal(read_rows(rows, "a,b\n\"c\"d,e\n", &err), NPGNN_E_FORMAT);
    assert_string_equal(rows, "1:a,b|whole");
    says(&err, 2, "text follows a closing quote");
    assert_int_equal(read_rows(rows, "a,b\n\"c,d\n\"e\" f,g\n", &err), NPGNN_E_FORMAT);
    assert_string_equal(rows, "1:a,b|broken"); /* the first row has a quote that is not closed */
    says(&err, 2, "a quote is opened on this line but not closed");
}

/* ---- lines for programs ---- */

/* What npgnn_lines_next has: the fields of a line, each followed by |, after its number; "wait", "end" or "failure". */
static const char *next_fields(npgnn_lines *lines, int wait, npgnn_error *err)
{
    static char text[256];
    const char *const *fields;
    int count, code = npgnn_lines_next(&fields, &count, lines, wait, err);
    snprintf(text, sizeof text, "%s", code == 2 ? "wait" : code == 0 ? "end" : code < 0 ? "failure" : "");
    if (code == 1)
        snprintf(text, sizeof text, "%d:", (int)npgnn_lines_number(lines));
    for (int i = 0; code == 1 && i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s|", fields[i]);
    return text;
}

static void test_fields_of_lines(void **state)
{
    static const char text[] = "\xEF\xBB\xBF# two names\r\na b\ra ; x\tb\n\"c, d\",,e, f;g\n\n\"h i\" j,\n"
                               "\"k l\" m\n";
    static const char *const wanted[] = {"2:a|b|", "3:a ; x|b|", "4:c, d|e|f;g|", "6:\"h i\" j|", "7:k l|m|", "end"};
    npgnn_error err = {0};
    npgnn_lines *lines;
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        unsigned char bytes[512];
        size_t size = packed ? gzip(bytes, sizeof bytes, text) : sizeof text - 1;
        write_whole(path_of("text"), packed ? (const void *)bytes : text, size);
        assert_ok(npgnn_lines_open(&lines, path_of("text"), 0, NULL, &err), err);
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
            assert_string_equal(next_fields(lines, packed, &err), wanted[i]);
        npgnn_lines_free(lines);
    }
    assert_ok(npgnn_lines_open(&lines, path_of("text"), '\n', NULL, &err), err);
    assert_string_equal(next_fields(lines, 1, &err), "2:a b|");
    npgnn_lines_free(lines);
    assert_int_equal(npgnn_lines_open(&lines, path_of("missing"), 0, NULL, &err), NPGNN_E_IO);
    npgnn_lines_free(NULL);
}

/* What a pipe has not given yet is not waited for, and a line in two pieces is one. */
static void test_lines_of_a_pipe(void **state)
{
    char path[64];
    int ends[2];
    npgnn_error err = {0};
    npgnn_lines *lines;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_ok(npgnn_lines_open(&lines, path, 0, NULL, &err), err);
    close(ends[0]);
    assert_string_equal(next_fields(lines, 0, &err), "wait");
    assert_int_equal(write(ends[1], "a b\nc\xC3", 6), 6);
    assert_string_equal(next_fields(lines, 0, &err), "1:a|b|");
    assert_string_equal(next_fields(lines, 0, &err), "wait");
    assert_string_equal(next_fields(lines, 0, &err), "wait");
    assert_int_equal(write(ends[1], "\xA9 d\re f", 7), 7);
    assert_string_equal(next_fields(lines, 1, &err), "2:c\xC3\xA9|d|");
    assert_string_equal(next_fields(lines, 0, &err), "wait");
    close(ends[1]);
    assert_string_equal(next_fields(lines, 0, &err), "3:e|f|"); /* the last line may have no end */
    assert_string_equal(next_fields(lines, 1, &err), "end");
    npgnn_lines_free(lines);
}

static void test_lines_that_are_no_text(void **state)
{
    static const char utf16[] = "\xFF\xFE" /* the mark */ "a\0 \0b\0\n", nul[] = "a b\nc\0 d\n";
    npgnn_error err = {0};
    npgnn_lines *lines;
    (void)state;
    for (int i = 0; i < 2; i++) {
        write_whole(path_of("binary"), i ? nul : utf16, i ? sizeof nul - 1 : sizeof utf16 - 1);
        assert_ok(npgnn_lines_open(&lines, path_of("binary"), 0, NULL, &err), err);
        if (i)
            assert_string_equal(next_fields(lines, 1, &err), "1:a|b|");
        assert_string_equal(next_fields(lines, 1, &err), "failure");
        if (!strstr(err.text, i ? "binary:2: NUL byte" : "iconv -f UTF-16"))
            fail_msg("'%s'", err.text);
        npgnn_lines_free(lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_endings),
        cmocka_unit_test(test_joined_lines),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_nul_bytes),
        cmocka_unit_test(test_lines_longer_than_a_block),
        cmocka_unit_test(test_look_ahead),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_truncated_gzip),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_separator_of_names),
        cmocka_unit_test(test_rows),
        cmocka_unit_test_setup_teardown(test_fields_of_lines, make_folder, remove_folder),
        cmocka_unit_test(test_lines_of_a_pipe),
        cmocka_unit_test_setup_teardown(test_lines_that_are_no_text, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
