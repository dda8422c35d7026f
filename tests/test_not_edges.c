/* Text that is no list of pairs is refused; lists that come near are read. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <string.h>

#include "reading.h"

static void refused(const char *text, int64_t line, const char *why)
{
    bad(text, NULL, NULL, NPGNN_E_FORMAT, "edges", line, why);
}

static void read_as(const char *text, int32_t nodes, int64_t edges)
{
    npgnn_graph *graph = good(text, NULL, NULL);
    has(graph, nodes, edges, 0);
    npgnn_graph_free(graph);
}

/* Text that grows by lines; longer than what is looked at. */
typedef struct long_text {
    char *text;
    size_t used;
} long_text;

enum { LONG = 1 << 19, LINE = 256 };

static void append(long_text *t, const char *format, ...) NPI_PRINTF(2, 3);
static void append(long_text *t, const char *format, ...)
{
    va_list args;
    if (!t->text)
        t->text = malloc(LONG);
    assert_non_null(t->text);
    assert_true(t->used + LINE < LONG);
    va_start(args, format);
    t->used += (size_t)vsnprintf(t->text + t->used, LINE, format, args);
    va_end(args);
}

static void refused_text(long_text *t, int64_t line, const char *why)
{
    refused(t->text, line, why);
    free(t->text);
    *t = (long_text){NULL, 0};
}

