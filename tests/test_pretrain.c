/* Learning across graphs: the same bits however it is computed; corpora as folders and bundles; cancelling. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "folder.h"
#include "graph/graph.h"
#include "meter.h"
#include "model/model.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { GRAPHS = 3 };

static npgnn_graph *graphs[GRAPHS];
static const int family[GRAPHS] = {0, 1, 1};
static char notices[4096];

static void keep_log(void *user, const char *text)
{
    (void)user;
    size_t used = strlen(notices);
    snprintf(notices + used, sizeof notices - used, "%s\n", text);
}

/* A ring with chords, and columns of features. Small: most of the time goes into matrices as wide as the graph is
 * large. */
static npgnn_graph *ring(int32_t n, int columns)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_pair edges[512];
    float features[512] = {0};
    assert_true(2 * n <= 512 && n * columns <= 512);
    for (int32_t i = 0; i < n; i++) {
        edges[2 * i] = (npgnn_pair){i, (i + 1) % n};
        edges[2 * i + 1] = (npgnn_pair){i, (i * i + 3) % n};
        for (int c = 0; c < 3 && columns > 0; c++) /* nodes that are near on the ring share columns */
            features[i * columns + (i * columns / n + c) % columns] = 1;
    }
    assert_ok(npgnn_graph_from_arrays(&graph, edges, columns > 0 ? features : NULL, n, 2 * n, columns, NULL, &err),
              err);
    return graph;
}

static int make_all(void **state)
{
    graphs[0] = ring(36, 12);
    graphs[1] = ring(40, 0);
    graphs[2] = ring(30, 0);
    return make_folder(state);
}

static int free_all(void **state)
{
    for (int i = 0; i < GRAPHS; i++)
        npgnn_graph_free(graphs[i]);
    return remove_folder(state);
}

static npgnn_model *learn(int steps, uint64_t seed, int threads)
{
    const npgnn_pretrain_options options = {.size = sizeof options, .steps = steps, .seed = seed};
    const npgnn_env env = {.size = sizeof env, .threads = threads};
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_pretrain(&model, (const npgnn_graph *const *)graphs, family, GRAPHS, &options, &env, &err), err);
    return model;
}

static int same(const npgnn_model *a, const npgnn_model *b)
{
    const npi_process *p = &a->process, *q = &b->process;
    assert_int_equal(p->params.count, q->params.count);
    return memcmp(p->params.block, q->params.block, p->params.count * sizeof(real)) == 0 &&
           memcmp(p->mean, q->mean, 2 * (size_t)p->params.size.e * sizeof *p->mean) == 0;
}

/* ---- learning ---- */

static void test_same_bits(void **state)
{
    (void)state;
    npgnn_model *one = learn(6, 3, 1);
    npgnn_model *three_threads = learn(6, 3, 3), *other_seed = learn(6, 4, 1), *more_steps = learn(7, 3, 1);
    assert_true(same(one, three_threads));
    assert_false(same(one, other_seed));
    assert_false(same(one, more_steps));
    for (size_t i = 0; i < one->process.params.count; i++)
        assert_true(isfinite(one->process.params.block[i]));
    for (int c = 0; c < one->process.params.size.e; c++)
        assert_true(one->process.deviation[c] > 0 && isfinite(one->process.mean[c]));
    npgnn_model_free(one);
    npgnn_model_free(three_threads);
    npgnn_model_free(other_seed);
    npgnn_model_free(more_steps);
}

/* ---- checkpoints ---- */

static int cancel_at(void *user, const npgnn_progress *progress)
{
    return progress->iteration == *(const int *)user;
}

/* Learns with checkpoints; cancelled after `cancel` steps, 0: not. */
static int learn_on(npgnn_model **model, const npgnn_pretrain_options *options, int cancel, int threads,
                    npgnn_error *err)
{
    const npgnn_env env = {.size = sizeof env, .threads = threads, .progress = cancel_at, .user = &cancel, .log = NULL};
    memset(err, 0, sizeof *err);
    return npgnn_pretrain(model, (const npgnn_graph *const *)graphs, family, GRAPHS, options, &env, err);
}

