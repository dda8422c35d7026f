/* Names of feature columns, from the header of a table to the graph, its subgraphs and the model file. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include "graph/graph.h"
#include "io/text.h"
#include "model/model.h"
#include "reading.h"

static void named(const npgnn_graph *graph, const char *const names[])
{
    for (int32_t i = 0; i < graph->x->f; i++)
        assert_string_equal(npgnn_graph_column_name(graph, i), names[i]);
    assert_null(names[graph->x->f]);
}

static void test_headers(void **state)
{
    static const struct {
        const char *text, *names[4];
    } cases[] = {
        {"id,w1,w2\na,0,1\nb,1,0\n", {"w1", "w2"}},
        {"\xEF\xBB\xBFid,w1,w2\na,0,1\nb,1,0\n", {"w1", "w2"}}, /* as spreadsheets mark UTF-8 */
        {"id\tw 1\t\"w\t2\"\tclass\na\t0\t1\tred\nb\t1\t0\tred\n", {"w 1", "w\t2"}},
        {"height,weight,m\xC3\xA4nge\n0.5,1,2\n0.5,2,3\n", {"height", "weight", "m\xC3\xA4nge"}},
        {",0,1\na,0,1\nb,1,0\n", {"0", "1"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        npgnn_graph *graph = good(strchr(cases[i].text, 'b') ? "a,b\n" : "0,1\n", "x.csv", cases[i].text);
        named(graph, cases[i].names);
        assert_string_equal(notices, "");
        npgnn_graph_free(graph);
    }
}

static void test_unusable_names(void **state)
{
    static const struct {
        const char *text, *notice;
    } cases[] = {
        {"a,0,1\nb,1,0\n", ""},
        {"id,w,w\na,0,1\nb,1,0\n", "two of them are 'w'"},
        {"id,w,\na,0,1\nb,1,0\n", "one of them is empty"},
        {"id,w,\xE4\na,0,1\nb,1,0\n", "one of them is not UTF-8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        npgnn_graph *graph = good("a,b\n", "x.csv", cases[i].text);
        assert_null(npgnn_graph_column_name(graph, 0));
        says(notices, cases[i].notice);
        npgnn_graph_free(graph);
    }
}

static void test_utf8(void **state)
{
    static const char *const fine[] = {
        "", "a", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"};
    static const char *const wrong[] = {"\x80",
                                        "\xC1\xBF",
                                        "\xC2",
                                        "\xC2z",
                                        "\xE0\x9F\xBF",
                                        "\xE1\x80",
                                        "\xED\xA0\x80",
                                        "\xF0\x8F\xBF\xBF",
                                        "\xF4\x90\x80\x80",
                                        "\xF5\x80\x80\x80",
                                        "a\xFF"};
    (void)state;
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
        assert_true(npi_text_is_utf8(fine[i]));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(npi_text_is_utf8(wrong[i]));
}

static void test_subgraphs_share_names(void **state)
{
    static const char *const names[] = {"w1", "w2", NULL};
    static const int32_t nodes[] = {0, 2};
    npgnn_graph *graph = good("a,b\nb,c\n", "x.csv", "id,w1,w2\na,0,1\nb,1,0\nc,1,1\n"), *part = NULL, *other = NULL;
    npgnn_error err = {0};
    (void)state;
    assert_ok(npi_graph_induce(&part, graph, nodes, 2, &err), err);
    assert_ok(npi_graph_with_edges(&other, graph, NULL, 0, &err), err);
    npgnn_graph_free(graph);
    named(part, names);
    named(other, names);
    npgnn_graph_free(part);
    npgnn_graph_free(other);
}

/* ---- in model files ---- */

static npgnn_model *train(void)
{
    npgnn_graph *graph = good("a,b\nb,c\n", "x.csv", "id,w1,\"w\"\"2\"\na,0,1\nb,1,0\nc,1,1\n");
    npgnn_options options = {.size = sizeof options};
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    npgnn_options_preset(&options, NULL, NULL);
    options.iterations = 1;
    assert_ok(npgnn_fit(&model, graph, &options, NULL, &err), err);
    npgnn_graph_free(graph);
    return model;
}

static void test_round_trip(void **state)
{
    char path[4096];
    npgnn_model *model = train(), *again = NULL;
    npgnn_error err = {0};
    (void)state;
    assert_ok(npgnn_model_save(model, in_folder(path, "model"), &err), err);
    npgnn_model_free(model);
    assert_ok(npgnn_model_load(&again, path, NULL, &err), err);
    assert_string_equal(npgnn_model_column_name(again, 0), "w1");
    assert_string_equal(npgnn_model_column_name(again, 1), "w\"2");
    npgnn_model_free(again);
    for (long allow = 0, code = NPGNN_E_MEMORY; code != 0; allow++) {
        meter m = {.allow = allow};
        npgnn_env env = metered_env(&m);
        again = NULL;
        code = npgnn_model_load(&again, path, &env, NULL);
        assert_true(code == NPGNN_E_MEMORY || code == 0);
        npgnn_model_free(again);
        assert_int_equal(m.blocks, 0);
    }
}

/* Replaces the column names in the model file with `replacement`, padded with blanks. */
static void damage(const char *path, const char *replacement)
{
    static const char names[] = "[\\\"w1\\\",\\\"w\\\\\\\"2\\\"]";
    char bytes[16384];
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file), at = 0;
    while (at + sizeof names < size && memcmp(bytes + at, names, sizeof names - 1) != 0)
        at++;
    assert_memory_equal(bytes + at, names, sizeof names - 1);
    assert_in_range(strlen(replacement), 1, sizeof names - 1);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    fprintf(file, "%-*s", (int)sizeof names - 1, replacement);
    assert_int_equal(fclose(file), 0);
}

static void test_damaged_names(void **state)
{
    static const char *const wrong[] = {"[\\\"w1\\\"]",   "[\\\"w1\\\",\\\"w1\\\"]", "[\\\"w1\\\",\\\"\\\"]",
                                        "[\\\"w1\\\",7]", "{\\\"w1\\\":7}",          "[\\\"w1\\\",\\\"w2\\\""};
    npgnn_model *model = train(), *again = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char path[4096];
        npgnn_error err = {0};
        assert_ok(npgnn_model_save(model, in_folder(path, "model"), &err), err);
        damage(path, wrong[i]);
        assert_int_equal(npgnn_model_load(&again, path, NULL, &err), NPGNN_E_FORMAT);
        says(err.text, "its column names are damaged");
    }
    npgnn_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers), cmocka_unit_test(test_unusable_names),
        cmocka_unit_test(test_utf8),    cmocka_unit_test(test_subgraphs_share_names),
        IN_FOLDER(test_round_trip),     IN_FOLDER(test_damaged_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
