/* GraphML, JSON, and the file sets of LINQS, MUSAE and OGB. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <sys/stat.h>
#include <zlib.h>

#include "linear.h"
#include "reading.h"

/* ---- one file, from memory ---- */

static const npgnn_load_options raw = {.size = sizeof raw, .encoding = "raw"};
static const npgnn_load_options *reading; /* how read_graph reads; NULL: the defaults */

static int read_graph(npgnn_graph **out, const char *text, const npgnn_env *env, npgnn_error *err)
{
    npi_edge_list edges = npi_edges_start(env, reading);
    npi_table table = {0};
    npi_stream *stream = NULL;
    int code = npi_stream_open_memory(&stream, "g", text, strlen(text), env, err);
    if (code == 0)
        code = npi_edges_read_any(&edges, &table, stream, err);
    if (code == 0)
        code = npi_edges_to_graph(out, &edges, "g", table.x.ptr ? &table : NULL, NULL, env, err);
    else
        npi_table_free(env, &table);
    npi_edges_free(&edges);
    npi_stream_close(stream);
    return code;
}

static npgnn_graph *graph_of(const char *text)
{
    npgnn_env env = test_env();
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(read_graph(&graph, text, &env, &err), err);
    return graph;
}

static void refused(const char *text, int64_t line, const char *why)
{
    npgnn_env env = test_env();
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    int code = read_graph(&graph, text, &env, &err);
    assert_null(graph);
    says(err.text, why);
    assert_int_equal(code, NPGNN_E_FORMAT);
    assert_int_equal(err.line, line);
}

/* Lets 0, 1, 2... allocations succeed: E_MEMORY until there are enough, and no leaks. */
static void starve_text(const char *text)
{
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code != 0; allow++) {
        meter m = {.allow = allow};
        npgnn_env given = metered_env(&m), env = npi_env_resolve(&given);
        npgnn_graph *graph = NULL;
        assert_true(allow < 1000);
        code = read_graph(&graph, text, &env, NULL);
        assert_true(code == NPGNN_E_MEMORY || code == 0);
        npgnn_graph_free(graph);
        assert_int_equal(m.blocks, 0);
    }
}

/* Every prefix, and every byte changed: an error or a graph, no crash. */
static void damage_text(const char *text)
{
    size_t size = strlen(text);
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    for (size_t at = 0; at < 2 * size; at++) {
        meter m = {.allow = -1};
        npgnn_env given = metered_env(&m), env = npi_env_resolve(&given);
        npgnn_graph *graph = NULL;
        memcpy(copy, text, size + 1);
        if (at < size)
            copy[at] = '\0';
        else
            copy[at - size] ^= 0x15;
        int code = read_graph(&graph, copy, &env, NULL);
        assert_true(code == 0 || code == NPGNN_E_FORMAT || code == NPGNN_E_MISMATCH);
        npgnn_graph_free(graph);
        assert_int_equal(m.blocks, 0);
        assert_false(m.refused);
    }
    free(copy);
}

/* ---- GraphML ---- */

#define XML "<?xml version='1.0' encoding='utf-8'?>\n<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>\n"

static const char people[] = XML "<key id='d0' for='node' attr.name='age' attr.type='int'><default>30</default></key>\n"
                                 "<key id='d1' for='node' attr.name='tall' attr.type='boolean'/>\n"
                                 "<key id='d2' for='node' attr.name='class' attr.type='string'/>\n"
                                 "<key id='d3' for='node' attr.name='nick' attr.type='string'/>\n"
                                 "<key id='d4' for='edge' attr.name='weight' attr.type='double'/>\n"
                                 "<graph id='G' edgedefault='directed'>\n"
                                 "<edge source='ann' target='c&amp;d'><data key='d4'>2.5</data></edge>\n"
                                 "<node id='bob'><data key='d0'> 41 </data><data key='d3'>b</data></node>\n"
                                 "<node id='ann'><data key='d2'>red</data><data key='d1'>true</data></node>\n"
                                 "<node id='c&amp;d'><data key='d2'>blue</data><data key='d0'>0</data></node>\n"
                                 "<edge source='bob' target='ann'/>\n"
                                 "</graph></graphml>\n";