/* Stopped at any step, on any number of threads, and resumed: the same bits. */
static void test_resuming(void **state)
{
    (void)state;
    npgnn_model *whole = learn(7, 3, 1);
    npgnn_error err;
    char path[512];
    snprintf(path, sizeof path, "%s", path_of("training.checkpoint"));
    for (int stop = 1; stop <= 5; stop += 4) {
        npgnn_pretrain_options o = {.size = sizeof o, .steps = 7, .seed = 3, .checkpoint = path, .checkpoint_every = 2};
        npgnn_model *model = NULL;
        assert_int_equal(learn_on(&model, &o, stop, 1 + stop % 3, &err), NPGNN_E_CANCELLED);
        assert_null(model);
        o.resume = path;
        assert_ok(learn_on(&model, &o, 0, 1 + (stop + 1) % 3, &err), err);
        assert_true(same(whole, model));
        npgnn_model_free(model);
    }
    /* the checkpoint of step 6, written on the way: one step is left */
    const npgnn_pretrain_options last = {.size = sizeof last, .steps = 7, .seed = 3, .resume = path};
    npgnn_model *model = NULL;
    assert_ok(learn_on(&model, &last, 0, 1, &err), err);
    assert_true(same(whole, model));
    npgnn_model_free(model);
    npgnn_model_free(whole);
    empty_folder();
}

static void expect_no_resume(const npgnn_pretrain_options *o, int code, const char *word)
{
    npgnn_error err;
    npgnn_model *model = NULL;
    assert_int_equal(learn_on(&model, o, 0, 1, &err), code);
    assert_null(model);
    if (!strstr(err.text, word))
        fail_msg("\"%s\" does not have \"%s\"", err.text, word);
}

/* Another training, or a damaged file, is refused by name. */
static void test_bad_checkpoints(void **state)
{
    (void)state;
    npgnn_error err;
    npgnn_model *model = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s", path_of("training.checkpoint"));
    npgnn_pretrain_options o = {.size = sizeof o, .steps = 5, .seed = 3, .checkpoint = path};
    assert_int_equal(learn_on(&model, &o, 2, 1, &err), NPGNN_E_CANCELLED);
    o = (npgnn_pretrain_options){.size = sizeof o, .steps = 5, .seed = 3, .resume = path};
    o.steps = 6;
    expect_no_resume(&o, NPGNN_E_MISMATCH, "5 steps, not 6");
    o.steps = 5;
    o.seed = 4;
    expect_no_resume(&o, NPGNN_E_MISMATCH, "seed 3, not 4");
    o.seed = 3;
    npgnn_graph *kept = graphs[2];
    graphs[2] = graphs[1];
    expect_no_resume(&o, NPGNN_E_MISMATCH, "corpus");
    graphs[2] = kept;
    o.resume = path_of("absent");
    expect_no_resume(&o, NPGNN_E_IO, "absent");
    o.resume = path;

    /* every byte that is changed, and every cut, is noticed: a few of them */
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static char bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size > 1000 && size < sizeof bytes);
    for (size_t at = 0; at < size; at += size / 7) {
        bytes[at] ^= 4;
        write_whole(path, bytes, size);
        expect_no_resume(&o, NPGNN_E_FORMAT, "training.checkpoint");
        bytes[at] ^= 4;
        write_whole(path, bytes, at);
        expect_no_resume(&o, NPGNN_E_FORMAT, "training.checkpoint");
    }
    write_whole(path, bytes, size);
    assert_ok(learn_on(&model, &o, 0, 1, &err), err);

    /* a file of another kind */
    assert_ok(npgnn_model_save(model, path, &err), err);
    expect_no_resume(&o, NPGNN_E_FORMAT, "training.checkpoint");
    npgnn_model_free(model);

    /* one that cannot be written does not end the training */
    model = NULL;
    o = (npgnn_pretrain_options){
        .size = sizeof o, .steps = 2, .checkpoint = path_of("absent/x"), .checkpoint_every = 1};
    assert_ok(learn_on(&model, &o, 0, 1, &err), err);
    npgnn_model_free(model);
    empty_folder();
}

typedef struct watch {
    int calls, last, total, cancel_at;
    double first_loss, last_loss;
} watch;

static int see_step(void *user, const npgnn_progress *progress)
{
    watch *w = user;
    w->calls++;
    w->last = progress->iteration;
    w->total = progress->iterations;
    if (w->calls == 1)
        w->first_loss = progress->loss;
    w->last_loss = progress->loss;
    return progress->iteration == w->cancel_at;
}

