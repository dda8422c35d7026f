/* Prediction with models of a small graph: scores, draws, any number of pairs, several threads, and pairs that are refused. */
#include <pthread.h>

#include "predict/predictor.h"
#include "training.h"

enum { PAIRS = 400 };

static void make_pairs(npgnn_pair pairs[PAIRS])
{
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = (npgnn_pair){i * 7 % 200, i * 31 % 199};
}

static void test_prediction(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_options o = small_options(20);
    npgnn_model *model = fit(&o, 1);
    npgnn_pair pairs[PAIRS];
    npgnn_prediction p[PAIRS];
    float u[200 * 4];
    make_pairs(pairs);
    predict(p, model, pairs, PAIRS, 0);
    assert_ok(npgnn_model_embed(u, model, graph, &one_thread, &err), err);
    for (int i = 0; i < PAIRS; i++) {
        double dot = 0;
        for (int c = 0; c < 4; c++)
            dot += (double)u[pairs[i].u * 4 + c] * (double)u[pairs[i].v * 4 + c];
        assert_near((double)p[i].score, dot, 1e-5);
        assert_true(p[i].spread == 0);
        npgnn_pair turned = {pairs[i].v, pairs[i].u};
        npgnn_prediction again;
        predict(&again, model, &turned, 1, 0); /* the other direction, alone */
        assert_memory_equal(&again, &p[i], sizeof again);
    }
    npgnn_model_free(model);
}

static void test_draws(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_options o = small_options(20);
    o.predict_samples = 8;
    npgnn_model *model = fit(&o, 1);
    npgnn_pair pairs[PAIRS];
    npgnn_prediction p[PAIRS], alone, standard[PAIRS], mean[PAIRS], two[PAIRS];
    make_pairs(pairs);
    predict(p, model, pairs, PAIRS, 8);
    predict(mean, model, pairs, PAIRS, 0);
    predict(two, model, pairs, PAIRS, 2);
    for (int i = 0; i < PAIRS; i += 40) {
        predict(&alone, model, &pairs[i], 1, 8);
        assert_memory_equal(&alone, &p[i], sizeof alone);
        assert_true(p[i].spread > 0 && p[i].spread <= 0.5f && p[i].probability > 0 && p[i].probability < 1);
        assert_true(p[i].score != mean[i].score && p[i].score != two[i].score); /* each draw counts */
    }
    /* without options: the model's own number of draws, seed 0 */
    npgnn_predict_options same = {.size = sizeof same, .samples = -1}, eight = {.size = sizeof eight, .samples = 8};
    assert_ok(npgnn_predict(standard, model, graph, pairs, PAIRS, NULL, &one_thread, &err), err);
    assert_true(memcmp(standard, p, sizeof p) != 0); /* p had another seed */
    assert_ok(npgnn_predict(p, model, graph, pairs, PAIRS, &same, &one_thread, &err), err);
    assert_memory_equal(standard, p, sizeof p);
    assert_ok(npgnn_predict(p, model, graph, pairs, PAIRS, &eight, &one_thread, &err), err);
    assert_memory_equal(standard, p, sizeof p);
    npgnn_model_free(model);
}

/* More pairs than are scored at a time. */
static void test_large_batches(void **state)
{
    (void)state;
    enum { MANY = 70000 };
    npgnn_options o = small_options(3);
    npgnn_model *model = fit(&o, 1);
    npgnn_pair few[PAIRS], *pairs = calloc(MANY, sizeof *pairs);
    npgnn_prediction want[PAIRS], *p = calloc(MANY, sizeof *p);
    make_pairs(few);
    for (int i = 0; i < MANY; i++)
        pairs[i] = few[i % PAIRS];
    for (int samples = 0; samples <= 2; samples += 2) {
        predict(want, model, few, PAIRS, samples);
        predict(p, model, pairs, MANY, samples);
        for (int i = 0; i < MANY; i++)
            assert_memory_equal(&p[i], &want[i % PAIRS], sizeof *p);
    }
    predict(NULL, model, NULL, 0, 0); /* and none at all */
    free(pairs);
    free(p);
    npgnn_model_free(model);
}

typedef struct caller {
    pthread_t thread;
    const npgnn_predictor *predictor;
    npgnn_pair pairs[PAIRS];
    npgnn_prediction got[PAIRS];
    int code;
} caller;