/* Numbers as they are. */
static void test_graphml(void **state)
{
    reading = &raw;
    npgnn_graph *graph = graph_of(people);
    (void)state;
    has(graph, 3, 2, 2);
    int32_t ann = npgnn_graph_find(graph, "ann"), bob = npgnn_graph_find(graph, "bob");
    int32_t last = npgnn_graph_find(graph, "c&d");
    assert_true(ann == 0 && bob == 1);
    assert_true(npgnn_graph_has_edge(graph, ann, last) && npgnn_graph_has_edge(graph, ann, bob));
    assert_string_equal(npgnn_graph_column_name(graph, 0), "age");
    assert_string_equal(npgnn_graph_column_name(graph, 1), "tall");
    assert_true(feature(graph, bob, 0) == 41 && feature(graph, ann, 0) == 30 && feature(graph, last, 0) == 0);
    assert_true(feature(graph, bob, 1) == 0 && feature(graph, ann, 1) == 1);
    assert_int_equal(npgnn_graph_label(graph, bob), -1);
    assert_int_equal(npgnn_graph_label(graph, ann), 1); /* blue, red */
    assert_int_equal(npgnn_graph_label(graph, last), 0);
    says(notices, "ignoring node attributes that are not numbers: 1");
    says(notices, "ignoring directions: 2 links, 0 of them given in both");
    npgnn_graph_free(graph);
    starve_text(people);
    damage_text(people);
    reading = NULL;
}

/* The attributes are a table, with the kinds and the encoding that a CSV file of the same cells has. */
static void test_graphml_table(void **state)
{
    char text[4096] =
        XML "<key id='a' for='node' attr.name='age' attr.type='int'/>"
            "<key id='t' for='node' attr.name='town' attr.type='string'><default>Oslo</default></key>"
            "<key id='f' for='node' attr.name='id' attr.type='boolean'/>"
            "<key id='s' for='node' attr.name='since' attr.type='string'/>\n<graph edgedefault='undirected'>";
    char table[1024] = "node,age,town,id,since\n", edges[256] = "", features_path[4096], edges_path[4096];
    npgnn_graph *same = NULL;
    npgnn_error err = {0};
    npgnn_table_column column;
    (void)state;
    for (int i = 0; i < 8; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "<node id='n%d'>", i);
        if (i != 3) /* one age is missing */
            snprintf(text + strlen(text), sizeof text - strlen(text), "<data key='a'>%d</data>", 20 + 7 * i % 30);
        if (i % 2)
            snprintf(text + strlen(text), sizeof text - strlen(text), "<data key='t'>Rome</data>");
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "<data key='f'>%s</data><data key='s'>2020-0%d-11</data></node>\n<edge source='n%d' target='n%d'/>",
                 i % 3 ? "true" : "false", i + 1, i, (i + 1) % 8);
        used = strlen(table);
        if (i == 3)
            snprintf(table + used, sizeof table - used, "n%d,,Rome,false,2020-0%d-11\n", i, i + 1);
        else
            snprintf(table + used, sizeof table - used, "n%d,%d,%s,%s,2020-0%d-11\n", i, 20 + 7 * i % 30,
                     i % 2 ? "Rome" : "Oslo", i % 3 ? "true" : "false", i + 1);
        snprintf(edges + strlen(edges), sizeof edges - strlen(edges), "n%d,n%d\n", i, (i + 1) % 8);
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), "</graph></graphml>");
    npgnn_graph *graph = graph_of(text);
    npgnn_load_options options = {.size = sizeof options,
                                  .edges = write_text(edges_path, "e.csv", edges),
                                  .features = write_text(features_path, "x.csv", table),
                                  .id = "node"};
    assert_ok(npgnn_load(&same, NULL, &options, NULL, &err), err);
    static const char *const kinds[] = {"number", "category", "flag", "date"};
    for (int i = 0; i < 4; i++) {
        assert_true(npgnn_graph_table(&column, graph, i));
        assert_string_equal(column.kind, kinds[i]);
    }
    assert_int_equal(npi_graph_fingerprint(graph), npi_graph_fingerprint(same));
    npgnn_graph_free(graph);
    npgnn_graph_free(same);
    starve_text(text);
    /* attributes that nodes do not have must not take memory: 2,000 x 2,000 of them */
    enum { WIDE = 400000 };
    char *wide = malloc(WIDE);
    assert_non_null(wide);
    size_t used = (size_t)snprintf(wide, WIDE, "<graphml>");
    for (int i = 0; i < 2000; i++)
        used += (size_t)snprintf(wide + used, WIDE - used, "<key id='%d' for='node' attr.type='int'/>", i);
    used += (size_t)snprintf(wide + used, WIDE - used, "<graph>");
    for (int i = 0; i < 2000; i++)
        used += (size_t)snprintf(wide + used, WIDE - used, "<node id='%d'/>", i);
    snprintf(wide + used, WIDE - used, "</graph></graphml>");
    npgnn_env env = test_env();
    graph = NULL;
    assert_int_equal(read_graph(&graph, wide, &env, &err), NPGNN_E_FORMAT);
    says(err.text, "are too many for");
    free(wide);
}

