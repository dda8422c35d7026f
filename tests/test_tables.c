/* Tables of text: what the columns are taken for, what they become, and that an encoding does the same again. Links
 * with times, graphs with two sides. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/date.h"
#include "features/match.h"
#include "graph/negative.h"
#include "graph/split.h"
#include "io/header.h"
#include "linear.h"
#include "reading.h"

static npgnn_graph *load(const char *edges, const char *features, npgnn_load_options options)
{
    static char edges_path[4096], features_path[4096];
    npgnn_env env = test_env();
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    options.size = sizeof options;
    options.edges = write_text(edges_path, "edges.csv", edges);
    if (features)
        options.features = write_text(features_path, "x.csv", features);
    assert_ok(npgnn_load(&graph, NULL, &options, &env, &err), err);
    return graph;
}

static void refuse(const char *edges, const char *features, npgnn_load_options options, int code, const char *text)
{
    char edges_path[4096], features_path[4096];
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    options.size = sizeof options;
    options.edges = write_text(edges_path, "edges.csv", edges);
    if (features)
        options.features = write_text(features_path, "x.csv", features);
    assert_int_equal(npgnn_load(&graph, NULL, &options, NULL, &err), code);
    assert_null(graph);
    says(err.text, text);
}

static npgnn_table_column column_of(const npgnn_graph *graph, const char *name)
{
    npgnn_table_column column;
    for (int32_t i = 0; npgnn_graph_table(&column, graph, i); i++)
        if (column.name && strcmp(column.name, name) == 0)
            return column;
    fail_msg("no column %s", name);
    return column;
}

static const char ring[] = "source,target\na,b\nb,c\nc,d\nd,e\ne,a\n";
static const npgnn_load_options none;

/* ---- kinds ---- */

static void test_kinds(void **state)
{
    static const char table[] = "id,age,town,member,since,about,code,mail,same\n"
                                "a,30,Rome,yes,2020-01-31,likes red wine and cheese,00123,a@x,7\n"
                                "b,,Rome,no,2021-02-28,likes beer and no wine,00124,b@x,7\n"
                                "c,50,Oslo,yes,2022-12-01,\"likes, above all, \n\"\"cheese\"\"\",00123,c@x,7\n"
                                "d,1e9,Oslo,N/A,2020-06-15,reads about old films,00124,d@x,7\n"
                                "e,40,Bern,no,2019-03-03,reads about cheese a lot,00124,e@x,7\n";
    static const char *const kinds[][2] = {{"age", "number"},   {"town", "category"}, {"member", "flag"},
                                           {"since", "date"},   {"about", "text"},    {"code", "category"},
                                           {"mail", "ignored"}, {"same", "ignored"}};
    (void)state;
    npgnn_graph *graph = load(ring, table, none);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        assert_string_equal(column_of(graph, kinds[i][0]).kind, kinds[i][1]);
    says(notices, "'mail': all values differ");
    says(notices, "'same': it has the same value everywhere");

    npgnn_table_column age = column_of(graph, "age"), town = column_of(graph, "town"),
                       member = column_of(graph, "member");
    assert_int_equal(age.missing, 1);
    assert_int_equal(age.columns, 2); /* itself, and whether it is missing */
    assert_true(feature(graph, 1, age.first) == 0 && feature(graph, 1, age.first + 1) == 1);
    assert_true(feature(graph, 0, age.first) < 0 && feature(graph, 3, age.first) > 0);
    assert_true(feature(graph, 3, age.first) <= 1.5F); /* the outlier is clipped */
    assert_string_equal(npgnn_graph_column_name(graph, age.first + 1), "age=(missing)");
    /* Bern is rare: it is "other" */
    assert_int_equal(town.columns, 3);
    assert_string_equal(npgnn_graph_column_name(graph, town.first), "town=Oslo");
    assert_string_equal(npgnn_graph_column_name(graph, town.first + 2), "town=(other)");
    assert_true(feature(graph, 4, town.first + 2) == 1 && feature(graph, 0, town.first + 1) == 1);
    /* a flag that is missing is the share of ones, with a flag of its own */
    assert_true(feature(graph, 0, member.first) == 1 && feature(graph, 1, member.first) == 0);
    assert_true(feature(graph, 3, member.first) == 0.5F && feature(graph, 3, member.first + 1) == 1);
    /* the row of a text has length 1 */
    npgnn_table_column about = column_of(graph, "about");
    double square = 0;
    for (int32_t c = about.first; c < about.first + about.columns; c++)
        square += (double)feature(graph, 0, c) * (double)feature(graph, 0, c);
    assert_near(square, 1, 1e-6);
    npgnn_graph_free(graph);
}

/* Numbers are centred and scaled by quantiles; counts stay sparse; flags stay what they are. */
static void test_scales(void **state)
{
    static const char table[] = "id,x,count,bit\na,10,0,1\nb,20,0,0\nc,30,2,0\nd,40,0,1\ne,50,0,1\n";
    (void)state;
    npgnn_graph *graph = load(ring, table, none);
    int32_t x = column_of(graph, "x").first, count = column_of(graph, "count").first;
    assert_true(feature(graph, 2, x) == 0);
    assert_near((double)feature(graph, 0, x), -(double)feature(graph, 4, x), 1e-6);
    assert_near((double)feature(graph, 4, x), 20 / (2 * 40 / 2.563), 1e-6);
    assert_true(feature(graph, 0, count) == 0 && feature(graph, 2, count) == 1);
    assert_true(feature(graph, 0, column_of(graph, "bit").first) == 1);
    npgnn_graph_free(graph);
    /* the digits of a number with signs are no words */
    graph = load(ring, "id;x\na;1.234,50 $\nb;2.234,50 $\nc;3.234,50 $\nd;4.000,50 $\ne;5.000,50 $\n", none);
    assert_int_equal(graph->x->f, 0);
    says(notices, "values such as 1.234,50 $ are not numbers: remove units");
    npgnn_graph_free(graph);
    const char *const raw[] = {"*:raw"}, *const ignored[] = {"count"};
    graph =
        load(ring, table, (npgnn_load_options){.kinds = raw, .kind_count = 1, .ignored = ignored, .ignored_count = 1});
    assert_int_equal(graph->x->f, 2);
    assert_true(feature(graph, 1, 0) == 20);
    npgnn_graph_free(graph);
}

