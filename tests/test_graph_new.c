/* Graphs from memory: a table gives the same features as its CSV file does, names, weights, times and sides arrive,
 * and what is wrong is named. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <math.h>

#include "graph/graph.h"
#include "reading.h"

enum { N = 6 };
static const char *const names[N] = {"anna", "bert", "carl", "dora", "emil", "fay"};
static const npgnn_pair ring[N] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}};
static const double ages[N] = {31, 0.1, (double)NAN, 1e9, -4.5, 1.0 / 3};
static const double members[N] = {1, 0, 0, 1, 1, 0};
static const char *const cities[N] = {"Rome", "Paris, Texas", NULL, "Rome", "Rome", "Paris, Texas"};
static const char *const joined[N] = {"2020-01-02", "2021-02-03", "2020-01-02", NULL, "2019-12-31", "2020-06-01"};
static const npgnn_column table[4] = {{"age", NULL, ages, NULL, 0},
                                      {"member", NULL, members, NULL, 0},
                                      {"city", "category", NULL, cities, 0},
                                      {"joined", NULL, NULL, joined, 0}};

static npgnn_graph_data people(void)
{
    return (npgnn_graph_data){.size = sizeof(npgnn_graph_data),
                              .nodes = N,
                              .names = names,
                              .edges = ring,
                              .edge_count = N,
                              .table = table,
                              .table_columns = 4};
}

static npgnn_graph *make(const npgnn_graph_data *data)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_env env = test_env();
    assert_ok(npgnn_graph_new(&graph, data, &env, &err), err);
    return graph;
}

static void refuse(const npgnn_graph_data *data, int code, const char *text)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    int got = npgnn_graph_new(&graph, data, NULL, &err);
    says(err.text, text);
    assert_int_equal(got, code);
    assert_null(graph);
}

/* The same table as a file: the same features to the bit, the same names and the same encoding apart from the id. */
static void test_same_as_file(void **state)
{
    char edges[4096], features[4096];
    static const char *const kinds[] = {"city:category"};
    npgnn_load_options how = {.size = sizeof how,
                              .edges = write_text(edges, "edges.csv",
                                                  "anna,bert\nbert,carl\ncarl,dora\ndora,emil\n"
                                                  "emil,fay\nfay,anna\n"),
                              .features = write_text(features, "nodes.csv",
                                                     "id,age,member,city,joined\nanna,31,1,Rome,2020-01-02\n"
                                                     "bert,0.1,0,\"Paris, Texas\",2021-02-03\ncarl,,0,,2020-01-02\n"
                                                     "dora,1000000000,1,Rome,\nemil,-4.5,1,Rome,2019-12-31\n"
                                                     "fay,0.3333333333333333,0,\"Paris, Texas\",2020-06-01\n"),
                              .kinds = kinds,
                              .kind_count = 1};
    npgnn_graph *file = NULL;
    npgnn_error err = {0};
    (void)state;
    assert_ok(npgnn_load(&file, NULL, &how, NULL, &err), err);
    npgnn_graph_data data = people();
    npgnn_graph *graph = make(&data);
    assert_int_equal(npi_graph_fingerprint(graph), npi_graph_fingerprint(file));
    assert_int_equal(graph->x->f, file->x->f);
    assert_true(graph->x->f >= 8);
    for (int32_t c = 0; c < graph->x->f; c++)
        assert_string_equal(npgnn_graph_column_name(graph, c), npgnn_graph_column_name(file, c));
    for (int32_t i = 0; i < N; i++)
        assert_int_equal(npgnn_graph_find(graph, names[i]), i);

    /* by the encoding of the file, in which the columns may have any order */
    npgnn_column turned[4] = {table[3], table[2], table[1], table[0]};
    data.table = turned;
    data.encoding = npgnn_graph_encoding(file);
    npgnn_graph *again = make(&data);
    assert_int_equal(npi_graph_fingerprint(again), npi_graph_fingerprint(file));
    npgnn_graph_free(again);
    /* a node that only links have gets zeros, as one that is not in the file */
    how.features = write_text(features, "fewer.csv", "id,age\nanna,31\nbert,0.1\ncarl,5\ndora,6\nemil,7\n");
    how.kind_count = 0;
    npgnn_graph *fewer = NULL;
    assert_ok(npgnn_load(&fewer, NULL, &how, NULL, &err), err);
    static const double five[5] = {31, 0.1, 5, 6, 7};
    npgnn_column age = {"age", NULL, five, NULL, 0};
    npgnn_graph_data part = people();
    part.table = &age;
    part.table_columns = 1;
    part.table_rows[0] = 5;
    again = make(&part);
    assert_int_equal(npi_graph_fingerprint(again), npi_graph_fingerprint(fewer));
    npgnn_graph_free(again);
    /* the same rows in another order */
    static const double moved[5] = {6, 31, 7, 0.1, 5};
    static const int32_t node[5] = {3, 0, 4, 1, 2}, twice[5] = {3, 0, 4, 1, 3};
    age.numbers = moved;
    part.table_nodes[0] = node;
    again = make(&part);
    assert_int_equal(npi_graph_fingerprint(again), npi_graph_fingerprint(fewer));
    npgnn_graph_free(again);
    part.table_nodes[0] = twice;
    refuse(&part, NPGNN_E_ARGUMENT, "nodes:5: the row is that of node 3, which is that of another row too");
    part.table_nodes[0] = NULL;
    npgnn_graph_free(fewer);
    part.table_rows[0] = 7;
    refuse(&part, NPGNN_E_ARGUMENT, "the table has 7 rows, but there are 6 nodes");
    data.table_columns = 3; /* without age */
    refuse(&data, NPGNN_E_MISMATCH, "column 'age' of the training is missing");
    npgnn_graph_free(graph);
    npgnn_graph_free(file);
}

