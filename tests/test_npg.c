/* Graph files (.npg): every kind of graph comes back the same; every damaged bit and every missing byte is found; what
 * a file with right checksums says is checked; nothing is copied into memory. */
#define _XOPEN_SOURCE 700
#include <string.h>
#include <sys/stat.h>

#include "io/npg.h"

#include "folder.h"
#include "meter.h"

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

/* ---- graphs ---- */

static const npgnn_pair edges[] = {{0, 3}, {3, 0}, {1, 3}, {0, 4}, {0, 4}, {1, 4}, {2, 2}, {4, 2}};
static const float weights[] = {1, 2, 0.25f, 3, 4, 1, 9, 1e-3f};
static const double times[] = {5, 4, 1e300, -3, 2.5, 0, 7, 8};
static const int32_t labels[] = {4, -1, 0, 7, 4, 4};
static const char *const names[] = {"a", "b\n\"c\"", "\xff\x01", "#x", "42", "a longer name, with a comma"};
static const char *const columns[] = {"one", "two,\n", "\xc3\xa9"};
static const float dense[] = {1, 0.5f, 0, 0, 0, 0, -2, 1e-30f, 3e38f, 0, 1, 1, 1, 0, 1, 0, 0, 0};
static const int64_t ptr[] = {0, 2, 2, 3, 3, 3, 4};
static const int32_t col[] = {1, 70, 0, 71};
static const float val[] = {0.5f, -1, 2, 1};
static const double ages[] = {30, 40, (double)NAN, 50, 20, 30};
static const char *const towns[] = {"Rome", "Rome", "Oslo", "Oslo", NULL, "Bonn"};
static const npgnn_column table[] = {{"age", NULL, ages, NULL, 0}, {"town", NULL, NULL, towns, 0}};

enum { KINDS = 9 };

/* A graph of each kind; node 5 has no links. */
static npgnn_graph *make(int kind)
{
    npgnn_graph_data data = {.size = sizeof data, .nodes = 6, .edges = edges, .edge_count = 8};
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    switch (kind) {
    case 0: /* everything */
        data.names = names;
        data.labels = labels;
        data.weights = weights;
        data.times = times;
        data.features = dense;
        data.columns = 3;
        data.column_names = columns;
        break;
    case 1: /* two sides; a link may not stay on one */
        data.sources = 3;
        data.edge_count = 6;
        break;
    case 2: /* sparse with values, sparse without */
    case 3:
        data.ptr = ptr;
        data.col = col;
        data.val = kind == 2 ? val : NULL;
        data.columns = 72;
        break;
    case 4: /* a table */
        data.table = table;
        data.table_columns = 2;
        data.times = times;
        break;
    case 5: /* links and numbers alone */
        break;
    case 6: /* no links */
        data.edge_count = 0;
        data.names = names;
        data.weights = weights;
        break;
    case 7: /* no nodes, but names */
        data.nodes = 0;
        data.edge_count = 0;
        data.names = names;
        break;
    default: /* columns, of which no node has any */
        data.columns = 3;
        data.features = dense + 3;
        data.nodes = 1;
        data.edge_count = 0;
        data.column_names = columns;
    }
    assert_ok(npgnn_graph_new(&graph, &data, NULL, &err), err);
    return graph;
}

static void same_bytes(const void *a, const void *b, size_t size)
{
    assert_int_equal(!a, !b);
    if (a && size > 0)
        assert_memory_equal(a, b, size);
}

static void same_names(const npi_names *a, const npi_names *b)
{
    assert_int_equal(!a, !b);
    if (!a)
        return;
    assert_int_equal(npi_names_count(a), npi_names_count(b));
    for (int32_t i = 0; i < npi_names_count(a); i++) {
        const char *name = npi_names_get(a, i);
        assert_string_equal(name, npi_names_get(b, i));
        assert_int_equal(npi_names_find(b, name, strlen(name)), i);
    }
    assert_int_equal(npi_names_find(b, "absent", 6), -1);
}