static void test_chosen_kinds(void **state)
{
    static const char table[] = "id,x,y\na,1,p\nb,2,q\nc,1,p\nd,2,q\ne,1,p\n";
    const char *const category[] = {"x:category"}, *const wrong[] = {"x"}, *const unknown[] = {"z:text"};
    (void)state;
    npgnn_graph *graph = load(ring, table, (npgnn_load_options){.kinds = category, .kind_count = 1});
    assert_string_equal(npgnn_graph_column_name(graph, 0), "x=1");
    npgnn_graph_free(graph);
    refuse(ring, table, (npgnn_load_options){.kinds = wrong, .kind_count = 1}, NPGNN_E_ARGUMENT, "is not COLUMN:KIND");
    refuse(ring, table, (npgnn_load_options){.kinds = unknown, .kind_count = 1}, NPGNN_E_ARGUMENT, "no column 'z'");
    refuse(ring, table, (npgnn_load_options){.ignored = wrong + 0, .ignored_count = 1, .id = "nobody"},
           NPGNN_E_ARGUMENT, "no column 'nobody'");
}

/* ---- ids and headers of tables ---- */

static void test_ids(void **state)
{
    static const char numbers[] = "0,1\n1,2\n2,3\n";
    (void)state;
    /* a name for ids decides, also with an id that occurs twice */
    refuse(numbers, "user_id,height\n2,0.9\n0,0.1\n1,0.5\n3,0.7\n1,0.5\n", none, NPGNN_E_FORMAT,
           "x.csv:6: node '1' occurs twice");
    npgnn_graph *graph =
        load(numbers, "user_id,height\n2,0.9\n0,0.1\n1,0.5\n3,0.7\n1,0.8\n", (npgnn_load_options){.skip_bad_rows = 1});
    says(notices, "skipped this row");
    assert_int_equal(npgnn_graph_nodes(graph), 4);
    assert_null(graph->names); /* nodes are numbered in the order of their ids, not of the rows */
    assert_int_equal(graph->x->f, 1);
    assert_true(feature(graph, 0, 0) < feature(graph, 1, 0) && feature(graph, 1, 0) < feature(graph, 3, 0));
    npgnn_graph_free(graph);
    /* numbers that are not the ids of edges are features */
    graph = load(numbers, "age,height\n31,1.5\n42,1.9\n53,1.7\n64,1.6\n", none);
    assert_int_equal(graph->x->f, 2);
    assert_null(graph->names);
    npgnn_graph_free(graph);
    /* and those that are, in another order, are ids */
    graph = load(numbers, "person,height\n3,1.5\n2,1.9\n1,1.7\n0,1.6\n", none);
    assert_int_equal(graph->x->f, 1);
    assert_true(feature(graph, 3, 0) < feature(graph, 0, 0) && feature(graph, 0, 0) < feature(graph, 1, 0));
    npgnn_graph_free(graph);
    /* pandas' index is not a feature, whatever follows */
    graph = load(ring, ",user_id,x\n0,a,1\n1,b,2\n2,c,3\n3,d,4\n4,e,5\n", none);
    assert_int_equal(graph->x->f, 1);
    assert_int_equal(npgnn_graph_find(graph, "e"), 4);
    npgnn_graph_free(graph);
    graph = load(ring, "x,who\n1,a\n2,b\n3,c\n4,d\n5,e\n", (npgnn_load_options){.id = "who"});
    assert_int_equal(graph->x->f, 1);
    assert_int_equal(npgnn_graph_find(graph, "e"), 4);
    npgnn_graph_free(graph);
}

static void test_table_headers(void **state)
{
    (void)state;
    /* words without a number above words that recur */
    npgnn_graph *graph = load(ring, "person,town\na,Rome\nb,Rome\nc,Oslo\nd,Oslo\ne,Rome\n", none);
    assert_int_equal(npgnn_graph_nodes(graph), 5);
    assert_string_equal(column_of(graph, "town").kind, "category");
    npgnn_graph_free(graph);
    /* without a header a last column of words is the label */
    graph = load(ring, "a,1,Rome\nb,2,Rome\nc,3,Oslo\nd,4,Oslo\ne,5,Rome\n", none);
    assert_int_equal(npgnn_graph_nodes(graph), 5);
    assert_int_equal(graph->classes, 2);
    npgnn_graph_free(graph);
    /* numbers with commas and signs, and dates, are no names of columns where others of their kind are below */
    static const char *const headerless[] = {
        "a;1,5\nb;2,5\nc;3\nd;4\ne;5\n",
        "a;7;1.234,5\nb;8;2\nc;9;3\nd;8;4\ne;9;5\n",
        "a,$5\nb,$7\nc,$5\nd,$5\ne,$7\n",
        "a,2024-01-31\nb,2024-02-01\nc,2024-02-02\nd,2024-02-03\ne,2024-02-04\n",
    };
    for (size_t i = 0; i < sizeof headerless / sizeof headerless[0]; i++) {
        graph = load(ring, headerless[i], none);
        assert_int_equal(npgnn_graph_nodes(graph), 5);
        assert_true(graph->classes == 0 && graph->x->f > 0 && !npgnn_graph_column_name(graph, 0));
        assert_int_equal(npgnn_graph_find(graph, "a"), 0);
        npgnn_graph_free(graph);
    }
    /* but they are above plain numbers */
    graph = load(ring, "who,10 %,2024-01-31\na,1,3\nb,2,4\nc,3,5\nd,4,5\ne,5,1\n", none);
    assert_string_equal(column_of(graph, "10 %").kind, "number");
    assert_string_equal(column_of(graph, "2024-01-31").kind, "number");
    npgnn_graph_free(graph);
    refuse(ring, "id,about\na,\"never closed\nb,x\n", none, NPGNN_E_FORMAT,
           "x.csv:2: a quote is opened on this line but not closed");
}