static void test_matrices(void **state)
{
    static const float dense[N * 2] = {0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0};
    static const int64_t ptr[N + 1] = {0, 1, 1, 1, 2, 2, 2};
    static const int32_t col[2] = {1, 0};
    static const float val[2] = {2, 3};
    static const char *const columns[2] = {"red", "blue"};
    (void)state;
    npgnn_graph_data data = people();
    data.table_columns = 0;
    data.columns = 2;
    data.column_names = columns;
    data.features = dense;
    data.binarize = 1;
    npgnn_graph *graph = make(&data);
    assert_true(feature(graph, 0, 1) == 1 && feature(graph, 3, 0) == 1 && feature(graph, 3, 1) == 0);
    assert_string_equal(npgnn_graph_column_name(graph, 1), "blue");
    int32_t columns_of[2] = {-1, -1};
    float values_of[2] = {0, 0};
    assert_int_equal(npgnn_graph_features(columns_of, values_of, graph, 3), 1);
    assert_true(columns_of[0] == 0 && values_of[0] == 1 && columns_of[1] == -1);
    assert_int_equal(npgnn_graph_features(NULL, NULL, graph, 1), 0);
    data.features = NULL;
    data.ptr = ptr;
    data.col = col;
    data.val = val;
    npgnn_graph *sparse = make(&data);
    assert_int_equal(npi_graph_fingerprint(sparse), npi_graph_fingerprint(graph));
    npgnn_graph_free(sparse);
    npgnn_graph_free(graph);
}

