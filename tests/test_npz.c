/* .npz files: graphs and features as numpy, scipy and the benchmark sets save them, and damaged files. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <pthread.h>
#include <zip.h>
#include <zlib.h>

#include "reading.h"

/* ---- making archives ---- */

typedef struct array {
    const char *key, *type, *shape; /* "(3, 2)" */
    const void *data;
    size_t size;
    int fortran;
} array;

#define ARRAY(key, type, shape, data)                                                                                  \
    {                                                                                                                  \
        key, type, shape, data, sizeof data, 0                                                                         \
    }
#define TEXTS(key, type, shape, text)                                                                                  \
    {                                                                                                                  \
        key, type, shape, text, sizeof text - 1, 0                                                                     \
    }

/* A .npy file of version 1 in a new block. */
static unsigned char *npy_bytes(size_t *size, const array *a)
{
    char header[256];
    int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", a->type,
                          a->fortran ? "True" : "False", a->shape);
    unsigned char *bytes = malloc(10 + (size_t)length + a->size);
    assert_non_null(bytes);
    memcpy(bytes, "\x93NUMPY\1\0", 8);
    bytes[8] = (unsigned char)(length & 255);
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + 10, header, (size_t)length);
    if (a->size > 0)
        memcpy(bytes + 10 + length, a->data, a->size);
    *size = 10 + (size_t)length + a->size;
    return bytes;
}

static const char *write_npz(char path[4096], const char *name, const array *arrays, size_t count)
{
    unlink(in_folder(path, name));
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(zip);
    for (size_t i = 0; i < count; i++) {
        char member[64];
        size_t size;
        unsigned char *bytes = npy_bytes(&size, &arrays[i]);
        snprintf(member, sizeof member, "%s.npy", arrays[i].key);
        assert_true(zip_file_add(zip, member, zip_source_buffer(zip, bytes, size, 1), 0) >= 0);
    }
    assert_int_equal(zip_close(zip), 0);
    return path;
}
#define WRITE(path, arrays) write_npz(path, "g.npz", arrays, sizeof arrays / sizeof arrays[0])

static npgnn_graph *load(const char *path, const char *features)
{
    npgnn_env env = test_env();
    npgnn_load_options options = {.size = sizeof options, .features = features};
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_load(&graph, path, &options, &env, &err), err);
    return graph;
}

static void refused(const char *path, int code, const char *text)
{
    meter m = {.allow = -1};
    npgnn_env env = metered_env(&m);
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    int got = npgnn_load(&graph, path, NULL, &env, &err);
    assert_null(graph);
    says(err.text, text);
    assert_int_equal(got, code);
    assert_int_equal(m.blocks, 0);
    assert_false(m.refused);
}

static void linked(const npgnn_graph *graph, int32_t u, int32_t v)
{
    assert_true(npgnn_graph_has_edge(graph, u, v));
    assert_true(npgnn_graph_has_edge(graph, v, u));
}

/* The upper triangle of the path 0 - 1 - 2, and one stored zero, which is not an edge. */
static const int32_t indptr[] = {0, 1, 3, 3}, indices[] = {1, 2, 0}, shape3[] = {3, 3};
static const double ones3[] = {1, 1, 0};

/* ---- scipy ---- */

static void check_path(const npgnn_graph *graph)
{
    has(graph, 3, 2, 0);
    linked(graph, 0, 1);
    linked(graph, 1, 2);
}

static void test_scipy_links(void **state)
{
    static const int64_t rows[] = {0, 1, 1}, cols[] = {1, 2, 0};
    static const int64_t long_shape[] = {3, 3};
    const array csr[] = {ARRAY("indices", "<i4", "(3,)", indices), ARRAY("indptr", "<i4", "(4,)", indptr),
                         TEXTS("format", "|S3", "()", "csr"), ARRAY("shape", "<i4", "(2,)", shape3),
                         ARRAY("data", "<f8", "(3,)", ones3)};
    const array csc[] = {ARRAY("indices", "<i4", "(3,)", indices), ARRAY("indptr", "<i4", "(4,)", indptr),
                         TEXTS("format", "|S3", "()", "csc"), ARRAY("shape", "<i4", "(2,)", shape3),
                         ARRAY("data", "<f8", "(3,)", ones3)};
    const array coo[] = {ARRAY("row", "<i8", "(3,)", rows), ARRAY("col", "<i8", "(3,)", cols),
                         TEXTS("format", "<U3", "()", "c\0\0\0o\0\0\0o\0\0\0"),
                         ARRAY("shape", "<i8", "(2,)", long_shape), ARRAY("data", "<f8", "(3,)", ones3)};
    char path[4096];
    (void)state;
    for (int i = 0; i < 3; i++) {
        WRITE(path, csr);
        if (i == 1)
            WRITE(path, csc);
        else if (i == 2)
            WRITE(path, coo);
        npgnn_graph *graph = load(path, NULL);
        check_path(graph);
        npgnn_graph_free(graph);
        starve(path);
    }
}

