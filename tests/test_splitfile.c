/* Split files: a saved split is read back as the same split; lines that do not match the graph are reported by
 * number. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <string.h>

#include "graph/graph.h"
#include "meter.h"
#include "store/splitfile.h"

static char notices[512];

static void note(void *user, const char *message)
{
    (void)user;
    snprintf(notices, sizeof notices, "%s", message);
}

/* A ring of n nodes with chords, which has enough links and non-links to split. */
static npgnn_graph *ring(int32_t n)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_pair *edges = malloc(2 * (size_t)n * sizeof *edges);
    for (int32_t i = 0; i < n; i++) {
        edges[2 * i] = (npgnn_pair){i, (i + 1) % n};
        edges[2 * i + 1] = (npgnn_pair){i, (i + 7) % n};
    }
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, n, 2 * (int64_t)n, 0, NULL, &err), err);
    free(edges);
    return graph;
}

/* The path of five nodes with these names. */
static npgnn_graph *path_of(const char *const names[5])
{
    static const npgnn_pair edges[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
    npgnn_env env = npi_env_resolve(NULL);
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npi_graph_content parts = {.n = 5, .edges = edges, .edge_count = 4};
    assert_ok(npi_names_new(&parts.names, &env, &err), err);
    for (int i = 0; i < 5; i++) {
        int32_t index;
        assert_ok(npi_names_add(&index, parts.names, names[i], strlen(names[i]), &err), err);
    }
    assert_ok(npi_graph_build(&graph, &parts, &env, &err), err);
    return graph;
}

/* a - b - c - d d - e. */
static npgnn_graph *named_path(void)
{
    static const char *const names[] = {"a", "b", "c", "d d", "e"};
    return path_of(names);
}

static int read_text(npgnn_split **out, const npgnn_graph *graph, const char *text, npgnn_error *err)
{
    npgnn_env env = {.size = sizeof env, .log = note};
    npi_stream *stream;
    env = npi_env_resolve(&env);
    notices[0] = '\0';
    assert_ok(npi_stream_open_memory(&stream, "s.tsv", text, strlen(text), &env, err), *err);
    int code = npi_split_read(out, stream, graph, err);
    npi_stream_close(stream);
    return code;
}

static int64_t train_edges(const npgnn_split *split)
{
    const int32_t *map;
    return npgnn_graph_edges(npgnn_split_train(&map, split));
}

/* ---- saving and loading ---- */

static void same_pairs(const npgnn_split *a, const npgnn_split *b, npgnn_set set)
{
    const npgnn_pair *left, *right;
    size_t left_positives, right_positives;
    size_t count = npgnn_split_pairs(&left, &left_positives, a, set);
    assert_int_equal(npgnn_split_pairs(&right, &right_positives, b, set), count);
    assert_int_equal(left_positives, right_positives);
    if (count > 0)
        assert_memory_equal(left, right, count * sizeof *left);
}

static void round_trip(npgnn_protocol protocol)
{
    char folder[] = "/tmp/npgnn-split-XXXXXX", path[64];
    npgnn_graph *graph = ring(300);
    npgnn_split *split = NULL, *back = NULL;
    npgnn_split_options options = {.size = sizeof options};
    npgnn_error err = {0};
    npgnn_split_options_default(&options, protocol, NULL);
    options.seed = 5;
    options.negative_ratio = 3;
    assert_ok(npgnn_split_new(&split, graph, &options, NULL, &err), err);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/split.tsv", folder);
    assert_ok(npgnn_split_save(split, path, &err), err);
    assert_ok(npgnn_split_load(&back, graph, path, NULL, &err), err);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left there */
    assert_int_equal(npgnn_split_protocol(back), protocol);
    assert_true(npgnn_split_hash(back) == npgnn_split_hash(split));
    same_pairs(split, back, NPGNN_SET_VAL);
    same_pairs(split, back, NPGNN_SET_TEST);
    assert_int_equal(train_edges(back), train_edges(split));
    npgnn_split_free(back);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

static void test_round_trip_transductive(void **state)
{
    (void)state;
    round_trip(NPGNN_TRANSDUCTIVE);
    round_trip(NPGNN_RANDOM_LINKS);
}

/* Nodes that a sparse split sets aside stay so: they have training links, so that nothing else tells. */
static void test_untested_nodes(void **state)
{
    (void)state;
    char folder[] = "/tmp/npgnn-split-XXXXXX", path[64];
    enum { N = 400 };
    npgnn_graph *graph = NULL;
    npgnn_pair edges[N];
    npgnn_split *split = NULL, *back = NULL;
    npgnn_error err = {0};
    int32_t untested = 0;
    for (int i = 0; i < N; i++) /* a ring whose every other node has one more, with that link alone */
        edges[i] = i % 2 ? (npgnn_pair){i - 1, i} : (npgnn_pair){i, (i + 2) % N};
    assert_ok(npgnn_graph_from_arrays(&graph, edges, NULL, N, N, 0, NULL, &err), err);
    assert_ok(npgnn_split_new(&split, graph, NULL, NULL, &err), err);
    for (int32_t i = 0; i < N; i++)
        untested += npi_split_is_set_aside(split, i);
    assert_true(untested > 10);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/split.tsv", folder);
    assert_ok(npgnn_split_save(split, path, &err), err);
    assert_ok(npgnn_split_load(&back, graph, path, NULL, &err), err);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_memory_equal(back->standing, split->standing, N);
    assert_true(npgnn_split_hash(back) == npgnn_split_hash(split));
    npgnn_split_free(back);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

static void test_round_trip_inductive(void **state)
{
    (void)state;
    round_trip(NPGNN_INDUCTIVE);
}

static void test_round_trip_few_shot(void **state)
{
    (void)state;
    round_trip(NPGNN_FEW_SHOT);
}

static void test_round_trip_paper(void **state)
{
    (void)state;
    round_trip(NPGNN_PAPER_INDUCTIVE);
    round_trip(NPGNN_PAPER_FEW_SHOT);
}

static void test_round_trip_inductive_hidden(void **state)
{
    (void)state;
    round_trip(NPGNN_INDUCTIVE_HIDDEN);
}

static void test_round_trip_production(void **state)
{
    (void)state;
    round_trip(NPGNN_PRODUCTION);
}

static void test_names(void **state)
{
    npgnn_graph *graph = named_path();
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    const npgnn_pair *pairs;
    size_t positives;
    (void)state;
    assert_ok(
        read_text(&split, graph,
                  "# protocol: random-links\nset\tu\tv\tlabel\ntrain\ta\tb\t1\nval\tb\tc\t1\nval\ta\te\t0\ntest\te\td "
                  "d\t1\ntest\ta\tc\t0\n",
                  &err),
        err);
    assert_non_null(strstr(notices, "links of the graph that are in no set: 1"));
    assert_int_equal(npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST), 2);
    assert_int_equal(positives, 1);
    assert_true(pairs[0].u == 3 && pairs[0].v == 4);
    assert_int_equal(train_edges(split), 1);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
}

/* Names that readers of text take for something else are written in quotes; a line break cannot be written at all. */
static void test_difficult_names(void **state)
{
    static const char *const names[] = {"\xEF\xBB\xBFxa", "b\tb", "\"c\" c", " d ", "# e"};
    static const char *const breaks[2][5] = {{"a", "b\nb", "c", "d", "e"}, {"a", "b", "c", "d\r", "e"}};
    static const char text[] =
        "# protocol: random-links\ntrain\t\"\xEF\xBB\xBFxa\"\t\"b\tb\"\t1\nval\t\"b\tb\"\t\"\"\"c\"\" "
        "c\"\t1\nval\t\"\xEF\xBB\xBFxa\"\t# "
        "e\t0\ntest\t\" d \"\t# e\t1\ntest\t\"b\tb\"\t# e\t0\n";
    char folder[] = "/tmp/npgnn-split-XXXXXX", path[64], command[128];
    npgnn_graph *graph = path_of(names), *again = NULL;
    npgnn_split *split = NULL, *back = NULL;
    npgnn_error err = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/split.tsv", folder);
    assert_ok(read_text(&split, graph, text, &err), err);
    assert_ok(npgnn_split_save(split, path, &err), err);
    assert_ok(npgnn_split_load(&back, graph, path, NULL, &err), err);
    assert_true(npgnn_split_hash(back) == npgnn_split_hash(split));
    assert_int_equal(unlink(path), 0);
    /* a folder, whose first name is the first in its file */
    snprintf(path, sizeof path, "%s/graph", folder);
    assert_ok(npgnn_graph_save(graph, path, &err), err);
    assert_ok(npgnn_load(&again, path, NULL, NULL, &err), err);
    for (int32_t i = 0; i < 5; i++)
        assert_int_equal(npgnn_graph_find(again, names[i]), i);
    npgnn_graph_free(again);
    npgnn_split_free(back);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
    for (int i = 0; i < 2; i++) {
        graph = path_of(breaks[i]);
        split = NULL;
        assert_ok(read_text(&split, graph,
                            i == 0 ? "# protocol: random-links\ntrain\tc\td\t1\nval\td\te\t1\nval\ta\tc\t0\n"
                                   : "# protocol: random-links\ntrain\ta\tb\t1\nval\tb\tc\t1\nval\ta\tc\t0\n",
                            &err),
                  err);
        snprintf(path, sizeof path, "%s/split.tsv", folder);
        assert_int_equal(npgnn_split_save(split, path, &err), NPGNN_E_ARGUMENT);
        assert_non_null(strstr(err.text, "line break"));
        assert_int_equal(access(path, F_OK), -1);
        npgnn_split_free(split);
        npgnn_graph_free(graph);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- invalid files ---- */

static void refused(const char *text, int code, int64_t line, const char *wanted)
{
    npgnn_graph *graph = named_path();
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    int got = read_text(&split, graph, text, &err);
    assert_null(split);
    if (!strstr(err.text, wanted))
        fail_msg("'%s' does not say '%s'", err.text, wanted);
    assert_int_equal(got, code);
    assert_int_equal(err.line, line);
    assert_string_equal(err.file, "s.tsv");
    npgnn_graph_free(graph);
}

/* A split by nodes that calls itself temporal is refused: its links have other numbers in its training graph. */
static void test_temporal_split_by_nodes(void **state)
{
    enum { NODES = 20, LINKS = 2 * NODES };
    (void)state;
    npgnn_pair edges[LINKS];
    double times[LINKS];
    for (int i = 0; i < LINKS; i++) {
        edges[i] = (npgnn_pair){i / 2, (i / 2 + (i % 2 ? 7 : 1)) % NODES};
        times[i] = i;
    }
    const npgnn_graph_data data = {
        .size = sizeof data, .nodes = NODES, .edges = edges, .edge_count = LINKS, .times = times};
    npgnn_graph *graph = NULL;
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_new(&graph, &data, NULL, &err), err);
    const char *text = "# protocol: inductive\n# protocol: temporal\nval-node\t0\t-\t-\ntest-node\t5\t-\t-\n";
    assert_int_equal(read_text(&split, graph, text, &err), NPGNN_E_FORMAT);
    assert_non_null(strstr(err.text, "held-out nodes need"));
    npgnn_graph_free(graph);
}

static void test_invalid_lines(void **state)
{
    (void)state;
    refused("train\ta\tb\n", NPGNN_E_FORMAT, 1, "four fields");
    refused("train\ta\tb\t1\nvalid\tb\tc\t1\n", NPGNN_E_FORMAT, 2, "unknown set 'valid'");
    refused("set\tu\tv\tlabel\ntrain\ta\tz\t1\n", NPGNN_E_MISMATCH, 2, "'z' is not a node");
    refused("train\ta\tb\t2\n", NPGNN_E_FORMAT, 1, "must be 0 or 1");
    refused("train\ta\tb\t1.0\n", NPGNN_E_FORMAT, 1, "must be 0 or 1");
    refused("train\ta\tc\t1\n", NPGNN_E_MISMATCH, 1, "no such link");
    refused("train\ta\tc\t0\n", NPGNN_E_FORMAT, 1, "must have label 1");
    refused("train\ta\tb\t1\ntest\ta\td d\t1\n", NPGNN_E_MISMATCH, 2, "a - d d has label 1");
    refused("train\ta\tb\t1\ntest\tc\tb\t0\n", NPGNN_E_MISMATCH, 2, "it is a link");
    refused("train\ta\tb\t1\ntest\tc\tc\t0\n", NPGNN_E_FORMAT, 2, "itself");
    refused("train\ta\tb\t1\ntest\ta\tc\t0\nval\ta\td d\t0\ntest\tb\ta\t1\n", NPGNN_E_FORMAT, 4, "also on line 1");
    refused("train\ta\tb\t1\ntest\ta\tc\t0\nval\tc\ta\t0\n", NPGNN_E_FORMAT, 3, "also on line 2");
    refused("test\ta\tb\t1\n", NPGNN_E_ARGUMENT, 0, "no training links");
}

static void test_invalid_protocols(void **state)
{
    (void)state;
    refused("val-node\ta\t-\t-\n", NPGNN_E_FORMAT, 1, "# protocol: inductive");
    refused("# protocol: guess\n", NPGNN_E_FORMAT, 1, "paper-inductive, paper-few-shot or random-links");
    /* splits of earlier versions and of other programs */
    refused(
        "train\ta\tb\t1\ntest\tc\tb\t1\ntest\ta\td d\t0\n", NPGNN_E_MISMATCH, 0,
        "the test link b - c betrays itself: c has no training link, or is marked as untested; a split that does not "
        "mind such nodes has the protocol random-links");
    refused("train\ta\tb\t1\ntrain\tb\tc\t1\ntest\ta\te\t0\n", NPGNN_E_MISMATCH, 0,
            "the test non-link a - e betrays itself: e has no training link");
    refused("untested\ta\t-\t-\ntrain\ta\tb\t1\ntrain\tb\tc\t1\ntest\ta\tc\t0\n", NPGNN_E_MISMATCH, 0,
            "the test non-link a - c betrays itself: a has");
    refused("# protocol: inductive\nuntested\ta\t-\t-\n", NPGNN_E_FORMAT, 2, "for the protocol transductive");
    refused("# protocol: inductive\ntest-node\tc\t-\t-\ntest\tc\td d\t1\ntest\tb\tc\t1\nval-node\te\t-\t-\n",
            NPGNN_E_MISMATCH, 0, "d d has lost all its links by the split");
    refused("train\ta\tb\t1\n# protocol: inductive\n", NPGNN_E_FORMAT, 2, "must precede the first line");
    refused("# protocol: inductive\ntest-node\te\t-\t-\ntrain\ta\tb\t1\n", NPGNN_E_FORMAT, 3, "follow from the nodes");
    refused("# protocol: inductive\ntest-node\te\t-\t-\nval-node\te\t-\t-\n", NPGNN_E_FORMAT, 3, "held out twice");
    refused("# protocol: inductive\ntest-node\te\t-\t-\ntest\ta\tb\t1\n", NPGNN_E_MISMATCH, 0, "leak");
    /* a non-link of another kind than the links, which the authors' protocols allow */
    refused("# protocol: inductive\ntest-node\te\t-\t-\ntest\te\td d\t1\ntest\ta\tc\t0\n", NPGNN_E_MISMATCH, 0,
            "the test non-link a - c must touch a test node");
    refused("# protocol: inductive\ntest-node\te\t-\t-\nknown\te\td d\t1\n", NPGNN_E_FORMAT, 3,
            "# protocol: production");
    refused("# protocol: production\ntest-node\te\t-\t-\nknown\te\ta\t0\n", NPGNN_E_FORMAT, 3,
            "known pair must have label 1");
    refused("# protocol: production\ntest-node\te\t-\t-\nknown\ta\tb\t1\n", NPGNN_E_MISMATCH, 0,
            "joins two training nodes");
    refused("# protocol: production\ntest-node\te\t-\t-\nknown\te\td d\t1\ntest\td d\te\t1\n", NPGNN_E_FORMAT, 4,
            "also on line 3");
}

/* Lets 0, 1, 2... allocations succeed: E_MEMORY until there are enough, and no leaks. */
static void test_out_of_memory(void **state)
{
    static const char *const texts[] = {
        "# protocol: random-links\ntrain\ta\tb\t1\nval\tb\tc\t1\nval\ta\te\t0\ntest\te\td d\t1\ntest\ta\tc\t0\n",
        "# protocol: inductive\ntest-node\te\t-\t-\ntest\te\td d\t1\ntest\te\ta\t0\n"};
    npgnn_graph *graph = named_path();
    (void)state;
    for (int i = 0; i < 2; i++) {
        int code = NPGNN_E_MEMORY;
        for (long allow = 0; code != 0; allow++) {
            meter m = {.allow = allow};
            npgnn_env user = metered_env(&m), env = npi_env_resolve(&user);
            npi_stream *stream = NULL;
            npgnn_split *split = NULL;
            assert_true(allow < 1000);
            code = npi_stream_open_memory(&stream, "s.tsv", texts[i], strlen(texts[i]), &env, NULL);
            if (code == 0)
                code = npi_split_read(&split, stream, graph, NULL);
            assert_true(code == NPGNN_E_MEMORY || code == 0);
            npgnn_split_free(split);
            npi_stream_close(stream);
            assert_int_equal(m.blocks, 0);
        }
    }
    npgnn_graph_free(graph);
}

/* ---- the authors' splits, where they are available ---- */

/* Reads a split that was written before protocols had names. */
static int read_old(npgnn_split **out, const npgnn_graph *graph, const char *path, npgnn_error *err)
{
    static const char head[] = "# protocol: random-links\n";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(file), start = sizeof head - 1;
    char *text = calloc(start + size + 1, 1);
    assert_non_null(text);
    memcpy(text, head, start);
    rewind(file);
    assert_int_equal(fread(text + start, 1, size, file), size);
    fclose(file);
    int code = read_text(out, graph, text, err);
    free(text);
    return code;
}

static void test_authors_splits(void **state)
{
    static const struct {
        const char *data, *split;
        size_t test, val;
        int64_t train;
    } sets[] = {{"planetoid/ind.cora.allx", "splits/cora-transductive-authors.tsv", 527, 263, 4488},
                {"planetoid/ind.citeseer.allx", "splits/citeseer-transductive-authors.tsv", 455, 227, 3870},
                {"planetoid/ind.pubmed.allx", "splits/pubmed-transductive-authors.tsv", 4432, 2216, 37676}};
    int found = 0;
    (void)state;
    for (int i = 0; i < 3; i++) {
        char data[4096], file[4096];
        npgnn_graph *graph = NULL;
        npgnn_split *split = NULL;
        npgnn_error err = {0};
        const npgnn_pair *pairs;
        size_t positives;
        if (!check_data(data, sets[i].data) || !check_data(file, sets[i].split))
            continue;
        found++;
        data[strlen(data) - strlen(".allx")] = '\0';
        assert_ok(npgnn_load(&graph, data, NULL, NULL, &err), err);
        assert_int_equal(npgnn_split_load(&split, graph, file, NULL, &err), NPGNN_E_MISMATCH);
        assert_non_null(strstr(err.text, "random-links"));
        assert_ok(read_old(&split, graph, file, &err), err);
        assert_int_equal(npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST), 2 * sets[i].test);
        assert_int_equal(positives, sets[i].test);
        assert_int_equal(npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_VAL), 2 * sets[i].val);
        assert_int_equal(positives, sets[i].val);
        assert_int_equal(train_edges(split), sets[i].train);
        npgnn_split_free(split);
        npgnn_graph_free(graph);
    }
    if (!found)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_transductive),
        cmocka_unit_test(test_round_trip_inductive),
        cmocka_unit_test(test_untested_nodes),
        cmocka_unit_test(test_round_trip_few_shot),
        cmocka_unit_test(test_round_trip_inductive_hidden),
        cmocka_unit_test(test_round_trip_production),
        cmocka_unit_test(test_round_trip_paper),
        cmocka_unit_test(test_temporal_split_by_nodes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_difficult_names),
        cmocka_unit_test(test_invalid_lines),
        cmocka_unit_test(test_invalid_protocols),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_authors_splits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
