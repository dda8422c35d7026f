/* The base folder: random numbers, sorting, memory, log, errors, hashes and numbers as text. */
#define _POSIX_C_SOURCE 200809L /* mkstemp, pwrite */
#include "check.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/hash.h"
#include "base/names.h"
#include "base/number.h"
#include "base/rng.h"
#include "base/siphash.h"
#include "base/sort.h"
#include "linear.h"
#include "meter.h"

/* ---- random numbers ---- */

/* Known answers of Philox4x32-10 from Random123, the library of its authors. The counter is (index low, index high,
 * purpose, stream). */
static void test_philox_known_answers(void **state)
{
    (void)state;
    const struct {
        npi_rng rng;
        uint64_t index;
        uint32_t want[4];
    } known[] = {
        {{{0, 0}, {0, 0}, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{{0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, 0},
         0xffffffffffffffff,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{{0xa4093822, 0x299f31d0}, {0x13198a2e, 0x03707344}, 0},
         0x85a308d3243f6a88,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < 3; i++) {
        uint32_t bits[4];
        npi_rng_block(bits, &known[i].rng, known[i].index);
        assert_memory_equal(bits, known[i].want, sizeof bits);
    }
}

static void test_streams_differ(void **state)
{
    (void)state;
    const npi_rng rngs[4] = {npi_rng_make(1, NPI_RNG_TEST, 0), npi_rng_make(2, NPI_RNG_TEST, 0),
                             npi_rng_make(1, NPI_RNG_INIT, 0), npi_rng_make(1, NPI_RNG_TEST, 1)};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            for (uint64_t index = 0; index < 100; index++)
                assert_true(npi_rng_uniform_at(&rngs[i], index) != npi_rng_uniform_at(&rngs[j], index));
    npi_rng high = npi_rng_make((uint64_t)1 << 40, NPI_RNG_TEST, 0), low = npi_rng_make(0, NPI_RNG_TEST, 0);
    assert_true(npi_rng_uniform_at(&high, 0) != npi_rng_uniform_at(&low, 0)); /* all bits of the seed count */
}

static void test_uniform(void **state)
{
    (void)state;
    npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, 0);
    const npi_rng same = rng;
    const int draws = 100000;
    int histogram[100] = {0};
    double chi = 0;
    for (int i = 0; i < draws; i++) {
        double u = npi_rng_uniform(&rng);
        assert_true(u >= 0 && u < 1);
        assert_true(u == npi_rng_uniform_at(&same, (uint64_t)i)); /* in sequence or by index: the same values */
        histogram[(int)(100 * u)]++;
    }
    for (int i = 0; i < 100; i++)
        chi += (histogram[i] - draws / 100.0) * (histogram[i] - draws / 100.0) / (draws / 100.0);
    assert_true(fabs(chi - 99) <= 5 * sqrt(2 * 99.0));
}

static void test_normal(void **state)
{
    (void)state;
    const npi_rng rng = npi_rng_make(4, NPI_RNG_TEST, 0);
    const int draws = 100000;
    double sum = 0, squares = 0, beyond = 0;
    for (int i = 0; i < draws; i++) {
        double x = npi_rng_normal_at(&rng, (uint64_t)i);
        assert_true(isfinite(x));
        sum += x;
        squares += x * x;
        beyond += fabs(x) > 1.959964;
    }
    assert_near(sum / draws, 0, 5 / sqrt(draws));
    assert_near(squares / draws, 1, 5 * sqrt(2.0 / draws));
    assert_near(beyond / draws, 0.05, 5 * sqrt(0.05 * 0.95 / draws));
}

static void test_below(void **state)
{
    (void)state;
    const uint64_t bounds[] = {1, 2, 3, 10, 1000, 0xffffffff, 0x100000000, 0x100000001, (uint64_t)1 << 63, UINT64_MAX};
    npi_rng rng = npi_rng_make(5, NPI_RNG_TEST, 0);
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        const int draws = 20000;
        double sum = 0, bound = (double)bounds[b];
        for (int i = 0; i < draws; i++) {
            uint64_t value = npi_rng_below(&rng, bounds[b]);
            assert_true(value < bounds[b]);
            sum += (double)value / bound;
        }
        /* mean (1 - 1 / bound) / 2 and variance below 1 / 12 */
        assert_near(sum / draws, 0.5 - 0.5 / bound, 5 * sqrt(1.0 / 12 / draws));
    }
}

/* floor(a * b / 2^64), computed independently in limbs of 16 bits. */
static uint64_t high_product(uint64_t a, uint64_t b)
{
    uint64_t limb[8] = {0};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            uint64_t carry = (a >> (16 * i) & 0xffff) * (b >> (16 * j) & 0xffff);
            for (int k = i + j; carry > 0; k++) {
                limb[k] += carry & 0xffff;
                carry = (carry >> 16) + (limb[k] >> 16);
                limb[k] &= 0xffff;
            }
        }
    return limb[7] << 48 | limb[6] << 32 | limb[5] << 16 | limb[4];
}