static void test_bad_cells(void **state)
{
    char table[512] = "id,x\n";
    (void)state;
    for (char c = 'a'; c <= 'l'; c++)
        snprintf(table + strlen(table), sizeof table - strlen(table), "%c,%s\n", c,
                 c == 'd' ? "many"
                 : c % 2  ? "1"
                          : "2.5");
    refuse(ring, table, none, NPGNN_E_FORMAT,
           "x.csv:5: 'many' in column 'x' is not a number, although 11 other values are");
    npgnn_graph *graph = load(ring, table, (npgnn_load_options){.skip_bad_rows = 1});
    says(notices, "treated a cell as missing");
    assert_true(feature(graph, 3, 0) == 0 && feature(graph, 3, 1) == 1); /* as if it were missing */
    npgnn_graph_free(graph);
}

/* ---- encodings ---- */

static void test_encoding_again(void **state)
{
    static const char table[] = "id,age,town,about\na,30,Rome,red wine and cheese\nb,,Rome,beer and no wine\n"
                                "c,50,Oslo,cheese above all\nd,70,Oslo,films about cheese\ne,40,Oslo,films and beer\n";
    char path[4096];
    npgnn_error err = {0};
    (void)state;
    npgnn_graph *graph = load(ring, table, none), *more = NULL;
    /* the same cells become the same numbers, in another table and in another order of columns; what is new is
     * "other" */
    write_text(path, "new.csv",
               "town,about,age,id,shoe\nRome,red wine and cheese,30,f,44\nParis,nothing of this,,g,45\n");
    assert_ok(npgnn_graph_extend(&more, graph, path, &err), err);
    says(notices, "ignoring a column that the training did not have: 'shoe'");
    for (int32_t c = 0; c < graph->x->f; c++)
        assert_true(feature(more, npgnn_graph_find(more, "f"), c) == feature(graph, 0, c));
    int32_t g = npgnn_graph_find(more, "g");
    npgnn_table_column town = column_of(graph, "town");
    assert_true(feature(more, g, column_of(graph, "age").first + 1) == 1);
    for (int32_t c = town.first; c < town.first + town.columns; c++)
        assert_true(feature(more, g, c) == 0);
    npgnn_graph_free(more);
    more = NULL;
    write_text(path, "new.csv", "id,age,about\nf,30,wine\n");
    assert_int_equal(npgnn_graph_extend(&more, graph, path, &err), NPGNN_E_MISMATCH);
    says(err.text, "column 'town' of the training is missing");

    /* in a folder and in a model */
    char folder_path[4096];
    npgnn_graph *again = NULL;
    assert_ok(npgnn_graph_save(graph, in_folder(folder_path, "saved"), &err), err);
    assert_ok(npgnn_load(&again, folder_path, NULL, NULL, &err), err);
    assert_string_equal(npgnn_graph_encoding(again), npgnn_graph_encoding(graph));
    assert_int_equal(npi_graph_fingerprint(again), npi_graph_fingerprint(graph));
    npgnn_graph_free(again);
    npgnn_options options = {.size = sizeof options};
    npgnn_model *model = NULL, *loaded = NULL;
    npgnn_options_preset(&options, NULL, NULL);
    options.iterations = 2;
    assert_ok(npgnn_fit(&model, graph, &options, NULL, &err), err);
    assert_ok(npgnn_model_save(model, in_folder(path, "model"), &err), err);
    assert_ok(npgnn_model_load(&loaded, path, NULL, &err), err);
    assert_string_equal(npgnn_model_encoding(loaded), npgnn_graph_encoding(graph));
    npgnn_table_column column;
    assert_true(npgnn_model_table(&column, loaded, 0) && !npgnn_model_table(&column, loaded, 3));
    assert_string_equal(column.name, "age");
    /* a table of the same columns that was not read for the model is another: its numbers would mean something else */
    const npgnn_pair pair = {0, 1};
    npgnn_prediction says_pair;
    const char *others[] = {"id,age,town,about\na,30,Rome,red wine and cheese\nb,,Rome,beer and no wine\n"
                            "c,50,Oslo,cheese above all\nd,90,Oslo,films about cheese\ne,40,Oslo,films and beer\n",
                            "id,about,town,age\na,red wine and cheese,Rome,30\nb,beer and no wine,Rome,\n"
                            "c,cheese above all,Oslo,50\nd,films about cheese,Oslo,70\ne,films and beer,Oslo,40\n"};
    for (int i = 0; i < 2; i++) { /* the second has the same cells in another order of columns */
        again = load(ring, others[i], none);
        assert_int_equal(npgnn_predict(&says_pair, loaded, again, &pair, 1, NULL, NULL, &err),
                         i ? 0 : NPGNN_E_MISMATCH);
        if (i == 1) { /* and what is matched still is a table of these columns */
            npi_features *matched = NULL;
            npgnn_env resolved = npi_env_resolve(NULL);
            assert_ok(npi_features_match(&matched, again->x, graph->x->columns, graph->x->encoding, graph->x->f, "one",
                                         "other", &resolved, &err),
                      err);
            assert_ptr_equal(matched->encoding, graph->x->encoding);
            npi_features_free(matched);
        }
        if (i == 0)
            says(err.text, "read the table with the encoding of the model");
        npgnn_graph_free(again);
    }
    again = load(ring, others[0], (npgnn_load_options){.encoding = npgnn_model_encoding(loaded)});
    assert_ok(npgnn_predict(&says_pair, loaded, again, &pair, 1, NULL, NULL, &err), err);
    npgnn_graph_free(again);
    npgnn_model_free(model);
    npgnn_model_free(loaded);

    /* of numbers, scaled and not scaled, in both directions */
    for (int raw = 0; raw < 2; raw++) {
        static const char heights[] = "id,height,weight\na,1.5,50\nb,1.6,60\nc,1.7,70\nd,1.8,75\ne,1.9,90\n";
        npgnn_graph *trained = load(ring, heights, (npgnn_load_options){.encoding = raw ? "raw" : NULL});
        npgnn_graph *other = load(ring, heights, (npgnn_load_options){.encoding = raw ? NULL : "raw"});
        assert_ok(npgnn_fit(&model, trained, &options, NULL, &err), err);
        assert_ok(npgnn_predict(&says_pair, model, trained, &pair, 1, NULL, NULL, &err), err);
        assert_int_equal(npgnn_predict(&says_pair, model, other, &pair, 1, NULL, NULL, &err), NPGNN_E_MISMATCH);
        says(err.text, raw ? "read that with the encoding \"raw\"" : "those of the graph were not");
        npgnn_model_free(model);
        npgnn_graph_free(trained);
        npgnn_graph_free(other);
    }

    /* a graph that is loaded for the model: quantiles of its own do not count */
    again = load("source,target\nx,y\n", "id,age,town,about\nx,30,Rome,red wine and cheese\ny,1000,Rome,beer\n",
                 (npgnn_load_options){.encoding = npgnn_graph_encoding(graph)});
    for (int32_t c = 0; c < graph->x->f; c++)
        assert_true(feature(again, 0, c) == feature(graph, 0, c));
    npgnn_graph_free(again);
    npgnn_graph_free(graph);
}

