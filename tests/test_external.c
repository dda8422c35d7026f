/* Links that are sorted in temporary files: of random texts, the graph file has the same bytes, and the log and the
 * errors are the same, as where everything is in memory. A full disk, a missing folder and too little memory are errors
 * that leave nothing behind. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "folder.h"
#include "meter.h"

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

/* ---- random texts ---- */

static uint64_t state_of_random;

static int draw(int below)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (int)((state_of_random >> 33) % (uint64_t)below);
}

static void put_id(FILE *file, int kind, int nodes, int line, int lines)
{
    int id = draw(nodes);
    if (kind == 0 || (kind == 1 && line < lines / 2)) /* numbers; numbers and then names */
        fprintf(file, "%d", id);
    else if (kind == 2) /* numbers that are too far apart for indices */
        fprintf(file, "%d", 7 + 1000 * id);
    else
        fprintf(file, "%s%d", draw(20) ? "n" : "N", id);
}

/* A text of up to 300 lines, of every kind that has a rule of its own. `how` reads it. */
static void write_text(npgnn_load_options *how, const char *path, int seed)
{
    static const char separators[] = {',', '\t', ' ', ';'};
    state_of_random = (uint64_t)seed * 977 + 1;
    char separator = separators[draw(4)];
    int kind = draw(4), header = draw(4), nodes = 2 + draw(60), lines = draw(300), weights = draw(3), times = draw(4);
    int both = draw(3) == 0, bad = draw(4) == 0, dates = 10 + draw(6);
    *how = (npgnn_load_options){.size = sizeof *how, .weighted = weights > 0, .bipartite = draw(4) == 0};
    how->skip_bad_rows = bad && draw(3) > 0;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    if (times > 1) {
        how->time = "4";
        weights = 1 + weights / 2; /* the third column */
    }
    if (header == 0)
        fprintf(file, "source%ctarget%cweight%ctime\n", separator, separator, separator);
    else if (header == 1 && weights == 0 && times < 2)
        fprintf(file, "left%cright\n", separator); /* a header, unless these are ids */
    for (int i = 0; i < lines; i++) {
        char from[32], to[32];
        FILE *ends[2] = {fmemopen(from, sizeof from, "w"), fmemopen(to, sizeof to, "w")};
        for (int end = 0; end < 2; end++) {
            put_id(ends[end], kind, nodes, i, lines);
            fclose(ends[end]);
        }
        if (bad && draw(40) == 0)
            fprintf(file, "%s\n", from);
        if (draw(50) == 0)
            fputs("# a comment\n\n", file);
        int weight = 1 + draw(1000), month = 1 + draw(12), day = 1 + draw(i < lines / 2 ? dates : 28);
        for (int way = 0; way <= both; way++) {
            fprintf(file, "%s%c%s", way ? to : from, separator, way ? from : to);
            if (weights > 0)
                fprintf(file, "%c%d.%d", separator, weight, weight % 7);
            if (times == 2)
                fprintf(file, "%c%s%d", separator, draw(9) ? "" : "-", draw(4));
            else if (times == 3) /* which may have the day or the month first, until one has not */
                fprintf(file, "%c%02d/%02d/2024", separator, month, day);
            fputc('\n', file);
        }
    }
    assert_int_equal(fclose(file), 0);
}

/* ---- both ways ---- */

typedef struct messages {
    char text[4096];
} messages;

static void keep(void *user, const char *message)
{
    messages *l = user;
    size_t used = strlen(l->text);
    snprintf(l->text + used, sizeof l->text - used, "%s\n", message);
}

/* Converts the text to `to`; returns the code. */
static int convert(messages *l, npgnn_error *err, const npgnn_load_options *how, const char *to)
{
    npgnn_env env = {.size = sizeof env, .threads = 1, .log = keep, .user = l};
    npgnn_graph *graph = NULL;
    int code = npgnn_load(&graph, path_of("links"), how, &env, err);
    if (code == 0) {
        npgnn_graph_info info = {.size = sizeof info};
        assert_ok(npgnn_graph_save(graph, path_of(to), err), *err);
        assert_ok(npgnn_graph_describe(&info, graph, err), *err);
        char text[64];
        snprintf(text, sizeof text, "fingerprint %016llx", (unsigned long long)info.fingerprint);
        keep(l, text);
    }
    npgnn_graph_free(graph);
    return code;
}

static void test_same_bytes(void **state)
{
    (void)state;
    enum { TEXTS = 300 };
    int good = 0, failed = 0, sorted = 0;
    for (int seed = 0; seed < TEXTS; seed++) {
        npgnn_load_options how;
        npgnn_error errors[2] = {{0}, {0}};
        messages logs[2] = {{""}, {""}};
        write_text(&how, path_of("links"), seed);
        int code = convert(&logs[0], &errors[0], &how, "memory.npg");
        int before = entries();
        how.scratch = folder;
        how.scratch_limit = 1 + (size_t)seed * 3;
        assert_int_equal(convert(&logs[1], &errors[1], &how, "sorted.npg"), code);
        assert_string_equal(logs[0].text, logs[1].text);
        assert_string_equal(errors[0].text, errors[1].text);
        assert_int_equal(entries(), before + (code == 0 && sorted == 0));
        failed += code != 0;
        if (code)
            continue;
        content a = read_whole(path_of("memory.npg")), b = read_whole(path_of("sorted.npg"));
        if (a.size != b.size || memcmp(a.bytes, b.bytes, a.size) != 0)
            fail_msg("text %d: the files differ", seed);
        free(a.bytes);
        free(b.bytes);
        good++;
        sorted++;
    }
    assert_true(good > TEXTS / 2 && failed > TEXTS / 40);
}