/* A draw is exactly the high word of bits * bound. */
static void test_below_exact(void **state)
{
    (void)state;
    npi_rng rng = npi_rng_make(6, NPI_RNG_TEST, 0), bounds = npi_rng_make(7, NPI_RNG_TEST, 0);
    for (int round = 0; round < 10000; round++) {
        uint32_t bits[4];
        uint64_t bound = 1 + (npi_rng_below(&bounds, UINT64_MAX) >> (round % 64));
        npi_rng_block(bits, &rng, rng.next);
        assert_true(npi_rng_below(&rng, bound) == high_product((uint64_t)bits[0] << 32 | bits[1], bound));
    }
}

static void test_permutation(void **state)
{
    (void)state;
    npi_rng rng = npi_rng_make(7, NPI_RNG_TEST, 0);
    int64_t order[4];
    int times[4][4] = {{0}};
    npi_rng_permutation(order, 0, &rng);
    for (int round = 0; round < 24000; round++) {
        int seen = 0;
        npi_rng_permutation(order, 4, &rng);
        for (int i = 0; i < 4; i++) {
            assert_in_range(order[i], 0, 3);
            seen |= 1 << order[i];
            times[i][order[i]]++;
        }
        assert_int_equal(seen, 15);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            assert_near(times[i][j] / 6000.0, 1, 5 * sqrt(0.75 / 6000));
}

/* ---- sorting ---- */

static void check_sort(const uint64_t *keys, size_t count)
{
    uint64_t sorted[2000], scratch[2000];
    memcpy(sorted, keys, count * sizeof *keys);
    npi_u64_sort(sorted, scratch, count);
    for (size_t i = 0; i < count; i++) {
        size_t smaller = 0, equal = 0;
        for (size_t j = 0; j < count; j++) {
            smaller += keys[j] < sorted[i];
            equal += keys[j] == sorted[i];
        }
        assert_true(smaller <= i && i < smaller + equal);
    }
}

static void test_sort(void **state)
{
    (void)state;
    npi_rng rng = npi_rng_make(8, NPI_RNG_TEST, 0);
    uint64_t keys[2000];
    for (size_t count = 0; count < 4; count++)
        for (int round = 0; round < 20; round++) {
            for (size_t i = 0; i < count; i++)
                keys[i] = npi_rng_below(&rng, 3);
            check_sort(keys, count);
        }
    for (int bits = 4; bits <= 64; bits += 4) {
        for (size_t i = 0; i < 2000; i++)
            keys[i] = (npi_rng_below(&rng, UINT64_MAX) >> (64 - bits)) ^ 0x0100000000000001u;
        check_sort(keys, 2000);
    }
}

/* ---- memory ---- */

static size_t largest;

/* An allocator that records the largest requested size. */
static void *watching_resize(void *user, void *block, size_t size)
{
    (void)user;
    if (size > largest)
        largest = size;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return size > 1000000 ? NULL : realloc(block, size);
}

static void test_alloc(void **state)
{
    (void)state;
    const npgnn_env env =
        npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .allocator = {watching_resize, NULL}});
    npgnn_error err = {0};
    unsigned char *bytes = npi_alloc(&env, 100, 3, &err);
    assert_non_null(bytes);
    for (int i = 0; i < 300; i++)
        assert_int_equal(bytes[i], 0);
    npi_free(&env, bytes);
    npi_free(&env, NULL);

    void *none = npi_alloc(&env, 0, 8, &err);
    assert_non_null(none);
    npi_free(&env, none);

    largest = 0;
    assert_null(npi_alloc(&env, SIZE_MAX / 4 + 2, 4, &err)); /* the product wraps to 4 */
    assert_int_equal(largest, 0);                            /* and was never asked for */
    assert_int_equal(err.code, NPGNN_E_MEMORY);
    assert_null(npi_alloc(&env, 1000001, 1, &err));
    assert_non_null(strstr(err.text, "1000001 x 1"));
}

