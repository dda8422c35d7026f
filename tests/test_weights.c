/* Edge weights from file to training, and graphs saved as folders. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <sys/stat.h>

#include "graph/context.h"
#include "reading.h"

static npgnn_graph *load(const char *data, int weighted)
{
    npgnn_env env = test_env();
    npgnn_load_options options = {.size = sizeof options, .weighted = weighted};
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_load(&graph, data, &options, &env, &err), err);
    return graph;
}

static void weighs(const npgnn_graph *graph, const char *u, const char *v, double weight)
{
    int32_t i = npgnn_graph_find(graph, u), j = npgnn_graph_find(graph, v);
    assert_true(i >= 0 && j >= 0);
    assert_near((double)npgnn_graph_weight(graph, i, j), weight, 1e-6);
    assert_near((double)npgnn_graph_weight(graph, j, i), weight, 1e-6);
}

/* ---- files ---- */

static void test_weights_in_every_format(void **state)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        {"g.tsv", "source\ttarget\tweight\na\tb\t2.5\nb\tc\t0.5\n"},
        {"g.jsonl", "{\"source\": \"a\", \"target\": \"b\", \"weight\": 2.5}\n{\"source\": \"c\", \"target\": \"b\", "
                    "\"weight\": 0.5}\n"},
        {"g.graphml", "<graphml><key id='w' for='edge' attr.name='weight' attr.type='double'/><graph><node id='a'/>"
                      "<node id='b'/><node id='c'/><edge source='a' target='b'><data key='w'>2.5</data></edge>"
                      "<edge source='b' target='c'><data key='w'>0.5</data></edge></graph></graphml>"},
    };
    char path[4096];
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        npgnn_graph *graph = load(write_text(path, files[i].name, files[i].text), 1);
        weighs(graph, "a", "b", 2.5);
        weighs(graph, "b", "c", 0.5);
        assert_true(npgnn_graph_weight(graph, 0, 2) == 0);
        npgnn_graph_free(graph);
        graph = load(path, 0);
        weighs(graph, "a", "b", 1);
        assert_null(graph->a.val);
        says(notices, i == 0 ? "ignoring column" : "ignoring the weights");
        npgnn_graph_free(graph);
    }
    write_text(path, "g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 2.5\n");
    npgnn_graph *graph = load(path, 1);
    weighs(graph, "0", "1", 2.5);
    npgnn_graph_free(graph);
}

static void test_invalid_weights(void **state)
{
    static const struct {
        const char *text, *why;
        int64_t line;
    } cases[] = {
        {"a b 1\nb c 0\n", "weight 0 must be positive", 2},
        {"a b -1\n", "weight -1 must be positive", 1},
        {"a b nan\n", "weight 'nan' is not finite", 1},
        {"a b 1e99\n", "weight '1e99' is not finite", 1},
        {"a b friend\n", "weight 'friend' is not a number", 1},
        {"a b 3e38\na b 3e38\n", "too large for a float", 0},
        /* a number that is written otherwise makes no header of the first line */
        {"a\tb\t1,234,567\nc\td\t5\n", "weight '1,234,567' is not a number: write decimals with a point", 1},
        {"a;b;1,234,567\nc;d;5\n", "weight '1,234,567' is not a number", 1},
        {"a,b,\"1,5\"\nc,d,5\n", "weight '1,5' is not a number: write decimals with a point", 1},
        {"a\tb\t$5\nc\td\t5\n", "weight '$5' is not a number", 1},
        {"a\tb\t5\nc\td\t1,234\n", "weight '1,234' may be one with a decimal comma, or a whole number", 2},
        {"a;b;1,5\nc;d;5\nd;e;1.234\n", "weight '1.234' has a decimal point, but the one on line 1 a decimal comma", 3},
        {"a;b;0.5\nc;d;1,5\n", "weight '1,5' has a decimal comma, but the one on line 1 a decimal point", 2},
        {"a,b,1\nc,d,1,234\n", "4 fields, but the first line has 3", 2},
        {"a b 1,5\nb c 2\n", "this line has blanks between fields and a number with a comma", 1},
        {"{\"u\": 1, \"v\": 2, \"weight\": 0}", "must be positive", 1},
        {"<graphml><key id='w' for='edge' attr.name='weight' attr.type='int'/><graph>\n<edge source='a' target='b'>"
         "<data key='w'>-2</data></edge></graph></graphml>",
         "weight -2 must be positive", 2},
    };
    char path[4096];
    npgnn_load_options options = {.size = sizeof options, .weighted = 1};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        npgnn_graph *graph = NULL;
        npgnn_error err = {0};
        write_text(path, "g", cases[i].text);
        assert_int_equal(npgnn_load(&graph, path, &options, NULL, &err), NPGNN_E_FORMAT);
        says(err.text, cases[i].why);
        assert_int_equal(err.line, cases[i].line);
        assert_null(graph);
    }
}

