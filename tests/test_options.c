/* Options by name: presets, every key there and back, and what must be refused. */
#include <string.h>

#include "check.h"

enum { KEYS = 35 }; /* fields of npgnn_options */

static npgnn_options preset(const char *name)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_error err = {0};
    assert_ok(npgnn_options_preset(&options, name, &err), err);
    return options;
}

/* The value of a key as text; two buffers in turn, so that two can be compared. */
static const char *get(const npgnn_options *options, const char *key)
{
    static char value[2][64];
    static int turn;
    npgnn_error err = {0};
    turn = !turn;
    assert_ok(npgnn_options_get(value[turn], sizeof value[turn], options, key, &err), err);
    return value[turn];
}

static void accept(npgnn_options *options, const char *key, const char *value)
{
    npgnn_error err = {0};
    assert_ok(npgnn_options_set(options, key, value, &err), err);
}

/* Refused: E_ARGUMENT, a text that names the key, and nothing changed. */
static void refuse(const char *key, const char *value)
{
    npgnn_options options = preset(NULL);
    char before[64];
    npgnn_error err = {0};
    snprintf(before, sizeof before, "%s", get(&options, key));
    int code = npgnn_options_set(&options, key, value, &err);
    if (code != NPGNN_E_ARGUMENT)
        fail_msg("%s takes '%s' (code %d)", key, value, code);
    assert_int_equal(err.code, NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, key));
    assert_string_equal(get(&options, key), before);
}

/* ---- presets
 * ------------------------------------------------------------------------------------------------------ */

typedef struct expectation {
    const char *key, *standard, *paper, *authors;
} expectation;

/* The table of docs/understand/math.md. */
static const expectation table[] = {
    {"encoder-output", "linear", "relu", "linear"},
    {"aggregate", "vector", "vector", "scalar"},
    {"sigma-mean", "mean-log", "mean-log", "log-mean"},
    {"decoder-output", "linear", "sigmoid", "linear"},
    {"latent-size", "32", "32", "16"},
    {"output-size", "32", "32", "16"},
    {"monte-carlo", "likelihood", "likelihood", "embedding"},
    {"likelihood", "weighted", "weighted", "weighted"},
    {"hidden", "32", "32", "32"},
    {"decoder-hidden", "64", "64", "64"},
    {"learning-rate", "0.01", "0.01", "0.01"},
    {"beta1", "0.9", "0.9", "0.9"},
    {"beta2", "0.999", "0.999", "0.999"},
    {"kl-weight", "1", "1", "1"},
};

static void test_presets(void **state)
{
    (void)state;
    npgnn_options standard = preset(NULL), same = preset("default"), paper = preset("paper-literal");
    npgnn_options authors = preset("authors");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_string_equal(get(&standard, table[i].key), table[i].standard);
        assert_string_equal(get(&same, table[i].key), table[i].standard);
        assert_string_equal(get(&paper, table[i].key), table[i].paper);
        assert_string_equal(get(&authors, table[i].key), table[i].authors);
    }
}

static void test_unknown_preset(void **state)
{
    (void)state;
    npgnn_options options = preset("authors");
    npgnn_error err = {0};
    assert_int_equal(npgnn_options_preset(&options, "paper", &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "paper"));
    assert_string_equal(get(&options, "aggregate"), "scalar");
    assert_int_equal(npgnn_options_preset(&options, "", NULL), NPGNN_E_ARGUMENT);
}

/* ---- keys
 * --------------------------------------------------------------------------------------------------------- */

/* Sets a value and reads back what is equal to it. */
static void check_number(const char *key, const char *value)
{
    npgnn_options options = preset(NULL);
    accept(&options, key, value);
    assert_true(strtod(get(&options, key), NULL) == strtod(value, NULL));
}

/* Sets each alternative of "a|b|c" and reads it back. */
static void check_words(const npgnn_option_info *info)
{
    npgnn_options options = preset(NULL);
    char words[256];
    int count = 0;
    snprintf(words, sizeof words, "%s", info->values);
    for (char *word = strtok(words, "|"); word; word = strtok(NULL, "|"), count++) {
        accept(&options, info->key, word);
        assert_string_equal(get(&options, info->key), word);
    }
    assert_true(count >= 2);
    refuse(info->key, "unheard-of");
    refuse(info->key, info->values);
}