/* A default is in the file once, and counts for every node: 1,000 keys with a default of 1,000 bytes and 1,000 nodes
 * would be a gigabyte. Short defaults, as files have them, are repeated. */
static void test_graphml_defaults(void **state)
{
    enum { KEYS = 1000, LONG = 1000, SIZE = 2 << 20 };
    char *text = malloc(SIZE), value[LONG + 1];
    meter m = {.allow = -1};
    npgnn_env given = metered_env(&m), env = npi_env_resolve(&given);
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    (void)state;
    assert_non_null(text);
    memset(value, 'x', LONG);
    value[LONG] = '\0';
    for (int length = LONG; length >= 1; length -= LONG - 1) {
        size_t used = (size_t)snprintf(text, SIZE, "<graphml>");
        for (int i = 0; i < KEYS; i++)
            used += (size_t)snprintf(text + used, SIZE - used, "<key id='%d' for='node'><default>%.*s</default></key>",
                                     i, length, value);
        used += (size_t)snprintf(text + used, SIZE - used, "<graph>");
        for (int i = 0; i < KEYS; i++)
            used += (size_t)snprintf(text + used, SIZE - used, "<node id='%d'/>", i);
        snprintf(text + used, SIZE - used, "</graph></graphml>");
        int code = read_graph(&graph, text, &env, &err);
        if (length == 1) {
            assert_ok(code, err);
            assert_int_equal(graph->n, KEYS);
            npgnn_graph_free(graph);
        } else {
            assert_int_equal(code, NPGNN_E_FORMAT);
            says(err.text, "take more than 16 times the bytes of the file");
        }
        assert_false(m.refused);
        assert_int_equal(m.blocks, 0);
    }
    free(text);
}

static char *keys_and_nodes(size_t *size, int count)
{
    size_t most = (size_t)count * 64 + 64, used = 0;
    char *text = malloc(most);
    assert_non_null(text);
    used += (size_t)snprintf(text + used, most - used, "<graphml>");
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, most - used, "<key id='%d' for='edge'/>", i);
    used += (size_t)snprintf(text + used, most - used, "<graph>");
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, most - used, "<node id='%d'/>", i);
    used += (size_t)snprintf(text + used, most - used, "</graph></graphml>");
    *size = used;
    return text;
}

static void read_and_free(const char *text, size_t size)
{
    npgnn_env env = test_env();
    npgnn_graph *graph = NULL;
    (void)size;
    read_graph(&graph, text, &env, NULL);
    npgnn_graph_free(graph);
}

/* Keys that no node has: as many as nodes. */
static void test_graphml_is_linear(void **state)
{
    (void)state;
    assert_linear(keys_and_nodes, read_and_free, 4000);
}

static char *long_attribute(size_t *size, int count)
{
    size_t used = 0, most = (size_t)count + 100;
    char *text = malloc(most);
    assert_non_null(text);
    used += (size_t)snprintf(text, most, "<graphml><graph><node id='");
    memset(text + used, 'x', (size_t)count);
    used += (size_t)count;
    used += (size_t)snprintf(text + used, most - used, "'/></graph></graphml>");
    *size = used;
    return text;
}

/* An attribute that spans many blocks, which expat reads again and again: 64 MB took 69 seconds. */
static void test_long_attributes(void **state)
{
    size_t size;
    char *text = long_attribute(&size, 1 << 19);
    (void)state;
    npgnn_graph *graph = graph_of(text);
    assert_int_equal(graph->n, 1);
    npgnn_graph_free(graph);
    free(text);
    text = long_attribute(&size, 3 << 19);
    refused(text, 1, "a tag or comment is longer than 1048576 bytes");
    free(text);
}