static void test_decimal_commas(void **state)
{
    static const char *const texts[] = {"a\tb\t1,5\nb\tc\t1,125\n", "a;b;1,5\nb;c;1,125\n", "a b 1.5\nb c 1.125\n",
                                        "source\ttarget\tweight\na\tb\t1,5\nb\tc\t1,125\n"};
    char path[4096];
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        npgnn_graph *graph = load(write_text(path, "g", texts[i]), 1);
        weighs(graph, "a", "b", 1.5);
        weighs(graph, "b", "c", 1.125);
        assert_int_equal(strstr(notices, "taking commas in weights for decimal points, as in 1.5") != NULL, i != 2);
        npgnn_graph_free(graph);
    }
}

/* The first line with a weight is a link, although its words are nowhere else. */
static void test_first_line_with_a_weight(void **state)
{
    char path[4096];
    (void)state;
    for (int weighted = 0; weighted < 2; weighted++) {
        npgnn_graph *graph = load(write_text(path, "g", "x,y,3\na,b,1\nb,c,2\nc,a,4\na,d,1\n"), weighted);
        assert_int_equal(npgnn_graph_edges(graph), 5);
        weighs(graph, "x", "y", weighted ? 3 : 1);
        npgnn_graph_free(graph);
    }
}

/* Who asks for weights is told where there are none. */
static void test_no_weights(void **state)
{
    static const char *const texts[] = {
        "a b\nb c\n", "source,target\na,b\nb,c\n",
        "{\"source\": \"a\", \"target\": \"b\"}\n{\"source\": \"b\", \"target\": \"c\"}\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"};
    char path[4096];
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        npgnn_graph_free(load(write_text(path, "g", texts[i]), 1));
        says(notices, "g: the file has no weights, or all are 1");
        npgnn_graph_free(load(path, 0));
        assert_null(strstr(notices, "weights"));
    }
    npgnn_graph_free(load("synthetic:nodes=100", 1));
    says(notices, "synthetic:nodes=100: the links of this graph have no weights");
    npgnn_graph_free(load(write_text(path, "g", "a b 2\nb c 1\n"), 1));
    assert_null(strstr(notices, "weights"));
}

/* The weights of repeated edges are added, except where every edge is listed in both directions with the same
 * weight. */
static void test_repeated_edges(void **state)
{
    static const struct {
        const char *text;
        double ab, bc;
    } cases[] = {
        {"a b 2\nb c 3\n", 2, 3},
        {"a b 2\na b 5\nb c 3\n", 7, 3},
        {"a b 2\nb a 2\nb c 3\nc b 3\n", 2, 3}, /* a symmetric matrix */
        {"a b 2\nb a 5\nb c 3\n", 7, 3},        /* directed: letters both ways */
        {"a b 2\nb a 2\nb c 3\n", 4, 3},        /* directed too: c never answers */
        {"a b 1\na b 1\nb a 2\nb c 3\nc b 3\na a 9\n", 2, 3},
    };
    char path[4096];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        npgnn_graph *graph = load(write_text(path, "g", cases[i].text), 1);
        weighs(graph, "a", "b", cases[i].ab);
        weighs(graph, "b", "c", cases[i].bc);
        npgnn_graph_free(graph);
    }
}