/* One link again and again, and a star: no run may depend on how links are spread over nodes. */
static void test_uneven(void **state)
{
    (void)state;
    for (int star = 0; star < 2; star++) {
        FILE *file = fopen(path_of("links"), "w");
        for (int i = 0; i < 5000; i++)
            fprintf(file, "0 %d\n", star ? i : 1);
        fclose(file);
        npgnn_load_options how = {.size = sizeof how};
        npgnn_error err = {0};
        messages logs[2] = {{""}, {""}};
        assert_ok(convert(&logs[0], &err, &how, "memory.npg"), err);
        how.scratch = folder;
        how.scratch_limit = 100;
        assert_ok(convert(&logs[1], &err, &how, "sorted.npg"), err);
        content a = read_whole(path_of("memory.npg")), b = read_whole(path_of("sorted.npg"));
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.bytes, b.bytes, a.size);
        free(a.bytes);
        free(b.bytes);
    }
}

/* A sum of weights that is no float is the same error. */
static void test_large_weights(void **state)
{
    (void)state;
    static const char text[] = "a,b,3e38\nb,a,3e38\nc,a,1\n";
    npgnn_load_options how = {.size = sizeof how, .weighted = 1};
    npgnn_error errors[2] = {{0}, {0}};
    messages l = {""};
    write_whole(path_of("links"), text, sizeof text - 1);
    assert_int_equal(convert(&l, &errors[0], &how, "x.npg"), NPGNN_E_FORMAT);
    how.scratch = folder;
    how.scratch_limit = 1;
    assert_int_equal(convert(&l, &errors[1], &how, "x.npg"), NPGNN_E_FORMAT);
    assert_string_equal(errors[0].text, errors[1].text);
    /* in both directions alike it is a weight */
    write_whole(path_of("links"), text, strlen("a,b,3e38\nb,a,3e38\n"));
    assert_ok(convert(&l, &errors[1], &how, "x.npg"), errors[1]);
}

/* ---- what goes wrong ---- */

static void write_links(int count)
{
    FILE *file = fopen(path_of("links"), "w");
    for (int i = 0; i < count; i++)
        fprintf(file, "%d,%d,%d.5,%d\n", i % 100, i * 7 % 103, i % 9, i);
    assert_int_equal(fclose(file), 0);
}

static npgnn_load_options everything(void)
{
    npgnn_load_options how = {.size = sizeof how, .weight = "3", .time = "4", .scratch = folder, .scratch_limit = 300};
    return how;
}

static void test_folder(void **state)
{
    (void)state;
    npgnn_load_options how = everything();
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    write_links(200);
    how.scratch = "/nowhere/at/all";
    assert_int_equal(npgnn_load(&graph, path_of("links"), &how, NULL, &err), NPGNN_E_IO);
    assert_string_equal(err.text, "/nowhere/at/all: cannot write temporary files: No such file or directory");
    /* what fits into memory needs no folder */
    how.scratch_limit = 1 << 20;
    assert_ok(npgnn_load(&graph, path_of("links"), &how, NULL, &err), err);
    npgnn_graph_free(graph);
}

/* Files may not exceed some size, as on a full disk: at every size, the graph or an error. */
static void test_full_disk(void **state)
{
    (void)state;
    npgnn_load_options how = everything();
    struct rlimit old, limit;
    int good = 0, full = 0;
    write_links(1000);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    for (size_t size = 0; size < 80000; size += 1000) {
        npgnn_graph *graph = NULL;
        npgnn_error err = {0};
        limit = (struct rlimit){size, old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
        int code = npgnn_load(&graph, path_of("links"), &how, NULL, &err);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_int_equal(entries(), 1);
        assert_true(code == 0 || code == NPGNN_E_IO);
        assert_true(code == 0 || strstr(err.text, ": cannot write temporary files: File too large"));
        good += code == 0;
        full += code != 0;
        npgnn_graph_free(graph);
    }
    assert_true(good > 5 && full > 5);
}

static void test_memory(void **state)
{
    (void)state;
    npgnn_load_options how = everything();
    int done = 0;
    write_links(60);
    for (long allow = 0; !done; allow++) {
        meter m = {.allow = allow};
        npgnn_env env = metered_env(&m);
        npgnn_graph *graph = NULL;
        npgnn_error err = {0};
        int code = npgnn_load(&graph, path_of("links"), &how, &env, &err);
        done = code == 0;
        assert_true(done || code == NPGNN_E_MEMORY);
        npgnn_graph_free(graph);
        assert_int_equal(m.blocks, 0);
        assert_int_equal(entries(), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_same_bytes), IN_FOLDER(test_uneven),    IN_FOLDER(test_large_weights),
        IN_FOLDER(test_folder),     IN_FOLDER(test_full_disk), IN_FOLDER(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
