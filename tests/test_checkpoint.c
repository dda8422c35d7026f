/* Checkpoints: a training that is stopped anywhere and resumed gives the same bits as an uninterrupted one, and only
 * the same training can be resumed from a checkpoint. */
#define _GNU_SOURCE /* memmem */
#include "check.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "folder.h"
#include "meter.h"
#include "model/model.h"
#include "network.h"
#include "train/trainer.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SPEC "nodes=150,words=100,seed=2"

static npgnn_graph *graph;
static npgnn_split *edges, *nodes; /* of graph: transductive, and few-shot, which has nothing to validate on */

static int make_all(void **state)
{
    npgnn_split_options options = {.size = sizeof options};
    npgnn_split_options_default(&options, NPGNN_TRANSDUCTIVE, NULL);
    int code = make_folder(state) || npgnn_graph_synthetic(&graph, SPEC, NULL, NULL) ||
               npgnn_split_new(&edges, graph, &options, NULL, NULL);
    npgnn_split_options_default(&options, NPGNN_FEW_SHOT, NULL);
    return code || npgnn_split_new(&nodes, graph, &options, NULL, NULL);
}

static int free_all(void **state)
{
    npgnn_split_free(edges);
    npgnn_split_free(nodes);
    npgnn_graph_free(graph);
    return remove_folder(state);
}

/* Small options that use everything which has a state or draws random numbers. */
static npgnn_options small_options(int rich)
{
    npgnn_options o = rich_network();
    if (!rich)
        npgnn_options_preset(&o, NULL, NULL);
    o.hidden = 6;
    o.latent_size = 3;
    o.decoder_hidden = 8;
    o.output_size = 4;
    o.samples = 2;
    o.input_dropout = 0.3;
    o.pairs_per_node = 8;
    o.iterations = 14;
    o.validate_every = 2;
    o.patience = 0;
    return o;
}

/* ---- stopping and resuming ---- */

/* Counts the iterations of a whole job, and stops it after some. */
typedef struct stop {
    int seen, after; /* after 0: never */
} stop;

static int on_progress(void *user, const npgnn_progress *progress)
{
    stop *s = user;
    (void)progress;
    return ++s->seen == s->after;
}

static npgnn_trainer *trainer_of(const npgnn_split *split, const npgnn_options *options, stop *s, int threads)
{
    npgnn_trainer *trainer = NULL;
    npgnn_error err = {0};
    npgnn_env env = {.size = sizeof env, .threads = threads, .progress = on_progress, .user = s};
    assert_ok(npgnn_trainer_new(&trainer, graph, split, options, &env, &err), err);
    return trainer;
}

/* The bytes of the model file. */
static content model_bytes(const npgnn_trainer *trainer)
{
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_trainer_model(&model, trainer, &err), err);
    assert_ok(npgnn_model_save(model, path_of("model"), &err), err);
    npgnn_model_free(model);
    return read_whole(path_of("model"));
}

static void check_same(content a, content b)
{
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
}

/* Trains for `after` iterations, saves a checkpoint, and resumes it in another trainer. */
static void check_resumed(const npgnn_split *split, const npgnn_options *options, int after, content whole)
{
    npgnn_error err = {0};
    stop first = {.after = after}, second = {0};
    npgnn_trainer *trainer = trainer_of(split, options, &first, 1 + after % 3);
    assert_int_equal(npgnn_trainer_run(trainer, &err), NPGNN_E_CANCELLED);
    assert_ok(npgnn_trainer_save(trainer, path_of("checkpoint"), &err), err);
    npgnn_trainer_free(trainer);

    trainer = trainer_of(split, options, &second, 1 + after % 2);
    assert_ok(npgnn_trainer_restore(trainer, path_of("checkpoint"), &err), err);
    assert_ok(npgnn_trainer_run(trainer, &err), err);
    content resumed = model_bytes(trainer);
    check_same(resumed, whole);
    free(resumed.bytes);
    npgnn_trainer_free(trainer);
}

static void check_every_stop(const npgnn_split *split, const npgnn_options *options)
{
    npgnn_error err = {0};
    stop never = {0};
    npgnn_trainer *trainer = trainer_of(split, options, &never, 2);
    assert_ok(npgnn_trainer_run(trainer, &err), err);
    content whole = model_bytes(trainer);
    npgnn_trainer_free(trainer);
    assert_true(never.seen >= 4);
    for (int after = 1; after <= never.seen; after++)
        check_resumed(split, options, after, whole);
    free(whole.bytes);
    empty_folder();
}