/* Sets both ends of "low..high"; what is beyond them is refused, and for integers what lies between two of them. */
static void check_range(const npgnn_option_info *info)
{
    char low[64], high[64], beyond[64];
    assert_int_equal(sscanf(info->values, "%63[^.]..%63s", low, high), 2);
    check_number(info->key, low);
    check_number(info->key, high);
    if (!strchr(high, '.') && strcmp(high, "1") != 0)
        refuse(info->key, "1.5");
    snprintf(beyond, sizeof beyond, "%.17g", strtod(low, NULL) - 1);
    refuse(info->key, beyond);
    snprintf(beyond, sizeof beyond, "%.17g", strtod(high, NULL) + 1);
    refuse(info->key, beyond);
}

typedef struct edge {
    const char *key, *lowest, *large, *too_low, *too_large;
} edge;

/* The keys whose range is told in words. */
static const edge edges[] = {
    {"context-fraction", "1e-6", "1", "0", "1.000001"},
    {"input-scale", "0", "1000", "-0.001", "1e7"},
    {"kl-weight", "0", "1000", "-0.001", "1e300"},
    {"iterations", "1", "1000000", "0", "1e10"},
    {"learning-rate", "1e-12", "10", "0", "1e300"},
    {"lr-horizon", "0", "1000000", "-1", "1e10"},
    {"beta1", "0", "0.999999", "-0.1", "1"},
    {"sigma-start", "1e-6", "1000", "0", "1e4"},
    {"beta2", "0", "0.999999", "-0.1", "1"},
    {"epsilon", "1e-30", "0.1", "0", "1e300"},
    {"seed", "0", "18446744073709551615", "-1", "18446744073709551616"},
    {"validate-every", "1", "1000000", "0", "1e10"},
    {"patience", "0", "1000000", "-1", "1e10"},
};

static void check_edges(const npgnn_option_info *info)
{
    const edge *e = edges, *end = edges + sizeof edges / sizeof *edges;
    while (e < end && strcmp(e->key, info->key) != 0)
        e++;
    if (e == end)
        fail_msg("the test does not know what %s takes", info->key);
    check_number(e->key, e->lowest);
    check_number(e->key, e->large);
    refuse(e->key, e->too_low);
    refuse(e->key, e->too_large);
}

static void check_key(const npgnn_option_info *info)
{
    const char *never[] = {
        "",   " ",  "x",   "1x",   "0x", "nan", "inf", "-inf", "1e999", "1,5", "99999999999999999999999",
        " 1", "1 ", "0x1", "0x1p0"};
    assert_true(strlen(info->key) > 0 && strlen(info->help) > 0);
    if (strchr(info->values, '|'))
        check_words(info);
    else if (strstr(info->values, ".."))
        check_range(info);
    else
        check_edges(info);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        refuse(info->key, never[i]);
    refuse(info->key, "-1"); /* no option has a meaning below 0 */
}

static void test_every_key(void **state)
{
    (void)state;
    npgnn_option_info info;
    int count = 0;
    for (; npgnn_options_info(&info, count); count++)
        check_key(&info);
    assert_int_equal(count, KEYS);
    assert_false(npgnn_options_info(&info, -1));
    assert_false(npgnn_options_info(&info, count + 1000));
}

/* A process uses few options, a network most. */
static void test_uses(void **state)
{
    npgnn_option_info info;
    npgnn_options network = preset(NULL), process = preset("best");
    int used = 0, all = 0;
    (void)state;
    network.samples = 2;
    network.lr_schedule = NPGNN_LR_COSINE;
    for (int i = 0; npgnn_options_info(&info, i); i++, all++) {
        assert_true(npgnn_options_uses(&network, info.key, NULL));
        used += npgnn_options_uses(&process, info.key, NULL);
    }
    assert_int_equal(all, KEYS);
    assert_int_equal(used, 9);
    assert_true(npgnn_options_uses(&process, "learning-rate", NULL));
    assert_false(npgnn_options_uses(&process, "hidden", NULL));
    assert_false(npgnn_options_uses(&network, "nonsense", NULL));
}