/* ---- subgraphs and contexts ---- */

static const char square[] = "0 1 1\n1 2 2\n2 3 3\n3 0 4\n0 2 5\n";

static void test_subgraphs_keep_weights(void **state)
{
    static const int32_t nodes[] = {0, 2, 3};
    static const npgnn_pair edges[] = {{0, 3}, {1, 2}, {1, 3}};
    char path[4096];
    npgnn_error err = {0};
    npgnn_graph *graph = load(write_text(path, "g", square), 1), *plain = load(path, 0), *part = NULL, *other = NULL;
    (void)state;
    assert_true(npi_graph_fingerprint(graph) != npi_graph_fingerprint(plain));
    assert_ok(npi_graph_induce(&part, graph, nodes, 3, &err), err);
    weighs(part, "0", "1", 5); /* names are indices: those of the part */
    weighs(part, "1", "2", 3);
    weighs(part, "0", "2", 4);
    assert_ok(npi_graph_with_edges(&other, graph, edges, 3, &err), err);
    weighs(other, "0", "3", 4);
    weighs(other, "1", "2", 2);
    weighs(other, "1", "3", 1); /* no link of the graph */
    npgnn_graph_free(other);
    other = NULL;
    assert_ok(npi_graph_with_nodes(&other, graph, graph->x, NULL, 0, &err), err);
    assert_true(npi_graph_fingerprint(other) == npi_graph_fingerprint(graph));
    npgnn_graph_free(part);
    npgnn_graph_free(other);
    npgnn_graph_free(graph);
    npgnn_graph_free(plain);
}

static void test_contexts_keep_weights(void **state)
{
    char path[4096];
    npgnn_graph *graph = load(write_text(path, "g", square), 1);
    (void)state;
    for (int kind = NPGNN_CONTEXT_EDGES; kind <= NPGNN_CONTEXT_NODES; kind++) {
        npi_context *context = NULL;
        npgnn_error err = {0};
        assert_ok(npi_context_new(&context, graph, (npgnn_context)kind, 0.75, NULL, &err), err);
        for (uint32_t draw = 0; draw < 5; draw++) {
            const int32_t *nodes;
            npi_context_draw(context, 1, draw);
            const npi_csr *a = &npi_context_get(&nodes, context)->a;
            assert_true(a->ptr[a->rows] > 0);
            for (int32_t i = 0; i < a->rows; i++)
                for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
                    int32_t u = nodes ? nodes[i] : i, v = nodes ? nodes[a->col[p]] : a->col[p];
                    assert_true(a->val[p] == npgnn_graph_weight(graph, u, v));
                }
        }
        npi_context_free(context);
    }
    npgnn_graph_free(graph);
}

static void starve_weighted(const char *data)
{
    npgnn_load_options options = {.size = sizeof options, .weighted = 1};
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code != 0; allow++) {
        meter m = {.allow = allow};
        npgnn_env env = metered_env(&m);
        npgnn_graph *graph = NULL, *part = NULL;
        code = npgnn_load(&graph, data, &options, &env, NULL);
        if (code == 0)
            code = npi_graph_induce(&part, graph, (const int32_t[]){0, 1, 2}, 3, NULL);
        assert_true(code == NPGNN_E_MEMORY || code == 0);
        npgnn_graph_free(part);
        npgnn_graph_free(graph);
        assert_int_equal(m.blocks, 0);
    }
}

static void test_out_of_memory(void **state)
{
    char path[4096];
    (void)state;
    starve_weighted(write_text(path, "g", square));
}

/* ---- saving and loading ---- */

static void check_same(const npgnn_graph *a, const npgnn_graph *b)
{
    assert_int_equal(a->n, b->n);
    assert_true(npi_graph_fingerprint(a) == npi_graph_fingerprint(b));
    assert_int_equal(a->names != NULL, b->names != NULL);
    for (int32_t i = 0; i < a->n; i++) {
        char of_a[12], of_b[12];
        assert_string_equal(npgnn_graph_name(a, i, of_a), npgnn_graph_name(b, i, of_b));
        assert_int_equal(npgnn_graph_label(a, i), npgnn_graph_label(b, i));
    }
    assert_int_equal(a->x->columns != NULL, b->x->columns != NULL);
    for (int32_t c = 0; a->x->columns && c < a->x->f; c++)
        assert_string_equal(npgnn_graph_column_name(a, c), npgnn_graph_column_name(b, c));
}