static void test_every_stop(void **state)
{
    (void)state;
    npgnn_options o = small_options(0);
    check_every_stop(NULL, &o);
    check_every_stop(edges, &o);
    o.loss = NPGNN_LOSS_SAMPLED;
    o.context = NPGNN_CONTEXT_NODES;
    check_every_stop(nodes, &o);
    o.latent = 0;
    check_every_stop(edges, &o);
}

/* The state of validation: the best parameters, the iterations without improvement. */
static void test_validation_state(void **state)
{
    (void)state;
    npgnn_options o = small_options(1);
    check_every_stop(edges, &o);
    o.patience = 2;
    o.iterations = 40;
    o.learning_rate = 0.3; /* so that it overshoots, and patience runs out */
    check_every_stop(edges, &o);
}

/* Stops during the rehearsal, at its end, and during the training that follows. */
static void test_rehearsals(void **state)
{
    (void)state;
    npgnn_options o = small_options(1);
    check_every_stop(NULL, &o);
    check_every_stop(nodes, &o);
    o.keep_best = 0;
    check_every_stop(nodes, &o);
}

/* With input_scale 0, training finds the scale; for features near 1e-6 it is far beyond what the option may be. The
 * model can be saved and loaded, and the training resumed. */
static void test_tiny_features(void **state)
{
    (void)state;
    enum { N = 40, F = 3 };
    npgnn_pair ring[N];
    float x[N * F];
    npgnn_graph *kept = graph, *tiny = NULL;
    npgnn_model *loaded = NULL;
    npgnn_error err = {0};
    npgnn_options o = small_options(1), read = {.size = sizeof read};
    o.iterations = 6;
    for (int i = 0; i < N; i++)
        ring[i] = (npgnn_pair){i, (i + 1) % N};
    for (int i = 0; i < N * F; i++)
        x[i] = 1e-6f * (float)(1 + i * 7 % 5);
    assert_true(o.input_scale == 0);
    assert_ok(npgnn_graph_from_arrays(&tiny, ring, x, N, N, F, NULL, &err), err);
    graph = tiny;
    check_every_stop(NULL, &o);
    stop never = {0};
    npgnn_trainer *trainer = trainer_of(NULL, &o, &never, 1);
    assert_ok(npgnn_trainer_run(trainer, &err), err);
    free(model_bytes(trainer).bytes);
    assert_ok(npgnn_model_load(&loaded, path_of("model"), NULL, &err), err);
    assert_ok(npgnn_model_options(&read, loaded, &err), err);
    assert_true(read.input_scale == 0 && read.iterations == 6);
    npgnn_model_free(loaded);
    npgnn_trainer_free(trainer);
    npgnn_graph_free(tiny);

    /* still smaller ones are refused before the first iteration, not after the last */
    for (int i = 0; i < N * F; i++)
        x[i] *= 1e-12f;
    assert_ok(npgnn_graph_from_arrays(&tiny, ring, x, N, N, F, NULL, &err), err);
    assert_int_equal(npgnn_trainer_new(&trainer, tiny, NULL, &o, NULL, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "features are too small"));
    npgnn_graph_free(tiny);
    graph = kept;
    empty_folder();
}

/* An iteration that is stopped halfway leaves everything as it was before. */
static void test_stops_within_an_iteration(void **state)
{
    (void)state;
    npgnn_options o = small_options(0);
    npgnn_error err = {0};
    int flag = 1;
    npgnn_env env = {.size = sizeof env, .threads = 2, .stop = &flag};
    npgnn_trainer *trainer = NULL;
    assert_ok(npgnn_trainer_new(&trainer, graph, edges, &o, &env, &err), err);
    for (int i = 0; i < o.iterations; i++) {
        flag = 1;
        assert_int_equal(npgnn_trainer_step(NULL, trainer, &err), NPGNN_E_CANCELLED);
        assert_int_equal(trainer->progress.iteration, i);
        flag = 0;
        assert_ok(npgnn_trainer_step(NULL, trainer, &err), err);
    }
    content resumed = model_bytes(trainer);
    npgnn_trainer_free(trainer);
    stop never = {0};
    trainer = trainer_of(edges, &o, &never, 1);
    assert_ok(npgnn_trainer_run(trainer, &err), err);
    content whole = model_bytes(trainer);
    check_same(resumed, whole);
    free(resumed.bytes);
    free(whole.bytes);
    npgnn_trainer_free(trainer);
    empty_folder();
}

