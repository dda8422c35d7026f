/* The readers of edge lists, feature tables, .npy and Planetoid files: valid files in every format, and damaged
 * ones. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <string.h>
#include <sys/stat.h>

#include "io/planetoid.h"
#include "reading.h"

/* ---- edges ---- */

static void test_edge_formats(void **state)
{
    static const char *const texts[] = {
        "0 1\n1 2\n",
        "0\t1\n1\t2\n",
        "0,1\n1,2\n",
        "0;1\r\n1;2\r\n",
        "  0   1 \n 1\t2",
        "# note\n%\n\n0 1\n1 2",
        "0, 1\n1 ,2\n",
        "\"0\",\"1\"\n\"1\",\"2\"\n",
        "u,v\n0,1\n1,2\n",
        "Source Target\n0 1\n1 2\n",
        "von nach\n0 1\n1 2\n",
        "0 1 0.5\n1 2 0.7\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n% c\n3 3 2\n2 1\n3 2\n",
        "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n2 3 1\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        npgnn_graph *graph = good(texts[i], NULL, NULL);
        has(graph, 3, 2, 0);
        assert_true(npgnn_graph_has_edge(graph, 0, 1) && npgnn_graph_has_edge(graph, 1, 2));
        assert_null(graph->names);
        npgnn_graph_free(graph);
    }
}

static void test_node_names(void **state)
{
    char buffer[12];
    npgnn_graph *graph = good("alice bob\nbob 7\n", NULL, NULL);
    (void)state;
    has(graph, 3, 2, 0);
    assert_string_equal(npgnn_graph_name(graph, 0, buffer), "7"); /* integers precede words */
    assert_int_equal(npgnn_graph_find(graph, "alice"), 1);
    npgnn_graph_free(graph);
    graph = good("5 6\n6 x\nx 5\n", NULL, NULL); /* integers first, then a word: 5 and 6 keep their names */
    assert_int_equal(npgnn_graph_find(graph, "5"), 0);
    assert_int_equal(npgnn_graph_find(graph, "x"), 2);
    has(graph, 3, 3, 0);
    npgnn_graph_free(graph);
    graph = good("35 1033\n35 103482\n", NULL, NULL); /* integers far apart are names */
    has(graph, 3, 2, 0);
    assert_int_equal(npgnn_graph_find(graph, "103482"), 2);
    npgnn_graph_free(graph);
    graph = good("9999999999 -4\n007 7\n", NULL, NULL); /* no indices, and 007 is not 7 */
    has(graph, 4, 2, 0);
    npgnn_graph_free(graph);
    graph = good("1 2\n2 3\n", NULL, NULL); /* counted from 1: no node 0 is invented */
    has(graph, 3, 2, 0);
    assert_int_equal(npgnn_graph_find(graph, "3"), 2);
    npgnn_graph_free(graph);
}

static void test_notices(void **state)
{
    (void)state;
    npgnn_graph_free(good("0 1 2.5\n", NULL, NULL));
    says(notices, "columns after the second");
    npgnn_graph_free(good("a,b\n0,1\n", NULL, NULL));
    says(notices, "header");
    npgnn_graph_free(good("0 1\n1 0\n0 0\n0 1\n", NULL, NULL));
    assert_string_equal(notices, "");
}

static void test_invalid_edges(void **state)
{
    (void)state;
    bad("0 1\n\n2\n", NULL, NULL, NPGNN_E_FORMAT, "edges", 3, "two node ids");
    bad("0,1\n2,\n", NULL, NULL, NPGNN_E_FORMAT, "edges", 2, "two node ids");
    bad("0,1\n2 3\n", NULL, NULL, NPGNN_E_FORMAT, "edges", 2, "two node ids");
    bad("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n", NULL, NULL, NPGNN_E_FORMAT, "edges", 3,
        "entries missing: 1");
    bad("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n3 1\n", NULL, NULL, NPGNN_E_FORMAT, "edges", 4,
        "more entries");
    bad("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n4 1\n", NULL, NULL, NPGNN_E_FORMAT, "edges", 3,
        "row from 1 to 3");
    bad("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n1 0\n", NULL, NULL, NPGNN_E_FORMAT, "edges", 3,
        "column from 1");
    bad("%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 1\n", NULL, NULL, NPGNN_E_FORMAT, "edges", 2,
        "square");
    bad("%%MatrixMarket matrix coordinate pattern general\n2000000000 2000000000 1\n1 1\n", NULL, NULL, NPGNN_E_FORMAT,
        "edges", 0, "too many for 1 elements");
    bad("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", NULL, NULL, NPGNN_E_FORMAT, "edges", 1,
        "unsupported Matrix Market type");
}