static void check_saved(const npgnn_graph *graph)
{
    char path[4096], command[4200];
    npgnn_error err = {0};
    assert_ok(npgnn_graph_save(graph, in_folder(path, "saved"), &err), err);
    npgnn_graph *again = load(path, graph->a.val != NULL);
    check_same(graph, again);
    npgnn_graph_free(again);
    assert_int_equal(npgnn_graph_save(graph, path, &err), NPGNN_E_IO);
    says(err.text, "exists already");
    snprintf(command, sizeof command, "rm -r '%s'", path);
    assert_int_equal(system(command), 0);
}

static void test_save_and_load(void **state)
{
    /* names that need quotes; the nodes of the first link are named like columns of a header */
    static const char odd[] = "source\ttarget\nid\tsource\nsource\t\"# no\"\n\"a \"\"b\"\"\"\t\" c\"\nid\t\"t\tab\"\n";
    static const char table[] = "id\tone\t\"two\"\"\"\tclass\nid\t0.1\t0\tred\nsource\t0\t-3e-20\tblue\n\"a "
                                "\"\"b\"\"\"\t0\t0\tred\n\"# no\"\t1\t16777217\t\n100%\t0\t1\tred\n";
    char path[4096];
    (void)state;
    npgnn_graph *graph = good(odd, "x.tsv", table);
    assert_non_null(graph->x->dense);
    check_saved(graph);
    npgnn_graph_free(graph);
    graph = good(odd, NULL, NULL);
    check_saved(graph);
    npgnn_graph_free(graph);
    graph = good("0 1\n1 4\n", "x.svm", "1 3:0.25\n2 9:1\n1 1:7\n3\n1\n");
    assert_null(graph->x->dense);
    check_saved(graph);
    npgnn_graph_free(graph);
    graph = load(write_text(path, "g", square), 1);
    check_saved(graph);
    npgnn_graph_free(graph);
    graph = load("synthetic:nodes=100", 0);
    check_saved(graph);
    npgnn_graph_free(graph);
}

/* A failed save leaves nothing behind. */
static void test_failed_saves(void **state)
{
    char path[4096], command[4200];
    npgnn_error err = {0};
    npgnn_graph *graph = load(write_text(path, "g", "{\"u\": \"a\\nb\", \"v\": \"c\"}"), 0);
    (void)state;
    assert_int_equal(npgnn_graph_save(graph, in_folder(path, "saved"), &err), NPGNN_E_ARGUMENT);
    says(err.text, "has a line break");
    assert_int_equal(npgnn_graph_save(graph, in_folder(path, "absent/saved"), &err), NPGNN_E_IO);
    assert_int_equal(npgnn_graph_save(graph, in_folder(path, "saved.npz"), &err), NPGNN_E_ARGUMENT);
    says(err.text, "leave out .npz for a folder");
    assert_int_equal(npgnn_graph_save(graph, "-", &err), NPGNN_E_ARGUMENT);
    says(err.text, "standard output");
    snprintf(command, sizeof command, "test \"$(ls '%s')\" = g", folder);
    assert_int_equal(system(command), 0);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_weights_in_every_format),
        IN_FOLDER(test_invalid_weights),
        IN_FOLDER(test_decimal_commas),
        IN_FOLDER(test_first_line_with_a_weight),
        IN_FOLDER(test_no_weights),
        IN_FOLDER(test_repeated_edges),
        IN_FOLDER(test_subgraphs_keep_weights),
        IN_FOLDER(test_contexts_keep_weights),
        IN_FOLDER(test_out_of_memory),
        IN_FOLDER(test_save_and_load),
        IN_FOLDER(test_failed_saves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