static void same_csr(const npi_csr *a, const npi_csr *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    same_bytes(a->ptr, b->ptr, ((size_t)a->rows + 1) * sizeof *a->ptr);
    size_t count = a->ptr ? (size_t)a->ptr[a->rows] : 0;
    same_bytes(a->col, b->col, count * sizeof *a->col);
    same_bytes(a->val, b->val, count * sizeof *a->val);
}

/* b, of a file, is a; also its fingerprint, computed anew. */
static void same_graph(const npgnn_graph *a, npgnn_graph *b)
{
    size_t n = (size_t)a->n;
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->m, b->m);
    same_csr(&a->a, &b->a);
    same_bytes(a->label, b->label, n * sizeof *a->label);
    same_bytes(a->side, b->side, n);
    same_bytes(a->time, b->time, 2 * (size_t)a->m * sizeof *a->time);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->input_edges, b->input_edges);
    assert_int_equal(a->duplicates, b->duplicates);
    assert_int_equal(a->reverse, b->reverse);
    assert_int_equal(a->self_loops, b->self_loops);
    assert_int_equal(a->x->f, b->x->f);
    assert_int_equal(a->x->n, b->x->n);
    assert_int_equal(a->x->nonzeros, b->x->nonzeros);
    if (!a->x->dense)
        same_csr(&a->x->x, &b->x->x);
    same_bytes(a->x->dense, b->x->dense, n * (size_t)a->x->f * sizeof *a->x->dense);
    same_names(a->names, b->names);
    same_names(a->x->columns, b->x->columns);
    assert_int_equal(!a->x->encoding, !b->x->encoding);
    if (a->x->encoding)
        assert_string_equal(a->x->encoding->text, b->x->encoding->text);
    uint64_t stored = npi_graph_fingerprint(b);
    b->fingerprinted = 0;
    assert_true(npi_graph_fingerprint(b) == stored);
    assert_true(npi_graph_fingerprint(a) == stored);
}

static const npgnn_load_options weighted = {.size = sizeof weighted, .weighted = 1};

static void save(const npgnn_graph *graph, const char *path)
{
    npgnn_error err = {0};
    assert_ok(npgnn_graph_save(graph, path, &err), err);
}

static npgnn_graph *load(const char *path, const npgnn_load_options *how)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_load(&graph, path, how, NULL, &err), err);
    return graph;
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        npgnn_graph *graph = make(kind);
        save(graph, path_of("g.npg"));
        npgnn_graph *again = load(path_of("g.npg"), &weighted);
        same_graph(graph, again);
        assert_non_null(again->mapping);
        /* written from the mapped graph, over the file that is mapped: the same bytes, and the graph is still there */
        content before = read_whole(path_of("g.npg"));
        save(again, path_of("g.npg"));
        content after = read_whole(path_of("g.npg"));
        assert_int_equal(before.size, after.size);
        assert_memory_equal(before.bytes, after.bytes, after.size);
        same_graph(graph, again);
        assert_int_equal(entries(), 1);
        /* known by its first bytes too */
        assert_int_equal(rename(path_of("g.npg"), path_of("any-name")), 0);
        npgnn_graph *renamed = load(path_of("any-name"), &weighted);
        same_graph(graph, renamed);
        remove(path_of("any-name"));
        npgnn_graph_free(renamed);
        npgnn_graph_free(again);
        npgnn_graph_free(graph);
        free(before.bytes);
        free(after.bytes);
    }
}

/* ---- options ---- */

static char said[512];

static void listen(void *user, const char *message)
{
    (void)user;
    snprintf(said, sizeof said, "%s", message);
}