/* An option of a network that another one switches off. */
static void test_uses_beside_others(void **state)
{
    static const struct {
        const char *key, *value, *without;
    } cases[] = {
        {"loss", "exact", "pairs-per-node"},
        {"latent", "off", "samples"},
        {"latent", "off", "hidden"},
        {"latent", "off", "context-fraction"},
        {"latent", "off", "predict-samples"},
        {"sample-latent", "off", "samples"},
        {"sample-latent", "off", "kl-weight"},
        {"sample-latent", "off", "predict-samples"},
        {"samples", "1", "monte-carlo"},
        {"lr-schedule", "constant", "lr-horizon"},
        {"sample-latent", "off", "sigma-start"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        npgnn_options options = preset(NULL);
        options.samples = 2;
        options.lr_schedule = NPGNN_LR_LINEAR;
        assert_true(npgnn_options_uses(&options, cases[i].without, NULL));
        assert_int_equal(npgnn_options_set(&options, cases[i].key, cases[i].value, NULL), 0);
        assert_false(npgnn_options_uses(&options, cases[i].without, NULL));
        assert_true(npgnn_options_uses(&options, cases[i].key, NULL));
        assert_true(npgnn_options_uses(&options, "decoder-hidden", NULL));
    }
}

/* Reading every key of one preset and setting it in another carries everything over. */
static void test_copy_by_keys(void **state)
{
    (void)state;
    npgnn_options from = preset("authors"), to = preset("paper-literal");
    npgnn_option_info info;
    from.seed = UINT64_MAX;
    from.learning_rate = 1.0 / 3;
    from.latent = 0;
    from.kl_weight = 1e-7;
    for (int i = 0; npgnn_options_info(&info, i); i++)
        accept(&to, info.key, get(&from, info.key));
    assert_true(to.seed == from.seed && to.learning_rate == from.learning_rate && to.kl_weight == from.kl_weight);
    for (int i = 0; npgnn_options_info(&info, i); i++)
        assert_string_equal(get(&to, info.key), get(&from, info.key));
}

/* A key sets its own field. */
static void test_fields(void **state)
{
    (void)state;
    npgnn_options options = preset(NULL);
    accept(&options, "hidden", "7");
    accept(&options, "latent-size", "8");
    accept(&options, "decoder-hidden", "9");
    accept(&options, "output-size", "10");
    accept(&options, "samples", "11");
    accept(&options, "iterations", "12");
    accept(&options, "seed", "18446744073709551615");
    accept(&options, "learning-rate", "0.25");
    accept(&options, "monte-carlo", "embedding");
    accept(&options, "context", "nodes");
    assert_int_equal(options.hidden, 7);
    assert_int_equal(options.latent_size, 8);
    assert_int_equal(options.decoder_hidden, 9);
    assert_int_equal(options.output_size, 10);
    assert_int_equal(options.samples, 11);
    assert_int_equal(options.iterations, 12);
    assert_true(options.seed == UINT64_MAX);
    assert_true(options.learning_rate == 0.25);
    assert_int_equal(options.monte_carlo, NPGNN_MC_EMBEDDING);
    assert_int_equal(options.context, NPGNN_CONTEXT_NODES);
}

static void test_unknown_keys(void **state)
{
    (void)state;
    const char *unknown[] = {"", "learning_rate", "learning", "Hidden", "hidden ", "hidden=3"};
    npgnn_options options = preset(NULL);
    char value[8] = "kept";
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        npgnn_error err = {0};
        assert_int_equal(npgnn_options_set(&options, unknown[i], "1", &err), NPGNN_E_ARGUMENT);
        assert_true(strlen(err.text) > 0);
        assert_int_equal(npgnn_options_get(value, sizeof value, &options, unknown[i], NULL), NPGNN_E_ARGUMENT);
        assert_string_equal(value, "kept");
    }
}

/* Fields that no name stands for, as a caller may leave them. */
static void test_fields_out_of_range(void **state)
{
    (void)state;
    const int wrong[] = {-1, 3, 1000, INT32_MIN};
    npgnn_options options = preset(NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char value[8] = "kept";
        npgnn_error err = {0};
        memcpy(&options.context, &wrong[i], sizeof wrong[i]);
        assert_int_equal(npgnn_options_get(value, sizeof value, &options, "context", &err), NPGNN_E_ARGUMENT);
        assert_non_null(strstr(err.text, "context"));
        assert_string_equal(value, "kept");
    }
}

static void test_short_buffer(void **state)
{
    (void)state;
    npgnn_options options = preset(NULL);
    npgnn_error err = {0};
    char value[] = "0123456789";
    assert_ok(npgnn_options_get(value, 4, &options, "encoder-output", &err), err);
    assert_string_equal(value, "lin");
    assert_int_equal(value[4], '4');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_unknown_preset),
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_copy_by_keys),
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_uses_beside_others),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_fields_out_of_range),
        cmocka_unit_test(test_short_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
