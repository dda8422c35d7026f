/* The order of lines does not count: random texts of links, and tables of nodes, give graph files of the same bytes when
 * their lines are shuffled; links also when their ends are swapped. */
#define _XOPEN_SOURCE 700
#include <string.h>

#include "folder.h"

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
    how->header = header <= 1 ? NPGNN_HEADER_YES : NPGNN_HEADER_NO; /* it is guessed from the first line */
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    if (times > 1) {
        how->time = "4";
        weights = 1 + weights / 2; /* the third column */
    }
    if (header == 0)
        fprintf(file, "source%ctarget%cweight%ctime\n", separator, separator, separator);
    else if (header == 1)
        fprintf(file, "left%cright%cw%ct\n", separator, separator, separator);
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

/* ---- shuffled ---- */

/* Writes the file again with its lines shuffled, except the first `fixed` ones. With `swap`, the first two fields of some
 * lines change places. */
static void shuffle(const char *path, int fixed, int swap)
{
    enum { MOST = 2000 };
    static char text[1 << 16];
    char *lines[MOST], *rest = text;
    int count = 0;
    content c = read_whole(path);
    assert_true(c.size < sizeof text);
    memcpy(text, c.bytes, c.size);
    text[c.size] = '\0';
    free(c.bytes);
    for (char *end; (end = strchr(rest, '\n')); rest = end + 1) {
        *end = '\0';
        assert_true(count < MOST);
        lines[count++] = rest;
    }
    for (int i = count; i-- > fixed + 1;) {
        int other = fixed + draw(i - fixed + 1);
        char *line = lines[i];
        lines[i] = lines[other];
        lines[other] = line;
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < count; i++) {
        char from[64], to[64], more[128] = "", separator;
        if (swap && i >= fixed && draw(2) && *lines[i] != '#' &&
            sscanf(lines[i], "%63[^,; \t]%c%63[^,; \t]%127[^\n]", from, &separator, to, more) >= 3)
            fprintf(file, "%s%c%s%s\n", to, separator, from, more);
        else
            fprintf(file, "%s\n", lines[i]);
    }
    assert_int_equal(fclose(file), 0);
}

/* Loads links and, where they are not NULL, features, and saves the graph as `to`. Returns the code. */
static int convert(const npgnn_load_options *how, const char *features, const char *target_features, const char *to)
{
    npgnn_load_options options = *how;
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    char paths[3][512];
    static const char *const names[3] = {"links", "x", "y"};
    for (int i = 0; i < 3; i++)
        snprintf(paths[i], sizeof paths[i], "%s", path_of(names[i]));
    options.edges = paths[0];
    options.features = features ? paths[1] : NULL;
    options.target_features = target_features ? paths[2] : NULL;
    int code = npgnn_load(&graph, NULL, &options, NULL, &err);
    if (code == 0)
        assert_ok(npgnn_graph_save(graph, path_of(to), &err), err);
    npgnn_graph_free(graph);
    return code;
}

/* With `swapped`, apart from the numbers of links that were given again, in the same direction and in the other. */
static void assert_same_files(const char *a, const char *b, int swapped)
{
    enum { REPEATED = 64, REPEATED_SIZE = 16, CHECKSUMS = 16 }; /* docs/use/formats.md */
    content files[2] = {read_whole(path_of(a)), read_whole(path_of(b))};
    assert_int_equal(files[0].size, files[1].size);
    for (int i = 0; swapped && i < 2; i++) {
        memset(files[i].bytes + REPEATED, 0, REPEATED_SIZE);
        memset(files[i].bytes + files[i].size - CHECKSUMS, 0, CHECKSUMS);
    }
    assert_memory_equal(files[0].bytes, files[1].bytes, files[0].size);
    free(files[0].bytes);
    free(files[1].bytes);
}