/* A trainer that has continued can be restored to an earlier checkpoint. */
static void test_restore_earlier_checkpoint(void **state)
{
    (void)state;
    npgnn_options o = small_options(1);
    npgnn_error err = {0};
    stop never = {.after = 3};
    npgnn_trainer *trainer = trainer_of(NULL, &o, &never, 1);
    assert_int_equal(npgnn_trainer_run(trainer, &err), NPGNN_E_CANCELLED);
    assert_ok(npgnn_trainer_save(trainer, path_of("checkpoint"), &err), err);
    assert_ok(npgnn_trainer_run(trainer, &err), err);
    content first = model_bytes(trainer);
    assert_null(trainer->rehearsal);
    assert_ok(npgnn_trainer_restore(trainer, path_of("checkpoint"), &err), err);
    assert_non_null(trainer->rehearsal);
    assert_int_equal(trainer->progress.iteration, 3);
    assert_ok(npgnn_trainer_run(trainer, &err), err);
    content second = model_bytes(trainer);
    check_same(first, second);
    free(first.bytes);
    free(second.bytes);
    npgnn_trainer_free(trainer);
    empty_folder();
}

/* ---- errors ---- */

/* A trainer after three iterations, saved as "checkpoint". */
static npgnn_trainer *saved_trainer(const npgnn_split *split, const npgnn_options *options)
{
    npgnn_error err = {0};
    stop soon = {.after = 3};
    npgnn_trainer *trainer = trainer_of(split, options, &soon, 1);
    assert_int_equal(npgnn_trainer_run(trainer, &err), NPGNN_E_CANCELLED);
    assert_ok(npgnn_trainer_save(trainer, path_of("checkpoint"), &err), err);
    return trainer;
}

/* Asserts that the checkpoint is refused with this text and that the trainer is unchanged. */
static void refuse(npgnn_trainer *trainer, const char *name, int code, const char *words)
{
    npgnn_error err = {0};
    int iteration = trainer->progress.iteration;
    real first = trainer->params.block[0];
    assert_int_equal(npgnn_trainer_restore(trainer, path_of(name), &err), code);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    assert_int_equal(trainer->progress.iteration, iteration);
    assert_memory_equal(&trainer->params.block[0], &first, sizeof first);
}

static void refuse_training(const npgnn_graph *on, const npgnn_split *split, const npgnn_options *options,
                            const char *words)
{
    npgnn_trainer *other = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_trainer_new(&other, on, split, options, NULL, &err), err);
    refuse(other, "checkpoint", NPGNN_E_MISMATCH, words);
    npgnn_trainer_free(other);
}

static void test_different_training(void **state)
{
    (void)state;
    npgnn_options o = small_options(1), other = o, read = {.size = sizeof read};
    npgnn_error err = {0};
    npgnn_graph *elsewhere = NULL;
    npgnn_trainer_free(saved_trainer(edges, &o));
    other.iterations++;
    refuse_training(graph, edges, &other, "has iterations 14, not 15");
    other = o;
    other.seed = 9;
    refuse_training(graph, edges, &other, "has seed 0, not 9");
    refuse_training(graph, nodes, &o, "the split is not the same");
    refuse_training(graph, NULL, &o, "the split is not the same");
    assert_ok(npgnn_graph_synthetic(&elsewhere, "nodes=150,words=100,seed=3", NULL, &err), err);
    refuse_training(elsewhere, NULL, &o, "the graph is not the same");
    npgnn_graph_free(elsewhere);
    assert_ok(npgnn_checkpoint_options(&read, path_of("checkpoint"), NULL, &err), err);
    assert_int_equal(read.iterations, o.iterations);
    assert_true(read.learning_rate == o.learning_rate && read.input_dropout == 0.3 && read.keep_best);
    empty_folder();
}

static uint64_t fnv(const unsigned char *bytes, size_t size)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return hash;
}

/* ---- what the bits depend on ---- */

static char warning[600];

static void on_log(void *user, const char *message)
{
    (void)user;
    if (strstr(message, "warning"))
        snprintf(warning, sizeof warning, "%s", message);
}