/* Progress after every step, and the loss falls. */
static void test_progress(void **state)
{
    (void)state;
    watch w = {0};
    const npgnn_pretrain_options options = {.size = sizeof options, .steps = 120};
    const npgnn_env env = {.size = sizeof env, .threads = 2, .progress = see_step, .user = &w};
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_pretrain(&model, (const npgnn_graph *const *)graphs, family, GRAPHS, &options, &env, &err), err);
    assert_int_equal(w.calls, 120);
    assert_int_equal(w.last, 120);
    assert_int_equal(w.total, 120);
    assert_true(w.last_loss < 0.9 * w.first_loss);
    npgnn_model_free(model);
}

static void test_cancelling(void **state)
{
    (void)state;
    watch w = {.cancel_at = 2};
    meter m = {.allow = -1};
    npgnn_env env = metered_env(&m);
    env.progress = see_step;
    env.user = &w;
    const npgnn_pretrain_options options = {.size = sizeof options, .steps = 9};
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    const npgnn_graph *const *all = (const npgnn_graph *const *)graphs;
    assert_int_equal(npgnn_pretrain(&model, all, family, GRAPHS, &options, &env, &err), NPGNN_E_CANCELLED);
    assert_null(model);
    assert_int_equal(w.calls, 2);
    assert_non_null(strstr(err.text, "step 2"));
    assert_int_equal(m.blocks, 0);

    int stop = 1; /* before the first step, while evidence is computed */
    env.progress = NULL;
    env.stop = &stop;
    assert_int_equal(npgnn_pretrain(&model, all, family, GRAPHS, &options, &env, &err), NPGNN_E_CANCELLED);
    assert_null(model);
    assert_int_equal(m.blocks, 0);
}