/* The only feature of the node that a table of new nodes adds; fails where it is refused with anything but
 * `refusal`. */
static float new_number(const npgnn_graph *graph, const char *table, const char *refusal)
{
    char path[4096];
    npgnn_graph *more = NULL;
    npgnn_error err = {0};
    write_text(path, "new.csv", table);
    notices[0] = '\0';
    int code = npgnn_graph_extend(&more, graph, path, &err);
    if (refusal) {
        assert_int_equal(code, NPGNN_E_FORMAT);
        says(err.text, refusal);
        return 0;
    }
    assert_ok(code, err);
    float value = feature(more, npgnn_graph_nodes(more) - 1, 0);
    npgnn_graph_free(more);
    return value;
}

/* Whether commas are decimal is decided once, and stored in the encoding: 1,234 alone tells nothing. */
static void test_decimal_commas(void **state)
{
    const char *const raw[] = {"*:raw"};
    const npgnn_load_options how = {.kinds = raw, .kind_count = 1};
    (void)state;
    npgnn_graph *commas = load(ring, "id\tx\na\t1,5\nb\t2\nc\t1.000\nd\t0,125\ne\t7\n", how);
    says(notices, "x.csv:2: taking commas in numbers for decimal points, as in 1.5 (field 2)");
    says(notices,
         "taking points in numbers for separators of thousands, because other numbers have decimal commas: 1.000 is "
         "1000 (field 2)");
    assert_true(feature(commas, 2, 0) == 1000 && feature(commas, 3, 0) == 0.125F);
    says(commas->x->encoding->text, "\"decimal_comma\":true");
    says(column_of(commas, "x").outcome, "decimal comma");
    assert_true(new_number(commas, "id\tx\nf\t1,234\n", NULL) == 1.234F);
    assert_true(new_number(commas, "id,x\nf,\"1,234\"\n", NULL) == 1.234F);
    assert_true(new_number(commas, "id\tx\nf\t1.234\n", NULL) == 1234);
    says(notices, "because the table of the training had decimal commas: 1.234 is 1234");
    new_number(commas, "id\tx\nf\t1.5\n",
               "new.csv:2: feature '1.5' in field 2 has a decimal point, but the table of the "
               "training had decimal commas");
    npgnn_graph_free(commas);

    npgnn_graph *points = load(ring, "id;x\na;1.5\nb;2\nc;1\nd;0.125\ne;7\n", how);
    says(points->x->encoding->text, "\"decimal_comma\":false");
    assert_true(new_number(points, "id;x\nf;1.234\n", NULL) == 1.234F);
    new_number(points, "id;x\nf;1,234\n",
               "new.csv:2: feature '1,234' in field 2 is not a number: those of its column have no "
               "decimal commas");
    npgnn_graph_free(points);
    /* both encodings are not the same, although all numbers are */
    npgnn_graph *one = load(ring, "id;x\na;1,5\nb;2\nc;3\nd;4\ne;7\n", none),
                *other = load(ring, "id;x\na;1.5\nb;2\nc;3\nd;4\ne;7\n", none);
    assert_false(npi_encoding_same(one->x->encoding, other->x->encoding));
    npgnn_graph_free(one);
    npgnn_graph_free(other);
    /* a column in which nothing tells follows the others, unless some have decimal points */
    one = load(ring, "id;x;y\na;1.234;1,5\nb;12.500;2\nc;3;3\nd;4;4\ne;7;7\n", how);
    assert_true(feature(one, 0, 0) == 1234 && feature(one, 1, 0) == 12500 && feature(one, 0, 1) == 1.5F);
    npgnn_graph_free(one);
    one = load(ring, "id;x;y;z\na;1.234;1,5;0.5\nb;12.500;2;1\nc;3;3;1\nd;4;4;1\ne;7;7;1\n", how);
    assert_true(feature(one, 0, 0) == 1.234F && feature(one, 0, 1) == 1.5F && feature(one, 0, 2) == 0.5F);
    npgnn_graph_free(one);
}

/* Numbers of a caller's table have decimal points, whatever the table of the training had. */
static void test_numbers_from_memory(void **state)
{
    const char *const raw[] = {"*:raw"};
    npgnn_error err = {0};
    npgnn_graph *from_memory = NULL;
    (void)state;
    npgnn_graph *commas =
        load(ring, "id;x\na;1,5\nb;2\nc;3\nd;4\ne;7\n", (npgnn_load_options){.kinds = raw, .kind_count = 1});
    const double numbers[] = {1.234, 1.5};
    const char *const texts[] = {"1.234", "1,5"};
    npgnn_column column = {.name = "x", .numbers = numbers};
    npgnn_graph_data data = {
        .size = sizeof data, .nodes = 2, .table = &column, .table_columns = 1, .encoding = commas->x->encoding->text};
    assert_ok(npgnn_graph_new(&from_memory, &data, NULL, &err), err);
    assert_true(feature(from_memory, 0, 0) == 1.234F && feature(from_memory, 1, 0) == 1.5F);
    npgnn_graph_free(from_memory);
    column = (npgnn_column){.name = "x", .texts = texts}; /* texts are as in the file */
    assert_ok(npgnn_graph_new(&from_memory, &data, NULL, &err), err);
    assert_true(feature(from_memory, 0, 0) == 1234 && feature(from_memory, 1, 0) == 1.5F);
    npgnn_graph_free(from_memory);
    npgnn_graph_free(commas);
}