/* A checkpoint says which kernels computed it; where they are others, resuming warns. */
static void test_other_kernels(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_options o = small_options(0);
    const npgnn_env env = {.size = sizeof env, .threads = 1, .log = on_log};
    npgnn_trainer *trainer = NULL;
    assert_ok(npgnn_trainer_new(&trainer, graph, edges, &o, &env, &err), err);
    assert_ok(npgnn_trainer_step(NULL, trainer, &err), err);
    assert_ok(npgnn_trainer_save(trainer, path_of("here"), &err), err);
    warning[0] = '\0';
    assert_ok(npgnn_trainer_restore(trainer, path_of("here"), &err), err);
    assert_string_equal(warning, "");

    content file = read_whole(path_of("here"));
    char *at = memmem(file.bytes, file.size, "numerics\":\"", 11);
    assert_non_null(at);
    at[11] = at[11] == 'z' ? 'y' : 'z'; /* of another processor */
    uint64_t sum = fnv(file.bytes, file.size - sizeof sum);
    memcpy(file.bytes + file.size - sizeof sum, &sum, sizeof sum);
    write_whole(path_of("elsewhere"), file.bytes, file.size);
    assert_ok(npgnn_trainer_restore(trainer, path_of("elsewhere"), &err), err);
    assert_non_null(strstr(warning, "other kernels"));
    assert_non_null(strstr(warning, "not give the same bits"));
    free(file.bytes);
    npgnn_trainer_free(trainer);
    empty_folder();
}

/* Replaces text in the header with text of the same length, and corrects the checksum: a deliberately forged file. */
static void check_lie(npgnn_trainer *trainer, content file, const char *text, const char *lie, int code,
                      const char *words)
{
    size_t length = strlen(text), at = 0;
    unsigned char *copy = malloc(file.size);
    assert_non_null(copy);
    assert_int_equal(strlen(lie), length);
    memcpy(copy, file.bytes, file.size);
    while (at + length < file.size && memcmp(copy + at, text, length) != 0)
        at++;
    assert_true(at + length < file.size);
    memcpy(copy + at, lie, length);
    uint64_t sum = fnv(copy, file.size - sizeof sum);
    memcpy(copy + file.size - sizeof sum, &sum, sizeof sum);
    write_whole(path_of("lie"), copy, file.size);
    refuse(trainer, "lie", code, words);
    free(copy);
}

static void test_forged_files(void **state)
{
    (void)state;
    npgnn_options o = small_options(1);
    npgnn_trainer *trainer = saved_trainer(edges, &o);
    content file = read_whole(path_of("checkpoint"));
    static const struct {
        const char *text, *lie;
        int code;
        const char *words;
    } lies[] = {
        {"npgnn-checkpoint", "npgnn-cheekpoint", NPGNN_E_FORMAT, "another kind of safetensors file"},
        {"\"format_version\":\"1\"", "\"format_version\":\"2\"", NPGNN_E_FORMAT, "in format 2, written by npgnn"},
        {"\"npgnn_version\":\"0", "\"npgnn_version\":\"7", NPGNN_E_MISMATCH, "might not give the same results"},
        {"\"asked\"", "\"asket\"", NPGNN_E_FORMAT, "options are missing or damaged"},
        {"\"state\"", "\"stare\"", NPGNN_E_FORMAT, "state is damaged"},
        {"\\\"iteration\\\":3", "\\\"iteration\\\":x", NPGNN_E_FORMAT, "state is damaged"},
        {"\\\"iteration\\\":3,", "\\\"iteration\\\":-1", NPGNN_E_FORMAT, "state is damaged"},
        {"\\\"best_auc\\\"", "\\\"best_auk\\\"", NPGNN_E_FORMAT, "state is damaged"},
        {"\\\"rehearsal\\\":false", "\\\"rehearsal\\\": true", NPGNN_E_FORMAT, "state is damaged"},
        {"\\\"fingerprint\\\":\\\"", "\\\"fingerprint\\\":\\\"x", NPGNN_E_FORMAT, "state is damaged"},
        {"\"params\"", "\"parans\"", NPGNN_E_FORMAT, "tensor params is missing"},
        {"\"best\":{", "\"rest\":{", NPGNN_E_FORMAT, "longer than its tensors"},
    };
    for (size_t i = 0; i < COUNT(lies); i++) {
        size_t length = strlen(lies[i].text);
        char text[64] = "";
        snprintf(text, sizeof text, "%s", lies[i].text);
        if (strlen(lies[i].lie) > length) /* one character more of the file */
            memcpy(text, strstr((const char *)file.bytes + 8, lies[i].text), length + 1);
        check_lie(trainer, file, text, lies[i].lie, lies[i].code, lies[i].words);
    }
    refuse(trainer, "absent", NPGNN_E_IO, "cannot");
    free(file.bytes);
    npgnn_trainer_free(trainer);
    empty_folder();
}