static void test_weights_on_demand(void **state)
{
    (void)state;
    const npgnn_env env = {.size = sizeof env, .log = listen};
    npgnn_error err = {0};
    npgnn_graph *graph = make(0), *plain = NULL, *without = NULL;
    save(graph, path_of("g.npg"));
    assert_ok(npgnn_load(&plain, path_of("g.npg"), NULL, &env, &err), err);
    assert_non_null(strstr(said, "ignoring the weights"));
    assert_null(plain->a.val);
    npgnn_graph_data data = {
        .size = sizeof data, .nodes = 6, .edges = edges, .edge_count = 8, .features = dense, .columns = 3};
    assert_ok(npgnn_graph_new(&without, &data, NULL, &err), err);
    assert_true(npi_graph_fingerprint(plain) == npi_graph_fingerprint(without));
    npgnn_graph_free(plain);
    npgnn_graph_free(without);
    npgnn_graph_free(graph);
}

/* Features that are changed while they are loaded: as those of the same graph in memory. */
static void test_prepared_features(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int way = 1; way < 4; way++) {
            npgnn_graph *graph = make(kind);
            npgnn_error err = {0};
            const npgnn_load_options how = {
                .size = sizeof how, .weighted = 1, .binarize = way & 1, .normalize = (way & 2) != 0};
            save(graph, path_of("g.npg"));
            npgnn_graph *again = load(path_of("g.npg"), &how);
            assert_null(again->x->mapping);
            if (how.binarize)
                npi_features_binarize(graph->x);
            if (how.normalize)
                assert_ok(npi_features_normalize(graph->x, &err), err);
            same_graph(graph, again);
            npgnn_graph_free(again);
            npgnn_graph_free(graph);
        }
}

static void refused(const char *path, const npgnn_load_options *how, int code, const char *text)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_int_equal(npgnn_load(&graph, path, how, NULL, &err), code);
    assert_null(graph);
    if (!strstr(err.text, text))
        fail_msg("'%s' does not say '%s'", err.text, text);
}

static void test_refused_options(void **state)
{
    (void)state;
    npgnn_graph *graph = make(4), *sides = make(1);
    char path[512];
    save(graph, path_of("g.npg"));
    save(sides, path_of("s.npg"));
    snprintf(path, sizeof path, "%s", path_of("g.npg"));
    refused(path, &(npgnn_load_options){.size = sizeof weighted, .features = path}, NPGNN_E_ARGUMENT, "own features");
    refused(path, &(npgnn_load_options){.size = sizeof weighted, .bipartite = 1}, NPGNN_E_ARGUMENT, "one side");
    refused(path, &(npgnn_load_options){.size = sizeof weighted, .encoding = "{}"}, NPGNN_E_MISMATCH, "another way");
    refused(path_of("s.npg"), &(npgnn_load_options){.size = sizeof weighted, .time = "t"}, NPGNN_E_ARGUMENT,
            "no times");
    refused(path_of("absent.npg"), NULL, NPGNN_E_IO, "no such file");
    assert_int_equal(mkdir(path_of("f.npg"), 0700), 0);
    npgnn_error err = {0};
    assert_int_equal(npgnn_graph_save(graph, path_of("f.npg"), &err), NPGNN_E_IO);
    npgnn_graph_free(load(path_of("s.npg"), &(npgnn_load_options){.size = sizeof weighted, .bipartite = 1}));
    npgnn_graph_free(
        load(NULL, &(npgnn_load_options){
                       .size = sizeof weighted, .edges = path, .time = "t", .encoding = graph->x->encoding->text}));
    npgnn_graph_free(sides);
    npgnn_graph_free(graph);
}

/* ---- graphs that are made from mapped ones ---- */