/* Weights of links that are given in one direction only may mean something else in the other. */
static void test_links(void **state)
{
    (void)state;
    enum { TEXTS = 300 };
    int good = 0, failed = 0;
    for (int seed = 0; seed < TEXTS; seed++) {
        npgnn_load_options how;
        write_text(&how, path_of("links"), seed);
        int code = convert(&how, NULL, NULL, "before.npg");
        int swap = !how.weighted && !how.bipartite;
        shuffle(path_of("links"), how.header == NPGNN_HEADER_YES, swap);
        int again = convert(&how, NULL, NULL, "after.npg");
        failed += code != 0 && again != 0;
        if (code || again) /* which columns there are is known from the first line, which may be a bad one */
            continue;
        assert_same_files("before.npg", "after.npg", swap);
        good++;
    }
    assert_true(good > TEXTS / 2 && failed > TEXTS / 40 && good + failed > TEXTS - TEXTS / 40);
}

/* Weights that are rounded differently in every order of the sum, in both directions. */
static void test_weights(void **state)
{
    npgnn_load_options how = {.size = sizeof how, .weighted = 1, .header = NPGNN_HEADER_NO};
    (void)state;
    for (int both = 0; both < 2; both++) {
        FILE *file = fopen(path_of("links"), "w");
        for (int i = 0; i < 60; i++)
            for (int way = 0; way < 2; way++)
                fprintf(file, "%s,%s,%d.%06d\n", way == 0 || both ? "a" : "b", way == 0 || both ? "b" : "a",
                        i % 3 ? i : 1000000, 7919 * i % 1000000);
        fclose(file);
        assert_int_equal(convert(&how, NULL, NULL, "before.npg"), 0);
        for (int again = 0; again < 5; again++) {
            shuffle(path_of("links"), 0, both); /* the sum of both directions */
            assert_int_equal(convert(&how, NULL, NULL, "after.npg"), 0);
            assert_same_files("before.npg", "after.npg", both);
        }
    }
}

static const char *word(void)
{
    static const char *const words[] = {"red", "green", "blue", "old", "new", "wine", "cheese", "films", "books"};
    return words[draw(sizeof words / sizeof words[0])];
}

/* A table of nodes with all kinds of columns and a label. Some nodes have no row, and some rows no link. */
static void write_table(const char *path, const char *prefix, int nodes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "id,age,town,member,since,about,class\n");
    for (int i = 3; i < nodes + 5; i++) {
        fprintf(file, "%s%d,", prefix, i);
        if (draw(8))
            fprintf(file, "%d.%d", draw(90), draw(10));
        fprintf(file, ",%s,%s,2020-%02d-%02d,%s and %s of %s,%s\n", word(), draw(2) ? "yes" : "no", 1 + draw(12),
                1 + draw(28), word(), word(), word(), word());
    }
    assert_int_equal(fclose(file), 0);
}

static void test_tables(void **state)
{
    enum { NODES = 40 };
    static const char *const prefixes[] = {"", "n", "user_"};
    (void)state;
    for (int seed = 0; seed < 60; seed++) {
        npgnn_load_options how = {.size = sizeof how, .header = NPGNN_HEADER_YES, .bipartite = seed % 2};
        const char *prefix = prefixes[seed / 2 % 3], *targets = how.bipartite ? "y" : NULL;
        state_of_random = (uint64_t)seed * 31 + 7;
        FILE *file = fopen(path_of("links"), "w");
        fprintf(file, "source,target\n");
        for (int i = 0; i < 100; i++)
            fprintf(file, "%s%d,%s%d\n", prefix, draw(NODES), prefix, draw(NODES));
        fclose(file);
        write_table(path_of("x"), prefix, NODES);
        write_table(path_of("y"), prefix, NODES);
        assert_int_equal(convert(&how, "x", targets, "before.npg"), 0);
        shuffle(path_of("links"), 1, !how.bipartite);
        shuffle(path_of("x"), 1, 0);
        shuffle(path_of("y"), 1, 0);
        assert_int_equal(convert(&how, "x", targets, "after.npg"), 0);
        assert_same_files("before.npg", "after.npg", !how.bipartite);
    }
}