/* A date of a new node may be an ISO date, whatever order the table has. */
static void test_iso_dates_of_new_nodes(void **state)
{
    (void)state;
    npgnn_graph *graph = load(ring, "id,since\na,31.12.2020\nb,1.2.2021\nc,15.3.2021\nd,1.4.2021\ne,13.5.2021\n", none);
    assert_string_equal(column_of(graph, "since").kind, "date");
    float wanted = feature(graph, 3, 0);
    assert_true(wanted != 0 && feature(graph, 0, 0) != wanted);
    assert_true(new_number(graph, "id,since\nf,1.4.2021\n", NULL) == wanted);
    assert_true(new_number(graph, "id,since\nf,2021-04-01\n", NULL) == wanted);
    assert_true(new_number(graph, "id,since\nf,2021-04-01T00:00:00Z\n", NULL) == wanted);
    new_number(graph, "id,since\nf,4/31/2021\n", "is not a date");
    npgnn_graph_free(graph);
}

static void test_damaged_encodings(void **state)
{
    static const char *const texts[] = {
        "",
        "{}",
        "[]",
        "{\"version\":1}",
        "{\"version\":2,\"columns\":[]}",
        "{\"version\":1,\"columns\":[{\"name\":\"a\",\"kind\":\"colour\"}]}",
        "{\"version\":1,\"columns\":[{\"name\":\"a\",\"kind\":\"number\",\"center\":0,\"scale\":0,\"low\":0,\"high\":1,"
        "\"least\":0,\"most\":1}]}",
        "{\"version\":1,\"columns\":[{\"name\":\"a\",\"kind\":\"number\",\"center\":0,\"scale\":1e-300,\"low\":0,"
        "\"high\":1e300,\"least\":0,\"most\":1}]}",
        "{\"version\":1,\"columns\":[{\"name\":\"a\",\"kind\":\"flag\",\"center\":2}]}",
        "{\"version\":1,\"columns\":[{\"name\":\"a\",\"kind\":\"category\",\"values\":[\"x\",\"x\"],\"counts\":[1,1]}]"
        "}",
        "{\"version\":1,\"columns\":[{\"name\":\"a\",\"kind\":\"category\",\"values\":[\"x\"],\"counts\":[]}]}",
        "{\"version\":1,\"columns\":[{\"name\":\"a\",\"kind\":\"text\",\"values\":[\"x\"],\"counts\":[1],\"weights\":["
        "0]}]}",
        "{\"version\":1,\"columns\":[{\"name\":\"a\",\"kind\":\"raw\"},{\"name\":\"a\",\"kind\":\"raw\"}]}",
    };
    npgnn_env env = npi_env_resolve(NULL);
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        npi_encoding *encoding = NULL;
        npgnn_error err = {0};
        assert_int_equal(npi_encoding_parse(&encoding, texts[i], "here", &env, &err), NPGNN_E_FORMAT);
        assert_null(encoding);
        says(err.text, "here: ");
    }
}

/* ---- dates and names of columns ---- */

static void test_dates(void **state)
{
    static const struct {
        const char *text;
        npi_date_order order;
        double days; /* -1e9: not a date */
    } cases[] = {{"1970-01-01", NPI_DATE_YMD, 0},
                 {"2000-03-01", NPI_DATE_YMD, 11017},
                 {"1969-12-31", NPI_DATE_YMD, -1},
                 {"2024-02-29T12:00:00Z", NPI_DATE_YMD, 19782.5},
                 {"2024-02-29 13:00+01:00", NPI_DATE_YMD, 19782.5},
                 {"29.02.2024", NPI_DATE_DMY, 19782},
                 {"2/29/2024", NPI_DATE_MDY, 19782},
                 {"2023-02-29", NPI_DATE_YMD, -1e9},
                 {"29.02.2024", NPI_DATE_MDY, -1e9},
                 {"2024-13-01", NPI_DATE_YMD, -1e9},
                 {"2024-01", NPI_DATE_YMD, -1e9},
                 {"2024-01-01x", NPI_DATE_YMD, -1e9},
                 {"2024/01-01", NPI_DATE_YMD, -1e9}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double days = -1e9;
        assert_int_equal(npi_date_parse(&days, cases[i].text, cases[i].order), cases[i].days > -1e9);
        assert_near(days, cases[i].days, 1e-9);
    }
}

static void test_roles(void **state)
{
    static const char *const ends[][2] = {{"source", "target"},  {"User_ID", "item_id"}, {"userId", "movieId"},
                                          {"from_id", "to_id"},  {"node1", "node2"},     {"id_1", "id_2"},
                                          {"person1", "person2"}};
    static const char *const no_ids[] = {"paid", "age", "grid", "humid"};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        assert_true(npi_header_are_ends(ends[i][0], ends[i][1]));
    assert_false(npi_header_are_ends("a", "b"));
    assert_false(npi_header_are_ends("alice", "bob"));
    assert_true(npi_header_has_role("customer_id", NPI_ROLE_ID) && npi_header_has_role("CustomerID", NPI_ROLE_ID));
    for (size_t i = 0; i < sizeof no_ids / sizeof no_ids[0]; i++)
        assert_false(npi_header_has_role(no_ids[i], NPI_ROLE_ID));
}

/* ---- two sides ---- */