/* A plain graph as networkx writes it: numbers as names, no attributes, isolated nodes. */
static void test_graphml_without_attributes(void **state)
{
    npgnn_graph *graph = graph_of(XML "<graph edgedefault='undirected'><node id='0'/><node id='1'/><node id='2'/>"
                                      "<edge source='0' target='2'/></graph></graphml>");
    (void)state;
    has(graph, 3, 1, 0);
    assert_null(graph->names);
    assert_string_equal(notices, "");
    npgnn_graph_free(graph);
}

/* What begins with '<' is GraphML, also after a comment, unless it is a line of triples. */
static void test_detected_graphml(void **state)
{
    (void)state;
    npgnn_graph *graph =
        graph_of("<!-- Two nodes.\n -->\n<graphml><graph><node id='a'/><node id='b'/></graph></graphml>");
    has(graph, 2, 0, 0);
    npgnn_graph_free(graph);
    refused("<a> <knows> <b> .\n<b> <knows> <c> .\n", 1, "N-Triples");
    refused("<a> <knows> <b> . \r\n<b> <knows> <c> .\r\n", 1, "N-Triples");
    refused("<a> <knows> <b>.\n<b> <knows> <c>.\n", 1, "N-Triples");
}

static void test_invalid_graphml(void **state)
{
    char deep[4096] = XML;
    (void)state;
    refused("<html><body/></html>", 1, "the first element is 'html'");
    refused(XML "<graph>\n<node id='a'>", 4, "invalid XML");
    refused(XML "<key id='k'/></graphml>", 3, "no graph in this file");
    refused(XML "<graph><node/></graph></graphml>", 3, "node without an id");
    refused(XML "<graph><node id='a'/>\n<node id='a'/></graph></graphml>", 4, "node 'a' occurs twice");
    refused(XML "<graph><edge source='a'/></graph></graphml>", 3, "an edge needs a source and a target");
    refused(XML "<graph><edge source='a' target=''/></graph></graphml>", 3, "an edge needs a source and a target");
    refused(XML "<graph><node id='a'><data key='k'>1</data></node></graph></graphml>", 3,
            "data of key 'k', which is not declared");
    refused(XML "<key for='node'/><graph/></graphml>", 3, "key without an id");
    refused(XML "<key id='k'/><key id='k'/><graph/></graphml>", 3, "key 'k' is declared twice");
    refused(XML "<graph><node id='a'><graph/></node></graph></graphml>", 3, "nested graph");
    refused(XML "<graph/><graph/></graphml>", 3, "second or nested graph");
    refused(XML "<graph><hyperedge/></graph></graphml>", 3, "hyperedges");
#define AGE "<key id='k' for='node' attr.name='age' attr.type='int'/><graph><node id='a'><data key='k'>"
    refused(XML AGE "old</data></node></graph></graphml>", 3, "value 'old' is not a number");
    refused(XML AGE "1e99</data></node></graph></graphml>", 3, "value '1e99' is not finite");
    refused(XML AGE "1</data><data key='k'>2</data></node></graph></graphml>", 3, "two values of 'k'");
    refused("<?xml version='1.0'?>\n<!DOCTYPE graphml [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]>\n<graphml>&b;</graphml>",
            2, "entity 'a': declarations of entities are not allowed");
    /* entities of a DTD in another file, which is not read: they vanished. The document type itself is allowed. */
#define DTD "<!DOCTYPE graphml SYSTEM 'http://graphml.graphdrawing.org/dtds/graphml.dtd'>\n<graphml>"
    refused(DTD "<key id='k' for='node'/><graph>\n<node id='a'><data key='k'>x&who;</data></node></graph></graphml>", 3,
            "entity 'who' is not declared in this file");
    refused(DTD "<graph>\n<node id='a&amp;&#98;&who;'/></graph></graphml>", 3,
            "entity 'who' is not declared in this file");
    refused("<!DOCTYPE graphml [%more;]>\n<graphml><graph><node id='&who;'/></graph></graphml>", 2,
            "entity 'who' is not declared in this file");
    npgnn_graph *graph = graph_of(DTD "<graph><node id='&lt;a&amp;&#98;&quot;'/></graph></graphml>");
    assert_string_equal(npgnn_graph_name(graph, 0, deep), "<a&b\"");
    npgnn_graph_free(graph);
    memcpy(deep, XML, sizeof XML);
    for (int i = 0; i < 40; i++)
        memcpy(deep + strlen(deep), "<d>", 4);
    refused(deep, 3, "elements are nested more than");
}

