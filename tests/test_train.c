/* Training on a small graph: what it promises, which model it keeps, and how it stops. */
#include "meter.h"
#include "training.h"

/* ---- training ---- */

/* Means over ten iterations, for each has a context and a z of its own. */
static void check_falling(const npgnn_options *options)
{
    double first = 0, last = 0;
    npgnn_trainer *trainer = trainer_of(NULL, options, &one_thread);
    for (int i = 0; i < options->iterations; i++) {
        npgnn_progress p = {.size = sizeof p};
        npgnn_error err = {0};
        assert_ok(npgnn_trainer_step(&p, trainer, &err), err);
        assert_int_equal(p.iteration, i + 1);
        assert_true(isfinite(p.loss) && p.kl >= 0);
        assert_false(p.validated);
        first += i < 10 ? p.loss : 0;
        last += i >= options->iterations - 10 ? p.loss : 0;
    }
    if (!(last < 0.95 * first))
        fail_msg("the loss does not fall: %g, then %g", first / 10, last / 10);
    npgnn_trainer_free(trainer);
}

static void test_the_loss_falls(void **state)
{
    (void)state;
    for (int how = 0; how < 8; how++) {
        npgnn_options o = small_options(80);
        o.latent = how < 6;
        o.context = how & 1 ? NPGNN_CONTEXT_NODES : NPGNN_CONTEXT_EDGES;
        o.loss = how & 2 ? NPGNN_LOSS_SAMPLED : NPGNN_LOSS_EXACT;
        o.samples = how & 4 ? 2 : 1;
        check_falling(&o);
    }
}

static void test_same_bits_for_any_threads(void **state)
{
    (void)state;
    for (int how = 0; how < 32; how++) {
        npgnn_options o = small_options(6);
        o.sample_latent = !(how & 16);
        o.loss = how & 1 ? NPGNN_LOSS_SAMPLED : NPGNN_LOSS_EXACT;
        o.context = how & 2 ? NPGNN_CONTEXT_NODES : NPGNN_CONTEXT_EDGES;
        o.encoder_output = how & 4 ? NPGNN_RELU : NPGNN_LINEAR;
        if (how & 8)
            o.input_dropout = 0.3;
        npgnn_model *one = fit(&o, 1), *two = fit(&o, 2), *three = fit(&o, 3);
        o.seed++;
        npgnn_model *other = fit(&o, 1);
        assert_true(same_parameters(one, two));
        assert_true(same_parameters(one, three));
        assert_false(same_parameters(one, other));
        npgnn_model_free(one);
        npgnn_model_free(two);
        npgnn_model_free(three);
        npgnn_model_free(other);
    }
}

/* Steps one by one, a run, and a fit are the same training. */
static void test_steps_and_runs(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_options o = small_options(7);
    npgnn_trainer *steps = trainer_of(NULL, &o, &one_thread), *run = trainer_of(NULL, &o, &one_thread);
    for (int i = 0; i < 3; i++)
        assert_ok(npgnn_trainer_step(NULL, steps, &err), err);
    assert_ok(npgnn_trainer_run(steps, &err), err); /* goes on from there */
    assert_ok(npgnn_trainer_run(run, &err), err);
    npgnn_model *a = model_of(steps), *b = model_of(run), *c = fit(&o, 1);
    npgnn_model_info info = {.size = sizeof info};
    npgnn_model_describe(&info, a, NULL);
    assert_true(same_parameters(a, b) && same_parameters(a, c));
    assert_int_equal(info.iterations, 7);
    assert_int_equal(info.train_nodes, 200);
    assert_true(info.train_edges == npgnn_graph_edges(graph) && info.fingerprint == npi_graph_fingerprint(graph));
    assert_true(isnan(info.val_auc) && isnan(info.val_ap));
    npgnn_model_free(a);
    npgnn_model_free(b);
    npgnn_model_free(c);
    npgnn_trainer_free(steps);
    npgnn_trainer_free(run);
    npgnn_trainer_free(NULL);
}