static void test_links(void **state)
{
    static const float weights[N] = {1, 2, 3, 4, 5, 6};
    static const double times[N] = {10, 20, 30, 40, 50, 60};
    static const npgnn_pair sorted[N] = {{0, 1}, {0, 5}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
    npgnn_pair edges[N];
    float found[N];
    double when[N];
    (void)state;
    npgnn_graph_data data = people();
    data.weights = weights;
    data.times = times;
    npgnn_graph *graph = make(&data);
    npgnn_graph_list(edges, found, when, graph);
    assert_memory_equal(edges, sorted, sizeof sorted);
    for (int e = 0; e < N; e++) {
        int given = e == 1 ? 5 : e > 1 ? e - 1 : 0;
        assert_true(found[e] == weights[given] && when[e] == times[given]);
    }
    npgnn_graph_free(graph);
    data.weights = NULL;
    data.times = NULL;
    graph = make(&data);
    npgnn_graph_list(edges, found, when, graph);
    assert_true(found[5] == 1 && isnan(when[5]));
    npgnn_graph_list(edges, NULL, NULL, graph);
    npgnn_graph_free(graph);
}

static void test_other_links(void **state)
{
    static const float weights[N] = {1, 2, 3, 4, 5, 6};
    static const npgnn_pair other[2] = {{1, 0}, {2, 5}};
    static const npgnn_pair outside = {0, N};
    npgnn_graph *less = NULL, *none = NULL;
    npgnn_error err = {0};
    (void)state;
    npgnn_graph_data data = people();
    data.weights = weights;
    npgnn_graph *graph = make(&data);
    assert_ok(npgnn_graph_with_edges(&less, graph, other, 2, &err), err);
    has(less, N, 2, graph->x->f);
    assert_true(npgnn_graph_weight(less, 0, 1) == 1 && npgnn_graph_weight(less, 2, 5) == 1);
    assert_ptr_equal(less->x, graph->x);
    assert_int_equal(npgnn_graph_find(less, "fay"), 5);
    assert_int_equal(npgnn_graph_with_edges(&none, graph, &outside, 1, &err), NPGNN_E_ARGUMENT);
    says(err.text, "edge 0 joins nodes 0 and 6, which are not in this graph");
    npgnn_graph_free(less);
    npgnn_graph_free(graph);
}

static void test_sides(void **state)
{
    static const npgnn_pair bought[3] = {{0, 4}, {1, 4}, {5, 2}};
    static const double prices[2] = {3, 4};
    npgnn_column columns[2] = {{"age", NULL, ages, NULL, 0}, {"price", "raw", prices, NULL, 1}};
    (void)state;
    npgnn_graph_data data = {.size = sizeof data, .nodes = 6, .sources = 4, .edges = bought, .edge_count = 3};
    data.table = columns;
    data.table_columns = 2;
    npgnn_graph *graph = make(&data);
    int32_t dense_columns[8];
    float dense_values[8];
    assert_non_null(graph->x->dense);
    int32_t count = npgnn_graph_features(dense_columns, dense_values, graph, 4);
    assert_true(count > 0 && dense_columns[count - 1] == graph->x->f - 1 && dense_values[count - 1] == 3);
    assert_int_equal(npgnn_graph_side(graph, 3), 0);
    assert_int_equal(npgnn_graph_side(graph, 4), 1);
    int32_t last = graph->x->f - 1; /* the price, which sources do not have */
    assert_true(feature(graph, 4, last) == 3 && feature(graph, 5, last) == 4 && feature(graph, 0, last) == 0);
    npgnn_graph_free(graph);

    static const npgnn_pair wrong = {0, 1};
    data.edges = &wrong;
    data.edge_count = 1;
    refuse(&data, NPGNN_E_ARGUMENT, "edge 0 joins nodes 0 and 1, which are on the same side");
    data.sources = 7;
    refuse(&data, NPGNN_E_ARGUMENT, "7 sources, but there are 6 nodes");
}

static void test_refusals(void **state)
{
    static const char *const twice[N] = {"anna", "bert", "carl", "dora", "emil", "anna"};
    static const char *const words[N] = {"1", "2", "x", "4", "5", "6"};
    static const double infinite[N] = {0, 1, 2, (double)INFINITY, 4, 5};
    static const float zero[N] = {1, 1, 0, 1, 1, 1};
    static const npgnn_pair outside = {0, N};
    npgnn_column bad = {"age", "number", NULL, words, 0};
    (void)state;
    npgnn_graph_data data = people();
    data.names = twice;
    refuse(&data, NPGNN_E_ARGUMENT, "nodes 0 and 5 have the same name 'anna'");
    data = people();
    data.edges = &outside;
    data.edge_count = 1;
    refuse(&data, NPGNN_E_ARGUMENT, "edge 0 joins nodes 0 and 6, but nodes are numbered 0 to 5");
    data = people();
    data.weights = zero;
    refuse(&data, NPGNN_E_ARGUMENT, "the weight 0 of edge 2");
    data = people();
    data.features = zero;
    refuse(&data, NPGNN_E_ARGUMENT, "give only one of them");
    data = people();
    data.table = &bad;
    data.table_columns = 1;
    refuse(&data, NPGNN_E_FORMAT, "nodes:3: 'x' in column 'age' is not a number");
    data.skip_bad_cells = 1;
    npgnn_graph *graph = make(&data);
    npgnn_graph_free(graph);
    bad.kind = "integer";
    refuse(&data, NPGNN_E_ARGUMENT, "column 'age': 'integer' is not a kind");
    bad = (npgnn_column){"age", NULL, infinite, NULL, 0};
    refuse(&data, NPGNN_E_ARGUMENT, "nodes:4: the number in column 'age' is not finite");
    for (int side = 0; side < 2; side++) {
        npgnn_graph_data sides = people();
        sides.sources = N / 2;
        sides.edge_count = 0;
        bad.side = side;
        bad.numbers = infinite + (side ? 1 : 3);
        sides.table = &bad;
        sides.table_columns = 1;
        refuse(&sides, NPGNN_E_ARGUMENT,
               side ? "targets:3: the number in column 'age'" : "sources:1: the number in column 'age'");
    }
    bad = (npgnn_column){"age", NULL, NULL, NULL, 0};
    refuse(&data, NPGNN_E_ARGUMENT, "column 'age' must have either numbers or texts");
    bad = (npgnn_column){"age", NULL, ages, NULL, 1};
    refuse(&data, NPGNN_E_ARGUMENT, "column 'age' is of side 1, but the graph is one-sided");
}

static void test_column_names(void **state)
{
    (void)state;
    assert_true(npgnn_names_are_ends("user_id", "item_id") && npgnn_names_are_ends("from", "to"));
    assert_false(npgnn_names_are_ends("link_id", "weight"));
    assert_true(npgnn_names_are_two_kinds("user_id", "item_id") && !npgnn_names_are_two_kinds("from", "to"));
    static const char *const two[][2] = {{"users", "items"},  {"uid", "iid"},        {"course_id", "student_no"},
                                         {"gene", "disease"}, {"business", "users"}, {"visitorid", "itemid"}};
    static const char *const one[][2] = {
        {"u", "v"}, {"i", "j"}, {"gene", "genes"}, {"user_id", "member_id"}, {"s", "s"}};
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
        assert_true(npgnn_names_are_two_kinds(two[i][0], two[i][1]));
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++)
        assert_false(npgnn_names_are_two_kinds(one[i][0], one[i][1]));
    assert_true(npgnn_name_is_id("member_id") && !npgnn_name_is_id("age"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_same_as_file),        cmocka_unit_test(test_matrices), cmocka_unit_test(test_links),
        cmocka_unit_test(test_other_links),  cmocka_unit_test(test_sides),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_column_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