static const char ratings[] =
    "user_id,item_id,time\n0,0,5\n0,1,6\n1,1,7\n1,2,8\n2,0,9\n2,3,10\n3,2,11\n3,3,12\n0,2,13\n";

static void test_two_sides(void **state)
{
    npgnn_error err = {0};
    char buffer[12];
    (void)state;
    npgnn_graph *graph = load(ratings, NULL, (npgnn_load_options){.bipartite = 1});
    assert_int_equal(npgnn_graph_nodes(graph), 8);
    assert_string_equal(npgnn_graph_name(graph, 0, buffer), "user_id:0");
    assert_int_equal(npgnn_graph_side(graph, 0), 0);
    assert_int_equal(npgnn_graph_side(graph, npgnn_graph_find(graph, "item_id:3")), 1);
    assert_int_equal(npi_graph_count_pairs(graph), 16);

    /* all non-links there are, by rejection and by enumeration: each once, across only */
    for (size_t count = 1; count <= 7; count++) {
        npgnn_pair pairs[7], *sets[2] = {pairs, NULL};
        const size_t counts[2] = {count, 0};
        npgnn_env env = npi_env_resolve(NULL);
        assert_ok(npi_graph_draw_non_links(sets, graph, counts, 3, &env, &err), err);
        for (size_t i = 0; i < count; i++) {
            assert_true(npi_graph_allows(graph, pairs[i].u, pairs[i].v));
            assert_false(npgnn_graph_has_edge(graph, pairs[i].u, pairs[i].v));
        }
    }
    /* and of the split by nodes, whose count is that of a slow loop */
    for (int protocol = NPGNN_INDUCTIVE; protocol <= NPGNN_PRODUCTION; protocol++) {
        npgnn_split_options options = {.size = sizeof options};
        npgnn_split *split = NULL;
        npgnn_split_options_default(&options, (npgnn_protocol)protocol, NULL);
        options.test = 0.3;
        options.val = 0;
        options.seed = 2;
        if (npgnn_split_new(&split, graph, &options, NULL, &err) != 0)
            continue; /* too small for this protocol */
        uint64_t slow = 0;
        for (int32_t u = 0; u < graph->n; u++)
            for (int32_t v = u + 1; v < graph->n; v++) {
                int a = split->role[u] == NPI_NODE_TEST, b = split->role[v] == NPI_NODE_TEST;
                int with = protocol != NPGNN_INDUCTIVE_HIDDEN &&
                           ((a && split->role[v] == NPI_NODE_TRAIN) || (b && split->role[u] == NPI_NODE_TRAIN));
                int untested = split->standing[u] == NPI_NODE_UNTESTED || split->standing[v] == NPI_NODE_UNTESTED;
                slow += ((a && b) || with) && !untested && npi_graph_allows(graph, u, v) &&
                        !npgnn_graph_has_edge(graph, u, v);
            }
        assert_int_equal(npi_split_count_non_links(split, NPGNN_SET_TEST), slow);
        npgnn_split_free(split);
    }
    npgnn_graph_free(graph);
    /* headers that nobody knows, above integers and above names */
    graph = load("klant,produkt\n1,10\n1,11\n2,10\n", NULL, (npgnn_load_options){.bipartite = 1});
    assert_int_equal(npgnn_graph_nodes(graph), 4);
    npgnn_graph_free(graph);
    graph = load("klant,produkt\nann,10\nann,11\nbob,10\nbob,11\n", NULL, (npgnn_load_options){.bipartite = 1});
    says(notices, "for a header");
    assert_int_equal(npgnn_graph_nodes(graph), 4);
    assert_int_equal(npgnn_graph_find(graph, "bob"), 1);
    npgnn_graph_free(graph);
    /* ids that are on one side only need no prefix */
    graph = load("user,item\nann,x\nbob,y\n", NULL, (npgnn_load_options){.bipartite = 1});
    assert_int_equal(npgnn_graph_find(graph, "bob"), 1);
    npgnn_graph_free(graph);
}

static void test_side_features(void **state)
{
    char path[4096], folder_path[4096];
    npgnn_error err = {0};
    npgnn_graph *again = NULL;
    (void)state;
    npgnn_load_options options = {
        .bipartite = 1,
        .target_features = write_text(path, "items.csv", "item_id,price,kind\n3,10,a\n2,20,b\n1,30,a\n0,40,b\n")};
    npgnn_graph *graph = load(ratings, "user_id,age\n0,20\n1,30\n2,40\n3,50\n", options);
    int32_t user = npgnn_graph_find(graph, "user_id:3"), item = npgnn_graph_find(graph, "item_id:3");
    assert_int_equal(graph->x->f, 4); /* age; price, kind=a, kind=b */
    assert_true(feature(graph, user, 0) > 0 && feature(graph, user, 1) == 0);
    assert_true(feature(graph, item, 0) == 0 && feature(graph, item, 1) < 0 && feature(graph, item, 2) == 1);
    assert_string_equal(npgnn_graph_column_name(graph, 1), "target:price");
    assert_ok(npgnn_graph_save(graph, in_folder(folder_path, "sides"), &err), err);
    assert_ok(npgnn_load(&again, folder_path, NULL, NULL, &err), err);
    assert_int_equal(npi_graph_fingerprint(again), npi_graph_fingerprint(graph));
    assert_int_equal(npgnn_graph_side(again, item), 1);
    npgnn_graph_free(again);
    again = NULL;
    /* new nodes go to the side whose columns they have, and are called as the others there: user 3 is not item 3 */
    write_text(path, "new.csv", "item_id,price,kind\nnewest,25,a\nitem_id:9,30,b\n");
    assert_ok(npgnn_graph_extend(&again, graph, path, &err), err);
    says(notices, "new nodes are targets; the first is called item_id:9");
    int32_t newest = npgnn_graph_find(again, "item_id:newest");
    assert_int_equal(npgnn_graph_side(again, newest), 1);
    assert_true(feature(again, newest, 2) == 1);
    assert_int_equal(npgnn_graph_find(again, "item_id:9"), newest - 1);
    npgnn_graph_free(again);
    again = NULL;
    write_text(path, "new.csv", "user_id,age\n7,25\n");
    assert_ok(npgnn_graph_extend(&again, graph, path, &err), err);
    assert_int_equal(npgnn_graph_side(again, npgnn_graph_find(again, "user_id:7")), 0);
    npgnn_graph_free(again);
    again = NULL;
    write_text(path, "new.csv", "user_id,age\n3,25\n");
    assert_int_equal(npgnn_graph_extend(&again, graph, path, &err), NPGNN_E_MISMATCH);
    says(err.text, "the graph already has a node 'user_id:3'");
    npgnn_graph_free(graph);
}