static void test_scipy_features(void **state)
{
    static const int32_t ptr[] = {0, 1, 2, 2}, col[] = {4, 0}, shape[] = {3, 5};
    static const float values[] = {2.5f, 1};
    const array csr[] = {ARRAY("indices", "<i4", "(2,)", col), ARRAY("indptr", "<i4", "(4,)", ptr),
                         TEXTS("format", "|S3", "()", "csr"), ARRAY("shape", "<i4", "(2,)", shape),
                         ARRAY("data", "<f4", "(2,)", values)};
    char path[4096], edges[4096];
    (void)state;
    WRITE(path, csr);
    write_text(edges, "e.txt", "0 1\n1 2\n");
    npgnn_graph *graph = load(edges, path);
    has(graph, 3, 2, 5);
    assert_true(feature(graph, 0, 4) == 2.5f && feature(graph, 1, 0) == 1 && feature(graph, 2, 2) == 0);
    npgnn_graph_free(graph);
    refused(path, NPGNN_E_FORMAT, "a square matrix, got 3 x 5");
}

/* ---- the benchmark sets ---- */

#define U1(a) a "\0\0\0"

static void test_benchmark_set(void **state)
{
    static const int32_t attr_indices[] = {1, 0, 1}, attr_indptr[] = {0, 1, 3, 3}, attr_shape[] = {3, 2};
    static const float values[] = {1, 2, 3};
    static const int64_t labels[] = {2, 0, -1};
    const array whole[] = {
        ARRAY("adj_data", "<f8", "(3,)", ones3),
        ARRAY("adj_indices", "<i4", "(3,)", indices),
        ARRAY("adj_indptr", "<i4", "(4,)", indptr),
        ARRAY("adj_shape", "<i4", "(2,)", shape3),
        ARRAY("attr_data", "<f4", "(3,)", values),
        ARRAY("attr_indices", "<i4", "(3,)", attr_indices),
        ARRAY("attr_indptr", "<i4", "(4,)", attr_indptr),
        ARRAY("attr_shape", "<i4", "(2,)", attr_shape),
        ARRAY("labels", "<i8", "(3,)", labels),
        TEXTS("node_names", "<U2", "(3,)", U1("a") "\0\0\0\0" U1("\xE4") U1("b") "\xAC\x20\0\0\0\0\0\0"),
        TEXTS("attr_names", ">U2", "(2,)", "\0\0\0w\0\0\0001\0\0\0w\0\0\0002"),
    };
    char path[4096], buffer[12];
    (void)state;
    WRITE(path, whole);
    npgnn_graph *graph = load(path, NULL);
    has(graph, 3, 2, 2);
    assert_string_equal(npgnn_graph_name(graph, 0, buffer), "a");
    assert_string_equal(npgnn_graph_name(graph, 1, buffer), "\xC3\xA4"
                                                            "b");
    assert_string_equal(npgnn_graph_name(graph, 2, buffer), "\xE2\x82\xAC");
    linked(graph, npgnn_graph_find(graph, "a"), 1);
    assert_string_equal(npgnn_graph_column_name(graph, 0), "w1");
    assert_string_equal(npgnn_graph_column_name(graph, 1), "w2");
    assert_int_equal(npgnn_graph_label(graph, 0), 2);
    assert_int_equal(npgnn_graph_label(graph, 1), 0);
    assert_int_equal(npgnn_graph_label(graph, 2), -1);
    assert_true(feature(graph, 0, 1) == 1 && feature(graph, 1, 0) == 2 && feature(graph, 1, 1) == 3);
    npgnn_graph_free(graph);
    starve(path);
}