static void *call_often(void *given)
{
    caller *c = given;
    npgnn_error err = {0};
    for (int i = 0; c->code == 0 && i < 20; i++)
        c->code = npi_predictor_run_share(c->got, c->predictor, c->pairs, PAIRS, &err);
    return NULL;
}

/* Threads that share a predictor, each with pairs of its own: a call changes nothing of the predictor. */
static void test_shared_predictor(void **state)
{
    (void)state;
    enum { CALLERS = 4 };
    npgnn_error err = {0};
    npgnn_options o = small_options(3);
    npgnn_model *network = fit(&o, 1), *process = NULL;
    npgnn_prediction want[PAIRS];
    assert_ok(npgnn_model_universal(&process, &one_thread, &err), err);
    for (int kind = 0; kind < 2; kind++)
        for (int samples = 0; samples <= 3; samples += 3) {
            static caller callers[CALLERS];
            const npgnn_predict_options how = {.size = sizeof how, .samples = samples};
            npgnn_predictor *predictor = NULL;
            assert_ok(npgnn_predictor_new(&predictor, kind ? process : network, graph, &how, &one_thread, &err), err);
            memset(callers, 0, sizeof callers);
            for (int c = 0; c < CALLERS; c++) {
                for (int i = 0; i < PAIRS; i++)
                    callers[c].pairs[i] = (npgnn_pair){(i * 7 + 31 * c) % 200, (i * 31 + c) % 199};
                callers[c].predictor = predictor;
                assert_int_equal(pthread_create(&callers[c].thread, NULL, call_often, &callers[c]), 0);
            }
            for (int c = 0; c < CALLERS; c++)
                assert_int_equal(pthread_join(callers[c].thread, NULL), 0);
            for (int c = 0; c < CALLERS; c++) {
                assert_int_equal(callers[c].code, 0);
                assert_ok(npgnn_predictor_run(want, predictor, callers[c].pairs, PAIRS, &err), err);
                assert_memory_equal(callers[c].got, want, sizeof want);
            }
            npgnn_predictor_free(predictor);
        }
    npgnn_model_free(network);
    npgnn_model_free(process);
}

static void test_refused_pairs(void **state)
{
    (void)state;
    const npgnn_pair wrong[][2] = {{{0, 1}, {200, 1}}, {{0, 1}, {1, -1}}, {{0, 1}, {1, INT32_MAX}}};
    npgnn_error err = {0};
    npgnn_options o = small_options(1);
    npgnn_model *model = fit(&o, 1);
    npgnn_prediction p[2] = {{.score = 7}, {.score = 7}};
    npgnn_graph *other = NULL;
    float u[1];
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(npgnn_predict(p, model, graph, wrong[i], 2, NULL, &one_thread, &err), NPGNN_E_ARGUMENT);
        assert_non_null(strstr(err.text, "pair 1"));
        assert_true(p[0].score == 7 && p[1].score == 7);
    }
    assert_ok(npgnn_graph_from_arrays(&other, NULL, NULL, 1, 0, 0, NULL, &err), err);
    assert_int_equal(npgnn_predict(p, model, other, wrong[0], 1, NULL, NULL, &err), NPGNN_E_MISMATCH);
    assert_non_null(strstr(err.text, "100 feature columns"));
    assert_int_equal(npgnn_model_embed(u, model, other, NULL, &err), NPGNN_E_MISMATCH);
    npgnn_graph_free(other);
    npgnn_model_free(model);
}

static void test_without_latent(void **state)
{
    (void)state;
    npgnn_options o = small_options(20);
    o.latent = 0;
    npgnn_model *model = fit(&o, 1);
    npgnn_pair pairs[PAIRS];
    npgnn_prediction p[PAIRS], drawn[PAIRS];
    make_pairs(pairs);
    assert_null(model->q);
    assert_int_equal(model->info.parameters, 100 * 8 + 8 + 8 * 4 + 4);
    predict(p, model, pairs, PAIRS, 0);
    predict(drawn, model, pairs, PAIRS, 5); /* there is nothing to draw */
    assert_memory_equal(p, drawn, sizeof p);
    npgnn_model_free(model);
}