static void test_empty_files(void **state)
{
    npgnn_graph *graph = good("", NULL, NULL);
    (void)state;
    has(graph, 0, 0, 0);
    npgnn_graph_free(graph);
}

/* ---- features ---- */

static const char triangle[] = "0 1\n1 2\n2 0\n";
static const char named[] = "a b\nb c\n";

/* The same matrix [[0, 2.5, 0], [1, 0, 0], [0, 0, -0.125]] in each format. */
static void test_feature_formats(void **state)
{
    static const char *const dresses[][2] = {
        {"x.csv", "0,2.5,0\n1,0,0\n0,0,-0.125\n"},
        {"x.tsv", "# note\n0\t2.50\t0\n1\t0\t0\n0\t0\t-1.25e-1\n"},
        {"x.txt", "0 2.5 0\n1 0 0\n0 0 -.125\n"},
        {"x.csv", "w1,w2,w3\n0,2.5,0\n1,0,0\n0,0,-0.125\n"},
        {"x.csv", "id,w1,w2,w3\n0,0,2.5,0\n1,1,0,0\n2,0,0,-0.125\n"},
        {"x.csv", "0,0,2.5,0\n1,1,0,0\n2,0,0,-0.125\n"}, /* the first column is all different integers: ids */
        {"x.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n3 3 -0.125\n1 2 2.5\n2 1 1\n"},
        {"x.mtx", "%%MatrixMarket matrix array real general\n3 3\n0\n1\n0\n2.5\n0\n0\n0\n0\n-0.125\n"},
        {"other", "%%MatrixMarket matrix coordinate real general\n3 3 3\n3 3 -0.125\n1 2 2.5\n2 1 1\n"},
        {"x.svm", "0 2:2.5\n1 1:1 2:0 # note\n0 3:-0.125\n"},
        {"other", "0 2:2.5\n1 1:1\n0 3:-0.125\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof dresses / sizeof dresses[0]; i++) {
        npgnn_graph *graph = good(triangle, dresses[i][0], dresses[i][1]);
        has(graph, 3, 3, 3);
        assert_int_equal(graph->x->nonzeros, 3);
        assert_true(feature(graph, 0, 1) == 2.5F);
        assert_true(feature(graph, 1, 0) == 1);
        assert_true(feature(graph, 2, 2) == -0.125F);
        assert_null(graph->names);
        npgnn_graph_free(graph);
    }
}

static void test_features_by_name(void **state)
{
    npgnn_graph *graph = good(named, "x.csv", "c,1,0\na,0,1\nlone,1,1\n");
    (void)state;
    has(graph, 4, 2, 2); /* a, b, which has edges only, c and lone */
    says(notices, "without a feature row: 1");
    assert_int_equal(npgnn_graph_find(graph, "b"), 1);
    assert_int_equal(npgnn_graph_find(graph, "c"), 2);
    assert_true(feature(graph, 0, 0) == 0 && feature(graph, 0, 1) == 1);
    assert_true(feature(graph, 1, 0) == 0 && feature(graph, 1, 1) == 0);
    assert_true(feature(graph, 3, 0) == 1 && feature(graph, 3, 1) == 1);
    assert_true(npgnn_graph_has_edge(graph, 1, 2));
    npgnn_graph_free(graph);
}

/* LINQS Cora: id, words, class. */
static void test_label_in_last_column(void **state)
{
    npgnn_graph *graph = good("35 1033\n", "cora.content", "1033\t0\t1\tGenes\n35\t1\t1\tNets\n40\t0\t0\tGenes\n");
    (void)state;
    has(graph, 3, 1, 2);
    assert_int_equal(graph->classes, 2);
    assert_int_equal(npgnn_graph_label(graph, npgnn_graph_find(graph, "35")), 1);
    assert_int_equal(npgnn_graph_label(graph, npgnn_graph_find(graph, "40")), 0);
    npgnn_graph_free(graph);
    graph = good("0 1\n", "x.svm", "7 1:1\n3 1:2\n");
    assert_int_equal(npgnn_graph_label(graph, 0), 7); /* integers stay */
    assert_int_equal(graph->classes, 2);
    npgnn_graph_free(graph);
}

/* Two words followed by two numbers are a header, not a node and its class. */
static void test_header_of_two_features(void **state)
{
    npgnn_graph *graph = good("0 1\n", "x.csv", "weight,height\n0.5,1\n0.25,2\n");
    (void)state;
    has(graph, 2, 1, 2);
    assert_null(graph->label);
    assert_true(feature(graph, 0, 0) == 0.5F && feature(graph, 1, 1) == 2);
    npgnn_graph_free(graph);
}

static void test_invalid_features(void **state)
{
    (void)state;
    bad(triangle, "x.csv", "0,1\n1\n0,1\n", NPGNN_E_FORMAT, "x.csv", 2, "1 fields, but the first line has 2");
    bad(triangle, "x.csv", "0,1\n1,0,0\n0,1\n", NPGNN_E_FORMAT, "x.csv", 2, "too many fields: the first line has 2");
    bad(triangle, "x.csv", "0.5,1\n1,nan\n0,1\n", NPGNN_E_FORMAT, "x.csv", 2, "'nan' in field 2 is not finite");
    bad(triangle, "x.csv", "0.5,1\n1,-Inf\n0,1\n", NPGNN_E_FORMAT, "x.csv", 2, "is not finite");
    bad(triangle, "x.csv", "0.5,1\n1,1e40\n0,1\n", NPGNN_E_FORMAT, "x.csv", 2, "is not finite");
    bad(triangle, "x.csv", "0.5,1,2\n1,0x10,3\n0,1,2\n", NPGNN_E_FORMAT, "x.csv", 2,
        "'0x10' in field 2 is not a number");
    bad(triangle, "x.csv", "0.5,1,2\n1,,3\n", NPGNN_E_FORMAT, "x.csv", 2, "'' in field 2 is not a number");
    bad(named, "x.csv", "a,1\nb,2\na,3\n", NPGNN_E_FORMAT, "x.csv", 3, "'a' occurs twice");
    bad(triangle, "x.svm", "1 1:1\n0 0:1\n", NPGNN_E_FORMAT, "x.svm", 2, "must be an integer from 1");
    bad(triangle, "x.svm", "1 1:1\n0 2:1 2:3\n", NPGNN_E_FORMAT, "x.svm", 2, "column 2 occurs twice");
    bad(triangle, "x.svm", "1 1:1\n0 2\n", NPGNN_E_FORMAT, "x.svm", 2, "expected column:value");
    bad(triangle, "x.svm", "1 1:x\n", NPGNN_E_FORMAT, "x.svm", 1, "'x' is not a number");
    bad(triangle, "x.svm", "1 2000000000:1\n", NPGNN_E_FORMAT, "x.svm", 0,
        "2000000000 columns are too many for 1 elements");
    bad(triangle, "x.mtx", "0,1\n", NPGNN_E_FORMAT, "x.mtx", 1, "must begin with");
    bad(triangle, "x.mtx", "%%MatrixMarket matrix coordinate real general\n", NPGNN_E_FORMAT, "x.mtx", 1,
        "expected the sizes");
    bad(triangle, "x.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 5\n1 1 5\n", NPGNN_E_FORMAT,
        "x.mtx", 0, "row 1, column 1 (counted from 1) occurs twice");
    bad(triangle, "x.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 nan\n", NPGNN_E_FORMAT, "x.mtx",
        3, "'nan' is not finite");
    bad(triangle, "x.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1\n", NPGNN_E_FORMAT, "x.mtx", 3,
        "is not a number");
    bad(triangle, "x.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n", NPGNN_E_FORMAT, "x.mtx", 4,
        "entries missing: 1");
    bad(triangle, "x.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 1 1\n", NPGNN_E_FORMAT, "x.mtx",
        2, "general");
}

static void test_edges_and_features_mismatch(void **state)
{
    (void)state;
    bad(named, "x.svm", "1 1:1\n", NPGNN_E_MISMATCH, "edges", 1, "integers from 0 to 0");
    bad("0 1\n1 3\n", "x.svm", "1 1:1\n1 1:1\n1 1:1\n", NPGNN_E_MISMATCH, "edges", 2,
        "node 3 has no features: with 3 feature rows");
    bad(named, "x.csv", "x,1,2\ny,1,3\n", NPGNN_E_MISMATCH, "edges", 0, "none of the node ids");
    bad("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n", "x.svm", "1 1:1\n", NPGNN_E_MISMATCH,
        "edges", 0, "3 nodes, but there are 1 feature rows");
}

/* ---- .npy ---- */

static size_t npy(unsigned char out[512], int version, const char *header, const void *data, size_t size)
{
    size_t length = strlen(header), at = version == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (unsigned char)version;
    out[7] = 0;
    memset(out + 8, 0, 4);
    out[8] = (unsigned char)length;
    memcpy(out + at, header, length);
    memcpy(out + at + length, data, size);
    return at + length + size;
}

static npgnn_graph *good_npy(int version, const char *header, const void *data, size_t size)
{
    unsigned char file[512];
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    size_t total = npy(file, version, header, data, size);
    assert_ok(build(&graph, triangle, sizeof triangle - 1, "x.npy", file, total, &err), err);
    has(graph, 3, 3, 2);
    return graph;
}

static void test_npy(void **state)
{
    const float f4[6] = {0, 1.5F, 2, 0, 0, -3}, by_column[6] = {0, 2, 0, 1.5F, 0, -3};
    const int16_t i2[6] = {0, 1, 2, 0, 0, -3};
    const uint16_t f2[6] = {0, 0x3E00, 0x4000, 0, 0, 0xC200}; /* the halves of f4 */
    const unsigned char big[24] = {0, 0, 0, 0, 0x3F, 0xC0, 0, 0, 0x40, 0,    0, 0,
                                   0, 0, 0, 0, 0,    0,    0, 0, 0xC0, 0x40, 0, 0};
    const struct {
        int version;
        const char *header;
        const void *data;
        size_t size;
        float second;
    } files[] = {
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n", f4, sizeof f4, 1.5F},
        {2, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n", f4, sizeof f4, 1.5F},
        {3, "{'shape': (3,2), 'fortran_order':True,'descr':'<f4'}", by_column, sizeof by_column, 1.5F},
        {1, "{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2), }", big, sizeof big, 1.5F},
        {1, "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 2), }", f2, sizeof f2, 1.5F},
        {1, "{'descr': '<i2', 'fortran_order': False, 'shape': (3, 2), }", i2, sizeof i2, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        npgnn_graph *graph = good_npy(files[i].version, files[i].header, files[i].data, files[i].size);
        assert_true(feature(graph, 0, 1) == files[i].second);
        assert_true(feature(graph, 1, 0) == 2);
        assert_true(feature(graph, 2, 1) == -3);
        assert_int_equal(graph->x->nonzeros, 3);
        npgnn_graph_free(graph);
    }
}

static void bad_npy(const char *header, const void *data, size_t size, const char *text)
{
    unsigned char file[512];
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    size_t total = npy(file, 1, header, data, size);
    assert_int_equal(build(&graph, triangle, sizeof triangle - 1, "x.npy", file, total, &err), NPGNN_E_FORMAT);
    says(err.text, text);
    assert_string_equal(err.file, "x.npy");
}

static void test_invalid_npy(void **state)
{
    const float f4[6] = {0, 1, 2, 0, 0, NAN};
    (void)state;
    bad_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", f4, sizeof f4,
            "row 2, column 1 (counted from 0)");
    bad_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", f4, 19, "ends before its last element");
    bad_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1)}", f4, 16, "continues after");
    bad_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", f4, sizeof f4, "two-dimensional");
    bad_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3)}", f4, sizeof f4, "at most two dimensions");
    bad_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2147483600, 2147483600)}", f4, sizeof f4,
            "ends before");
    bad_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2147483600, 0)}", f4, 0, "too many for 0 elements");
    bad_npy("{'descr': '|O', 'fortran_order': False, 'shape': (3, 2)}", f4, sizeof f4, "Python objects");
    bad_npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 2)}", f4, sizeof f4,
            "unsupported element type");
    bad_npy("{'descr': '<f4', 'shape': (3, 2)}", f4, sizeof f4, "is missing");
    bad(triangle, "x.npy", "0,1\n", NPGNN_E_FORMAT, "x.npy", 0, "not a .npy file");
}