/* What a rehearsal found is saved from its end on. */
static void test_forged_findings(void **state)
{
    (void)state;
    npgnn_options o = small_options(1);
    npgnn_error err = {0};
    stop late = {.after = 20};
    npgnn_trainer *trainer = trainer_of(NULL, &o, &late, 1), *other = trainer_of(NULL, &o, &late, 1);
    assert_int_equal(npgnn_trainer_run(trainer, &err), NPGNN_E_CANCELLED);
    assert_null(trainer->rehearsal);
    assert_ok(npgnn_trainer_save(trainer, path_of("checkpoint"), &err), err);
    content file = read_whole(path_of("checkpoint"));
    static const char *const lies[][2] = {
        {"\"found\"", "\"fount\""},
        {"\\\"scorer\\\"", "\\\"scorrr\\\""},
        {"\\\"slopes\\\"", "\\\"sloops\\\""},
        {"\"found\":\"{\\\"iterations", "\"found\":\"{\\\"iterationz"},
        {"\\\"rehearsal\\\":false", "\\\"rehearsal\\\": true"},
    };
    for (size_t i = 0; i < COUNT(lies); i++) {
        check_lie(trainer, file, lies[i][0], lies[i][1], NPGNN_E_FORMAT, "state is damaged");
        check_lie(other, file, lies[i][0], lies[i][1], NPGNN_E_FORMAT, "state is damaged");
    }
    free(file.bytes);
    npgnn_trainer_free(trainer);
    npgnn_trainer_free(other);
    empty_folder();
}

/* ---- damage ---- */

/* Three nodes and one feature: the file is little more than its header. */
static npgnn_trainer *tiny_trainer(npgnn_graph **out)
{
    const npgnn_pair links[] = {{0, 1}, {1, 2}};
    const float x[] = {1, 2, 3};
    npgnn_options o = small_options(0);
    npgnn_trainer *trainer = NULL;
    npgnn_error err = {0};
    o.hidden = o.latent_size = o.decoder_hidden = o.output_size = 1;
    assert_ok(npgnn_graph_from_arrays(out, links, x, 3, 2, 1, NULL, &err), err);
    assert_ok(npgnn_trainer_new(&trainer, *out, NULL, &o, &(npgnn_env){.size = sizeof(npgnn_env), .threads = 1}, &err),
              err);
    assert_ok(npgnn_trainer_step(NULL, trainer, &err), err);
    return trainer;
}

static void put_byte(const char *path, size_t at, int byte)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, file), byte);
    assert_int_equal(fclose(file), 0);
}

static void test_damaged_and_truncated_files(void **state)
{
    (void)state;
    npgnn_graph *three = NULL;
    npgnn_trainer *trainer = tiny_trainer(&three);
    npgnn_error err = {0};
    const char *words = "the previous checkpoint is intact: ";
    assert_ok(npgnn_trainer_save(trainer, path_of("cut"), &err), err);
    assert_ok(npgnn_trainer_save(trainer, path_of("cut"), &err), err);
    content file = read_whole(path_of("cut"));
    for (size_t at = 0; at < file.size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            put_byte(path_of("cut"), at, file.bytes[at] ^ 1 << bit);
            refuse(trainer, "cut", NPGNN_E_FORMAT, words);
        }
        put_byte(path_of("cut"), at, file.bytes[at]);
    }
    for (size_t size = file.size; size-- > 0;) {
        assert_int_equal(truncate(path_of("cut"), (off_t)size), 0);
        refuse(trainer, "cut", NPGNN_E_FORMAT, words);
    }
    remove(path_of("cut"));
    refuse(trainer, "cut", NPGNN_E_IO, words);
    assert_ok(npgnn_trainer_restore(trainer, path_of("cut.prev"), &err), err);
    write_whole(path_of("cut.prev"), file.bytes, file.size - 1);
    npgnn_trainer_restore(trainer, path_of("cut"), &err);
    assert_null(strstr(err.text, words));
    print_message("%zu bits flipped, %zu lengths\n", 8 * file.size, file.size);
    free(file.bytes);
    npgnn_trainer_free(trainer);
    npgnn_graph_free(three);
    empty_folder();
}