/* ---- JSON ---- */

static void test_json_edges(void **state)
{
    static const char text[] = "{\"source\": \"a\", \"target\": \"b\"}\n\n"
                               "{\"weight\": 2.5, \"target\": 7, \"source\": \"b\", \"year\": [1]}\n";
    npgnn_graph *graph = graph_of(text);
    (void)state;
    has(graph, 3, 2, 0);
    int32_t b = npgnn_graph_find(graph, "b");
    assert_true(npgnn_graph_has_edge(graph, npgnn_graph_find(graph, "a"), b));
    assert_true(npgnn_graph_has_edge(graph, npgnn_graph_find(graph, "7"), b));
    npgnn_graph_free(graph);
    graph = graph_of("{\"u\": 0, \"v\": 1}\n{\"u\": 1, \"v\": 2}\n{\"u\": 2, \"v\": 1}\n");
    has(graph, 3, 2, 0);
    assert_null(graph->names);
    says(notices, "ignoring directions: 2 links, 1 of them given in both");
    npgnn_graph_free(graph);
    starve_text(text);
    damage_text(text);
}

static void test_invalid_json_edges(void **state)
{
    (void)state;
    refused("{\"source\": 1}", 1, "an edge needs a source and a target");
    refused("{\"source\": 1, \"target\": 2}\n{\"source\": 1.5, \"target\": 2}", 2, "each a string or an integer");
    refused("{\"source\": \"\", \"target\": 2}", 1, "an edge needs a source and a target");
    refused("{\"source\": \"a\\u0000\", \"target\": 2}", 1, "expected a JSON object with one edge per line");
    refused("{\"source\": 1, \"target\": 2, \"weight\": \"x\"}", 1, "the weight must be a number");
    refused("{\"source\": 1, \"target\": 2\n}", 1, "expected a JSON object with one edge per line");
    refused("{\"source\": 1, \"target\": 2}\n[1, 2]", 2,
            "expected a JSON object with one edge per line: this is another JSON value");
    refused("{\"source\": 1, \"source\": 2, \"target\": 2}", 1, "duplicate");
}

static void test_json_features(void **state)
{
    npgnn_graph *graph = good("0,1\n1,2\n", "x.json", "{\"0\": [1, 0], \"1\": [], \"2\": [3]}");
    (void)state;
    has(graph, 3, 2, 4);
    assert_true(feature(graph, 0, 0) == 1 && feature(graph, 0, 1) == 1 && feature(graph, 2, 3) == 1);
    assert_true(feature(graph, 1, 0) == 0);
    npgnn_graph_free(graph);
    bad("0,1\n", "x.json", "{\"0\": [1,", NPGNN_E_FORMAT, "x.json", 1, "expected features as one JSON object");
    bad("0,1\n", "x.json", "{\"0\": 1}", NPGNN_E_FORMAT, "x.json", 0, "node '0': expected a list");
    bad("0,1\n", "x.json", "{\"0\": [-1]}", NPGNN_E_FORMAT, "x.json", 0,
        "feature columns must be integers from 0 to 2^31 - 2");
    bad("0,1\n", "x.json", "{\"0\": [0.5]}", NPGNN_E_FORMAT, "x.json", 0,
        "feature columns must be integers from 0 to 2^31 - 2");
    bad("0,1\n", "x.json", "{\"0\": [1, 1]}", NPGNN_E_FORMAT, "x.json", 0, "node '0': column 1 occurs twice");
    bad("0,1\n", "x.json", "{\"0\": [2000000000]}", NPGNN_E_FORMAT, "x.json", 0, "elements");
    bad("0,1\n", "x.json", "{\"0\": [1], \"0\": [2]}", NPGNN_E_FORMAT, "x.json", 1, "duplicate");
}