/* ---- npgnn_load: finding the files ---- */

static void test_folder(void **state)
{
    char path[4096];
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_load_options options = {.size = sizeof options, .binarize = 1, .normalize = 1, .encoding = "raw"};
    (void)state;
    write_text(path, "edges.csv", "a,b\nb,c\n");
    write_text(path, "features.tsv", "id\tw1\tw2\na\t2\t2\nb\t0\t3\nc\t0\t0\n");
    write_text(path, "labels.txt", "id label\nb 4\na 9\n");
    assert_ok(npgnn_load(&graph, folder, &options, NULL, &err), err);
    has(graph, 3, 2, 2);
    assert_true(graph->normalized == 1 && graph->binarized == 1);
    assert_true(feature(graph, 0, 0) == 0.5F && feature(graph, 0, 1) == 0.5F && feature(graph, 1, 1) == 1);
    assert_int_equal(npgnn_graph_label(graph, 0), 9);
    assert_int_equal(npgnn_graph_label(graph, 1), 4);
    assert_int_equal(npgnn_graph_label(graph, 2), -1);
    npgnn_graph_free(graph);
    graph = NULL;
    write_text(path, "labels.txt", "b 4\nzoe 9\n");
    assert_int_equal(npgnn_load(&graph, folder, NULL, NULL, &err), NPGNN_E_FORMAT);
    assert_int_equal(err.line, 2);
    assert_string_equal(err.file, path);
    says(err.text, "'zoe' is not a node");
    /* quotes are as in lists of links: a label may have two lines */
    write_text(path, "labels.txt", "a,\"x\ny\"\nb,\"z, w\"\n");
    assert_ok(npgnn_load(&graph, folder, NULL, NULL, &err), err);
    assert_true(graph->classes == 2 && npgnn_graph_label(graph, 0) == 0 && npgnn_graph_label(graph, 1) == 1);
    npgnn_graph_free(graph);
    graph = NULL;
    write_text(path, "labels.txt", "a,\"x\ny\"\nb,\"z\n");
    assert_int_equal(npgnn_load(&graph, folder, NULL, NULL, &err), NPGNN_E_FORMAT);
    assert_int_equal(err.line, 3);
    says(err.text, "a quote is opened on this line but not closed");
}