static void test_steps_allocate_nothing(void **state)
{
    (void)state;
    for (int how = 0; how < 16; how++) {
        meter memory = {.allow = -1};
        npgnn_env env = metered_env(&memory);
        npgnn_error err = {0};
        npgnn_options o = small_options(10);
        o.loss = how & 1 ? NPGNN_LOSS_SAMPLED : NPGNN_LOSS_EXACT;
        o.context = how & 2 ? NPGNN_CONTEXT_NODES : NPGNN_CONTEXT_EDGES;
        o.latent = how & 4 ? 0 : 1;
        if (how & 8)
            o.input_dropout = 0.3;
        npgnn_trainer *trainer = trainer_of(split, &o, &env);
        memory.allow = 0;
        for (int i = 0; i < 9; i++) /* the tenth validates */
            assert_ok(npgnn_trainer_step(NULL, trainer, &err), err);
        npgnn_trainer_free(trainer);
        assert_int_equal(memory.blocks, 0);
    }
}

/* Nothing is written back into the options, whatever training finds. */
static void test_options_are_input(void **state)
{
    (void)state;
    const char *preset, *help;
    for (int p = 0; npgnn_preset_info(&preset, &help, p); p++)
        for (int whole = 0; whole < 2; whole++) {
            npgnn_options given, taken;
            npgnn_error err = {0};
            memset(&given, 0, sizeof given); /* padding too */
            memset(&taken, 0, sizeof taken);
            given.size = taken.size = sizeof given;
            assert_ok(npgnn_options_preset(&given, preset, &err), err);
            given.iterations = 20;
            given.patience = 1;
            given.validate_every = 2;
            const npgnn_options before = given;
            npgnn_trainer *trainer = given.process ? NULL : trainer_of(whole ? NULL : split, &given, &one_thread);
            npgnn_model *model = NULL;
            if (trainer) {
                assert_ok(npgnn_trainer_run(trainer, &err), err);
                model = model_of(trainer);
            } else {
                assert_ok(npgnn_fit(&model, graph, &given, &one_thread, &err), err);
            }
            assert_ok(npgnn_model_options(&taken, model, &err), err);
            if (given.process) { /* which has embeddings of its own width */
                assert_int_equal(taken.output_size, 48);
                taken.output_size = before.output_size;
            }
            assert_memory_equal(&taken, &before, sizeof taken);
            assert_memory_equal(&given, &before, sizeof given);
            npgnn_model_free(model);
            npgnn_trainer_free(trainer);
        }
}

static void test_contexts(void **state)
{
    (void)state;
    npgnn_split_options by_nodes = {.size = sizeof by_nodes};
    npgnn_split *inductive = NULL;
    npgnn_error err = {0};
    npgnn_split_options_default(&by_nodes, NPGNN_INDUCTIVE, NULL);
    assert_ok(npgnn_split_new(&inductive, graph, &by_nodes, &one_thread, &err), err);
    const npgnn_split *splits[] = {split, inductive};
    const npgnn_context automatic[] = {NPGNN_CONTEXT_EDGES, NPGNN_CONTEXT_NODES};
    for (int s = 0; s < 2; s++) {
        npgnn_model *models[3];
        for (int kind = 0; kind < 3; kind++) {
            npgnn_options o = small_options(4);
            o.context = (npgnn_context)kind;
            npgnn_trainer *trainer = trainer_of(splits[s], &o, &one_thread);
            assert_ok(npgnn_trainer_run(trainer, &err), err);
            models[kind] = model_of(trainer);
            npgnn_trainer_free(trainer);
        }
        assert_false(same_parameters(models[NPGNN_CONTEXT_EDGES], models[NPGNN_CONTEXT_NODES]));
        assert_true(same_parameters(models[NPGNN_CONTEXT_AUTO], models[automatic[s]]));
        for (int kind = 0; kind < 3; kind++)
            npgnn_model_free(models[kind]);
    }
    npgnn_split_free(inductive);
}

/* ---- validation ---- */

/* AUC and AP of a model on the validation pairs of the split, knowing what training knows. */
static double judge(double *ap, const npgnn_model *model)
{
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_VAL);
    npgnn_prediction *predictions = calloc(count, sizeof *predictions);
    float *score = calloc(count, sizeof *score);
    npgnn_error err = {0};
    double auc;
    assert_ok(npgnn_predict(predictions, model, npi_split_known(split), pairs, count, NULL, &one_thread, &err), err);
    for (size_t i = 0; i < count; i++)
        score[i] = predictions[i].score;
    assert_ok(npgnn_auc_ap(&auc, ap, score, score + positives, positives, count - positives, NULL, &err), err);
    free(predictions);
    free(score);
    return auc;
}