static void test_grow(void **state)
{
    (void)state;
    const npgnn_env env =
        npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .allocator = {watching_resize, NULL}});
    int *items = NULL;
    size_t capacity = 0, count = 0;
    while (npi_grow(&env, &items, &capacity, count, sizeof *items, NULL) == 0) {
        assert_true(count < capacity);
        items[count] = (int)count;
        count++;
    }
    assert_int_equal(capacity, 131072); /* the next doubling is more than the allocator gives */
    assert_int_equal(count, capacity);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(items[i], i); /* kept by every move, and by the failure */
    npi_free(&env, items);
}

static void test_strdup(void **state)
{
    (void)state;
    const npgnn_env env = npi_env_resolve(NULL);
    char *copy = npi_strdup(&env, "text", NULL);
    assert_string_equal(copy, "text");
    npi_free(&env, copy);
}

static void test_env_defaults(void **state)
{
    (void)state;
    const npgnn_env env = npi_env_resolve(NULL),
                    two = npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = 2});
    assert_true(env.threads >= 1);
    assert_non_null(env.allocator.resize);
    assert_int_equal(two.threads, 2);
}

/* ---- log and errors ---- */

static void keep_text(void *user, const char *message)
{
    snprintf(user, 64, "%s", message);
}

static void test_memory_limit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t limit;
    } cases[] = {{"4294967296\n", (size_t)1 << 32},       {"max\n", SIZE_MAX}, {"", SIZE_MAX},
                 {"99999999999999999999999\n", SIZE_MAX}, {"0\n", SIZE_MAX},   {"12", 12}};
    char path[] = "/tmp/npgnn_limit_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = strlen(cases[i].text);
        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(pwrite(file, cases[i].text, length, 0), length);
        assert_int_equal(npi_memory_limit(path), cases[i].limit);
    }
    close(file);
    unlink(path);
    assert_int_equal(npi_memory_limit(path), SIZE_MAX);
    assert_true(npi_memory() > 1 << 20);
}

static void test_log(void **state)
{
    (void)state;
    char text[64] = "";
    const npgnn_env env = npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .log = keep_text, .user = text}),
                    silent = npi_env_resolve(NULL);
    npi_log(&env, "%d of %s", 3, "them");
    assert_string_equal(text, "3 of them");
    npi_log(&silent, "nobody listens");
}

static void test_errors(void **state)
{
    (void)state;
    npgnn_error err = {0};
    assert_int_equal(npi_fail_at(&err, NPGNN_E_FORMAT, "a.tsv", 12, "bad id %d", 7), NPGNN_E_FORMAT);
    assert_string_equal(err.text, "a.tsv:12: bad id 7");
    assert_string_equal(err.file, "a.tsv");
    assert_int_equal(err.line, 12);
    assert_int_equal(npi_fail_at(&err, NPGNN_E_FORMAT, "a.tsv", 0, "empty"), NPGNN_E_FORMAT);
    assert_string_equal(err.text, "a.tsv: empty");
    assert_int_equal(npi_fail(&err, NPGNN_E_ARGUMENT, "%s", "no"), NPGNN_E_ARGUMENT);
    assert_string_equal(err.text, "no");
    assert_string_equal(err.file, ""); /* nothing is left of the error before */
    assert_int_equal(err.line, 0);
    assert_int_equal(npi_fail(NULL, NPGNN_E_IO, "x"), NPGNN_E_IO);
}

