/* A model on graphs that it was not trained on: z against an independent encoder, what stays the same, what is
 * refused. */
#include "check.h"

#include <string.h>

#include "graph/graph.h"
#include "meter.h"
#include "model/model.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define WORDS 100

static npgnn_graph *home, *away; /* the same words, other nodes and edges */
static const npgnn_env one_thread = {.size = sizeof one_thread, .threads = 1};

static int make_graphs(void **state)
{
    (void)state;
    return npgnn_graph_synthetic(&home, "nodes=150,words=100,seed=2", &one_thread, NULL) ||
           npgnn_graph_synthetic(&away, "nodes=230,words=100,seed=7,degree=9", &one_thread, NULL);
}

static int free_graphs(void **state)
{
    (void)state;
    npgnn_graph_free(home);
    npgnn_graph_free(away);
    return 0;
}

/* A short training on `home` with one option of its own, which may be NULL. */
static npgnn_model *train(const char *key, const char *value)
{
    npgnn_model *model = NULL;
    npgnn_options options = {.size = sizeof options};
    npgnn_error err = {0};
    npgnn_options_preset(&options, NULL, NULL);
    options.iterations = 8;
    if (key)
        assert_ok(npgnn_options_set(&options, key, value, &err), err);
    assert_ok(npgnn_fit(&model, home, &options, &one_thread, &err), err);
    return model;
}

static npgnn_model *adapt(const npgnn_model *model, const npgnn_graph *context, int threads)
{
    npgnn_model *adapted = NULL;
    npgnn_env env = {.size = sizeof env, .threads = threads};
    npgnn_error err = {0};
    assert_ok(npgnn_model_adapt(&adapted, model, context, &env, &err), err);
    return adapted;
}

static size_t q_bytes(const npgnn_model *model)
{
    return 2 * (size_t)model->params.size.d * sizeof(real);
}

static void assert_same_model(const npgnn_model *a, const npgnn_model *b)
{
    assert_int_equal(a->params.count, b->params.count);
    assert_memory_equal(a->params.block, b->params.block, a->params.count * sizeof(real));
    assert_memory_equal(&a->options, &b->options, sizeof a->options);
}

/* ---- an encoder that takes its time: dense matrices, in double, straight from docs/understand/math.md ---- */

enum { MOST_NODES = 256, MOST_WIDTH = 128 };
typedef double matrix[MOST_NODES][MOST_WIDTH];

static double entry_of_x(const npgnn_graph *graph, int32_t i, int32_t c)
{
    if (graph->x->dense)
        return (double)graph->x->dense[(int64_t)i * graph->x->f + c];
    for (int64_t p = graph->x->x.ptr[i]; p < graph->x->x.ptr[i + 1]; p++)
        if (graph->x->x.col[p] == c)
            return graph->x->x.val ? (double)graph->x->x.val[p] : 1;
    return 0;
}

/* An entry of D^-1/2 (A + I) D^-1/2. */
static double entry_of_adj(const npgnn_graph *graph, int32_t i, int32_t j)
{
    const int32_t *ignored;
    if (i != j && !npgnn_graph_has_edge(graph, i, j))
        return 0;
    double di = 1 + (double)npgnn_graph_neighbors(&ignored, graph, i);
    double dj = 1 + (double)npgnn_graph_neighbors(&ignored, graph, j);
    return 1 / sqrt(di * dj);
}

/* out = Â in, `w` columns. */
static void convolve(matrix out, const npgnn_graph *graph, matrix in, int w)
{
    for (int32_t i = 0; i < graph->n; i++) {
        memset(out[i], 0, sizeof out[i]);
        for (int32_t j = 0; j < graph->n; j++) {
            double a = entry_of_adj(graph, i, j);
            for (int c = 0; a > 0 && c < w; c++)
                out[i][c] += a * in[j][c];
        }
    }
}

static void relu(matrix m, int32_t n, int w)
{
    for (int32_t i = 0; i < n; i++)
        for (int c = 0; c < w; c++)
            m[i][c] = m[i][c] > 0 ? m[i][c] : 0;
}

/* Σ over nodes of column c, or of exp of it, divided by their number. */
static double mean_of(matrix m, int32_t n, int c, int of_exp)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += of_exp ? exp(m[i][c]) : m[i][c];
    return sum / n;
}