/* A rate at which the last model is not the best; validation every third iteration, and at the end. */
static void check_kept(int keep_best, int refined)
{
    npgnn_error err = {0};
    npgnn_options o = small_options(50);
    double best = -1, best_auc = 0, last_auc = 0, ap;
    int best_iteration = 0, validations = 0;
    o.learning_rate = 0.2;
    o.sigma_start = 1; /* a bumpy way, so that the last validation is not the best */
    o.validate_every = 3;
    o.keep_best = keep_best;
    if (refined) {
        o.input_dropout = 0.3;
        o.seed = 4;
    }
    npgnn_trainer *trainer = trainer_of(split, &o, &one_thread);
    for (int i = 1; i <= o.iterations; i++) {
        npgnn_progress p = {.size = sizeof p};
        assert_ok(npgnn_trainer_step(&p, trainer, &err), err);
        assert_int_equal(p.validated, i % 3 == 0 || i == o.iterations);
        validations += p.validated;
        if (p.validated && p.val_auc + p.val_ap > best) {
            best = p.val_auc + p.val_ap;
            best_auc = p.val_auc;
            best_iteration = i;
        }
        last_auc = p.val_auc;
        assert_int_equal(p.best_iteration, best_iteration);
    }
    npgnn_model *model = model_of(trainer);
    npgnn_model_info info = {.size = sizeof info};
    npgnn_model_describe(&info, model, NULL);
    assert_int_equal(validations, 17);
    assert_true(best_iteration < o.iterations && best_auc != last_auc);
    assert_int_equal(info.iterations, keep_best ? best_iteration : o.iterations);
    assert_true(info.val_auc == (keep_best ? best_auc : last_auc));
    assert_true(judge(&ap, model) == info.val_auc);
    assert_true(ap == info.val_ap);
    npgnn_model_free(model);
    npgnn_trainer_free(trainer);
}

static void test_keeping_the_best(void **state)
{
    (void)state;
    for (int refined = 0; refined < 2; refined++) {
        check_kept(1, refined);
        check_kept(0, refined);
    }
}

static void test_patience(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_progress p = {.size = sizeof p};
    npgnn_options o = small_options(2000);
    o.learning_rate = 0.2;
    o.validate_every = 2;
    o.patience = 3;
    npgnn_trainer *trainer = trainer_of(split, &o, &one_thread);
    assert_ok(npgnn_trainer_run(trainer, &err), err);
    npgnn_trainer_progress(&p, trainer, NULL);
    assert_true(p.iteration < 2000);
    assert_int_equal(p.iteration, p.best_iteration + 6);
    npgnn_trainer_free(trainer);
}

/* ---- stopping ---- */

static void test_cancelling(void **state)
{
    (void)state;
    brake brake3 = {.iteration = 3};
    npgnn_env env = {.size = sizeof env, .threads = 1, .progress = press, .user = &brake3};
    npgnn_error err = {0};
    npgnn_options o = small_options(9);
    npgnn_model *none = NULL;
    npgnn_trainer *trainer = trainer_of(NULL, &o, &env);
    assert_int_equal(npgnn_trainer_run(trainer, &err), NPGNN_E_CANCELLED);
    assert_non_null(strstr(err.text, "iteration 3"));
    npgnn_model *model = model_of(trainer);
    o.iterations = 3;
    npgnn_model *three = fit(&o, 1);
    assert_true(same_parameters(model, three));
    assert_int_equal(model->info.iterations, 3);
    assert_int_equal(brake3.calls, 3);
    assert_int_equal(brake3.runs, 1);
    assert_ok(npgnn_trainer_run(trainer, &err), err); /* and on from there */
    assert_int_equal(brake3.calls, 9);
    assert_int_equal(npgnn_fit(&none, graph, &o, &env, &err), NPGNN_E_CANCELLED);
    assert_null(none);
    npgnn_model_free(model);
    npgnn_model_free(three);
    npgnn_trainer_free(trainer);
}

static void check_finite(const npgnn_model *model)
{
    for (size_t i = 0; i < model->params.count; i++)
        assert_true(isfinite(model->params.block[i]));
}

/* A trainer on four nodes with features of this size. */
static npgnn_trainer *wild_trainer(npgnn_graph **out, float feature, const npgnn_options *options)
{
    const npgnn_pair edges[] = {{0, 1}, {1, 2}, {2, 3}};
    const float x[] = {feature, 1, 1, feature, -feature, 1, 1, 1};
    npgnn_error err = {0};
    npgnn_trainer *trainer = NULL;
    assert_ok(npgnn_graph_from_arrays(out, edges, x, 4, 3, 2, &one_thread, &err), err);
    assert_ok(npgnn_trainer_new(&trainer, *out, NULL, options, &one_thread, &err), err);
    return trainer;
}