static void test_derived(void **state)
{
    (void)state;
    npgnn_graph *graph = make(0), *half = NULL, *other = NULL, *want = NULL;
    npi_names *more = NULL;
    npgnn_error err = {0};
    const int32_t nodes[] = {0, 3, 4};
    int32_t index;
    save(graph, path_of("g.npg"));
    npgnn_graph *mapped = load(path_of("g.npg"), &weighted);
    assert_ok(npgnn_graph_subgraph(&half, mapped, nodes, 3, &err), err);
    assert_ok(npgnn_graph_subgraph(&want, graph, nodes, 3, &err), err);
    assert_ok(npgnn_graph_with_edges(&other, mapped, edges + 2, 2, &err), err);
    assert_ok(npi_names_copy(&more, mapped->names, &err), err);
    assert_ok(npi_names_add(&index, more, "new", 3, &err), err);
    assert_int_equal(index, 6);
    assert_int_equal(npi_names_find(more, "42", 2), 4);
    npgnn_graph_free(mapped); /* what they share stays */
    assert_int_equal(remove(path_of("g.npg")), 0);
    assert_true(npi_graph_fingerprint(half) == npi_graph_fingerprint(want));
    same_names(graph->names, other->names);
    assert_memory_equal(other->x->dense, graph->x->dense, sizeof(real) * 18);
    npi_names_free(more);
    npgnn_graph_free(half);
    npgnn_graph_free(want);
    npgnn_graph_free(other);
    npgnn_graph_free(graph);
}

/* ---- damage ---- */

/* Reads bytes as a mapped file. */
static int read_bytes(npgnn_graph **out, const content *c, npgnn_error *err)
{
    npgnn_env env = npi_env_resolve(&(npgnn_env){.size = sizeof env, .threads = 1});
    /* one reference more than are dropped: these bytes are not unmapped */
    static npi_mapping file;
    file = (npi_mapping){.env = env, .references = 1, .bytes = c->bytes, .size = c->size};
    *err = (npgnn_error){0};
    return npi_npg_read(out, &file, "bytes", &env, err);
}

static content saved_bytes(int kind)
{
    npgnn_graph *graph = make(kind);
    save(graph, path_of("g.npg"));
    npgnn_graph_free(graph);
    return read_whole(path_of("g.npg"));
}

static void test_every_bit(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        content c = saved_bytes(kind);
        npgnn_graph *graph = NULL;
        npgnn_error err;
        for (size_t bit = 0; bit < 8 * c.size; bit++) {
            c.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            if (read_bytes(&graph, &c, &err) != NPGNN_E_FORMAT || graph || !err.text[0])
                fail_msg("graph %d: bit %zu can be changed unnoticed", kind, bit);
            c.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        assert_ok(read_bytes(&graph, &c, &err), err);
        npgnn_graph_free(graph);
        free(c.bytes);
    }
}

static void test_every_length(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        content c = saved_bytes(kind);
        size_t whole = c.size;
        npgnn_graph *graph = NULL;
        npgnn_error err;
        for (c.size = 0; c.size < whole + 100; c.size++)
            if (c.size != whole && (read_bytes(&graph, &c, &err) != NPGNN_E_FORMAT || graph))
                fail_msg("graph %d: %zu instead of %zu bytes go unnoticed", kind, c.size, whole);
        /* through the file: empty, without its magic, and the half of it */
        for (size_t size = 0; size < whole; size += size < 9 ? 1 : whole / 2) {
            write_whole(path_of("cut.npg"), c.bytes, size);
            refused(path_of("cut.npg"), NULL, NPGNN_E_FORMAT, "cut.npg: ");
        }
        free(c.bytes);
    }
}

/* Puts the checksums of a file of one block right. */
static void seal(content *c)
{
    uint64_t size = c->size - 16, sum = npi_npg_checksum(c->bytes, size);
    memcpy(c->bytes + size, &sum, 8);
    sum = npi_npg_checksum(c->bytes + size, 8);
    memcpy(c->bytes + size + 8, &sum, 8);
}

static void test_future_version(void **state)
{
    (void)state;
    content c = saved_bytes(0);
    npgnn_graph *graph = NULL;
    npgnn_error err;
    c.bytes[8] = 2;
    seal(&c);
    assert_int_equal(read_bytes(&graph, &c, &err), NPGNN_E_FORMAT);
    assert_non_null(strstr(err.text, "version 2"));
    free(c.bytes);
}