/* Mean and sigma of z. */
static void encode_slowly(double *mean, double *sigma, const npgnn_model *model, const npgnn_graph *graph)
{
    static matrix in, out;
    const npgnn_options *o = &model->options;
    npi_sizes s = model->params.size;
    for (int32_t i = 0; i < graph->n; i++)
        for (int c = 0; c < s.h; c++) {
            in[i][c] = 0;
            for (int32_t f = 0; f < s.f; f++)
                in[i][c] += entry_of_x(graph, i, f) * (double)model->params.wx[(int64_t)f * (s.h + s.g) + c];
        }
    convolve(out, graph, in, s.h);
    relu(out, graph->n, s.h);
    for (int32_t i = 0; i < graph->n; i++)
        for (int c = 0; c < 2 * s.d; c++) {
            in[i][c] = 0;
            for (int k = 0; k < s.h; k++)
                in[i][c] += out[i][k] * (double)model->params.wr[(int64_t)k * 2 * s.d + c];
        }
    convolve(out, graph, in, 2 * s.d);
    if (o->encoder_output == NPGNN_RELU)
        relu(out, graph->n, 2 * s.d);
    int of_exp = o->sigma_mean == NPGNN_LOG_MEAN;
    for (int c = 0; c < s.d; c++) {
        double level = mean_of(out, graph->n, s.d + c, of_exp);
        mean[c] = mean_of(out, graph->n, c, 0);
        sigma[c] = (of_exp ? level : exp(level)) * o->sigma_start;
    }
}

static void test_the_latent_of_another_graph(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
    } cases[] = {{NULL, NULL}, {"encoder-output", "relu"}, {"sigma-mean", "log-mean"}, {"sigma-start", "0.5"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        double mean[MOST_WIDTH], sigma[MOST_WIDTH];
        float got_mean[MOST_WIDTH], got_sigma[MOST_WIDTH];
        npgnn_model *model = train(cases[i].key, cases[i].value);
        npgnn_model *adapted = adapt(model, away, 2);
        assert_same_model(model, adapted);
        assert_memory_not_equal(model->q, adapted->q, q_bytes(model));
        encode_slowly(mean, sigma, model, away);
        assert_int_equal(npgnn_model_latent(got_mean, got_sigma, adapted), model->params.size.d);
        for (int c = 0; c < model->params.size.d; c++) {
            assert_near((double)got_mean[c], mean[c], 1e-5);
            assert_near((double)got_sigma[c], sigma[c], 1e-5);
        }
        npgnn_model_free(model);
        npgnn_model_free(adapted);
    }
}

/* ---- what stays the same ---- */

static void test_the_graph_of_the_training(void **state)
{
    (void)state;
    npgnn_model *model = train(NULL, NULL), *adapted = adapt(model, home, 3);
    npgnn_model_info info = {.size = sizeof info}, own = {.size = sizeof own};
    assert_same_model(model, adapted);
    assert_memory_equal(model->q, adapted->q, q_bytes(model));
    npgnn_model_describe(&info, adapted, NULL);
    npgnn_model_describe(&own, model, NULL);
    assert_true(info.context_fingerprint == own.fingerprint && info.fingerprint == own.fingerprint);
    npgnn_model_free(model);
    npgnn_model_free(adapted);
}

static void test_same_bits_for_any_threads(void **state)
{
    (void)state;
    npgnn_model *model = train("encoder-output", "relu");
    npgnn_model *one = adapt(model, away, 1), *five = adapt(model, away, 5);
    assert_memory_equal(one->q, five->q, q_bytes(model));
    npgnn_model_free(model);
    npgnn_model_free(one);
    npgnn_model_free(five);
}

static void test_and_back(void **state)
{
    (void)state;
    npgnn_model *model = train(NULL, NULL), *there = adapt(model, away, 1), *back = adapt(there, home, 1);
    npgnn_graph_info context = {.size = sizeof context};
    npgnn_model_info info = {.size = sizeof info};
    npgnn_graph_describe(&context, away, NULL);
    npgnn_model_describe(&info, there, NULL);
    assert_true(info.context_fingerprint == context.fingerprint && info.context_fingerprint != info.fingerprint);
    assert_memory_equal(model->q, back->q, q_bytes(model));
    npgnn_model_free(model);
    npgnn_model_free(there);
    npgnn_model_free(back);
}

static void test_without_latent(void **state)
{
    (void)state;
    npgnn_model *model = train("latent", "off"), *adapted = adapt(model, away, 1);
    assert_same_model(model, adapted);
    assert_int_equal(npgnn_model_latent(NULL, NULL, adapted), 0);
    assert_true(adapted->info.context_fingerprint == model->info.fingerprint);
    npgnn_model_free(model);
    npgnn_model_free(adapted);
}

/* ---- prediction with it ---- */

