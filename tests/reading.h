/* What the tests of the readers share: graphs from texts, a folder of their own, memory that runs out. */
#ifndef NPI_TESTS_READING_H
#define NPI_TESTS_READING_H

#include "check.h"

#include <string.h>

#include "io/readers.h"
#include "meter.h"

static char notices[2048];

static inline void note(void *user, const char *message)
{
    size_t used = strlen(notices);
    (void)user;
    snprintf(notices + used, sizeof notices - used, "%s\n", message);
}

static inline npgnn_env test_env(void)
{
    npgnn_env env = {.size = sizeof env, .threads = 1, .log = note};
    notices[0] = '\0';
    return npi_env_resolve(&env);
}

static inline void says(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("'%s' does not say '%s'", text, wanted);
}

static inline int read_edges(npi_edge_list *out, const void *text, size_t size, const npgnn_env *env, npgnn_error *err)
{
    npi_stream *stream;
    int code = npi_stream_open_memory(&stream, "edges", text, size, env, err);
    if (code)
        return code;
    npi_table none = {0};
    code = npi_mtx_detect(stream) ? npi_mtx_read_edges(out, &none, stream, err) : npi_edges_read_text(out, stream, err);
    npi_stream_close(stream);
    return code;
}

/* With numbers as they are. `edges` may be NULL. */
static inline int read_table(npi_table *out, const char *name, const void *bytes, size_t size,
                             const npi_edge_list *edges, const npgnn_env *env, npgnn_error *err)
{
    static const npgnn_load_options raw = {.size = sizeof raw, .encoding = "raw"};
    npi_stream *stream;
    int code = npi_stream_open_memory(&stream, name, bytes, size, env, err);
    if (code)
        return code;
    code = npi_table_read(out, stream, &raw, edges, 0, err);
    npi_stream_close(stream);
    return code;
}

/* A graph from texts; features NULL: none. `features_name` chooses the format by its extension. */
static inline int build(npgnn_graph **out, const void *edges, size_t edges_size, const char *features_name,
                        const void *features, size_t features_size, npgnn_error *err)
{
    npgnn_env env = test_env();
    npi_edge_list list = npi_edges_start(&env, NULL);
    npi_table table = {0};
    int code = read_edges(&list, edges, edges_size, &env, err);
    if (code == 0 && features)
        code = read_table(&table, features_name, features, features_size, &list, &env, err);
    if (code == 0)
        code = npi_edges_to_graph(out, &list, "edges", features ? &table : NULL, NULL, &env, err);
    npi_edges_free(&list);
    return code;
}

static inline npgnn_graph *good(const char *edges, const char *features_name, const char *features)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(build(&graph, edges, strlen(edges), features_name, features, features ? strlen(features) : 0, &err), err);
    return graph;
}

static inline void bad(const char *edges, const char *features_name, const char *features, int code, const char *file,
                       int64_t line, const char *text)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    int got = build(&graph, edges, strlen(edges), features_name, features, features ? strlen(features) : 0, &err);
    assert_null(graph);
    says(err.text, text);
    assert_int_equal(got, code);
    assert_int_equal(err.code, code);
    assert_string_equal(err.file, file);
    assert_int_equal(err.line, line);
}

static inline float feature(const npgnn_graph *graph, int32_t node, int32_t col)
{
    const npi_features *x = graph->x;
    assert_in_range(node, 0, x->n - 1);
    assert_in_range(col, 0, x->f - 1);
    if (x->dense)
        return x->dense[(size_t)node * (size_t)x->f + (size_t)col];
    for (int64_t p = x->x.ptr[node]; p < x->x.ptr[node + 1]; p++)
        if (x->x.col[p] == col)
            return x->x.val ? x->x.val[p] : 1;
    return 0;
}

static inline void has(const npgnn_graph *graph, int32_t nodes, int64_t edges, int32_t columns)
{
    assert_int_equal(npgnn_graph_nodes(graph), nodes);
    assert_int_equal(npgnn_graph_edges(graph), edges);
    assert_int_equal(graph->x->f, columns);
    assert_int_equal(graph->x->n, nodes);
}

/* ---- files in a folder of their own ---- */

static char folder[] = "/tmp/npgnn-readers-XXXXXX";

static inline const char *in_folder(char path[4096], const char *name)
{
    snprintf(path, 4096, "%s/%s", folder, name);
    return path;
}

static inline const char *write_bytes(char path[4096], const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(in_folder(path, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *write_text(char path[4096], const char *name, const char *text)
{
    return write_bytes(path, name, text, strlen(text));
}

static inline int make_folder(void **state)
{
    (void)state;
    memcpy(folder, "/tmp/npgnn-readers-XXXXXX", sizeof folder); /* afresh: mkdtemp fills it in */
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    char command[4200];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Loads with 0, 1, 2... allocations allowed until it works: E_MEMORY each time, and nothing left behind. */
static inline void starve(const char *data)
{
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code != 0; allow++) {
        meter m = {.allow = allow};
        npgnn_env env = metered_env(&m);
        npgnn_graph *graph = NULL;
        assert_true(allow < 1000);
        code = npgnn_load(&graph, data, NULL, &env, NULL);
        assert_true(code == NPGNN_E_MEMORY || code == 0);
        npgnn_graph_free(graph);
        assert_int_equal(m.blocks, 0);
    }
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

#endif
