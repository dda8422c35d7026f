/* Pickles: the values of real files are read; everything else is refused without a crash and without trusting length
 * fields. */
#include "check.h"

#include <string.h>

#include "io/pickle.h"
#include "meter.h"

/* ---- making pickles ---- */

typedef struct bytes {
    unsigned char data[4096];
    size_t size;
} bytes;

static void put(bytes *b, const void *data, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}
#define PUT(b, literal) put(b, literal, sizeof literal - 1)

static int read_bytes(npi_pickle *out, const void *data, size_t size, meter *m, npgnn_error *err)
{
    npgnn_env user = metered_env(m), env = npi_env_resolve(&user);
    npi_stream *stream;
    int code = npi_stream_open_memory(&stream, "test.pkl", data, size, &env, err);
    if (code)
        return code;
    code = npi_pickle_read(out, stream, err);
    npi_stream_close(stream);
    return code;
}

/* Asserts that a pickle is refused with this text and that nothing leaks. */
static void refused(const void *data, size_t size, const char *text)
{
    meter m = {.allow = -1};
    npgnn_error err = {0};
    npi_pickle pickle;
    assert_int_equal(read_bytes(&pickle, data, size, &m, &err), NPGNN_E_FORMAT);
    assert_int_equal(err.code, NPGNN_E_FORMAT);
    assert_string_equal(err.file, "test.pkl");
    if (!strstr(err.text, text))
        fail_msg("'%s' does not say '%s'", err.text, text);
    assert_false(m.refused);
    assert_int_equal(m.blocks, 0);
}
#define REFUSED(literal, text) refused(literal, sizeof literal - 1, text)

/* numpy.array of int32: shape (count) */
static void put_int_array(bytes *b, const int32_t *values, unsigned char count)
{
    unsigned char shape[2] = {'K', count}, size[2] = {'U', (unsigned char)(4 * count)};
    PUT(b, "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\1b\x87R(K\1");
    put(b, shape, 2);
    PUT(b, "\x85"
           "cnumpy\ndtype\nU\2i4K\0K\1\x87R(K\3U\1<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89");
    put(b, size, 2);
    put(b, values, 4 * (size_t)count);
    PUT(b, "tb");
}

/* scipy csr_matrix (2, 3) of [[0, 7, 0], [5, 0, 6]]; `last` is its last column index. */
static void put_matrix(bytes *b, int32_t last)
{
    const int32_t ptr[3] = {0, 1, 3}, val[3] = {7, 5, 6};
    const int32_t col[3] = {1, 0, last};
    PUT(b, "\x80\2cscipy.sparse.csr\ncsr_matrix\nq\1)\x81}q\2(U\6_shapeK\2K\3\x86U\6indptr");
    put_int_array(b, ptr, 3);
    PUT(b, "U\7indices");
    put_int_array(b, col, 3);
    PUT(b, "U\4data");
    put_int_array(b, val, 3);
    PUT(b, "ub.");
}

/* ---- valid pickles ---- */

static void test_dict_of_lists(void **state)
{
    static const char text[] =
        "\x80\2ccollections\ndefaultdict\nq\1c__builtin__\nlist\nq\2\x85Rq\3(K\0]q\4(K\1M\2\1eK\1]J"
        "\xff\xff\xff\xff"
        "au.";
    meter m = {.allow = -1};
    npgnn_error err = {0};
    npi_pickle p;
    (void)state;
    assert_ok(read_bytes(&p, text, sizeof text - 1, &m, &err), err);
    const npi_pickle_value *dict = npi_pickle_at(&p, p.root);
    assert_int_equal(dict->kind, NPI_PICKLE_DICT);
    assert_int_equal(dict->as.list.count, 4);
    const npi_pickle_value *first = npi_pickle_at(&p, dict->as.list.items[1]);
    const npi_pickle_value *second = npi_pickle_at(&p, dict->as.list.items[3]);
    assert_int_equal(first->as.list.count, 2);
    assert_int_equal(npi_pickle_item(&p, first, 0)->as.integer, 1);
    assert_int_equal(npi_pickle_item(&p, first, 1)->as.integer, 258);
    assert_null(npi_pickle_item(&p, first, 2));
    assert_int_equal(npi_pickle_item(&p, second, 0)->as.integer, -1);
    npi_pickle_free(&p);
    assert_int_equal(m.blocks, 0);
}

static void test_matrix(void **state)
{
    bytes b = {.size = 0};
    meter m = {.allow = -1};
    npgnn_error err = {0};
    npi_pickle_csr csr;
    npi_pickle p;
    (void)state;
    put_matrix(&b, 2);
    assert_ok(read_bytes(&p, b.data, b.size, &m, &err), err);
    assert_ok(npi_pickle_get_csr(&csr, &p, npi_pickle_at(&p, p.root), &err), err);
    assert_int_equal(csr.rows, 2);
    assert_int_equal(csr.cols, 3);
    assert_int_equal(npi_pickle_array_int(&csr.ptr, 2), 3);
    assert_int_equal(npi_pickle_array_int(&csr.col, 0), 1);
    assert_near(npi_pickle_array_float(&csr.val, 2), 6, 0);
    npi_pickle_free(&p);
    assert_int_equal(m.blocks, 0);
}