static void test_ignored_names(void **state)
{
    static const float reals[] = {1, 2, 3};
    const array odd[] = {
        ARRAY("adj_matrix.data", "<f8", "(3,)", ones3),    ARRAY("adj_matrix.indices", "<i4", "(3,)", indices),
        ARRAY("adj_matrix.indptr", "<i4", "(4,)", indptr), ARRAY("adj_matrix.shape", "<i4", "(2,)", shape3),
        TEXTS("node_names", "|O", "(3,)", "\x80\3]q\0."),  ARRAY("labels", "<f4", "(3,)", reals),
    };
    char path[4096];
    (void)state;
    WRITE(path, odd);
    npgnn_graph *graph = load(path, NULL);
    check_path(graph);
    assert_null(graph->names);
    assert_null(graph->label);
    says(notices, "node_names.npy: the array has Python objects");
    says(notices, "labels.npy: ignoring this array: expected a vector of 3 texts or integers");
    npgnn_graph_free(graph);
}

/* ---- edge lists ---- */

static void test_edge_lists(void **state)
{
    static const int64_t down[] = {0, 1, 1, 2, 2, 1}, across[] = {0, 1, 2, 1, 2, 1}, two[] = {0, 1, 2, 0};
    static const float x[] = {1, 0, 0.5, 0, 0, 7};
    static const uint8_t y[] = {1, 0, 1};
    const array cases[][3] = {
        {ARRAY("edges", "<i8", "(3, 2)", down), ARRAY("features", "<f4", "(3, 2)", x),
         ARRAY("target", "|u1", "(3,)", y)},
        {ARRAY("edge_index", "<i8", "(2, 3)", across), ARRAY("x", "<f4", "(3, 2)", x), ARRAY("y", "|b1", "(3,)", y)},
        {{"edges", "<i8", "(3, 2)", across, sizeof across, 1},
         ARRAY("x", "<f4", "(3, 2)", x),
         ARRAY("y", "|i1", "(3,)", y)},
        {{"edge_index", "<i8", "(2, 3)", down, sizeof down, 1},
         ARRAY("x", "<f4", "(3, 2)", x),
         ARRAY("y", "|u1", "(3,)", y)},
    };
    const array square[] = {ARRAY("edge_index", "<i8", "(2, 2)", two)},
                other[] = {ARRAY("edges", "<i8", "(2, 2)", two)};
    char path[4096];
    npgnn_graph *graph;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        WRITE(path, cases[i]);
        graph = load(path, NULL);
        has(graph, 3, 2, 2);
        linked(graph, 0, 1);
        linked(graph, 1, 2);
        assert_true(feature(graph, 1, 0) == 0.5f && feature(graph, 2, 1) == 7);
        assert_int_equal(npgnn_graph_label(graph, 1), 0);
        assert_int_equal(npgnn_graph_label(graph, 2), 1);
        npgnn_graph_free(graph);
    }
    starve(path);
    graph = load(WRITE(path, square), NULL); /* 0 - 2 and 1 - 0 */
    linked(graph, 0, 2);
    linked(graph, 0, 1);
    npgnn_graph_free(graph);
    graph = load(WRITE(path, other), NULL); /* 0 - 1 and 2 - 0 */
    linked(graph, 0, 1);
    linked(graph, 0, 2);
    assert_int_equal(npgnn_graph_has_edge(graph, 1, 2), 0);
    npgnn_graph_free(graph);
}

/* ---- invalid files ---- */