/* What the library relies on. */
static void check_sound(const npgnn_graph *graph)
{
    int64_t nonzeros = 0;
    for (int32_t u = 0; u < graph->n; u++) {
        const int32_t *next;
        int64_t degree = npgnn_graph_neighbors(&next, graph, u);
        for (int64_t i = 0; i < degree; i++) {
            assert_true(next[i] >= 0 && next[i] < graph->n && next[i] != u && (i == 0 || next[i - 1] < next[i]));
            int64_t here = npi_csr_find(&graph->a, u, next[i]), back = npi_csr_find(&graph->a, next[i], u);
            assert_true(back >= 0 && npi_graph_allows(graph, u, next[i]));
            if (graph->a.val)
                assert_true(graph->a.val[here] > 0 && graph->a.val[here] == graph->a.val[back]);
            if (graph->time)
                assert_true(graph->time[here] == graph->time[back]);
        }
        nonzeros += npgnn_graph_features(NULL, NULL, graph, u);
        assert_true(npgnn_graph_label(graph, u) >= -1 && npgnn_graph_side(graph, u) <= 1);
        assert_true(npgnn_graph_label(graph, u) < graph->classes || !graph->label);
    }
    assert_int_equal(nonzeros, graph->x->nonzeros);
    if (graph->names)
        same_names(graph->names, graph->names);
    if (graph->x->columns)
        same_names(graph->x->columns, graph->x->columns);
}

/* A changed bit with right checksums: refused, or another graph that is sound. Some of both. */
static void test_every_bit_sealed(void **state)
{
    (void)state;
    long accepted = 0, denied = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        content c = saved_bytes(kind);
        for (size_t bit = 0; bit < 8 * (c.size - 16); bit++) {
            npgnn_graph *graph = NULL;
            npgnn_error err;
            c.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            seal(&c);
            if (read_bytes(&graph, &c, &err) == 0) {
                check_sound(graph);
                accepted++;
            } else {
                assert_null(graph);
                denied++;
            }
            npgnn_graph_free(graph);
            c.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        free(c.bytes);
    }
    assert_true(accepted > 1000 && denied > 10000);
}

/* Two entries that are wrong together: sums and counts are right, the matrix is not symmetric. */
static void test_asymmetric(void **state)
{
    (void)state;
    const npgnn_pair square[] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
    npgnn_graph *graph = NULL;
    npgnn_error err;
    npi_npg_header header;
    assert_int_equal(npgnn_graph_from_arrays(&graph, square, NULL, 5, 4, 0, NULL, &err), 0);
    save(graph, path_of("g.npg"));
    npgnn_graph_free(graph);
    graph = NULL;
    content c = read_whole(path_of("g.npg"));
    memcpy(&header, c.bytes, sizeof header);
    unsigned char *ends = c.bytes + header.section[NPI_NPG_NEIGHBORS].offset;
    const int32_t rows[] = {1, 3, 0, 2, 1, 3, 0, 2}, crossed[] = {1, 2, 0, 3, 1, 3, 0, 2};
    assert_memory_equal(ends, rows, sizeof rows);
    memcpy(ends, crossed, sizeof crossed); /* 0: 1, 2; 1: 0, 3; 2: 1, 3; 3: 0, 2 */
    seal(&c);
    assert_int_equal(read_bytes(&graph, &c, &err), NPGNN_E_FORMAT);
    assert_non_null(strstr(err.text, "links"));
    free(c.bytes);
}