/* Protocols 4 and 5 as Python 3 writes them: frames, MEMOIZE, STACK_GLOBAL, bytes, _frombuffer. */
static void test_protocol_5(void **state)
{
    static const char text[] = "\x80\5\x95\x70\0\0\0\0\0\0\0\x8c\x13numpy._core.numeric\x94\x8c\x0b_"
                               "frombuffer\x94\x93\x94(\x96\2\0\0\0\0\0\0\0"
                               "\xfe\xff\x94\x8c\5numpy\x94\x8c\5dtype\x94\x93\x94\x8c\2i2\x94\x89\x88\x87\x94R\x94("
                               "K\3\x8c\1<\x94NNNJ\xff\xff\xff"
                               "\xffJ\xff\xff\xff\xffK\0t\x94"
                               "bK\1\x85\x94\x8c\1C\x94t\x94R\x94.";
    meter m = {.allow = -1};
    npgnn_error err = {0};
    npi_pickle_array array;
    npi_pickle p;
    (void)state;
    assert_ok(read_bytes(&p, text, sizeof text - 1, &m, &err), err);
    assert_ok(npi_pickle_get_array(&array, &p, npi_pickle_at(&p, p.root), "it", &err), err);
    assert_int_equal(array.rows, 1);
    assert_int_equal(npi_pickle_array_int(&array, 0), -2);
    npi_pickle_free(&p);
}

/* Bytes as Python 3 writes them in protocol 2: text to be encoded; used twice through the memo. */
static void test_latin1(void **state)
{
    static const char text[] = "\x80\2]q\0(c_codecs\nencode\nq\1X\4\0\0\0\xc3\xbf"
                               "A\1q\2X\6\0\0\0latin1q\3\x86Rh\1h\2h\3\x86Re.";
    meter m = {.allow = -1};
    npgnn_error err = {0};
    npi_pickle p;
    (void)state;
    assert_ok(read_bytes(&p, text, sizeof text - 1, &m, &err), err);
    for (size_t i = 0; i < 2; i++) {
        const npi_pickle_value *value = npi_pickle_item(&p, npi_pickle_at(&p, p.root), i);
        assert_int_equal(value->kind, NPI_PICKLE_BYTES);
        assert_int_equal(value->as.string.size, 3);
        assert_memory_equal(value->as.string.bytes,
                            "\xff"
                            "A\1",
                            3);
    }
    npi_pickle_free(&p);
    REFUSED("\x80\2c_codecs\nencode\nX\3\0\0\0\xe2\x82\xacX\6\0\0\0latin1\x86R.", "not Latin-1");
}

/* ---- invalid pickles ---- */

static void test_forbidden_classes(void **state)
{
    (void)state;
    REFUSED("\x80\2cos\nsystem\nU\2ls\x85R.", "os.system");
    REFUSED("cposix\nsystem\n(S'ls'\ntR.", "posix.system");
    REFUSED("\x80\4\x8c\x08"
            "builtins\x8c\4eval\x93.",
            "builtins.eval");
    REFUSED("\x80\2cnumpy\nload\n.", "numpy.load");
    REFUSED("\x80\2cos\x1b[31m\nsystem\n.", "os?[31m.system"); /* nothing of the file reaches the terminal */
    REFUSED("\x80\2c__builtin__\nlist\n)R.", "must not be called");
    REFUSED("\x80\2K\1)R.", "not made from a class");
    REFUSED("\x80\2]}b.", "not an object");
}

static void test_invalid_instructions(void **state)
{
    (void)state;
    REFUSED("", "ends before");
    REFUSED("\x80", "ends within PROTO");
    REFUSED("\x80\6N.", "5 is the newest");
    REFUSED("\x80\2i", "unsupported pickle instruction 0x69");
    REFUSED("\x80\2K\1K\2.", "exactly one value");
    REFUSED("\x80\2.", "exactly one value");
    REFUSED("\x80\2(.", "exactly one value");
    REFUSED("\x80\2t.", "mark that was not set");
    REFUSED("\x80\2K\1a.", "more values than the stack has");
    REFUSED("\x80\2K\1K\2a.", "not a list");
    REFUSED("\x80\2]K\1s.", "more values than the stack has");
    REFUSED("\x80\2](K\1K\2u.", "not a dict");
    REFUSED("\x80\2}(K\1u.", "without a value");
    REFUSED("\x80\2(e.", "more values than the stack has");
    REFUSED("\x80\2](K\1\x86.", "more values than the stack has"); /* reaches below its mark */
    REFUSED("\x80\2\x8a\x09\1\1\1\1\1\1\1\1\1.", "more than 64 bits");
}

static void test_invalid_memo(void **state)
{
    (void)state;
    REFUSED("\x80\2h\0.", "is empty");
    REFUSED("\x80\2Nq\3h\2.", "is empty");
    REFUSED("\x80\2q\0.", "more values than the stack has");
    REFUSED("\x80\2Nr\xff\xff\xff\xff.", "out of range");
    REFUSED("\x80\2j\xff\xff\xff\xff.", "is empty");
}