/* ---- file sets ---- */

static npgnn_graph *load(const char *data)
{
    npgnn_env env = test_env();
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_load(&graph, data, NULL, &env, &err), err);
    return graph;
}

static void not_loaded(const char *data, int code, const char *why)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    int got = npgnn_load(&graph, data, NULL, NULL, &err);
    says(err.text, why);
    assert_int_equal(got, code);
    assert_null(graph);
}

static void test_linqs(void **state)
{
    char path[4096];
    (void)state;
    write_text(path, "cora.content", "31336\t0\t1\tNeural_Networks\n1061127\t1\t0\tRule_Learning\n");
    write_text(path, "cora.cites", "31336\t1061127\n31336\tlost\n");
    for (int i = 0; i < 2; i++) {
        npgnn_graph *graph = load(i ? in_folder(path, "cora") : folder);
        has(graph, 3, 2, 2);
        assert_int_equal(npgnn_graph_find(graph, "lost"), 2);
        assert_int_equal(npgnn_graph_label(graph, 0), 0);
        assert_int_equal(npgnn_graph_label(graph, 1), 1);
        assert_int_equal(npgnn_graph_label(graph, 2), -1);
        says(notices, "without a feature row: 1");
        npgnn_graph_free(graph);
    }
    write_text(path, "other.content", "");
    not_loaded(folder, NPGNN_E_FORMAT, "this folder has several graphs");
}

static void test_musae(void **state)
{
    char path[4096];
    (void)state;
    write_text(path, "musae_x_edges.csv", "id_1,id_2\n0,1\n1,2\n");
    write_text(path, "musae_x_features.json", "{\"0\": [1], \"1\": [0, 1], \"2\": []}");
    write_text(path, "musae_x_target.csv", "id,page,name\n0,\"one, two\",tv\n1,z,tv\n2,z,company\n");
    npgnn_graph *graph = load(folder);
    has(graph, 3, 2, 2);
    assert_int_equal(npgnn_graph_label(graph, 1), 1);
    assert_int_equal(npgnn_graph_label(graph, 2), 0); /* classes are in the order of their names */
    npgnn_graph_free(graph);
    write_text(path, "musae_x_target.csv", "id,partner,new_id\n99,False,2\n98,True,1\n97,False,0\n");
    graph = load(in_folder(path, "musae_x"));
    assert_int_equal(npgnn_graph_label(graph, 0), 0);
    assert_int_equal(npgnn_graph_label(graph, 1), 1);
    npgnn_graph_free(graph);
    starve(folder);
}