/* Bytes between sections, which nothing points to, are zero. */
static void test_padding(void **state)
{
    (void)state;
    int count = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        content c = saved_bytes(kind);
        npi_npg_header header;
        memcpy(&header, c.bytes, sizeof header);
        unsigned char *used = calloc(c.size, 1);
        memset(used, 1, sizeof header);
        for (int i = 0; i < NPI_NPG_SECTIONS; i++)
            memset(used + header.section[i].offset, 1, header.section[i].length);
        for (size_t i = 0; i < header.content; i++) {
            npgnn_graph *graph = NULL;
            npgnn_error err;
            if (used[i])
                continue;
            c.bytes[i] = 1;
            seal(&c);
            assert_int_equal(read_bytes(&graph, &c, &err), NPGNN_E_FORMAT);
            assert_non_null(strstr(err.text, "between its sections"));
            c.bytes[i] = 0;
            count++;
        }
        free(used);
        free(c.bytes);
    }
    assert_true(count > 100);
}

/* Names whose texts and tags are right: one that occurs twice, and one in a slot where it is not found. */
static void test_names_out_of_place(void **state)
{
    (void)state;
    enum { SLOTS = 6 };
    const char *const two[] = {"ab", "ac"};
    const npgnn_graph_data data = {.size = sizeof data, .nodes = 2, .names = two};
    npgnn_graph *graph = NULL;
    npgnn_error err;
    npi_npg_header header;
    assert_int_equal(npgnn_graph_new(&graph, &data, NULL, &err), 0);
    save(graph, path_of("g.npg"));
    npgnn_graph_free(graph);
    graph = NULL;
    content c = read_whole(path_of("g.npg"));
    memcpy(&header, c.bytes, sizeof header);
    unsigned char *at = c.bytes + header.section[NPI_NPG_NODE_SLOTS].offset;
    assert_int_equal(header.section[NPI_NPG_NODE_SLOTS].length, SLOTS * sizeof(npi_names_slot));
    npi_names_slot slot[SLOTS], first, second;
    memcpy(slot, at, sizeof slot);
    size_t place[2] = {0, 0};
    for (size_t s = 0; s < SLOTS; s++)
        if (slot[s].index >= 0)
            place[slot[s].index] = s;
    first = slot[place[0]];
    second = slot[place[1]];
    int reachable = 0;
    for (size_t s = 0; s < SLOTS; s++) { /* the second name in each of the slots */
        if (s == place[0])
            continue;
        slot[place[1]] = (npi_names_slot){-1, 0};
        memcpy(at, slot, sizeof slot);
        memcpy(at + s * sizeof second, &second, sizeof second);
        seal(&c);
        int code = read_bytes(&graph, &c, &err);
        if (code == 0)
            check_sound(graph);
        else
            assert_non_null(strstr(err.text, "name"));
        reachable += code == 0;
        npgnn_graph_free(graph);
        graph = NULL;
    }
    assert_true(reachable == 1 || reachable == 2);
    c.bytes[header.section[NPI_NPG_NODE_TEXT].offset + 4] = 'b'; /* ab, ab, one behind the other */
    second.tag = first.tag;
    slot[(place[0] + 1) % SLOTS] = second;
    memcpy(at, slot, sizeof slot);
    seal(&c);
    assert_int_equal(read_bytes(&graph, &c, &err), NPGNN_E_FORMAT);
    assert_non_null(strstr(err.text, "occurs twice"));
    free(c.bytes);
}

/* ---- large files ---- */

static npgnn_graph *make_large(void)
{
    enum { NODES = 200000 };
    npgnn_pair *ring = calloc(NODES, sizeof *ring);
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_non_null(ring);
    for (int32_t i = 0; i < NODES; i++)
        ring[i] = (npgnn_pair){i, (i + 1) % NODES};
    assert_ok(npgnn_graph_from_arrays(&graph, ring, NULL, NODES, NODES, 0, NULL, &err), err);
    free(ring);
    return graph;
}