static void test_lengths_beyond_end_of_file(void **state)
{
    (void)state;
    REFUSED("\x80\2T\xff\xff\xff\x7f.", "longer than the file");
    REFUSED("\x80\3"
            "B\xff\xff\xff\xff.",
            "longer than the file");
    REFUSED("\x80\4\x8e\xff\xff\xff\xff\xff\xff\xff\xff.", "longer than the file");
    REFUSED("\x80\4\x95\xff\xff\xff\xff\xff\xff\xff\x7f.", "longer than the file");
    REFUSED("\x80\2U\5abcd", "longer than the file");
}

static void test_deep_nesting(void **state)
{
    bytes b = {.size = 0};
    (void)state;
    for (int i = 0; i < 4000; i++)
        PUT(&b, "(");
    refused(b.data, b.size, "nested too deeply");
    b.size = 0;
    for (int i = 0; i < 4000; i++) /* lists in lists need no marks: legal, and harmless as nothing recurses */
        PUT(&b, "]");
    refused(b.data, b.size, "ends before");
}

static void test_list_containing_itself(void **state)
{
    static const char text[] = "\x80\2]q\1h\1a.";
    meter m = {.allow = -1};
    npgnn_error err = {0};
    npi_pickle p;
    (void)state;
    assert_ok(read_bytes(&p, text, sizeof text - 1, &m, &err), err);
    npi_pickle_free(&p);
    assert_int_equal(m.blocks, 0);
}

static void test_every_truncation(void **state)
{
    bytes b = {.size = 0};
    (void)state;
    put_matrix(&b, 2);
    for (size_t size = 0; size < b.size; size++) {
        unsigned char *exact = malloc(size + 1); /* so that a sanitizer sees a read beyond the end */
        memcpy(exact, b.data, size);
        refused(exact, size, "");
        free(exact);
    }
}

/* Any byte changed to any value: a result or an error, no crash, no leak. */
static void test_every_byte_changed(void **state)
{
    bytes b = {.size = 0};
    (void)state;
    put_matrix(&b, 2);
    for (size_t at = 0; at < b.size; at++) {
        unsigned char before = b.data[at];
        for (int value = 0; value < 256; value += 5) {
            meter m = {.allow = -1};
            npi_pickle_csr csr;
            npi_pickle p;
            b.data[at] = (unsigned char)value;
            if (read_bytes(&p, b.data, b.size, &m, NULL) == 0) {
                (void)npi_pickle_get_csr(&csr, &p, npi_pickle_at(&p, p.root), NULL);
                npi_pickle_free(&p);
            }
            assert_false(m.refused);
            assert_int_equal(m.blocks, 0);
        }
        b.data[at] = before;
    }
}

static void test_out_of_memory(void **state)
{
    bytes b = {.size = 0};
    int code = NPGNN_E_MEMORY;
    (void)state;
    put_matrix(&b, 2);
    for (long allow = 0; code != 0; allow++) {
        meter m = {.allow = allow};
        npi_pickle p;
        assert_true(allow < 1000);
        code = read_bytes(&p, b.data, b.size, &m, NULL);
        if (code == 0)
            npi_pickle_free(&p);
        else
            assert_int_equal(code, NPGNN_E_MEMORY);
        assert_int_equal(m.blocks, 0);
    }
}

static void csr_refused(const void *data, size_t size, const char *text)
{
    meter m = {.allow = -1};
    npgnn_error err = {0};
    npi_pickle_csr csr;
    npi_pickle p;
    assert_ok(read_bytes(&p, data, size, &m, &err), err);
    assert_int_equal(npi_pickle_get_csr(&csr, &p, npi_pickle_at(&p, p.root), &err), NPGNN_E_FORMAT);
    if (!strstr(err.text, text))
        fail_msg("'%s' does not say '%s'", err.text, text);
    npi_pickle_free(&p);
}

static void test_inconsistent_matrices(void **state)
{
    bytes b = {.size = 0};
    (void)state;
    put_matrix(&b, 3);
    csr_refused(b.data, b.size, "column 3, but only 3 columns");
    b.size = 0;
    put_matrix(&b, -1);
    csr_refused(b.data, b.size, "column -1");
    csr_refused("\x80\2N.", 4, "not a sparse matrix");
    b.size = 0;
    put_matrix(&b, 2);
    unsigned char *shape = memchr(b.data, 'K', b.size); /* (2, 3) becomes (9, 3) */
    shape[1] = 9;
    csr_refused(b.data, b.size, "do not match its shape");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dict_of_lists),     cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_protocol_5),        cmocka_unit_test(test_latin1),
        cmocka_unit_test(test_forbidden_classes), cmocka_unit_test(test_invalid_instructions),
        cmocka_unit_test(test_invalid_memo),      cmocka_unit_test(test_lengths_beyond_end_of_file),
        cmocka_unit_test(test_deep_nesting),      cmocka_unit_test(test_list_containing_itself),
        cmocka_unit_test(test_every_truncation),  cmocka_unit_test(test_every_byte_changed),
        cmocka_unit_test(test_out_of_memory),     cmocka_unit_test(test_inconsistent_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