static void test_error_reason(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npi_fail_at(&err, NPGNN_E_FORMAT, "a: b.tsv", 12, "id: 7");
    assert_string_equal(npi_error_reason(&err), "id: 7");
    npi_fail_at(&err, NPGNN_E_FORMAT, "a: b.tsv", 0, "id: 7");
    assert_string_equal(npi_error_reason(&err), "id: 7");
    npi_fail(&err, NPGNN_E_ARGUMENT, "id: 7");
    assert_string_equal(npi_error_reason(&err), "id: 7");
}

/* Texts that are too long are cut and stay terminated. */
static void test_long_errors(void **state)
{
    (void)state;
    char path[3000];
    npgnn_error err = {0};
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    npi_fail_at(&err, NPGNN_E_IO, path, 5, "%s", path);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(strlen(err.file), sizeof err.file - 1);
    assert_non_null(strstr(err.text, ":5: p"));
}

static void test_code_texts(void **state)
{
    (void)state;
    assert_string_equal(npgnn_code_text(NPGNN_OK), "success");
    for (int code = NPGNN_E_CANCELLED; code < 0; code++)
        assert_string_not_equal(npgnn_code_text(code), "unknown code");
    assert_string_equal(npgnn_code_text(1), "unknown code");
    assert_string_equal(npgnn_version(), NPGNN_VERSION);
}

static void test_hash(void **state)
{
    (void)state;
    /* published values of 64-bit FNV-1a */
    assert_true(npi_hash_bytes(NPI_HASH_START, "", 0) == 0xcbf29ce484222325u);
    assert_true(npi_hash_bytes(NPI_HASH_START, "a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(npi_hash_bytes(NPI_HASH_START, "foobar", 6) == 0x85944171f73967e8u);
    assert_true(npi_hash_u64(NPI_HASH_START, 0x64636261) == npi_hash_bytes(NPI_HASH_START, "abcd\0\0\0\0", 8));
}

/* ---- numbers as text ---- */

static void test_invalid_numbers(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",    "-",     "+",   ".",  "1e",  "1e+", "1.2.3", " 1",
                                        "1 2", "0x1p3", "1,5", "e5", "--1", "1f",  "0x10",  "1 "};
    float f;
    double d;
    int64_t integer;
    uint64_t natural;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(npi_number_parse_float(&f, wrong[i]), NPI_NUMBER_BAD);
        assert_int_equal(npi_number_parse_double(&d, wrong[i]), NPI_NUMBER_BAD);
        assert_false(npi_number_parse_int(&integer, wrong[i]));
        assert_false(npi_number_parse_u64(&natural, wrong[i]));
    }
    assert_int_equal(npi_number_parse_float(&f, "NaN"), NPI_NUMBER_NOT_FINITE);
    assert_int_equal(npi_number_parse_double(&d, "-infinity"), NPI_NUMBER_NOT_FINITE);
    assert_int_equal(npi_number_parse_float(&f, "1e39"), NPI_NUMBER_NOT_FINITE);
    assert_int_equal(npi_number_parse_float(&f, "-3.40282347e+38"),
                     NPI_NUMBER_OK); /* as printf has the largest float */
    assert_true(f == -FLT_MAX);
    assert_int_equal(npi_number_parse_float(&f, "3.4028236e38"), NPI_NUMBER_NOT_FINITE);
    assert_int_equal(npi_number_parse_double(&d, "1e39"), NPI_NUMBER_OK);
    assert_int_equal(npi_number_parse_double(&d, "-1e309"), NPI_NUMBER_NOT_FINITE);
}