static void test_inconsistent_sparse(void **state)
{
    static const int32_t down[] = {0, 2, 1, 3}, late[] = {1, 1, 3, 3}, outside[] = {1, 3, 0}, negative[] = {1, -1, 0};
    static const int32_t huge[] = {2147483646, 2147483646}, one[] = {3};
    static const int64_t beyond[] = {3, (int64_t)1 << 40};
    static const double nan3[] = {1, (double)NAN, 1};
    const array format = TEXTS("format", "|S3", "()", "csr"), data = ARRAY("data", "<f8", "(3,)", ones3);
    const array ptr = ARRAY("indptr", "<i4", "(4,)", indptr), col = ARRAY("indices", "<i4", "(3,)", indices);
    const array shape = ARRAY("shape", "<i4", "(2,)", shape3);
    const struct {
        array arrays[5];
        const char *text;
    } cases[] = {
        {{format, data, ARRAY("indptr", "<i4", "(4,)", down), col, shape}, "do not match its shape"},
        {{format, data, ARRAY("indptr", "<i4", "(4,)", late), col, shape}, "do not match its shape"},
        {{format, data, ARRAY("indptr", "<i4", "(3,)", indices), col, shape}, "do not match its shape"},
        {{format, data, ptr, ARRAY("indices", "<i4", "(3,)", outside), shape}, "outside its shape"},
        {{format, data, ptr, ARRAY("indices", "<i4", "(3,)", negative), shape}, "outside its shape"},
        {{format, data, ptr, ARRAY("indices", "<i4", "(4,)", indptr), shape}, "have different lengths"},
        {{format, data, ptr, ARRAY("indices", "<f8", "(3,)", ones3), shape},
         "indices.npy: expected an array of integers"},
        {{format, ARRAY("data", "<f8", "(3,)", nan3), ptr, col, shape},
         "data.npy: row 1, column 0 (counted from 0) is not a finite float"},
        {{format, data, ptr, col, ARRAY("shape", "<i8", "(2,)", beyond)}, "two integers from 0 to 2^31 - 2"},
        {{format, data, ptr, col, ARRAY("shape", "<i4", "(1,)", one)}, "two integers from 0 to 2^31 - 2"},
        {{format, data, ptr, col, ARRAY("shape", "<i4", "(2,)", huge)}, "do not match its shape"},
        {{TEXTS("format", "|S3", "()", "dia"), data, ptr, col, shape}, "expected csr, csc or coo"},
        {{format, TEXTS("data", "|O", "(3,)", "\x80\3]q\0."), ptr, col, shape}, "has Python objects"},
        {{format, data, ptr, ARRAY("indexes", "<i4", "(3,)", indices), shape},
         "indices.npy: cannot read the zip archive"},
    };
    char path[4096];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refused(WRITE(path, cases[i].arrays), NPGNN_E_FORMAT, cases[i].text);
}

static void test_invalid_edges(void **state)
{
    static const int64_t far[] = {0, 3, 1, 2}, negative[] = {0, -1, 1, 2}, beyond[] = {0, INT32_MAX, 1, 2};
    static const float x[] = {1, 0, 0.5, 0, 0, 7};
    const array features = ARRAY("x", "<f4", "(3, 2)", x);
    const struct {
        array arrays[2];
        int code;
        const char *text;
    } cases[] = {
        {{ARRAY("edges", "<i8", "(2, 2)", far), features},
         NPGNN_E_MISMATCH,
         "node 3 has no features: with 3 feature rows"},
        {{ARRAY("edges", "<i8", "(2, 2)", negative), features},
         NPGNN_E_FORMAT,
         "edge 0 (counted from 0) joins nodes 0 and -1"},
        {{ARRAY("edges", "<i8", "(2, 2)", beyond), features}, NPGNN_E_FORMAT, "joins nodes 0 and 2147483647"},
        {{ARRAY("edges", "<i8", "(4,)", far), features}, NPGNN_E_FORMAT, "must have the shape 2 x edges or edges x 2"},
        {{ARRAY("edges", "<i8", "(2, 2, 1)", far), features}, NPGNN_E_FORMAT, "at most two dimensions"},
        {{ARRAY("ages", "<i8", "(2, 2)", far), features}, NPGNN_E_FORMAT, "no graph in this file"},
        {{ARRAY("edges", "<i8", "(3, 2)", far), features}, NPGNN_E_FORMAT, "edges.npy: the file ends before"},
        {{ARRAY("edges", "<i8", "(1, 2)", far), features}, NPGNN_E_FORMAT, "edges.npy: the file continues"},
        {{ARRAY("edges", "<i8", "(1000000000, 2)", far), features}, NPGNN_E_FORMAT, "too many for"},
        {{ARRAY("edges", "<i8", "(2, 2)", far), ARRAY("x", "<f4", "(6,)", x)}, NPGNN_E_FORMAT, "two-dimensional"},
    };
    char path[4096];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refused(WRITE(path, cases[i].arrays), cases[i].code, cases[i].text);
}