/* The rows of a matrix are sources and its columns targets, also those without entries. */
static void test_matrix_sides(void **state)
{
    static const char head[] = "%%MatrixMarket matrix coordinate pattern ";
    char text[200], path[4096];
    (void)state;
    snprintf(text, sizeof text, "%sgeneral\n4 3 4\n1 1\n2 1\n2 2\n4 2\n", head);
    refuse(text, NULL, none, NPGNN_E_FORMAT, "4 x 3; rows and columns can be two kinds of nodes");
    npgnn_graph *graph = load(text, NULL, (npgnn_load_options){.bipartite = 1});
    assert_int_equal(npgnn_graph_nodes(graph), 7);
    assert_int_equal(npgnn_graph_find(graph, "row:2"), 2);
    assert_int_equal(npgnn_graph_find(graph, "column:0"), 4);
    assert_int_equal(npgnn_graph_side(graph, 3), 0);
    assert_int_equal(npgnn_graph_side(graph, 4), 1);
    assert_true(npgnn_graph_has_edge(graph, 1, 5) && npgnn_graph_has_edge(graph, 3, 5));
    npgnn_graph_free(graph);
    /* features of a side are matched by id, or by row */
    for (int ids = 0; ids < 2; ids++) {
        const char *items =
            ids ? "item,colour\n2,red\n1,blue\n0,red\n" : "%%MatrixMarket matrix array real general\n3 1\n5\n6\n7\n";
        npgnn_load_options options = {.bipartite = 1, .target_features = write_text(path, "items", items)};
        graph = load(text, NULL, options);
        assert_true(feature(graph, npgnn_graph_find(graph, "column:0"), 0) == (ids ? 1 : 5));
        assert_true(feature(graph, npgnn_graph_find(graph, "column:1"), 0) == (ids ? 0 : 6));
        npgnn_graph_free(graph);
    }
    refuse(text, NULL, (npgnn_load_options){.bipartite = 1, .time = "1"}, NPGNN_E_ARGUMENT, "has no times of links");
    snprintf(text, sizeof text, "%ssymmetric\n3 3 2\n2 1\n3 2\n", head);
    refuse(text, NULL, (npgnn_load_options){.bipartite = 1}, NPGNN_E_FORMAT, "one kind of nodes");
    refuse("<graphml><graph/></graphml>", NULL, (npgnn_load_options){.bipartite = 1}, NPGNN_E_ARGUMENT,
           "GraphML has one set of nodes");
}

/* What users should know who do not ask for two sides. */
static void test_two_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *edges, *notice;
    } cases[] = {
        {"user_id,item_id\n1,2\n1,3\n3,9\n", "ids that are in both columns became one node: 1 (--bipartite"},
        {"customer,product\nann,b1\nann,b2\n", "look like two kinds of nodes (--bipartite predicts"},
        {"Users,item_idx\n1,2\n1,3\n3,9\n", "ids that are in both columns became one node: 1 (--bipartite"},
        {"user,friend\n1,2\n1,3\n3,9\n", NULL},
        {"author,reader\n1,2\n1,3\n3,9\n", NULL},
        {"gene_id_1,gene_id_2\n1,2\n1,3\n3,9\n", NULL},
        {"from,to\n1,2\n1,3\n3,9\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        npgnn_graph *graph = load(cases[i].edges, NULL, none);
        if (cases[i].notice)
            says(notices, cases[i].notice);
        else
            assert_null(strstr(notices, "two kinds"));
        npgnn_graph_free(graph);
    }
}

/* ---- times ---- */

static void test_times(void **state)
{
    npgnn_error err = {0};
    npgnn_split *split = NULL;
    npgnn_split_options options = {.size = sizeof options};
    (void)state;
    npgnn_graph *graph = load(ratings, NULL, (npgnn_load_options){.bipartite = 1, .time = "time"});
    npgnn_split_options_default(&options, NPGNN_TEMPORAL, NULL);
    options.test = 0.25;
    options.val = 0.25;
    assert_ok(npgnn_split_new(&split, graph, &options, NULL, &err), err);
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST);
    assert_true(positives == 1 && count == 2);
    /* the latest two: user 0 with item 2, and user 3 with item 3, who are the only new ones: there is no non-link like it */
    assert_true(pairs[0].u == npgnn_graph_find(graph, "user_id:0") &&
                pairs[0].v == npgnn_graph_find(graph, "item_id:2"));
    assert_int_equal(npgnn_graph_edges(npgnn_split_train(NULL, split)), 5);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
    /* links of the same time stay together; of a link that is given twice the first counts */
    graph = load("a,b,2001\nb,c,2001\nc,d,2001\nd,e,2002\ne,a,2003\ne,b,2003\na,b,2003\n", NULL,
                 (npgnn_load_options){.time = "3"});
    options.test = 0.2;
    options.val = 0;
    split = NULL;
    assert_ok(npgnn_split_new(&split, graph, &options, NULL, &err), err);
    npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST);
    assert_int_equal(positives, 2);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
    /* the first line has a time, too, where it is no header; and it is one where its time is a word */
    graph = load("a,b,2009\nb,c,2001\nc,d,2002\nd,a,2003\n", NULL, (npgnn_load_options){.time = "3"});
    split = NULL;
    options.test = 0.25;
    assert_ok(npgnn_split_new(&split, graph, &options, NULL, &err), err);
    npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST);
    assert_true(positives == 1 && pairs[0].u == 0 && pairs[0].v == 1);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
    graph = load("x,y,when\na,b,2009\nb,c,2001\n", NULL, (npgnn_load_options){.time = "3"});
    says(notices, "links are from 'x' to 'y'");
    assert_int_equal(npgnn_graph_nodes(graph), 3);
    npgnn_graph_free(graph);
    graph = load(ring, NULL, none);
    assert_int_equal(npgnn_split_new(&split, graph, &options, NULL, &err), NPGNN_E_ARGUMENT);
    says(err.text, "needs the times");
    npgnn_graph_free(graph);
    refuse("a,b,2001\nb,c,soon\n", NULL, (npgnn_load_options){.time = "3"}, NPGNN_E_FORMAT, "edges.csv:2: time 'soon'");
}