/* The disk is full after any number of bytes: the error says so, and existing checkpoints are unchanged. */
static void test_full_disk(void **state)
{
    (void)state;
    npgnn_graph *three = NULL;
    npgnn_trainer *trainer = tiny_trainer(&three);
    npgnn_error err = {0};
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 2; i++)
        assert_ok(npgnn_trainer_save(trainer, path_of("full"), &err), err);
    content latest = read_whole(path_of("full")), previous = read_whole(path_of("full.prev"));
    getrlimit(RLIMIT_FSIZE, &limit);
    for (size_t size = 0; size < latest.size; size++) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){size, limit.rlim_max});
        int code = npgnn_trainer_save(trainer, path_of("full"), &err);
        setrlimit(RLIMIT_FSIZE, &limit);
        assert_int_equal(code, NPGNN_E_IO);
        assert_non_null(strstr(err.text, "full: cannot write: File too large"));
        assert_int_equal(entries(), 2);
        content file = read_whole(path_of("full")), before = read_whole(path_of("full.prev"));
        check_same(file, latest);
        check_same(before, previous);
        free(file.bytes);
        free(before.bytes);
    }
    print_message("%zu sizes of a full disk\n", latest.size);
    free(latest.bytes);
    free(previous.bytes);
    npgnn_trainer_free(trainer);
    npgnn_graph_free(three);
    empty_folder();
}

/* Each save keeps the previous checkpoint and leaves no other file. */
static void test_previous_checkpoint(void **state)
{
    (void)state;
    npgnn_graph *three = NULL;
    npgnn_trainer *trainer = tiny_trainer(&three);
    npgnn_error err = {0};
    content before = {0};
    for (int i = 0; i < 4; i++) {
        assert_ok(npgnn_trainer_save(trainer, path_of("kept"), &err), err);
        assert_int_equal(entries(), i == 0 ? 1 : 2);
        if (i > 0) {
            content previous = read_whole(path_of("kept.prev"));
            check_same(previous, before);
            free(previous.bytes);
            free(before.bytes);
        }
        before = read_whole(path_of("kept"));
        assert_ok(npgnn_trainer_step(NULL, trainer, &err), err);
    }
    free(before.bytes);
    npgnn_trainer_free(trainer);
    npgnn_graph_free(three);
    empty_folder();
}

/* ---- out of memory ---- */

/* Lets 0, 1, 2... allocations succeed. A trainer that got no memory for the training after the rehearsal reports it
 * from then on. */
static void test_out_of_memory(void **state)
{
    (void)state;
    npgnn_options o = small_options(1);
    npgnn_error err = {0};
    stop late = {.after = 20};
    npgnn_trainer *trainer = trainer_of(NULL, &o, &late, 1);
    assert_int_equal(npgnn_trainer_run(trainer, &err), NPGNN_E_CANCELLED);
    assert_null(trainer->rehearsal);
    assert_ok(npgnn_trainer_save(trainer, path_of("checkpoint"), &err), err);
    npgnn_trainer_free(trainer);
    int code = NPGNN_E_MEMORY;
    long allow = 0;
    for (; code; allow++) {
        meter memory = {.allow = -1};
        npgnn_env env = metered_env(&memory);
        assert_ok(npgnn_trainer_new(&trainer, graph, NULL, &o, &env, &err), err);
        memory.allow = allow;
        code = npgnn_trainer_restore(trainer, path_of("checkpoint"), &err);
        assert_true(code == 0 || (code == NPGNN_E_MEMORY && err.code == code));
        memory.allow = -1;
        if (!trainer->net) {
            npgnn_model *model = NULL;
            assert_int_equal(npgnn_trainer_step(NULL, trainer, &err), NPGNN_E_MEMORY);
            assert_int_equal(npgnn_trainer_run(trainer, &err), NPGNN_E_MEMORY);
            assert_int_equal(npgnn_trainer_model(&model, trainer, &err), NPGNN_E_MEMORY);
            assert_int_equal(npgnn_trainer_save(trainer, path_of("checkpoint"), &err), NPGNN_E_ARGUMENT);
        }
        npgnn_trainer_free(trainer);
        assert_int_equal(memory.blocks, 0);
    }
    assert_true(allow > 10);
    empty_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_stop),
        cmocka_unit_test(test_validation_state),
        cmocka_unit_test(test_rehearsals),
        cmocka_unit_test(test_stops_within_an_iteration),
        cmocka_unit_test(test_other_kernels),
        cmocka_unit_test(test_restore_earlier_checkpoint),
        cmocka_unit_test(test_different_training),
        cmocka_unit_test(test_forged_files),
        cmocka_unit_test(test_forged_findings),
        cmocka_unit_test(test_tiny_features),
        cmocka_unit_test(test_damaged_and_truncated_files),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_previous_checkpoint),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