static void test_invalid_names(void **state)
{
    const array adjacency[] = {ARRAY("adj_data", "<f8", "(3,)", ones3), ARRAY("adj_indices", "<i4", "(3,)", indices),
                               ARRAY("adj_indptr", "<i4", "(4,)", indptr), ARRAY("adj_shape", "<i4", "(2,)", shape3)};
    const struct {
        array names;
        const char *text;
    } cases[] = {
        {TEXTS("node_names", "|S1", "(3,)", "aba"), "node name 'a' occurs twice"},
        {TEXTS("node_names", "<U1", "(3,)", U1("a") "\0\0\x11\0" U1("b")),
         "text 1 (counted from 0) is not valid Unicode"},
    };
    char path[4096];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        array all[5];
        memcpy(all, adjacency, sizeof adjacency);
        all[4] = cases[i].names;
        refused(WRITE(path, all), NPGNN_E_FORMAT, cases[i].text);
    }
}

/* A zip bomb, megabytes of zeros in a kilobyte: the memory used stays in proportion to the file. */
static void test_zip_bomb(void **state)
{
    size_t size = (size_t)48 << 20;
    void *zeros = calloc(1, size);
    const array edges[] = {{"edges", "|u1", "(25165824, 2)", zeros, size, 0}};
    char path[4096];
    (void)state;
    assert_non_null(zeros);
    refused(WRITE(path, edges), NPGNN_E_FORMAT, "elements");
    free(zeros);
}

/* ---- layers of compression ---- */