/* Whether a first line of words is a header is seen in the lines that follow, before it becomes a link. */
static void test_look_ahead(void **state)
{
    const npgnn_load_options skip = {.weight = "3", .skip_bad_rows = 1}, weigh = {.weight = "3"};
    const size_t comments = 70000;
    char *text = malloc(comments + 64);
    (void)state;
    /* bad rows are looked past where they are skipped */
    npgnn_graph *graph = load("p,q,r\n1,2,x\n3\n1,3,5\n", NULL, skip);
    says(notices, "links are from 'p' to 'q'");
    says(notices, "rows skipped: 2 (lines 2, 3)");
    assert_true(npgnn_graph_edges(graph) == 1 && npgnn_graph_nodes(graph) == 2);
    npgnn_graph_free(graph);
    /* no row has a number where the first has a word: this is not skipped, because nothing would be left */
    refuse("p,q,r\n1,2,x\n", NULL, weigh, NPGNN_E_FORMAT, "edges.csv:1: weight 'r' is not a number");
    refuse("p,q,r\n1,2,x\n", NULL, skip, NPGNN_E_FORMAT, "edges.csv:1: weight 'r' is not a number");
    refuse("p,q,r\n1,2,12 kg\n", NULL, weigh, NPGNN_E_FORMAT, "edges.csv:2: weight '12 kg' is not a number");
    /* what is looked at begins after the first line, however far into the file that is */
    memset(text, 'x', comments);
    memcpy(text, "# ", 2);
    strcpy(text + comments, "\np\tq\n1\t2\n2\t3\n");
    graph = load(text, NULL, none);
    says(notices, "links are from 'p' to 'q'");
    assert_int_equal(npgnn_graph_nodes(graph), 3);
    npgnn_graph_free(graph);
    free(text);
}

/* ---- memory ---- */

/* Every allocation may fail: E_MEMORY, and nothing is left behind. */
static void test_out_of_memory(void **state)
{
    char edges_path[4096], features_path[4096], targets_path[4096];
    int code = NPGNN_E_MEMORY;
    npgnn_load_options options = {.size = sizeof options, .bipartite = 1, .time = "time"};
    (void)state;
    options.edges = write_text(edges_path, "edges.csv", ratings);
    options.features =
        write_text(features_path, "x.csv",
                   "user_id,age,about\n0,20,red wine here\n1,,red wine there\n2,40,no wine at all\n3,50,\n");
    options.target_features =
        write_text(targets_path, "y.csv", "item_id,kind,born\n0,a,2001-02-03\n1,a,2002-03-04\n2,b,\n3,b,2009-01-01\n");
    for (long allow = 0; code != 0; allow++) {
        meter m = {.allow = allow};
        npgnn_env env = metered_env(&m);
        npgnn_graph *graph = NULL;
        assert_true(allow < 2000);
        code = npgnn_load(&graph, NULL, &options, &env, NULL);
        assert_true(code == NPGNN_E_MEMORY || code == 0);
        npgnn_graph_free(graph);
        assert_int_equal(m.blocks, 0);
    }
}

/* ---- time ---- */

/* One field of `count` lines. */
static char *long_field(size_t *size, int count)
{
    char *text = malloc((size_t)count * 2 + 64);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, 64, "id,about\na,\"");
    for (int i = 0; i < count; i++)
        memcpy(text + used + 2 * i, "x\n", 2);
    used += 2 * (size_t)count;
    used += (size_t)snprintf(text + used, 32, "\"\nb,y\n");
    *size = used;
    return text;
}

static void read_and_free(const char *text, size_t size)
{
    npgnn_env env = test_env();
    npi_table table = {0};
    npi_stream *stream = NULL;
    npgnn_load_options how = {.size = sizeof how};
    assert_int_equal(npi_stream_open_memory(&stream, "x.csv", text, size, &env, NULL), 0);
    assert_int_equal(npi_table_read_csv(&table, stream, &how, NULL, 0, NULL), 0);
    assert_int_equal(table.x.rows, 2);
    npi_table_free(&env, &table);
    npi_stream_close(stream);
}

/* 480 KB took 136 seconds: each line was looked at with all lines before it. */
static void test_lines_in_a_field(void **state)
{
    (void)state;
    assert_linear(long_field, read_and_free, 8000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_kinds),
        IN_FOLDER(test_scales),
        IN_FOLDER(test_chosen_kinds),
        IN_FOLDER(test_ids),
        IN_FOLDER(test_table_headers),
        IN_FOLDER(test_look_ahead),
        IN_FOLDER(test_bad_cells),
        IN_FOLDER(test_encoding_again),
        cmocka_unit_test(test_damaged_encodings),
        cmocka_unit_test(test_dates),
        IN_FOLDER(test_decimal_commas),
        IN_FOLDER(test_numbers_from_memory),
        IN_FOLDER(test_iso_dates_of_new_nodes),
        cmocka_unit_test(test_roles),
        IN_FOLDER(test_two_sides),
        IN_FOLDER(test_side_features),
        IN_FOLDER(test_matrix_sides),
        IN_FOLDER(test_two_kinds),
        IN_FOLDER(test_times),
        IN_FOLDER(test_out_of_memory),
        cmocka_unit_test(test_lines_in_a_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