static uint32_t random_below(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

/* ---- triples ---- */

static void test_triples(void **state)
{
    static const char separators[] = "\t ,;";
    (void)state;
    for (size_t i = 0; i < sizeof separators - 1; i++) {
        char text[] = "a knows b\nb knows c\nc likes a\n";
        for (char *at = text; (at = strchr(at, ' ')) != NULL; at++)
            *at = separators[i];
        refused(text, 2, "--source 1 --target 3");
    }
    refused("# people\n\nsubject2,p,o\na,knows,b\nb,knows,c\nc,likes,a\n", 4, "'a' 'knows' 'b'");
    refused("\xEF\xBB\xBF"
            "a,knows,b\r\nb,knows,c\r\nc,likes,a\r\n",
            2, "triples");
    refused(",s,p,o\n0,a,knows,b\n1,b,knows,c\n2,c,likes,a\n", 2, "--source 2 --target 4");
    refused("a knows b 2020\nb knows c 2021\nc likes a 2021\n", 2, "triples");   /* with a time */
    refused("ann likes tea\nbob likes coffee\ncarol likes tea\n", 2, "triples"); /* all links to one node */
    refused("Q1\tP31\tQ5\nQ1\tP21\tQ6\nQ2\tP31\tQ7\n", 2, "triples");            /* ids of one kind */
    refused("http://a/1\thttp://b/knows\tx\nhttp://a/2\thttp://b/knows\ty\n", 2, "triples");
    refused("00260881\t_hypernym\t00260622\n00260622\t_hypernym\t01332730\n", 2, "triples"); /* WordNet */
    refused("<http://a/1> <http://b/k> <http://a/2> .\n", 1, "N-Triples");
    refused("<http://a/1> <http://b/k> <http://a/2>.\n", 1, "N-Triples");
    refused("_:b1 <http://b/name> \"Ann, the first\"@en .\n", 1, "N-Triples");
}

static void test_long_triples(void **state)
{
    long_text t = {NULL, 0};
    uint32_t random = 1;
    (void)state;
    for (int i = 0; i < 10000; i++)
        append(&t, "/m/0%x\t/people/person/r%u\t/m/0%x\n", random_below(&random, 3000), random_below(&random, 200),
               random_below(&random, 3000));
    refused_text(&t, 2, "triples");
}

static void test_lists_like_triples(void **state)
{
    npgnn_env env = test_env();
    npgnn_load_options how = {.size = sizeof how, .source = "1", .target = "3"};
    npi_edge_list list = npi_edges_start(&env, &how);
    npgnn_error err = {0};
    static const char triples[] = "a knows b\nb knows c\nc likes a\n";
    (void)state;
    assert_ok(read_edges(&list, triples, strlen(triples), &env, &err), err); /* the columns were chosen */
    assert_int_equal(list.count, 3);
    assert_int_equal(npi_names_count(list.names), 3);
    npi_edges_free(&list);

    read_as("a b 0.5\nb c 0.5\nc a 1\n", 3, 3);
    read_as("a b 1\nb c 1\nc a 1\n", 3, 3);
    read_as("a b friend\nb c friend\nc a friend\n", 3, 3);
    read_as("a,b,x\nb,c,y\nc,d,x\n", 4, 3);
    read_as("1 fruit 5\n2 veg 1\n3 fruit 2\n4 veg 4\n5 fruit 1\n", 7, 5); /* with a count, which is an id too */
    read_as("u1 DE 2020-01-31\nu2 FR 2020-02-01\nu3 DE 2020-01-31\n", 5, 3);
    read_as("ann tea green\nbob tea black\ncarol coffee black\n", 5, 3);
    read_as("src,rel,dst\na,knows,b\nb,knows,c\n", 3, 2); /* the header says which columns are the ends */
    read_as("a knows\nb knows\n", 3, 2);
    read_as("a b {'weight': 1}\nb c {'weight': 1}\nc d {'weight': 1}\n", 4, 3);
}

/* ---- METIS ---- */

static void test_metis(void **state)
{
    long_text t = {NULL, 0};
    (void)state;
    refused("3 2\n2 3\n1\n1\n", 1, "METIS");
    refused("% a comment\n4 4\n2 4\n1 3\n2 4\n1 3\n", 2, "i = 1; i <= NF; i += 1");
    refused("4 1\n\n3\n2\n\n", 1, "METIS");                                            /* nodes without neighbours */
    refused("3 2 001\n2 7 3 8\n1 7\n1 8\n", 1, "i = 1; i <= NF; i += 2");              /* weights of edges */
    refused("3 2 11 2\n5 6 2 7 3 8\n5 6 1 7\n5 6 1 8\n", 1, "i = 3; i <= NF; i += 2"); /* and two of nodes */
    append(&t, "30000 30000\n");
    for (int i = 1; i <= 30000; i++)
        append(&t, "%d %d\n", i == 1 ? 30000 : i - 1, i == 30000 ? 1 : i + 1);
    refused_text(&t, 1, "METIS");
    read_as("4 4\n1 2\n2 3\n3 1\n", 4, 3);
    read_as("3 2\n2 1\n1 0\n", 4, 3);
    read_as("2 3 1\n3 4 1\n4 2 1\n", 3, 3);
    read_as("1 2\n2 1\n", 2, 1);
}

/* ---- matrices ---- */

static void test_matrices(void **state)
{
    long_text t = {NULL, 0};
    (void)state;
    refused("0,1,1\n1,0,0\n1,0,0\n", 1, "adjacency matrix");
    refused("0 1 1\n0 0 0\n1 0 1\n", 1, "delimiter=None)));");
    refused("a,b,c\n0,1,1\n1,0,0\n1,0,0\n", 1, "adjacency matrix");
    refused("a;0;1;1\nb;1;0;0\nc;1;0;0\n", 1, "sep=';'");
    refused(",a,b,c\na,0,1,1\nb,1,0,0\nc,1,0,0\n", 1, "adjacency matrix");
    refused(",a,b\na,1,2.5\nb,7,0.5\n", 1, "adjacency matrix");                      /* by its names alone */
    refused("a\tb\tc\na\t0\t1\t1\nb\t1\t0\t0\nc\t1\t0\t0\n", 1, "adjacency matrix"); /* R leaves the corner out */
    refused(",0,1,2\n0,0,1,1\n1,1,0,0\n2,1,0,0\n", 1, "adjacency matrix");
    refused("0,1.5,2,0\n1,0,0,0\n0,3,0,1\n0,0,2.5,0\n", 1, "adjacency matrix");
    refused("0,1,1,0\n1,0,0,1\n1,0,0,1\n1,1,1,1\n0,0,1,0\n", 1, "adjacency matrix"); /* of two sides */
    for (int i = 0; i < 250 * 250; i++)
        append(&t, "%d%s", (i * 7 + i / 250) % 11 == 0, i % 250 < 249 ? "," : "\n");
    refused_text(&t, 1, "adjacency matrix");
    for (int i = 0; i < 80000; i++) /* two lines, of which the sample shows a part of one */
        append(&t, "0%s", i % 40000 < 39999 ? "," : "\n");
    refused_text(&t, 1, "adjacency matrix");

    read_as("0 1\n1 0\n", 2, 1);
    read_as("0 1 1\n0 2 1\n1 2 1\n", 3, 3);
    read_as("1 2 3\n2 1 3\n1 3 2\n", 3, 2);
    read_as("0,1,0.5\n1,2,0.25\n2,0,1\n", 3, 3);
    read_as("source,target,weight\n0,1,1\n0,2,1\n1,2,1\n", 3, 3);
    read_as("1,2,0,0\n2,3,1,0\n3,4,0,1\n4,1,1,1\n", 4, 4);
}

/* ---- neighbours after a colon ---- */

static void test_neighbours(void **state)
{
    (void)state;
    refused("1: 2 3\n2: 1\n3: 1\n", 1, "'{ for (i = 2; i <= NF; i++) print $1, $i }'");
    refused("# of each\nanna:\tbert\tcarl\n\nbert:\tanna\n", 2, "the neighbours of each node, after a colon");
    refused("a:,b,c\nb:,a,c\n", 1, "write one link per line: tr -s ':,; \\t' ' ' <");
    read_as("a: b\nb a:\n", 2, 1); /* an id may end so, if not all do */
    read_as("a:b b:c\nb:c c:d\n", 3, 2);
    read_as(": a\n: b\n", 3, 2);
}

/* ---- a line with the numbers of nodes and links ---- */

static void test_counts(void **state)
{
    (void)state;
    refused("4 5\n0 1\n1 2\n2 3\n3 0\n0 2\n", 1, "'4 5' looks like the numbers of nodes");
    refused("# from one on\n4 5\n1 2\n2 3\n3 4\n4 1\n1 3\n", 2, "remove this line");
    read_as("5 4\n4 3\n3 2\n2 1\n1 0\n", 6, 5); /* a path, or counts */
    says(notices, "if it is the numbers of nodes");
    read_as("4 6\n0 1\n1 2\n2 3\n3 0\n0 2\n", 7, 6);
    read_as("2 5\n0 1\n1 2\n2 3\n3 0\n0 4\n", 6, 6);
}

static void test_other_formats(void **state)
{
    (void)state;
    refused("*Vertices 2\n1 \"a\"\n2 \"b\"\n*Edges\n1 2\n", 1, "a Pajek file");
    refused("c of triangles, and more\nc\np edge 3 2\ne 1 2\ne 2 3\n", 3, "a DIMACS file");
    refused("graph [\n  directed 0\n", 1, "a GML file");
    refused("digraph G {\n  a -> b;\n}\n", 1, "a file of Graphviz");
    refused("@prefix e: <http://e/> .\ne:a e:knows e:b .\n", 1, "Turtle");
    read_as("graph theory\ntheory proof\n", 3, 2);
    refused("dl n=3 format=edgelist1\n1 2\n", 1, "a UCINET file");
    refused("DL N = 3\n1 2\n", 1, "a UCINET file");
    read_as("dl npm\nnpm node\n", 3, 2);
    read_as("c d\nc e\n", 3, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_triples), cmocka_unit_test(test_long_triples),  cmocka_unit_test(test_lists_like_triples),
        cmocka_unit_test(test_metis),   cmocka_unit_test(test_matrices),      cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_counts),  cmocka_unit_test(test_other_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