static void test_numbers(void **state)
{
    (void)state;
    float f;
    double d;
    int64_t integer;
    uint64_t natural;
    assert_int_equal(npi_number_parse_float(&f, "+.5e1"), NPI_NUMBER_OK);
    assert_true(f == 5);
    assert_int_equal(npi_number_parse_float(&f, "0.1"), NPI_NUMBER_OK);
    assert_true(f == 0.1F);
    assert_int_equal(npi_number_parse_float(&f, "16777217"), NPI_NUMBER_OK);
    assert_true(f == 16777216.0F);
    assert_int_equal(npi_number_parse_double(&d, "1234567890123"), NPI_NUMBER_OK);
    assert_true(d == 1234567890123);
    assert_true(npi_number_parse_int(&integer, "-9223372036854775807") && integer == -INT64_MAX);
    assert_true(npi_number_parse_int(&integer, "+7") && integer == 7);
    assert_false(npi_number_parse_int(&integer, "9223372036854775808"));
    assert_false(npi_number_parse_int(&integer, "1.0"));
    assert_true(npi_number_parse_u64(&natural, "18446744073709551615") && natural == UINT64_MAX);
    assert_false(npi_number_parse_u64(&natural, "18446744073709551616"));
    assert_false(npi_number_parse_u64(&natural, "-1"));
}

static void test_number_print(void **state)
{
    (void)state;
    const double numbers[] = {0.1 + 0.2, 1.0 / 3, 5e-324, 1.7976931348623157e308, -1e-7};
    char text[32];
    double d;
    npi_number_print(text, sizeof text, 0.9);
    assert_string_equal(text, "0.9");
    npi_number_print(text, 4, 123456);
    assert_string_equal(text, "123");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        npi_number_print(text, sizeof text, numbers[i]);
        assert_int_equal(npi_number_parse_double(&d, text), NPI_NUMBER_OK);
        assert_true(d == numbers[i]);
    }
}