/* The message names the first damaged block, whatever the threads find first. */
static void test_blocks(void **state)
{
    (void)state;
    npgnn_graph *graph = make_large(), *again = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s", path_of("large.npg"));
    save(graph, path);
    for (int threads = 1; threads <= 4; threads++) {
        npgnn_env env = {.size = sizeof env, .threads = threads};
        npgnn_error err = {0};
        assert_ok(npgnn_load(&again, path, NULL, &env, &err), err);
        same_graph(graph, again);
        npgnn_graph_free(again);
    }
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    for (long at = 3500000; at > 1048576; at -= 1000000) {
        fseek(file, at, SEEK_SET);
        fputc(255, file);
    }
    fclose(file);
    for (int threads = 1; threads <= 4; threads++) {
        npgnn_env env = {.size = sizeof env, .threads = threads};
        npgnn_error err = {0};
        again = NULL;
        assert_int_equal(npgnn_load(&again, path, NULL, &env, &err), NPGNN_E_FORMAT);
        assert_non_null(strstr(err.text, "block 2 of 5 "));
    }
    npgnn_graph_free(graph);
}

/* The most that a call had allocated at once. */
typedef struct memory {
    size_t held, most;
} memory;

static void *counted(void *user, void *block, size_t size)
{
    memory *m = user;
    size_t *begin = block ? (size_t *)block - 2 : NULL;
    m->held -= begin ? *begin : 0;
    if (size == 0) {
        free(begin);
        return NULL;
    }
    begin = realloc(begin, size + 2 * sizeof *begin);
    assert_non_null(begin);
    *begin = size;
    m->held += size;
    m->most = m->held > m->most ? m->held : m->most;
    return begin + 2;
}

/* The graph of a file of 4.8 MB takes no memory of the process's own: its arrays are pages of the file. */
static void test_shared_pages(void **state)
{
    (void)state;
    npgnn_graph *graph = make_large(), *again = NULL;
    npgnn_error err = {0};
    memory m = {0};
    npgnn_env env = {.size = sizeof env, .threads = 2, .allocator = {counted, &m}};
    save(graph, path_of("large.npg"));
    assert_ok(npgnn_load(&again, path_of("large.npg"), NULL, &env, &err), err);
    assert_true(m.most < 200000); /* the paths that are looked at while the file is found */
    assert_true(m.held < 4000);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    int found = 0;
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, "large.npg") && strstr(line, " r--s ");
    assert_true(!maps || found);
    if (maps)
        fclose(maps);
    npgnn_graph_free(again);
    assert_int_equal(m.held, 0);
    npgnn_graph_free(graph);
}

/* ---- memory ---- */

static void test_out_of_memory(void **state)
{
    (void)state;
    npgnn_graph *graph = make(0);
    char path[512];
    snprintf(path, sizeof path, "%s", path_of("g.npg"));
    save(graph, path);
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code != 0; allow++) { /* loading with features that are copied, then saving */
        meter m = {.allow = allow};
        npgnn_env env = metered_env(&m);
        npgnn_graph *again = NULL;
        assert_true(allow < 100);
        const npgnn_load_options how = {.size = sizeof how, .normalize = 1};
        code = npgnn_load(&again, path, &how, &env, NULL);
        if (code == 0)
            code = npgnn_graph_save(again, path_of("other.npg"), NULL);
        assert_true(code == NPGNN_E_MEMORY || code == 0);
        assert_int_equal(entries(), code ? 1 : 2);
        npgnn_graph_free(again);
        assert_int_equal(m.blocks, 0);
    }
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_round_trip),      IN_FOLDER(test_weights_on_demand), IN_FOLDER(test_prepared_features),
        IN_FOLDER(test_refused_options), IN_FOLDER(test_derived),           IN_FOLDER(test_every_bit),
        IN_FOLDER(test_every_length),    IN_FOLDER(test_future_version),    IN_FOLDER(test_every_bit_sealed),
        IN_FOLDER(test_padding),         IN_FOLDER(test_asymmetric),        IN_FOLDER(test_names_out_of_place),
        IN_FOLDER(test_blocks),          IN_FOLDER(test_shared_pages),      IN_FOLDER(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