static void check_finite_trainer(const npgnn_trainer *trainer)
{
    npgnn_model *model = model_of(trainer);
    check_finite(model);
    npgnn_model_free(model);
}

/* The loss after 40 iterations on a ring whose features are `unit` times some numbers. */
static double loss_in_units(float unit, double input_scale)
{
    enum { N = 40, F = 6 };
    npgnn_pair ring[N];
    float x[N * F];
    npgnn_graph *small = NULL;
    npgnn_trainer *trainer = NULL;
    npgnn_error err = {0};
    npgnn_options o = small_options(40);
    npgnn_progress p = {.size = sizeof p};
    o.input_scale = input_scale;
    o.input_dropout = 0.25;
    for (int i = 0; i < N; i++)
        ring[i] = (npgnn_pair){i, (i + 1) % N};
    for (int i = 0; i < N * F; i++)
        x[i] = unit * (float)((i * 7 + i / F) % 5);
    assert_ok(npgnn_graph_from_arrays(&small, ring, x, N, N, F, &one_thread, &err), err);
    assert_ok(npgnn_trainer_new(&trainer, small, NULL, &o, &one_thread, &err), err);
    assert_ok(npgnn_trainer_run(trainer, &err), err);
    npgnn_trainer_progress(&p, trainer, NULL);
    npgnn_trainer_free(trainer);
    npgnn_graph_free(small);
    return p.loss;
}

/* Features in other units with the scale that makes up for it are the same training; without it they are not; and the
 * scale that training finds of itself makes up for any. */
static void test_units_of_the_features(void **state)
{
    (void)state;
    assert_near(loss_in_units(0.03125f, 32), loss_in_units(1, 1), 1e-6);
    assert_near(loss_in_units(0.03125f, 0), loss_in_units(1, 0), 1e-6);
    assert_true(fabs(loss_in_units(0.03125f, 1) - loss_in_units(1, 1)) > 1e-3);
}

/* Features so large that the first loss is infinite, or steps so large that it soon will be. */
static void check_divergence(float feature, double rate, int at_first)
{
    char number[32];
    npgnn_error err = {0};
    npgnn_progress p = {.size = sizeof p};
    npgnn_graph *wild = NULL;
    npgnn_options o = small_options(5000);
    o.learning_rate = rate;
    o.input_scale = 1; /* of itself, training would scale such features down */
    npgnn_trainer *trainer = wild_trainer(&wild, feature, &o);
    assert_int_equal(npgnn_trainer_run(trainer, &err), NPGNN_E_DIVERGED);
    npgnn_trainer_progress(&p, trainer, NULL);
    assert_int_equal(p.iteration == 0, at_first);
    snprintf(number, sizeof number, "iteration %d ", p.iteration + 1);
    assert_non_null(strstr(err.text, number));
    check_finite_trainer(trainer);
    npgnn_trainer_free(trainer);
    npgnn_graph_free(wild);
}

static void test_divergence(void **state)
{
    (void)state;
    check_divergence(1e30f, 0.01, 1);
    check_divergence(10, 1e3, 0);
}

static void keep_notice(void *user, const char *message)
{
    snprintf(user, 256, "%s", message);
}

/* Scores that are not finite cannot be calibrated: there is a model all the same, and a notice. */
static void test_uncalibrated_after_divergence(void **state)
{
    (void)state;
    enum { N = 40 };
    npgnn_pair ring[N];
    float x[N];
    char notice[256] = "";
    npgnn_env env = {.size = sizeof env, .threads = 1, .log = keep_notice, .user = notice};
    npgnn_graph *wild = NULL;
    npgnn_split *cut = NULL;
    npgnn_trainer *trainer = NULL;
    npgnn_error err = {0};
    npgnn_options o = small_options(5);
    o.input_scale = o.calibrate = 1;
    for (int i = 0; i < N; i++) {
        ring[i] = (npgnn_pair){i, (i + 1) % N};
        x[i] = i % 3 ? 3e38f : -3e38f;
    }
    assert_ok(npgnn_graph_from_arrays(&wild, ring, x, N, N, 1, &env, &err), err);
    assert_ok(npgnn_split_new(&cut, wild, NULL, &env, &err), err);
    assert_ok(npgnn_trainer_new(&trainer, wild, cut, &o, &env, &err), err);
    assert_int_equal(npgnn_trainer_run(trainer, &err), NPGNN_E_DIVERGED);
    npgnn_model *model = model_of(trainer);
    assert_false(model->scorer.calibrated);
    assert_true(npi_calibration_is_sound(&model->scorer.calibration));
    assert_non_null(strstr(notice, "not calibrated"));
    npgnn_model_free(model);
    npgnn_trainer_free(trainer);
    npgnn_split_free(cut);
    npgnn_graph_free(wild);
}