static void test_decimal_commas(void **state)
{
    static const struct {
        const char *cell, *whole, *with_comma; /* what becomes of it; NULL: it stays */
    } cases[] = {{"3,5", "3.5", "3.5"},   {"-1.234,50", "-1234.50", "-1234.50"},
                 {"1.000", "1000", NULL}, {"12.345.678", "12345678", NULL},
                 {"1.5", NULL, NULL},     {"12", NULL, NULL},
                 {"1,2,3", NULL, NULL},   {",5", NULL, NULL},
                 {"1,", NULL, NULL},      {"1234.567", NULL, NULL},
                 {"3,5 kg", NULL, NULL},  {"0.125", NULL, NULL},
                 {"", NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int needed = 0; needed < 2; needed++) {
            const char *wanted = needed ? cases[i].with_comma : cases[i].whole;
            char cell[32];
            snprintf(cell, sizeof cell, "%s", cases[i].cell);
            assert_int_equal(npi_number_take_decimal_comma(cell, needed) > 0, wanted != NULL);
            assert_string_equal(cell, wanted ? wanted : cases[i].cell);
        }
}

static void test_number_begins(void **state)
{
    static const char *const yes[] = {"1", "-1,234,567", "$5", "\xE2\x82\xAC 12", ".5", "12 kg", "2024-01-31"};
    static const char *const no[] = {"",
                                     "weight",
                                     "w1",
                                     "-",
                                     "nan",
                                     "$",
                                     ("\xC3\xA9"
                                      "1")};
    (void)state;
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        assert_true(npi_number_begins(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        assert_false(npi_number_begins(no[i]));
}

/* Numbers have a decimal point even in a locale with a decimal comma. Skipped where no such locale is installed. */
static void test_numbers_in_another_locale(void **state)
{
    (void)state;
    float f = 0;
    char text[32];
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        skip();
    npi_number_result result = npi_number_parse_float(&f, "2.5");
    npi_number_print(text, sizeof text, 2.5);
    setlocale(LC_ALL, "C");
    assert_int_equal(result, NPI_NUMBER_OK);
    assert_true(f == 2.5F);
    assert_string_equal(text, "2.5");
}

/* ---- hash tables of names ---- */

/* Known answers: of the authors' key 00 01 .. 0F for no bytes, and CPython's for the key 0, whose hash of bytes is
 * SipHash-1-3. */
static void test_siphash(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t hash;
    } known[] = {
        {"a", 0x407448D2B89B1813},         {"abc", 0xC03BC3A0042630F2},
        {"abcdefg", 0x6DB12AAE9070F506},   {"abcdefgh", 0x3F7B849C0B8E35EA},
        {"abcdefghi", 0xF89B34A3D11EB6E5}, {"The quick brown fox jumps over the lazy dog", 0x8DF676D3D00C451E}};
    const npi_hash_key zero = {0, 0}, ascending = {0x0706050403020100, 0x0F0E0D0C0B0A0908};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_true(npi_siphash(zero, known[i].text, strlen(known[i].text)) == known[i].hash);
    assert_true(npi_siphash(ascending, "", 0) == 0xABAC0158050FC4DC);
    npi_hash_key one = npi_hash_key_draw(), other = npi_hash_key_draw();
    assert_true(one.k0 != other.k0 && one.k1 != other.k1);
}

/* Either text of a pair leads FNV-1a, begun with the pairs before, to the same 64 bits: 2^14 names with one hash. */
static const char *const same_hash[14][2] = {
    {"U()T.$CU53~3mj", "Z0$iDcTzBr)!jl"}, {"ltQ7O.=]v}o}MR", "XnT=V-n1YCHR_o"}, {"^Xe+8$F$}PZM5P", "j!7BW96+@}*EtX"},
    {"EHD=K)9p/2=(7-", "ICB3-BoUU27!A3"}, {"3$UwRv)?)By1QK", "8]5?DQduP04Nlu"}, {"W5Q@8yR)DAFw8^", "L[*Icv@(4D3lVK"},
    {"R6!E+M(=3}K.Ja", "V_jX=G494IA-^h"}, {"ZVz_SBWR$71!8N", "OW.a$?AY1r.WRH"}, {"2.=$A*X[K)ET=n", "7wkdV$0}C1Lq4~"},
    {"Z(-gqa70/=K^)I", "^6t076603rHZl@"}, {"dj0^R6N=U?!GzF", "b!8t2T-gA)!w7M"}, {"vJ3_D$/i7ZBjIh", "lBUF.q)I.]0JLU"},
    {"C4hmT6ovM7QC9R", "Lm?Yux(dKe(KIR"}, {"j)~hSk?xLmJ*{n", "a(aSC!5S7$!+so"},
};

/* `count` of these names, one per line. */
static char *names_of_one_hash(size_t *size, int count)
{
    enum { LINE = 14 * 14 + 1 };
    char *text = malloc((size_t)count * LINE);
    assert_non_null(text);
    for (int i = 0; i < count; i++) {
        for (int p = 0; p < 14; p++)
            memcpy(text + i * LINE + p * 14, same_hash[p][i >> p & 1], 14);
        text[(i + 1) * LINE - 1] = '\n';
    }
    *size = (size_t)count * LINE;
    return text;
}

static void add_names(const char *text, size_t size)
{
    npgnn_env env = npi_env_resolve(NULL);
    npi_names *names = NULL;
    int32_t index, next = 0;
    assert_int_equal(npi_names_new(&names, &env, NULL), 0);
    for (const char *at = text, *end; at < text + size; at = end + 1) {
        end = strchr(at, '\n');
        assert_int_equal(npi_names_add(&index, names, at, (size_t)(end - at), NULL), 0);
        assert_int_equal(index, next++); /* in order of appearance, whatever the key of the table */
    }
    npi_names_free(names);
}

static void test_names_of_one_hash(void **state)
{
    (void)state;
    assert_linear(names_of_one_hash, add_names, 1 << 12);
}

/* Names of all kinds, begun by what many of them share. */
static const char *draw_name(char *text, size_t size, npi_rng *rng)
{
    static const char *const prefixes[] = {"", "", "user_", "user_0000000", "a", "-", "0", "12345678901234567"};
    const char *prefix = prefixes[npi_rng_below(rng, sizeof prefixes / sizeof prefixes[0])];
    snprintf(text, size, "%s%llu", prefix, (unsigned long long)npi_rng_below(rng, 1 + npi_rng_below(rng, 4) * 1000));
    return text;
}

/* Sorted in canonical order from some number on; found under their new numbers, and as before where memory is out. */
static void test_names_sorted(void **state)
{
    static const char *const ordered[] = {
        "0",   "2",  "10",      "99999999999999999999", "100000000000000000000", "", "-1", "00", "1.0", "A", "a",
        "a10", "a2", "\xC3\xA9"};
    enum { ORDERED = sizeof ordered / sizeof ordered[0] };
    (void)state;
    for (int i = 0; i < ORDERED; i++)
        for (int j = 0; j < ORDERED; j++) {
            int compared = npi_names_compare(ordered[i], ordered[j]);
            assert_int_equal((compared > 0) - (compared < 0), (i > j) - (i < j));
        }
    for (uint64_t seed = 0; seed < 40; seed++) {
        meter m = {.allow = -1};
        npgnn_env given = metered_env(&m), env = npi_env_resolve(&given);
        npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, 0);
        npi_names *names = NULL;
        int32_t index, *place = NULL, first = seed % 3 ? 0 : (int32_t)seed;
        char text[64], before[600][64];
        assert_int_equal(npi_names_new(&names, &env, NULL), 0);
        for (int i = 0; i < 600; i++) {
            const char *name = draw_name(text, sizeof text, &rng);
            assert_int_equal(npi_names_add(&index, names, name, strlen(name), NULL), 0);
            snprintf(before[index], sizeof before[index], "%s", name);
        }
        int32_t count = npi_names_count(names);
        int code = NPGNN_E_MEMORY;
        for (long allow = 0; code == NPGNN_E_MEMORY; allow++) {
            assert_null(place);
            for (int32_t i = 0; i < count; i++)
                assert_string_equal(npi_names_get(names, i), before[i]);
            m.allow = allow;
            code = npi_names_sort(&place, names, first, NULL);
        }
        assert_int_equal(code, 0);
        m.allow = -1;
        for (int32_t i = 0; i < count; i++) {
            assert_string_equal(npi_names_get(names, place[i]), before[i]);
            assert_int_equal(npi_names_find(names, before[i], strlen(before[i])), place[i]);
            assert_true(i >= first ? place[i] >= first : place[i] == i);
            assert_true(i <= first || npi_names_compare(npi_names_get(names, i - 1), npi_names_get(names, i)) < 0);
        }
        assert_int_equal(npi_names_add(&index, names, "new", 3, NULL), 0);
        assert_int_equal(index, count);
        npi_free(&env, place);
        assert_int_equal(npi_names_sort(&place, names, count, NULL), 0); /* nothing changes */
        assert_null(place);
        npi_names_free(names);
        assert_int_equal(m.blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox_known_answers),
        cmocka_unit_test(test_streams_differ),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_below_exact),
        cmocka_unit_test(test_permutation),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_strdup),
        cmocka_unit_test(test_env_defaults),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_error_reason),
        cmocka_unit_test(test_long_errors),
        cmocka_unit_test(test_code_texts),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_invalid_numbers),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_number_print),
        cmocka_unit_test(test_decimal_commas),
        cmocka_unit_test(test_number_begins),
        cmocka_unit_test(test_numbers_in_another_locale),
        cmocka_unit_test(test_siphash),
        cmocka_unit_test(test_names_of_one_hash),
        cmocka_unit_test(test_names_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