static void test_out_of_memory(void **state)
{
    static const char *const features[] = {"id\tw1\tw2\nc\t2\t2\na\t0\t3\nx\t0\t0\n", "a\t1\tred\nb\t2\tblue\n"};
    char path[4096];
    (void)state;
    write_text(path, "edges.csv", "7,8\na,b\nb,c\n");
    starve(folder);
    for (int i = 0; i < 2; i++) {
        write_text(path, "features.tsv", features[i]);
        starve(folder);
    }
    write_text(path, "labels.txt", "b 4\na 9\n");
    starve(folder);
    write_text(path, "edges.csv", "0,1\n");
    write_text(path, "features.tsv", "0.5\t1\n0.5\t2\n");
    write_text(path, "labels.txt", "1 4\n");
    starve(folder);
    write_text(path, "features.svm", "1 3:1 1:2\n2 1:1\n");
    unlink(in_folder(path, "features.tsv"));
    starve(folder);
    write_text(path, "features.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n2 3 1\n2 1 2\n1 1 1\n");
    starve(folder);
}

static void test_edge_and_feature_files(void **state)
{
    char edges[4096], features[4096];
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_load_options options = {.size = sizeof options};
    (void)state;
    options.edges = write_text(edges, "links", "0 1\n");
    options.features = write_text(features, "words", "1 1:1\n1 2:1\n");
    assert_ok(npgnn_load(&graph, NULL, &options, NULL, &err), err);
    has(graph, 2, 1, 2);
    npgnn_graph_free(graph);
    graph = NULL;
    options.edges = NULL;
    assert_ok(npgnn_load(&graph, edges, &options, NULL, &err), err);
    has(graph, 2, 1, 2);
    npgnn_graph_free(graph);
    graph = NULL;
    assert_int_equal(npgnn_load(&graph, NULL, NULL, NULL, &err), NPGNN_E_ARGUMENT);
    options.features = "/nonexistent/features.csv";
    assert_int_equal(npgnn_load(&graph, edges, &options, NULL, &err), NPGNN_E_IO);
    assert_string_equal(err.file, "/nonexistent/features.csv");
    assert_null(graph);
}

