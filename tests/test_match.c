/* Matching the feature columns of a graph to those of a model: by name in any order; the error lists what does not
 * match. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include "graph/graph.h"
#include "model/model.h"
#include "reading.h"

enum { NODES = 6, COLUMNS = 12 };
static const char *const nodes[NODES] = {"a", "b", "c", "d", "e", "f"};
static const char edges[] = "a,b\nb,c\nc,d\nd,e\ne,f\na,f\n";

/* Node i has column c with this value: one or two columns, or nearly all. */
static int value_of(int i, int c, int dense)
{
    return dense ? (i + 1) * (c + 2) % 7 : c == i || c == 2 * i + 1 ? 1 + i : 0;
}

/* Column c of the file is column order(c) of the table. */
typedef int order_fn(int c);

static int as_it_is(int c)
{
    return c;
}

static int shuffled(int c)
{
    return (5 * c + 3) % COLUMNS;
}

static npgnn_graph *make(order_fn *order, int dense)
{
    char text[4096] = "id";
    size_t used = strlen(text);
    for (int c = 0; c < COLUMNS; c++)
        used += (size_t)snprintf(text + used, sizeof text - used, ",w%d", order(c));
    for (int i = 0; i < NODES; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "\n%s", nodes[i]);
        for (int c = 0; c < COLUMNS; c++)
            used += (size_t)snprintf(text + used, sizeof text - used, ",%d", value_of(i, order(c), dense));
    }
    assert_true(used + 2 < sizeof text);
    text[used] = '\n';
    return good(edges, "x.csv", text);
}

static npgnn_model *train(const npgnn_graph *graph)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    npgnn_options_preset(&options, NULL, NULL);
    options.iterations = 3;
    assert_ok(npgnn_fit(&model, graph, &options, NULL, &err), err);
    return model;
}

static void test_any_order(void **state)
{
    (void)state;
    const npgnn_pair pairs[] = {{0, 1}, {2, 5}, {3, 0}};
    for (int dense = 0; dense < 2; dense++) {
        npgnn_prediction says_own[3], says_other[3];
        npgnn_error err = {0};
        npgnn_graph *own = make(as_it_is, dense), *other = make(shuffled, dense);
        npgnn_model *model = train(own), *adapted = NULL;
        assert_int_equal(own->x->dense != NULL, dense);
        assert_ok(npgnn_predict(says_own, model, own, pairs, 3, NULL, NULL, &err), err);
        assert_ok(npgnn_predict(says_other, model, other, pairs, 3, NULL, NULL, &err), err);
        assert_memory_equal(says_own, says_other, sizeof says_own);
        assert_ok(npgnn_model_adapt(&adapted, model, other, NULL, &err), err);
        assert_memory_equal(adapted->q, model->q, 2 * (size_t)model->params.size.d * sizeof *model->q);
        assert_string_equal(npgnn_model_column_name(adapted, 7), "w7");
        npgnn_model_free(adapted);
        npgnn_model_free(model);
        npgnn_graph_free(own);
        npgnn_graph_free(other);
    }
}

/* ---- columns that do not match ---- */

static void test_mismatched_columns(void **state)
{
    (void)state;
    static const struct {
        const char *features, *why;
    } cases[] = {
        {"id,w1,w2\na,0,1\nb,1,0\nc,1,1\n", "the graph lacks 1 of the feature columns of the model: \"w3\""},
        {"id,w0,w2,w3,w4,w1\na,0,1,1,1,1\nb,1,0,1,1,1\nc,1,1,0,0,1\n",
         "2 of the feature columns of the graph are unknown to the model: \"w0\", \"w4\""},
        {"id,w1,w3,x\na,0,1,1\nb,1,0,0\nc,1,1,1\n",
         "the graph lacks 1 of the feature columns of the model: \"w2\"; 1 of its own are unknown to the model: \"x\""},
        {"id,p,q,r,s,t\na,0,1,1,1,1\nb,1,0,1,1,1\nc,1,1,0,0,1\n",
         "5 of its own are unknown to the model: \"p\", \"q\", \"r\", ..."},
        {"0,1\n1,0\n1,1\n", "the model has 3 feature columns, the graph has 2"}, /* no names */
    };
    npgnn_graph *own = good("a,b\nb,c\n", "x.csv", "id,w1,w2,w3\na,0,1,1\nb,1,0,1\nc,1,1,0\n");
    npgnn_model *model = train(own);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const npgnn_pair pair = {0, 1};
        npgnn_prediction link;
        npgnn_model *adapted = NULL;
        npgnn_error err = {0};
        int named = cases[i].features[0] == 'i';
        npgnn_graph *other = good(named ? "a,b\nb,c\n" : "0,1\n1,2\n", "x.csv", cases[i].features);
        assert_int_equal(npgnn_predict(&link, model, other, &pair, 1, NULL, NULL, &err), NPGNN_E_MISMATCH);
        says(err.text, cases[i].why);
        assert_int_equal(npgnn_model_adapt(&adapted, model, other, NULL, &err), NPGNN_E_MISMATCH);
        says(err.text, cases[i].why);
        npgnn_graph_free(other);
    }
    npgnn_model_free(model);
    npgnn_graph_free(own);
}

/* Long names are shortened in the message, which stays complete. */
static void test_long_names(void **state)
{
    (void)state;
    char name[501], text[2048];
    memset(name, 'x', 500);
    name[500] = '\0';
    snprintf(text, sizeof text, "id,1%s,2%s,3%s,4%s\na,0,1,1,0\nb,1,0,1,1\n", name, name, "x", "x");
    npgnn_graph *own = make(as_it_is, 1), *other = good("a,b\n", "x.csv", text);
    npgnn_model *model = train(own);
    const npgnn_pair pair = {0, 1};
    npgnn_prediction link;
    npgnn_error err = {0};
    assert_int_equal(npgnn_predict(&link, model, other, &pair, 1, NULL, NULL, &err), NPGNN_E_MISMATCH);
    says(err.text, "4 of its own are unknown to the model: \"1xxxxxxxxxx");
    says(err.text, ", ...");
    npgnn_model_free(model);
    npgnn_graph_free(own);
    npgnn_graph_free(other);
}

/* ---- memory ---- */

static void check_out_of_memory(int dense)
{
    npgnn_graph *own = make(as_it_is, dense), *other = make(shuffled, dense);
    npgnn_model *model = train(own);
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code; allow++) {
        meter memory = {.allow = allow};
        npgnn_env env = metered_env(&memory);
        npgnn_error err = {0};
        npgnn_predictor *predictor = NULL;
        code = npgnn_predictor_new(&predictor, model, other, NULL, &env, &err);
        if (code)
            assert_true(code == NPGNN_E_MEMORY && err.code == code && !predictor);
        npgnn_predictor_free(predictor);
        assert_int_equal(memory.blocks, 0);
    }
    npgnn_model_free(model);
    npgnn_graph_free(own);
    npgnn_graph_free(other);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    check_out_of_memory(0);
    check_out_of_memory(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_mismatched_columns),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