/* A conditional neural process draws nothing, in training or in prediction. */
static void test_conditional(void **state)
{
    (void)state;
    npgnn_options o = small_options(20);
    o.sample_latent = 0;
    npgnn_model *model = fit(&o, 1);
    o.samples = 4;
    o.kl_weight = 7;
    npgnn_model *same = fit(&o, 1);
    o.sample_latent = 1;
    npgnn_model *sampled = fit(&o, 1);
    npgnn_pair pairs[PAIRS];
    npgnn_prediction p[PAIRS], drawn[PAIRS];
    make_pairs(pairs);
    assert_true(same_parameters(model, same));
    assert_false(same_parameters(model, sampled));
    predict(p, model, pairs, PAIRS, 0);
    predict(drawn, model, pairs, PAIRS, 5);
    assert_memory_equal(p, drawn, sizeof p);
    npgnn_model_free(model);
    npgnn_model_free(same);
    npgnn_model_free(sampled);
}

/* A weight of a model file may be any finite number. Where a score would overflow, each way to use the model says
 * so. */
static void test_huge_weights(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_options o = small_options(2);
    for (int draws = 0; draws <= 2; draws += 2) {
        npgnn_model *model = fit(&o, 1);
        npgnn_predictor *predictor = NULL;
        npgnn_predict_options how = {.size = sizeof how, .samples = draws};
        npgnn_pair pair = {0, 1};
        npgnn_prediction p = {.score = 7};
        npgnn_link links[3];
        int32_t found = 0;
        float u[200 * 4] = {7};
        for (int c = 0; c < 4; c++) /* b2: every embedding has these, of both signs, so that a sum is inf - inf */
            model->params.b2[c] = (real)(c % 2 ? 3e38 : -3e38);
        assert_int_equal(npgnn_predict(&p, model, graph, &pair, 1, &how, &one_thread, &err), NPGNN_E_DIVERGED);
        assert_non_null(strstr(err.text, "not finite"));
        assert_true(p.score == 7);
        assert_int_equal(npgnn_model_embed(u, model, graph, &one_thread, &err), NPGNN_E_DIVERGED);
        assert_true(u[0] == 7);
        int code = npgnn_predictor_new(&predictor, model, graph, &how, &one_thread, &err);
        if (code == 0)
            code = npgnn_predictor_top_links(links, &found, predictor, 3, NULL, &err);
        assert_int_equal(code, NPGNN_E_DIVERGED);
        npgnn_predictor_free(predictor);
        npgnn_model_free(model);
    }
    /* draws alone: sigma = exp(200) */
    npgnn_model *model = fit(&o, 1);
    npgnn_predict_options how = {.size = sizeof how, .samples = 2};
    npgnn_pair pair = {0, 1};
    npgnn_prediction p = {.score = 7};
    model->q[4] = (real)200;
    model->params.w3[0] = (real)NAN; /* whatever makes an embedding no number */
    assert_int_equal(npgnn_predict(&p, model, graph, &pair, 1, &how, &one_thread, &err), NPGNN_E_DIVERGED);
    npgnn_model_free(model);
}

/* All draws are held in memory, and a model file asks for them. */
static void test_many_draws(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_options o = small_options(2);
    npgnn_model *model = fit(&o, 1);
    npgnn_predict_options how = {.size = sizeof how, .samples = 1001};
    npgnn_pair pair = {0, 1};
    npgnn_prediction p = {.score = 7};
    assert_int_equal(npgnn_predict(&p, model, graph, &pair, 1, &how, &one_thread, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "1001 samples are too many"));
    how.samples = 1000;
    assert_ok(npgnn_predict(&p, model, graph, &pair, 1, &how, &one_thread, &err), err);
    assert_int_equal(npgnn_options_set(&o, "predict-samples", "1000", &err), 0);
    assert_int_equal(npgnn_options_set(&o, "predict-samples", "1001", &err), NPGNN_E_ARGUMENT);
    npgnn_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prediction),       cmocka_unit_test(test_draws),
        cmocka_unit_test(test_large_batches),    cmocka_unit_test(test_refused_pairs),
        cmocka_unit_test(test_without_latent),   cmocka_unit_test(test_conditional),
        cmocka_unit_test(test_huge_weights),     cmocka_unit_test(test_many_draws),
        cmocka_unit_test(test_shared_predictor),
    };
    return cmocka_run_group_tests(tests, make_graph, free_graph);
}
