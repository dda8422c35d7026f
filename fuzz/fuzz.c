#define _GNU_SOURCE /* memmem, open_memstream */
#include "fuzz.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/readers.h"

/* What a case may hold: tables that start large, and a multiple of its bytes, more of them where they are unpacked, to
 * a thousand times as many. */
#define MOST_AT_ONCE ((size_t)128 << 20)
#define MOST_PER_BYTE 1024
#define MOST_PER_PACKED_BYTE 4096

/* And how much processor time it may take, in seconds: what is quadratic takes longer in a file of 256 KB. The
 * sanitizers make everything slower. */
#if defined(__SANITIZE_ADDRESS__)
#define SLOWER 8
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOWER 8
#endif
#endif
#ifndef SLOWER
#define SLOWER 1
#endif
#define TIME_AT_ONCE (SLOWER * 0.75) /* graphs that start large: 2^20 nodes */
#define TIME_PER_BYTE (SLOWER * 3e-6)

void fuzz_broken(const char *promise, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

static void *resize(void *user, void *block, size_t size)
{
    fuzz_case *c = user;
    size_t before = block ? malloc_usable_size(block) : 0;
    if (size == 0) {
        c->held -= before;
        c->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (size > c->most || c->held - before > c->most - size) {
        fuzz_check(c->refuse);
        return NULL;
    }
    void *resized = realloc(block, size);
    if (!resized)
        return NULL;
    c->held += malloc_usable_size(resized) - before;
    c->blocks += block == NULL;
    return resized;
}

/* Notices are formatted from what files say: that must work too. */
static void read_notice(void *user, const char *message)
{
    (void)user;
    fuzz_check(strlen(message) > 0);
}

/* Processor time of this process, without that of the system, which depends on what else the machine does. */
static double user_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

void fuzz_begin(fuzz_case *c, const uint8_t *data, size_t size)
{
    memset(c, 0, sizeof *c);
    npgnn_env env = {.size = sizeof env, .threads = 1, .log = read_notice, .allocator = {resize, c}};
    c->env = npi_env_resolve(&env);
    int packed = size >= 2 && data && (memcmp(data, "\x1F\x8B", 2) == 0 || memcmp(data, "PK", 2) == 0);
    c->most = MOST_AT_ONCE + size * (packed ? MOST_PER_PACKED_BYTE : MOST_PER_BYTE);
    c->seconds = TIME_AT_ONCE + (double)size * TIME_PER_BYTE;
    c->start = user_seconds();
}

int fuzz_code(const fuzz_case *c, int code)
{
    fuzz_check(code <= 0);
    fuzz_check(code == 0 || (c->err.code == code && c->err.text[0] != '\0'));
    fuzz_check(code != NPGNN_E_MEMORY || c->refuse);
    return code;
}

void fuzz_end(const fuzz_case *c)
{
    fuzz_check(c->blocks == 0);
    double seconds = user_seconds() - c->start;
    if (seconds > c->seconds)
        fprintf(stderr, "%g seconds\n", seconds);
    fuzz_check(seconds <= c->seconds);
}

npi_stream *fuzz_stream(fuzz_case *c, const char *name, const void *bytes, size_t size)
{
    npi_stream *stream = NULL;
    fuzz_code(c, npi_stream_open_memory(&stream, name, bytes, size, &c->env, &c->err));
    return stream;
}

void fuzz_parts(fuzz_part *parts, int count, const uint8_t *data, size_t size)
{
    const size_t mark = sizeof FUZZ_MARK - 1;
    for (int i = 0; i < count; i++) {
        const uint8_t *end = i + 1 < count && size > 0 ? memmem(data, size, FUZZ_MARK, mark) : NULL;
        size_t own = end ? (size_t)(end - data) : size;
        parts[i] = (fuzz_part){data, own};
        size_t used = end ? own + mark : own;
        data = used > 0 ? data + used : data;
        size -= used;
    }
}

/* ---- graphs ---- */

static void check_rows(const npgnn_graph *graph)
{
    int64_t total = 0;
    for (int32_t u = 0; u < graph->n; u++) {
        const int32_t *neighbors;
        char buffer[12];
        int64_t count = npgnn_graph_neighbors(&neighbors, graph, u);
        for (int64_t i = 0; i < count; i++) {
            fuzz_check(neighbors[i] >= 0 && neighbors[i] < graph->n && neighbors[i] != u);
            fuzz_check(i == 0 || neighbors[i - 1] < neighbors[i]);
            fuzz_check(npgnn_graph_has_edge(graph, neighbors[i], u));
        }
        total += count;
        fuzz_check(npgnn_graph_find(graph, npgnn_graph_name(graph, u, buffer)) == u);
        fuzz_check(npgnn_graph_label(graph, u) >= -1);
    }
    fuzz_check(total == 2 * graph->m);
}

static char *as_matrix_market(size_t *size, const npgnn_graph *graph)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    fuzz_check(file);
    fprintf(file, "%%%%MatrixMarket matrix coordinate pattern symmetric\n%d %d %lld\n", graph->n, graph->n,
            (long long)graph->m);
    for (int32_t u = 0; u < graph->n; u++)
        for (int64_t p = graph->a.ptr[u]; p < graph->a.ptr[u + 1]; p++)
            if (graph->a.col[p] < u)
                fprintf(file, "%d %d\n", u + 1, graph->a.col[p] + 1);
    fclose(file);
    return text;
}

static void check_written(fuzz_case *c, const npgnn_graph *graph)
{
    size_t size;
    char *text = as_matrix_market(&size, graph);
    npi_stream *stream = fuzz_stream(c, "again.mtx", text, size);
    npi_edge_list list = npi_edges_start(&c->env, NULL);
    npi_table none = {0};
    npgnn_graph *again = NULL;
    fuzz_check(npi_mtx_read_edges(&list, &none, stream, &c->err) == 0);
    fuzz_check(npi_edges_to_graph(&again, &list, "again.mtx", NULL, NULL, &c->env, &c->err) == 0);
    fuzz_check(again->n == graph->n && again->m == graph->m);
    fuzz_check(memcmp(again->a.ptr, graph->a.ptr, ((size_t)graph->n + 1) * sizeof *graph->a.ptr) == 0);
    fuzz_check(memcmp(again->a.col, graph->a.col, 2 * (size_t)graph->m * sizeof *graph->a.col) == 0);
    npgnn_graph_free(again);
    npi_edges_free(&list);
    npi_stream_close(stream);
    free(text);
}

void fuzz_graph(fuzz_case *c, const npgnn_graph *graph)
{
    npgnn_graph_info info = {.size = sizeof info};
    npgnn_graph_describe(&info, graph, NULL);
    check_rows(graph);
    if (graph->n > 0)
        check_written(c, graph);
}

/* ---- files ---- */

static char folder[4000];

static void remove_folder(void)
{
    rmdir(folder);
}

const char *fuzz_path(char path[4096], const char *name)
{
    const char *parent = getenv("TMPDIR");
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/npgnn-fuzz-XXXXXX", parent ? parent : "/tmp");
        fuzz_check(mkdtemp(folder));
        atexit(remove_folder);
    }
    snprintf(path, 4096, "%s/%s", folder, name);
    return path;
}
