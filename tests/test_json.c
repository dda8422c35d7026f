/* The JSON parser: the same values and refusals as Jansson's, over many damaged texts; and memory that runs out, where
 * Jansson's own parser loses characters or ends the program. */
#include "check.h"

#include <string.h>

#include "base/json.h"
#include "base/rng.h"

static const char *const texts[] = {
    "{\"source\": \"a\", \"target\": 17, \"weight\": -2.5e-3, \"more\": [true, false, null, {}, []]}",
    "[0, -0, 1.0, 1e5, 12E+2, -9223372036854775808, 9223372036854775807, 0.1, 123456789012345678.25]",
    "{\"a\": {\"b\": {\"c\": [[[1, 2], [3]], \"x\\ty\\u00e4\\ud83d\\ude00\\/\\\\\\\"\"]}}, \"\": \"\\b\\f\\n\\r\"}",
    " [ \"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\" ,\n{\"k\":\"v\"}\r\n]\t",
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* Both parsers agree on the text. */
static int agree(const char *text, size_t size)
{
    json_error_t error;
    json_t *want = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error), *got = NULL;
    npi_json_fault fault = {0};
    int code = npi_json_parse(&got, &fault, text, size);
    int same = want ? code == 0 && json_equal(want, got)
                    : code == NPGNN_E_FORMAT && !got && fault.line >= 1 && fault.text[0] != '\0';
    if (!same)
        print_error("Jansson: %s, here: %s, of: %.*s\n", want ? "good" : error.text, code ? fault.text : "good",
                    (int)size, text);
    json_decref(want);
    json_decref(got);
    return same;
}

static void test_the_same_as_jansson(void **state)
{
    static const char alphabet[] =
        "{}[]\",:\\/u0123456789abcdefABCDEF.+-eE \n\ttruefalsn\x01\x7F\x80\xC3\xA4\xED\xA0\xF4";
    npi_rng rng = npi_rng_make(1, NPI_RNG_TEST, 0);
    uint64_t draw = 0;
    char text[256];
    int good = 0;
    (void)state;
    for (int i = 0; i < TEXTS; i++)
        assert_true(agree(texts[i], strlen(texts[i])));
    for (int round = 0; round < 60000; round++) {
        size_t size = strlen(texts[round % TEXTS]);
        memcpy(text, texts[round % TEXTS], size);
        int changes = 1 + (int)(3 * npi_rng_uniform_at(&rng, draw++));
        for (int c = 0; c < changes; c++) { /* a character changed, removed or doubled */
            size_t at = (size_t)((double)size * npi_rng_uniform_at(&rng, draw++));
            double what = npi_rng_uniform_at(&rng, draw++);
            if (what < 0.6) {
                text[at] = alphabet[(size_t)((double)(sizeof alphabet - 1) * npi_rng_uniform_at(&rng, draw++))];
            } else if (what < 0.8) {
                memmove(text + at, text + at + 1, size - at - 1);
                size--;
            } else {
                memmove(text + at + 1, text + at, size - at);
                size++;
            }
        }
        assert_true(agree(text, size));
        json_t *value = NULL;
        good += npi_json_parse(&value, NULL, text, size) == 0;
        json_decref(value);
    }
    assert_in_range(good, 1000, 59000); /* some are valid, some are not */
    for (size_t size = 0; size < strlen(texts[2]); size++)
        assert_true(agree(texts[2], size));
}

/* 64 levels are read. Deeper ones, which Jansson reads up to 2048, would need a larger stack. */
static void test_depth(void **state)
{
    char text[2 * 65];
    json_t *value = NULL;
    npi_json_fault fault = {0};
    (void)state;
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    assert_int_equal(npi_json_parse(&value, &fault, text + 1, 2 * 64), 0);
    json_decref(value);
    assert_int_equal(npi_json_parse(&value, &fault, text, 2 * 65), NPGNN_E_FORMAT);
    assert_non_null(strstr(fault.text, "too deep"));
}

static void test_lines(void **state)
{
    json_t *value = NULL;
    npi_json_fault fault = {0};
    const char text[] = "[1,\n2,\n\n!]";
    (void)state;
    assert_int_equal(npi_json_parse(&value, &fault, text, sizeof text - 1), NPGNN_E_FORMAT);
    assert_int_equal(fault.line, 4);
}

/* ---- memory ---- */

static long allow, blocks;

static void *scarce(size_t size)
{
    if (allow == 0)
        return NULL;
    allow--;
    blocks++;
    return malloc(size);
}

static void give_back(void *block)
{
    blocks -= block != NULL;
    free(block);
}

static void test_no_memory(void **state)
{
    (void)state;
    json_set_alloc_funcs(scarce, give_back);
    for (int i = 0; i < TEXTS; i++) {
        int code = NPGNN_E_MEMORY;
        for (long most = 0; code != 0; most++) {
            json_t *value = NULL;
            allow = most;
            code = npi_json_parse(&value, NULL, texts[i], strlen(texts[i]));
            assert_true(code == 0 || code == NPGNN_E_MEMORY);
            assert_true(code == 0 || most < 200);
            json_decref(value);
            assert_int_equal(blocks, 0);
        }
    }
    json_set_alloc_funcs(malloc, free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_as_jansson),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