/* z meets the decoder as a bias: the adapted model must predict like the old one with z (q - q') more in its bias. */
static void test_prediction(void **state)
{
    (void)state;
    const npgnn_pair pairs[] = {{0, 1}, {3, 149}, {80, 22}};
    npgnn_prediction adapted_says[COUNT(pairs)], shifted_says[COUNT(pairs)], old_says[COUNT(pairs)];
    npgnn_error err = {0};
    npgnn_model *model = train(NULL, NULL), *adapted = adapt(model, away, 1);
    assert_ok(npgnn_predict(old_says, model, home, pairs, COUNT(pairs), NULL, &one_thread, &err), err);
    npi_sizes s = model->params.size;
    for (int g = 0; g < s.g; g++)
        for (int c = 0; c < s.d; c++)
            model->params.b1[g] += (adapted->q[c] - model->q[c]) * model->params.wz[c * s.g + g];
    assert_ok(npgnn_predict(adapted_says, adapted, home, pairs, COUNT(pairs), NULL, &one_thread, &err), err);
    assert_ok(npgnn_predict(shifted_says, model, home, pairs, COUNT(pairs), NULL, &one_thread, &err), err);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        assert_near((double)adapted_says[i].score, (double)shifted_says[i].score, 1e-5);
        assert_true(adapted_says[i].score != old_says[i].score);
    }
    npgnn_model_free(model);
    npgnn_model_free(adapted);
}

/* ---- refusals ---- */

static void refuse(const npgnn_model *model, const npgnn_graph *context, int code, const char *why)
{
    npgnn_model *adapted = NULL;
    npgnn_error err = {0};
    assert_int_equal(npgnn_model_adapt(&adapted, model, context, &one_thread, &err), code);
    assert_int_equal(err.code, code);
    assert_null(adapted);
    if (!strstr(err.text, why))
        fail_msg("\"%s\" does not say \"%s\"", err.text, why);
}

static void test_refused_contexts(void **state)
{
    (void)state;
    npgnn_model *model = train(NULL, NULL);
    npgnn_graph *other = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_synthetic(&other, "nodes=100,words=120", &one_thread, &err), err);
    refuse(model, other, NPGNN_E_MISMATCH, "100 feature columns, the graph has 120");
    npgnn_graph_free(other);

    float huge[WORDS];
    for (int c = 0; c < WORDS; c++)
        huge[c] = c % 2 ? -3e38F : 3e38F;
    assert_ok(npgnn_graph_from_arrays(&other, NULL, huge, 1, 0, WORDS, &one_thread, &err), err);
    refuse(model, other, NPGNN_E_DIVERGED, "not finite");
    npgnn_graph_free(other);
    npgnn_model_free(model);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    npgnn_model *model = train("encoder-output", "relu");
    int code = NPGNN_E_MEMORY;
    long allow = 0;
    for (; code; allow++) {
        meter memory = {.allow = allow};
        npgnn_env env = metered_env(&memory);
        npgnn_error err = {0};
        npgnn_model *adapted = NULL;
        code = npgnn_model_adapt(&adapted, model, away, &env, &err);
        if (code)
            assert_true(code == NPGNN_E_MEMORY && err.code == code && !adapted);
        npgnn_model_free(adapted);
        assert_int_equal(memory.blocks, 0);
    }
    assert_true(allow > 10);
    npgnn_model_free(model);
}

/* ---- parts of a graph ---- */

static void test_a_part(void **state)
{
    (void)state;
    const int32_t nodes[] = {3, 10, 11, 40, 149};
    const int32_t bad[][2] = {{-1, 2}, {4, 4}, {5, 4}, {5, 150}};
    char name[12], own_name[12];
    npgnn_graph *part = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_graph_subgraph(&part, home, nodes, COUNT(nodes), &err), err);
    assert_int_equal(npgnn_graph_nodes(part), COUNT(nodes));
    for (int32_t i = 0; i < (int32_t)COUNT(nodes); i++) {
        assert_int_equal(npgnn_graph_label(part, i), npgnn_graph_label(home, nodes[i]));
        if (home->names)
            assert_string_equal(npgnn_graph_name(part, i, name), npgnn_graph_name(home, nodes[i], own_name));
        for (int32_t j = 0; j < (int32_t)COUNT(nodes); j++)
            assert_int_equal(npgnn_graph_has_edge(part, i, j), npgnn_graph_has_edge(home, nodes[i], nodes[j]));
    }
    npgnn_graph_free(part);
    part = NULL;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(npgnn_graph_subgraph(&part, home, bad[i], 2, &err), NPGNN_E_ARGUMENT);
        assert_null(part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_latent_of_another_graph),
        cmocka_unit_test(test_the_graph_of_the_training),
        cmocka_unit_test(test_same_bits_for_any_threads),
        cmocka_unit_test(test_and_back),
        cmocka_unit_test(test_without_latent),
        cmocka_unit_test(test_prediction),
        cmocka_unit_test(test_refused_contexts),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_a_part),
    };
    return cmocka_run_group_tests(tests, make_graphs, free_graphs);
}