static void test_refusals(void **state)
{
    (void)state;
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    const npgnn_pretrain_options options = {.size = sizeof options, .steps = 2};
    const npgnn_env env = {.size = sizeof env, .threads = 1, .log = keep_log};
    const npgnn_graph *const *all = (const npgnn_graph *const *)graphs;
    assert_int_equal(npgnn_pretrain(&model, all, family, 0, &options, &env, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no graph with enough links"));

    const int negative[] = {0, -1, 2}, large[] = {0, 1, 99};
    assert_int_equal(npgnn_pretrain(&model, all, negative, GRAPHS, &options, &env, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "family -1"));
    assert_int_equal(npgnn_pretrain(&model, all, large, GRAPHS, &options, &env, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "family 99"));

    npgnn_graph *tiny = ring(5, 0); /* too small to hide links of: named in the log, left out */
    const npgnn_graph *two[] = {tiny, graphs[1]};
    notices[0] = '\0';
    assert_int_equal(npgnn_pretrain(&model, two, family, 1, &options, &env, &err), NPGNN_E_ARGUMENT);
    assert_ok(npgnn_pretrain(&model, two, family, 2, &options, &env, &err), err);
    assert_non_null(strstr(notices, "graph 0 has too few links"));
    assert_null(model->q);
    npgnn_model_free(model);
    npgnn_graph_free(tiny);
}

/* ---- corpora ---- */

enum { MOST = 8 };

typedef struct seen {
    char names[MOST][128];
    int32_t nodes[MOST];
    int64_t links[MOST];
    int count, stop_at; /* 0: never */
} seen;

static int see_graph(void *user, const char *name, npgnn_graph *graph)
{
    seen *s = user;
    assert_true(s->count < MOST);
    snprintf(s->names[s->count], sizeof s->names[0], "%s", name);
    s->nodes[s->count] = graph->n;
    s->links[s->count++] = graph->m;
    npgnn_graph_free(graph);
    return s->stop_at == s->count;
}

/* Reads a corpus, counting memory. */
static int read_corpus(seen *s, const char *path, int skip_broken, npgnn_error *err)
{
    meter m = {.allow = -1};
    npgnn_env env = metered_env(&m);
    env.log = keep_log;
    notices[0] = '\0';
    memset(err, 0, sizeof *err);
    int stop_at = s->stop_at;
    *s = (seen){.stop_at = stop_at};
    int code = npgnn_load_each(path, see_graph, s, skip_broken, &env, err);
    assert_int_equal(m.blocks, 0);
    assert_int_equal(err->code, code);
    return code;
}

static void write_text(const char *name, const char *text)
{
    write_whole(path_of(name), text, strlen(text));
}

/* A folder: in the order of names, whatever the order of the files; what lies beside graphs is not read. */
static void test_folder(void **state)
{
    (void)state;
    npgnn_error err;
    seen s = {0};
    write_text("c.edges", "0 1\n1 2\n2 3\n");
    write_text("a.edges", "0 1\n");
    write_text("b.edges", "0 1\n1 2\n");
    write_text("README.md", "not a graph\n");
    write_text("README.txt", "not a graph\n");
    write_text("LICENSE", "not a graph\n");
    write_text("SHA256SUMS", "not a graph\n");
    assert_ok(read_corpus(&s, folder, 0, &err), err);
    assert_int_equal(s.count, 3);
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "%c.edges", 'a' + i);
        assert_string_equal(s.names[i], name);
        assert_int_equal(s.links[i], i + 1);
    }

    write_text("d.txt", "0 1\n1 2\n2 3\n3 4\n"); /* a list of edges like any other */
    assert_ok(read_corpus(&s, folder, 0, &err), err);
    assert_int_equal(s.count, 4);
    assert_string_equal(s.names[3], "d.txt");
    remove(path_of("d.txt"));

    s.stop_at = 2; /* cancelled by the callback */
    assert_int_equal(read_corpus(&s, folder, 0, &err), NPGNN_E_CANCELLED);
    assert_int_equal(s.count, 2);
    assert_non_null(strstr(err.text, "b.edges"));
    s.stop_at = 0;

    write_text("b.edges", "0 1\n1\n"); /* broken */
    assert_int_equal(read_corpus(&s, folder, 0, &err), NPGNN_E_FORMAT);
    assert_non_null(strstr(err.text, "b.edges"));
    assert_int_equal(s.count, 1);
    assert_ok(read_corpus(&s, folder, 1, &err), err);
    assert_int_equal(s.count, 2);
    assert_string_equal(s.names[1], "c.edges");
    assert_non_null(strstr(notices, "skipped b.edges"));

    assert_ok(read_corpus(&s, path_of("c.edges"), 0, &err), err); /* a file is a corpus of one */
    assert_int_equal(s.count, 1);
    assert_int_equal(s.links[0], 3);
    empty_folder();

    assert_int_equal(read_corpus(&s, folder, 0, &err), NPGNN_E_IO); /* empty */
    assert_non_null(strstr(err.text, folder));
    assert_int_equal(read_corpus(&s, folder, 1, &err), NPGNN_E_IO);
    assert_int_equal(read_corpus(&s, path_of("absent"), 0, &err), NPGNN_E_IO);
    assert_non_null(strstr(err.text, "absent"));
    write_text("prose", "prose\n");
    assert_true(read_corpus(&s, path_of("prose"), 0, &err) < 0);
    assert_non_null(strstr(err.text, "prose"));
    empty_folder();
}

/* One array of a bundle. */
typedef struct array {
    const char *member, *shape;
    const int64_t *numbers;
    size_t size;
} array;
#define ARRAY(member, shape, numbers)                                                                                  \
    {                                                                                                                  \
        member, shape, numbers, sizeof numbers                                                                         \
    }

static const char *write_bundle(const array *arrays, size_t count)
{
    const char *path = path_of("bundle.npz");
    unlink(path);
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(zip);
    for (size_t i = 0; i < count; i++) {
        char header[128];
        int length = snprintf(header, sizeof header, "{'descr': '<i8', 'fortran_order': False, 'shape': %s, }\n",
                              arrays[i].shape);
        size_t size = 10 + (size_t)length + arrays[i].size;
        unsigned char *bytes = malloc(size);
        memcpy(bytes, "\x93NUMPY\1\0", 8);
        bytes[8] = (unsigned char)length;
        bytes[9] = 0;
        memcpy(bytes + 10, header, (size_t)length);
        memcpy(bytes + 10 + length, arrays[i].numbers, arrays[i].size);
        assert_true(zip_file_add(zip, arrays[i].member, zip_source_buffer(zip, bytes, size, 1), 0) >= 0);
    }
    assert_int_equal(zip_close(zip), 0);
    return path;
}