static void test_data_folder(void **state)
{
    char path[4096];
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_load_options options = {.size = sizeof options, .data_dir = folder};
    (void)state;
    assert_int_equal(mkdir(in_folder(path, "mine"), 0700), 0);
    assert_int_equal(npgnn_load(&graph, "mine", &options, NULL, &err), NPGNN_E_FORMAT);
    says(err.text, "expected edges.tsv");
    write_text(path, "mine/edges.tsv", "0\t1\n");
    assert_ok(npgnn_load(&graph, "mine", &options, NULL, &err), err);
    npgnn_graph_free(graph);
    graph = NULL;
    assert_int_equal(npgnn_load(&graph, "theirs", &options, NULL, &err), NPGNN_E_IO);
    says(err.text, folder);
    assert_int_equal(npgnn_load(&graph, "no/such/file", &options, NULL, &err), NPGNN_E_IO);
    assert_null(graph);
}

static void test_synthetic(void **state)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_load_options options = {.size = sizeof options, .edges = "links"};
    (void)state;
    assert_ok(npgnn_load(&graph, "synthetic:nodes=200", NULL, NULL, &err), err);
    assert_int_equal(npgnn_graph_nodes(graph), 200);
    npgnn_graph_free(graph);
    graph = NULL;
    assert_int_equal(npgnn_load(&graph, "synthetic", &options, NULL, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(npgnn_load(&graph, "synthetic.tsv", NULL, NULL, &err), NPGNN_E_IO); /* a file, not the generator */
    assert_null(graph);
}

/* ---- Planetoid: the published files, where they are available ---- */

/* Two sums that depend on the position of every element; the expected values come from numpy and scipy on the same
 * files. */
static double feature_sum(const npgnn_graph *graph)
{
    double sum = 0;
    for (int32_t i = 0; i < graph->n; i++)
        for (int64_t p = graph->x->x.ptr[i]; p < graph->x->x.ptr[i + 1]; p++) {
            double weight = (i + 1) * 31.0 + (graph->x->x.col[p] + 1) * 7.0;
            sum += weight * (graph->x->x.val ? (double)graph->x->x.val[p] : 1);
        }
    return sum;
}

static int64_t label_sum(const npgnn_graph *graph)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < graph->n; i++)
        sum += (int64_t)(npgnn_graph_label(graph, i) + 1) * (i + 1);
    return sum;
}