/* Compresses as gzip (`wbits` 16 + MAX_WBITS) or as a bare deflate stream (-MAX_WBITS). */
static unsigned char *pack(size_t *size, const void *bytes, size_t count, int wbits)
{
    z_stream zip = {0};
    size_t room = count / 2 + 1024;
    unsigned char *out = malloc(room), *copy = malloc(count);
    assert_true(out && copy);
    memcpy(copy, bytes, count);
    assert_int_equal(deflateInit2(&zip, 9, Z_DEFLATED, wbits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    zip.next_in = copy;
    zip.avail_in = (uInt)count;
    zip.next_out = out;
    zip.avail_out = (uInt)room;
    assert_int_equal(deflate(&zip, Z_FINISH), Z_STREAM_END);
    deflateEnd(&zip);
    free(copy);
    *size = room - zip.avail_out;
    return out;
}

/* The features x, (2000000, 1) of zeros, as a member that is gzip data in an archive that is gzip data: a few hundred
 * bytes that took gigabytes. Each layer by itself is refused. */
static void test_layers_of_compression(void **state)
{
    static const int64_t links[] = {0, 1};
    const size_t count = 2000000;
    float *ones = malloc(count * sizeof *ones);
    char path[4096], bytes[65536];
    size_t size, packed;
    (void)state;
    assert_non_null(ones);
    for (size_t i = 0; i < count; i++)
        ones[i] = 1;
    const array x = {"x", "<f4", "(2000000, 1)", ones, count * sizeof *ones, 0};
    const array edges = ARRAY("edges", "<i8", "(1, 2)", links);
    unsigned char *npy = npy_bytes(&size, &x), *gz = pack(&packed, npy, size, 16 + MAX_WBITS);
    unsigned char *other = npy_bytes(&size, &edges);

    zip_t *zip = zip_open(in_folder(path, "g.npz"), ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(zip);
    assert_true(zip_file_add(zip, "edges.npy", zip_source_buffer(zip, other, size, 1), 0) >= 0);
    assert_true(zip_file_add(zip, "x.npy", zip_source_buffer(zip, gz, packed, 1), 0) >= 0);
    assert_int_equal(zip_close(zip), 0);
    refused(path, NPGNN_E_FORMAT, "x.npy: not a .npy file");

    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    gz = pack(&packed, bytes, size, 16 + MAX_WBITS);
    write_bytes(path, "g.npz.gz", gz, packed);
    refused(path, NPGNN_E_FORMAT, "in gzip data is not read: unpack it with gunzip");
    free(gz);
    free(npy);
    free(ones);
}

/* bzip2 makes 45 bytes of 900,000 zeros. */
static void test_other_compression(void **state)
{
    static const int64_t links[] = {0, 1};
    const array edges = ARRAY("edges", "<i8", "(1, 2)", links);
    char path[4096];
    size_t size;
    (void)state;
    if (!zip_compression_method_supported(ZIP_CM_BZIP2, 1))
        skip();
    zip_t *zip = zip_open(in_folder(path, "g.npz"), ZIP_CREATE | ZIP_TRUNCATE, NULL);
    unsigned char *bytes = npy_bytes(&size, &edges);
    assert_non_null(zip);
    assert_int_equal(zip_file_add(zip, "edges.npy", zip_source_buffer(zip, bytes, size, 1), 0), 0);
    assert_int_equal(zip_set_file_compression(zip, 0, ZIP_CM_BZIP2, 9), 0);
    assert_int_equal(zip_close(zip), 0);
    refused(path, NPGNN_E_FORMAT, "in another way than deflate");
}

static void put(unsigned char **at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *(*at)++ = (unsigned char)(value >> 8 * i);
}

static int count_graphs(void *user, const char *name, npgnn_graph *graph)
{
    (void)name;
    ++*(int *)user;
    npgnn_graph_free(graph);
    return 0;
}

/* A bundle whose 400 members are one and the same 2 MB (Fifield, WOOT 2019): 23 kB that would unpack to 800 MB. */
static void test_overlapping_members(void **state)
{
    enum { MEMBERS = 400, ROWS = 125000 };
    int64_t *links = calloc(2 * ROWS, sizeof *links);
    unsigned char *file = malloc(65536), *at = file;
    size_t size, packed;
    char path[4096];
    int seen = 0;
    npgnn_error err = {0};
    meter m = {.allow = -1};
    npgnn_env env = metered_env(&m);
    (void)state;
    assert_true(links && file);
    links[0] = 2; /* nodes; every link joins 0 and 0 */
    const array graph = {"g", "<i8", "(125000, 2)", links, 2 * ROWS * sizeof *links, 0};
    unsigned char *npy = npy_bytes(&size, &graph), *deflated = pack(&packed, npy, size, -MAX_WBITS);
    uint32_t crc = (uint32_t)crc32(0, npy, (uInt)size);
    for (int member = -1; member < MEMBERS; member++) { /* the local header, then the entries of the directory */
        put(&at, member < 0 ? 0x04034B50 : 0x02014B50, 4);
        put(&at, 20, member < 0 ? 2 : 4); /* versions */
        put(&at, 0, 2);
        put(&at, 8, 2); /* deflate */
        put(&at, 0x21, 4);
        put(&at, crc, 4);
        put(&at, (uint32_t)packed, 4);
        put(&at, (uint32_t)size, 4);
        put(&at, 8, 2); /* length of the name */
        put(&at, 0, 2);
        for (int zeros = 0; member >= 0 && zeros < 14;
             zeros++) /* comment, disk, attributes, offset of the local header */
            put(&at, 0, 1);
        at += sprintf((char *)at, "g%03d.npy", member < 0 ? 0 : member);
        if (member < 0) {
            memcpy(at, deflated, packed);
            at += packed;
        }
    }
    uint32_t directory = (uint32_t)(30 + 8 + packed), length = (uint32_t)(at - file) - directory;
    put(&at, 0x06054B50, 4);
    put(&at, 0, 4);
    put(&at, MEMBERS, 2);
    put(&at, MEMBERS, 2);
    put(&at, length, 4);
    put(&at, directory, 4);
    put(&at, 0, 2);
    write_bytes(path, "bundle.npz", file, (size_t)(at - file));
    assert_int_equal(npgnn_load_each(path, count_graphs, &seen, 0, &env, &err), NPGNN_E_FORMAT);
    says(err.text, "expand to more than 2048 times");
    assert_in_range(seen, 1, 30);
    assert_int_equal(m.blocks, 0);
    free(links);
    free(file);
    free(npy);
    free(deflated);
}

/* An archive of empty members whose names have one hash in tables without a key: "Ez" and "FY" are the same to them. */
static char *members_of_one_hash(size_t *size, int count)
{
    unsigned char *file = malloc((size_t)count * 100 + 100), *at = file;
    assert_non_null(file);
    for (int member = 0; member < count; member++) {
        put(&at, 0x02014B50, 4);
        put(&at, 20, 4);
        for (int zeros = 0; zeros < 20; zeros++)
            put(&at, 0, 1);
        put(&at, 32, 2); /* length of the name */
        for (int zeros = 0; zeros < 16; zeros++)
            put(&at, 0, 1);
        for (int bit = 0; bit < 16; bit++) {
            memcpy(at, member >> bit & 1 ? "Ez" : "FY", 2);
            at += 2;
        }
    }
    uint32_t length = (uint32_t)(at - file);
    put(&at, 0x06054B50, 4);
    put(&at, 0, 4);
    put(&at, (uint32_t)count, 2);
    put(&at, (uint32_t)count, 2);
    put(&at, length, 4);
    put(&at, 0, 4);
    put(&at, 0, 2);
    *size = (size_t)(at - file);
    return (char *)file;
}

static void test_many_members(void **state)
{
    char path[4096];
    size_t size;
    char *bytes = members_of_one_hash(&size, 16385);
    (void)state;
    memcpy(bytes, "PK\3\4", 4); /* as an archive begins */
    write_bytes(path, "g.npz", bytes, size);
    free(bytes);
    refused(path, NPGNN_E_FORMAT, "more than 16384 members");
}

/* The number of nodes of a graph in a bundle is declared, and compared with the links that are there. */
static void test_bundle_of_many_nodes(void **state)
{
    static const int64_t links[] = {2000000000, 0, 0, 1};
    const array graph[] = {ARRAY("g", "<i8", "(2, 2)", links)};
    char path[4096];
    int seen = 0;
    npgnn_error err = {0};
    meter m = {.allow = -1};
    npgnn_env env = metered_env(&m);
    (void)state;
    WRITE(path, graph);
    assert_int_equal(npgnn_load_each(path, count_graphs, &seen, 0, &env, &err), NPGNN_E_FORMAT);
    says(err.text, "too many for");
    assert_false(m.refused);
}

/* ---- a small stack ---- */

static void *load_in_thread(void *path)
{
    npgnn_graph_free(load(path, NULL));
    return NULL;
}

/* Half of the 128 KiB that musl gives to a thread. The sanitizers need more. */
static void test_small_stack(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const size_t size = 1024 << 10;
#else
    const size_t size = 64 << 10;
#endif
    static const int64_t links[] = {0, 1};
    static const float x[] = {1, 0, 0, 1};
    const array arrays[] = {ARRAY("edges", "<i8", "(1, 2)", links), ARRAY("x", "<f4", "(2, 2)", x)};
    char path[4096];
    pthread_attr_t attributes;
    pthread_t thread;
    (void)state;
    WRITE(path, arrays);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, size), 0);
    assert_int_equal(pthread_create(&thread, &attributes, load_in_thread, path), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

/* Every prefix of the file, and every byte changed: an error or a graph, no crash. */
static void test_damaged_files(void **state)
{
    const array csr[] = {ARRAY("indices", "<i4", "(3,)", indices), ARRAY("indptr", "<i4", "(4,)", indptr),
                         TEXTS("format", "|S3", "()", "csr"), ARRAY("shape", "<i4", "(2,)", shape3),
                         ARRAY("data", "<f8", "(3,)", ones3)};
    char path[4096];
    unsigned char bytes[4096], copy[4096];
    (void)state;
    FILE *file = fopen(WRITE(path, csr), "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(size, 500, sizeof bytes - 1);
    for (size_t at = 0; at < 2 * size; at++) {
        meter m = {.allow = -1};
        npgnn_env env = metered_env(&m);
        npgnn_graph *graph = NULL;
        memcpy(copy, bytes, size);
        if (at >= size)
            copy[at - size] ^= 0x5A;
        write_bytes(path, "g.npz", copy, at < size ? at : size);
        int code = npgnn_load(&graph, path, NULL, &env, NULL);
        assert_true(code == 0 || code == NPGNN_E_FORMAT || code == NPGNN_E_MISMATCH);
        npgnn_graph_free(graph);
        assert_int_equal(m.blocks, 0);
        assert_false(m.refused);
    }
}

/* An archive whose sizes, offsets and directory are those of zip64, and archives that lie. */
static void test_headers(void **state)
{
    enum { ENTRY = 46, RECORD = 22, PACKED = 20, SIZE = 24, NAME = 28, EXTRA = 30, FLAGS = 8, SUM = 16, HEADER = 42 };
    static const int64_t links[] = {0, 1, 1, 2};
    const array edges[] = {ARRAY("edges", "<i8", "(2, 2)", links)};
    char path[4096];
    unsigned char bytes[2048], copy[2048], wide[2048], *at;
    (void)state;
    FILE *file = fopen(WRITE(path, edges), "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file), end = size - RECORD, first = end;
    fclose(file);
    while (memcmp(bytes + first, "PK\1\2", 4) != 0)
        first--;

    /* the entry with an extra field, the record of zip64, the locator, and an end that refers to these */
    size_t name = bytes[first + NAME], body = first + ENTRY + name;
    memcpy(wide, bytes, body);
    at = wide + body;
    put(&at, 1, 2);
    put(&at, 24, 2);
    for (int i = 0; i < 3; i++) {
        static const int fields[] = {SIZE, PACKED, HEADER};
        memcpy(at, bytes + first + fields[i], 4);
        memset(wide + first + fields[i], 0xFF, 4);
        at += 4;
        put(&at, 0, 4);
    }
    wide[first + EXTRA] = 28;
    wide[first + EXTRA + 1] = 0;
    size_t record = (size_t)(at - wide);
    put(&at, 0x06064B50, 4);
    put(&at, 44, 4);
    for (int zeros = 0; zeros < 4; zeros++)
        put(&at, 0, 4); /* the upper half of the size, versions, disks */
    put(&at, 1, 4);
    put(&at, 0, 4);
    put(&at, 1, 4);
    put(&at, 0, 4);
    put(&at, (uint32_t)(record - first), 4);
    put(&at, 0, 4);
    put(&at, (uint32_t)first, 4);
    put(&at, 0, 4);
    put(&at, 0x07064B50, 4);
    put(&at, 0, 4);
    put(&at, (uint32_t)record, 4);
    put(&at, 0, 4);
    put(&at, 1, 4);
    put(&at, 0x06054B50, 4);
    put(&at, 0, 4);
    memset(at, 0xFF, 12);
    at += 12;
    put(&at, 0, 2);
    write_bytes(path, "g.npz", wide, (size_t)(at - wide));
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_env env = test_env();
    assert_ok(npgnn_load(&graph, path, NULL, &env, &err), err);
    has(graph, 3, 2, 0);
    npgnn_graph_free(graph);

    const struct {
        size_t at;
        unsigned char change;
        const char *text;
    } lies[] = {
        {first + SUM, 1, "another checksum"},
        {first + SIZE, 1, "another length"},
        {first + PACKED + 1, 0x7F, "another length"},
        {first + HEADER, 1, "the header of the member is damaged"},
        {first + FLAGS, 1, "is encrypted"},
        {first, 1, "its directory is damaged"},
        {first + NAME + 1, 1, "its directory is damaged"},
        {end, 1, "its directory is missing"},
        {end + 18, 0x7F, "its directory is missing"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        memcpy(copy, bytes, size);
        copy[lies[i].at] ^= lies[i].change;
        refused(write_bytes(path, "g.npz", copy, size), NPGNN_E_FORMAT, lies[i].text);
    }
    refused(write_bytes(path, "g.npz", bytes, size - 1), NPGNN_E_FORMAT, "its directory is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_scipy_links),       IN_FOLDER(test_scipy_features),      IN_FOLDER(test_benchmark_set),
        IN_FOLDER(test_ignored_names),     IN_FOLDER(test_edge_lists),          IN_FOLDER(test_inconsistent_sparse),
        IN_FOLDER(test_invalid_edges),     IN_FOLDER(test_invalid_names),       IN_FOLDER(test_zip_bomb),
        IN_FOLDER(test_headers),           IN_FOLDER(test_damaged_files),       IN_FOLDER(test_layers_of_compression),
        IN_FOLDER(test_other_compression), IN_FOLDER(test_overlapping_members), IN_FOLDER(test_bundle_of_many_nodes),
        IN_FOLDER(test_many_members),      IN_FOLDER(test_small_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