static void write_gzip(const char *name, const char *text)
{
    char path[4096];
    gzFile file = gzopen(in_folder(path, name), "wb");
    assert_non_null(file);
    assert_int_equal(gzputs(file, text), (int)strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

static void test_ogb(void **state)
{
    char path[4096];
    (void)state;
    assert_int_equal(mkdir(in_folder(path, "raw"), 0700), 0);
    write_gzip("raw/edge.csv.gz", "0,1\n1,2\n");
    write_gzip("raw/num-node-list.csv.gz", "4\n");
    npgnn_graph *graph = load(folder);
    has(graph, 4, 2, 0);
    npgnn_graph_free(graph);
    /* different integers, but not ids */
    write_gzip("raw/node-feat.csv.gz", "3,0.5\n2,0\n1,0\n0,7\n");
    write_gzip("raw/node-label.csv.gz", "5\nnan\n2\n5\n");
    graph = load(folder);
    has(graph, 4, 2, 2);
    assert_true(feature(graph, 0, 0) == 3 && feature(graph, 3, 1) == 7);
    assert_null(graph->names);
    assert_int_equal(npgnn_graph_label(graph, 0), 5);
    assert_int_equal(npgnn_graph_label(graph, 1), -1);
    npgnn_graph_free(graph);
    starve(folder);
    graph = load(in_folder(path, "raw"));
    npgnn_graph_free(graph);
    write_gzip("raw/node-label.csv.gz", "5\n2\n");
    not_loaded(folder, NPGNN_E_MISMATCH, "2 labels for 4 nodes");
    write_gzip("raw/node-label.csv.gz", "5,1\n2,1\n");
    graph = load(folder);
    says(notices, "ignoring the labels: nodes have more than one");
    assert_null(graph->label);
    npgnn_graph_free(graph);
    write_gzip("raw/node-feat.csv.gz", "3,0.5\n");
    not_loaded(folder, NPGNN_E_MISMATCH, "feature rows");
    write_gzip("raw/num-node-list.csv.gz", "4\n4\n");
    not_loaded(folder, NPGNN_E_FORMAT, "several graphs");
    write_gzip("raw/num-node-list.csv.gz", "2147483646\n");
    not_loaded(folder, NPGNN_E_FORMAT, "too many for 2 elements");
    write_gzip("raw/num-node-list.csv.gz", "many\n");
    not_loaded(folder, NPGNN_E_FORMAT, "expected the number of nodes");
}

/* nodes.txt and columns.txt name the rows and columns of features without names. */
static void test_name_files(void **state)
{
    char path[4096];
    (void)state;
    write_text(path, "edges.tsv", "source\ttarget\nann\t\"b \"\n");
    write_text(path, "nodes.txt", "# who\n\"b \"\nann\n\"#3\"\n");
    npgnn_graph *graph = load(folder);
    has(graph, 3, 1, 0);
    assert_int_equal(npgnn_graph_find(graph, "b "), 0);
    assert_int_equal(npgnn_graph_find(graph, "#3"), 2);
    npgnn_graph_free(graph);
    write_text(path, "features.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 2 1\n2 1\n");
    write_text(path, "columns.txt", "one\ntwo words\n");
    graph = load(folder);
    has(graph, 3, 1, 2);
    assert_true(feature(graph, npgnn_graph_find(graph, "ann"), 0) == 1);
    assert_string_equal(npgnn_graph_column_name(graph, 1), "two words");
    npgnn_graph_free(graph);
    starve(folder);
    write_text(path, "columns.txt", "one\n");
    not_loaded(folder, NPGNN_E_MISMATCH, "columns.txt: 1 column names for 2 feature columns");
    write_text(path, "nodes.txt", "ann\nbob\nann\n");
    not_loaded(folder, NPGNN_E_FORMAT, "node 'ann' occurs twice");
    write_text(path, "nodes.txt", "ann\nbob\n");
    not_loaded(folder, NPGNN_E_MISMATCH, "nodes.txt: 2 node names for 3 feature rows");
    write_text(path, "features.csv", "id,w\nann,1\n");
    assert_int_equal(unlink(in_folder(path, "features.mtx")), 0);
    not_loaded(folder, NPGNN_E_MISMATCH, "the feature rows have ids already");
}

static void test_features_twice(void **state)
{
    char edges[4096], features[4096];
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    (void)state;
    npgnn_load_options options = {.size = sizeof options,
                                  .features = write_text(features, "x.csv", "id,w\nann,1\nbob,2\nc&d,3\n")};
    write_text(edges, "g.graphml", people);
    npgnn_env env = test_env();
    assert_ok(npgnn_load(&graph, edges, &options, &env, &err), err);
    says(notices, "used instead of the features and labels in the file of the edges");
    assert_int_equal(npgnn_graph_nodes(graph), 3);
    assert_string_equal(npgnn_graph_column_name(graph, 0), "w");
    npgnn_graph_free(graph);
    graph = NULL;
    write_text(edges, "g.graphml", XML "<graph><node id='ann'/><edge source='ann' target='bob'/></graph></graphml>");
    assert_ok(npgnn_load(&graph, edges, &options, NULL, &err), err);
    has(graph, 3, 1, 1);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphml),
        IN_FOLDER(test_graphml_table),
        cmocka_unit_test(test_graphml_without_attributes),
        cmocka_unit_test(test_graphml_defaults),
        cmocka_unit_test(test_graphml_is_linear),
        cmocka_unit_test(test_long_attributes),
        cmocka_unit_test(test_detected_graphml),
        cmocka_unit_test(test_invalid_graphml),
        cmocka_unit_test(test_json_edges),
        cmocka_unit_test(test_invalid_json_edges),
        cmocka_unit_test(test_json_features),
        IN_FOLDER(test_linqs),
        IN_FOLDER(test_musae),
        IN_FOLDER(test_ogb),
        IN_FOLDER(test_name_files),
        IN_FOLDER(test_features_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