static void test_planetoid(void **state)
{
    static const struct {
        const char *file, *name;
        int32_t nodes, columns, featureless, classes;
        int64_t nonzeros, edges, label_sum;
        double feature_sum;
    } sets[] = {
        {"planetoid/ind.cora.allx", "cora", 2708, 1433, 0, 7, 49216, 5278, 14182160, 2327334057},
        {"planetoid/ind.citeseer.allx", "citeseer", 3327, 3703, 15, 6, 105165, 4552, 20390810, 6759500484},
        {"planetoid/ind.pubmed.allx", "pubmed", 19717, 500, 0, 3, 988031, 44324, 425433144, 11894515098.568695}};
    int found = 0;
    (void)state;
    for (int i = 0; i < 3; i++) {
        char path[4096];
        npgnn_graph *graph = NULL;
        npgnn_graph_info info = {.size = sizeof info};
        npgnn_error err = {0};
        npgnn_env env = test_env();
        if (!check_data(path, sets[i].file))
            continue;
        found++;
        path[strlen(path) - strlen(".allx")] = '\0'; /* .../ind.cora */
        assert_ok(npgnn_load(&graph, path, NULL, &env, &err), err);
        npgnn_graph_describe(&info, graph, NULL);
        assert_int_equal(info.nodes, sets[i].nodes);
        assert_int_equal(info.columns, sets[i].columns);
        assert_int_equal(info.nonzeros, sets[i].nonzeros);
        assert_int_equal(info.edges, sets[i].edges);
        assert_int_equal(info.featureless, sets[i].featureless);
        assert_int_equal(info.classes, sets[i].classes);
        assert_int_equal(label_sum(graph), sets[i].label_sum);
        assert_near(feature_sum(graph), sets[i].feature_sum, 1e-7);
        if (sets[i].featureless)
            says(notices, "neither in allx nor in test.index: 15");
        npgnn_graph_free(graph);
        memmove(strstr(path, "ind."), sets[i].name, strlen(sets[i].name) + 1); /* .../cora */
        assert_ok(npgnn_load(&graph, path, NULL, &env, &err), err);
        npgnn_graph_free(graph);
    }
    if (!found)
        skip();
}