/* Sigma grows with exp(feature): on the way to an infinite loss, which is a double, the gradient is infinite first. */
static void test_the_edge_of_divergence(void **state)
{
    (void)state;
    npgnn_options o = small_options(1);
    int codes[2] = {0};
    o.input_scale = 1;
    for (double feature = 1; feature < 1e4; feature *= 1.1) {
        npgnn_graph *wild = NULL;
        npgnn_trainer *trainer = wild_trainer(&wild, (float)feature, &o);
        int code = npgnn_trainer_step(NULL, trainer, NULL);
        assert_true(code == 0 || code == NPGNN_E_DIVERGED);
        codes[code != 0]++;
        check_finite_trainer(trainer);
        npgnn_trainer_free(trainer);
        npgnn_graph_free(wild);
    }
    assert_true(codes[0] > 0 && codes[1] > 0);
}

static void refuse(const npgnn_pair *edges, const float *x, int32_t n, int64_t m, int32_t f, const char *says)
{
    npgnn_error err = {0};
    npgnn_graph *poor = NULL;
    npgnn_model *model = NULL;
    npgnn_options o = small_options(1);
    assert_ok(npgnn_graph_from_arrays(&poor, edges, x, n, m, f, &one_thread, &err), err);
    assert_int_equal(npgnn_fit(&model, poor, &o, &one_thread, &err), NPGNN_E_ARGUMENT);
    if (!strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
    assert_null(model);
    npgnn_graph_free(poor);
}

static void test_nothing_to_learn(void **state)
{
    (void)state;
    const npgnn_pair edge = {0, 1}, loop = {0, 0};
    const float x[] = {1, 2}, zeros[] = {0, 0};
    refuse(NULL, NULL, 0, 0, 0, "no edge");
    refuse(&loop, x, 1, 1, 1, "no edge");
    refuse(NULL, x, 2, 0, 1, "no edge");
    refuse(&edge, NULL, 2, 1, 0, "no features");
    refuse(&edge, zeros, 2, 1, 1, "no features");
}

static void test_bad_options(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_model *model = NULL;
    npgnn_options o = small_options(1);
    o.hidden = 0;
    assert_int_equal(npgnn_fit(&model, graph, &o, &one_thread, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "hidden takes 1..4096"));
    o = small_options(1);
    memset(&o.likelihood, 0x7f, sizeof o.likelihood);
    assert_int_equal(npgnn_fit(&model, graph, &o, &one_thread, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "likelihood"));
    assert_null(model);
}

/* The smallest graph there is something to learn from. */
static void test_two_nodes(void **state)
{
    (void)state;
    const npgnn_pair edge = {0, 1};
    const float x[] = {1, 2};
    npgnn_error err = {0};
    npgnn_graph *tiny = NULL;
    npgnn_model *model = NULL;
    npgnn_options o = small_options(5);
    assert_ok(npgnn_graph_from_arrays(&tiny, &edge, x, 2, 1, 1, &one_thread, &err), err);
    for (int how = 0; how < 4; how++) {
        o.context = how & 1 ? NPGNN_CONTEXT_NODES : NPGNN_CONTEXT_EDGES;
        o.loss = how & 2 ? NPGNN_LOSS_SAMPLED : NPGNN_LOSS_EXACT;
        assert_ok(npgnn_fit(&model, tiny, &o, &one_thread, &err), err);
        check_finite(model);
        npgnn_model_free(model);
    }
    npgnn_graph_free(tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_loss_falls),
        cmocka_unit_test(test_same_bits_for_any_threads),
        cmocka_unit_test(test_steps_and_runs),
        cmocka_unit_test(test_steps_allocate_nothing),
        cmocka_unit_test(test_options_are_input),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_uncalibrated_after_divergence),
        cmocka_unit_test(test_keeping_the_best),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_units_of_the_features),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_the_edge_of_divergence),
        cmocka_unit_test(test_nothing_to_learn),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_two_nodes),
    };
    return cmocka_run_group_tests(tests, make_graph, free_graph);
}