/* Which column has the ids follows from all links. */
static void test_column_of_ids(void **state)
{
    npgnn_load_options how = {.size = sizeof how, .header = NPGNN_HEADER_NO};
    (void)state;
    FILE *file = fopen(path_of("links"), "w");
    for (int i = 0; i < 1000; i++)
        fprintf(file, "%d,%d\n", i % 50, (i * 7 + 1) % 50);
    fclose(file);
    file = fopen(path_of("x"), "w");
    for (int i = 0; i < 50; i++)
        fprintf(file, "%d,%d\n", i, i * i % 7);
    fclose(file);
    assert_int_equal(convert(&how, "x", NULL, "before.npg"), 0);
    shuffle(path_of("x"), 0, 0);
    assert_int_equal(convert(&how, "x", NULL, "after.npg"), 0);
    assert_same_files("before.npg", "after.npg", 0);
}

/* A first line whose words are nowhere else may be a header, but not where other lines are the same. */
static void test_no_header(void **state)
{
    npgnn_load_options how = {.size = sizeof how};
    (void)state;
    FILE *file = fopen(path_of("links"), "w");
    for (int i = 0; i < 40; i++)
        fprintf(file, "p%d,p%d\n%s", i % 10, (i * 7 + 1) % 10, i % 20 ? "" : i ? "lone,pair\n" : "other,two\n");
    fclose(file);
    assert_int_equal(convert(&how, NULL, NULL, "before.npg"), 0);
    for (int again = 0; again < 100; again++) {
        shuffle(path_of("links"), 0, 1);
        assert_int_equal(convert(&how, NULL, NULL, "after.npg"), 0);
        assert_same_files("before.npg", "after.npg", 1);
    }
}

/* A folder gives nodes their places: it is read as the graph was that it was made from. */
static void test_folder(void **state)
{
    static const char links[] = "{\"source\": \"b\", \"target\": 7}\n{\"source\": \"a\", \"target\": \"b\"}\n";
    npgnn_load_options how = {.size = sizeof how};
    npgnn_graph *graph = NULL, *again = NULL;
    npgnn_error err = {0};
    char buffer[12];
    static const char *const names[3] = {"z", "a", "10"};
    static const npgnn_pair edges[2] = {{0, 1}, {1, 2}};
    const npgnn_graph_data data = {.size = sizeof data, .nodes = 3, .names = names, .edges = edges, .edge_count = 2};
    (void)state;
    assert_ok(npgnn_graph_new(&graph, &data, NULL, &err), err);
    assert_ok(npgnn_graph_save(graph, path_of("given"), &err), err);
    assert_ok(npgnn_load(&again, path_of("given"), &how, NULL, &err), err);
    for (int i = 0; i < 3; i++)
        assert_string_equal(npgnn_graph_name(again, i, buffer), names[i]);
    npgnn_graph_free(graph);
    npgnn_graph_free(again);
    assert_int_equal(remove(path_of("given/edges.tsv")), 0);
    assert_int_equal(remove(path_of("given/nodes.txt")), 0);
    assert_int_equal(remove(path_of("given")), 0);
    /* lines of JSON are in any order */
    write_whole(path_of("links"), links, sizeof links - 1);
    assert_int_equal(convert(&how, NULL, NULL, "before.npg"), 0);
    const char *second = strchr(links, '\n') + 1;
    FILE *file = fopen(path_of("links"), "w");
    fprintf(file, "%s%.*s", second, (int)(second - links), links);
    fclose(file);
    assert_int_equal(convert(&how, NULL, NULL, "after.npg"), 0);
    assert_same_files("before.npg", "after.npg", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_links),  IN_FOLDER(test_weights),       IN_FOLDER(test_tables),
        IN_FOLDER(test_folder), IN_FOLDER(test_column_of_ids), IN_FOLDER(test_no_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