/* Files of one set, one of which is damaged. */
static void test_inconsistent_planetoid(void **state)
{
    char from[4096], to[4096], name[64], prefix[4096];
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    (void)state;
    if (!check_data(from, "planetoid/ind.cora.allx"))
        skip();
    for (int i = 0; i < NPI_PLANETOID_FILES; i++) {
        const char *suffix = npi_planetoid_suffix((npi_planetoid_file)i);
        snprintf(name, sizeof name, "planetoid/ind.%s.%s", i == NPI_PLANETOID_TX ? "citeseer" : "cora", suffix);
        assert_non_null(check_data(from, name));
        snprintf(name, sizeof name, "ind.mixed.%s", suffix);
        assert_int_equal(symlink(realpath(from, prefix), in_folder(to, name)), 0);
    }
    assert_int_equal(npgnn_load(&graph, in_folder(prefix, "mixed"), NULL, NULL, &err), NPGNN_E_MISMATCH);
    says(err.text, "3703 columns, but allx has 1433");
    assert_int_equal(unlink(in_folder(to, "ind.mixed.graph")), 0);
    assert_int_equal(npgnn_load(&graph, prefix, NULL, NULL, &err), NPGNN_E_IO);
    says(err.text, "ind.mixed.graph");
    assert_null(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edge_formats),
        cmocka_unit_test(test_node_names),
        cmocka_unit_test(test_notices),
        cmocka_unit_test(test_invalid_edges),
        cmocka_unit_test(test_empty_files),
        cmocka_unit_test(test_feature_formats),
        cmocka_unit_test(test_features_by_name),
        cmocka_unit_test(test_label_in_last_column),
        cmocka_unit_test(test_header_of_two_features),
        cmocka_unit_test(test_invalid_features),
        cmocka_unit_test(test_edges_and_features_mismatch),
        cmocka_unit_test(test_npy),
        cmocka_unit_test(test_invalid_npy),
        IN_FOLDER(test_folder),
        IN_FOLDER(test_out_of_memory),
        IN_FOLDER(test_edge_and_feature_files),
        IN_FOLDER(test_data_folder),
        cmocka_unit_test(test_synthetic),
        cmocka_unit_test(test_planetoid),
        IN_FOLDER(test_inconsistent_planetoid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