static const int64_t path3[] = {3, 0, 0, 1, 1, 2}, lonely[] = {7, 0}, loop[] = {2, 0, 0, 1, 1, 0, 1, 1};

static void test_bundle(void **state)
{
    (void)state;
    npgnn_error err;
    seen s = {0};
    const array good[] = {ARRAY("z.1.npy", "(3, 2)", path3), ARRAY("a.npy", "(1, 2)", lonely),
                          ARRAY("loop.npy", "(4, 2)", loop)};
    const char *path = write_bundle(good, COUNT(good));
    assert_ok(read_corpus(&s, path, 0, &err), err);
    assert_int_equal(s.count, 3);
    static const struct {
        const char *name;
        int nodes, links;
    } want[] = {{"z.1", 3, 2}, {"a", 7, 0}, {"loop", 2, 1}}; /* in the order of the file */
    for (int i = 0; i < 3; i++) {
        assert_string_equal(s.names[i], want[i].name);
        assert_int_equal(s.nodes[i], want[i].nodes);
        assert_int_equal(s.links[i], want[i].links);
    }
    assert_ok(read_corpus(&s, folder, 0, &err), err); /* in a folder too */
    assert_int_equal(s.count, 3);
    s.stop_at = 1;
    assert_int_equal(read_corpus(&s, path, 0, &err), NPGNN_E_CANCELLED);
    assert_int_equal(read_corpus(&s, path, 1, &err), NPGNN_E_CANCELLED);
    assert_int_equal(s.count, 1);
    empty_folder();
}

/* Arrays that are no graphs: named; left out where that is asked for. */
static void test_broken_bundles(void **state)
{
    (void)state;
    static const int64_t outside[] = {3, 0, 0, 3}, negative[] = {3, 0, -1, 2}, none[] = {0, 0},
                         three[] = {3, 0, 0, 0, 1, 2}, huge[] = {INT64_MAX, 0};
    static const struct {
        array broken;
        const char *says;
    } cases[] = {
        {ARRAY("b.npy", "(2, 2)", outside), "joins 0 and 3"},  {ARRAY("b.npy", "(2, 2)", negative), "joins -1 and 2"},
        {ARRAY("b.npy", "(1, 2)", none), "is not a graph"},    {ARRAY("b.npy", "(2, 3)", three), "is not a graph"},
        {ARRAY("b.npy", "(2,)", none), "is not a graph"},      {ARRAY("b.npy", "(1, 2)", huge), "is not a graph"},
        {ARRAY("b.txt", "(1, 2)", lonely), "is not an array"},
    };
    npgnn_error err;
    seen s = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const array arrays[] = {ARRAY("a.npy", "(1, 2)", lonely), cases[i].broken, ARRAY("c.npy", "(3, 2)", path3)};
        const char *path = write_bundle(arrays, COUNT(arrays));
        int code = read_corpus(&s, path, 0, &err);
        if (code != NPGNN_E_FORMAT || !strstr(err.text, cases[i].says) || !strstr(err.text, "bundle.npz"))
            fail_msg("case %zu: %d, '%s'", i, code, err.text);
        assert_int_equal(s.count, 1);
        assert_ok(read_corpus(&s, path, 1, &err), err);
        assert_int_equal(s.count, 2);
        assert_string_equal(s.names[1], "c");
        assert_non_null(strstr(notices, "skipped b"));
    }
    /* a truncated archive is one broken graph */
    const array good[] = {ARRAY("a.npy", "(1, 2)", lonely)};
    content whole = read_whole(write_bundle(good, 1));
    write_whole(path_of("bundle.npz"), whole.bytes, whole.size / 2);
    free(whole.bytes);
    assert_true(read_corpus(&s, path_of("bundle.npz"), 0, &err) < 0);
    assert_non_null(strstr(err.text, "bundle.npz"));
    assert_ok(read_corpus(&s, path_of("bundle.npz"), 1, &err), err);
    assert_int_equal(s.count, 0);
    empty_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),      cmocka_unit_test(test_progress), cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_folder),   cmocka_unit_test(test_bundle),
        cmocka_unit_test(test_broken_bundles), cmocka_unit_test(test_resuming), cmocka_unit_test(test_bad_checkpoints),
    };
    return cmocka_run_group_tests_name("pretrain", tests, make_all, free_all);
}
