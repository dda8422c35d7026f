/* Evaluation on a small graph: what it reports, for every method; and what becomes of it, and of training, when memory
 * runs out. */
#include "graph/split.h"
#include "meter.h"
#include "training.h"

/* ---- evaluation ---- */

/* The options of evaluations that keep the best of 12 iterations. */
static npgnn_options eval_model(void)
{
    npgnn_options o = small_options(12);
    o.keep_best = 1;
    o.validate_every = 5;
    return o;
}

static npgnn_eval_options eval_options(const char *method, const npgnn_options *model)
{
    return (npgnn_eval_options){.size = sizeof(npgnn_eval_options), .method = method, .model = model, .first_seed = 3};
}

static void check_run(const npgnn_eval_run *run)
{
    assert_true(run->auc > 0 && run->auc <= 1 && run->ap > 0 && run->ap <= 1 && run->mrr > 0 && run->mrr <= 1);
    assert_true(run->hits10 >= 0 && run->hits10 <= run->hits100 && run->hits100 <= 1);
}

/* What an evaluation reports is what its steps, taken one by one, give. */
static void check_by_hand(const npgnn_eval_run *run, const npgnn_eval_options *options)
{
    npgnn_error err = {0};
    npgnn_split *own = NULL;
    npgnn_options o = *options->model;
    npgnn_split_options how = *options->split;
    npgnn_calibration calibration;
    how.seed = o.seed = run->seed;
    assert_ok(npgnn_split_new(&own, graph, &how, &one_thread, &err), err);
    npgnn_trainer *trainer = trainer_of(own, &o, &one_thread);
    assert_ok(npgnn_trainer_run(trainer, &err), err);
    npgnn_model *model = model_of(trainer);
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, own, NPGNN_SET_TEST);
    npgnn_predict_options at_rate = {.size = sizeof at_rate, .link_rate = run->calibration.link_rate};
    npgnn_prediction *p = calloc(count, sizeof *p);
    float *score = calloc(count, sizeof *score), *probability = calloc(count, sizeof *probability);
    double auc, ap;
    at_rate.link_rate = o.calibrate ? at_rate.link_rate : 0;
    assert_ok(npgnn_predict(p, model, npi_split_known(own), pairs, count, &at_rate, &one_thread, &err), err);
    for (size_t i = 0; i < count; i++) {
        score[i] = p[i].score;
        probability[i] = p[i].probability;
    }
    assert_ok(npgnn_auc_ap(&auc, &ap, score, score + positives, positives, count - positives, NULL, &err), err);
    assert_true(run->auc == auc && run->ap == ap);
    assert_memory_equal(&run->val_auc, &model->info.val_auc, sizeof run->val_auc); /* may be NaN */
    assert_int_equal(model->scorer.calibrated, o.calibrate);
    assert_int_equal(isnan(run->calibration.ece) == 0, o.calibrate);
    if (o.calibrate) {
        assert_ok(npgnn_calibration_measure(&calibration, probability, probability + positives, positives,
                                            count - positives, run->calibration.link_rate, NULL, &err),
                  err);
        assert_true(calibration.log_loss == run->calibration.log_loss && calibration.ece == run->calibration.ece);
    }
    assert_int_equal(run->best_iteration, model->info.iterations);
    assert_true(run->split_hash == npgnn_split_hash(own));
    free(p);
    free(score);
    free(probability);
    npgnn_model_free(model);
    npgnn_trainer_free(trainer);
    npgnn_split_free(own);
}

static void test_evaluation(void **state)
{
    (void)state;
    npgnn_eval_run runs[2] = {{.size = sizeof(npgnn_eval_run)}};
    npgnn_split_options how = {.size = sizeof how};
    npgnn_error err = {0};
    npgnn_options model = eval_model();
    npgnn_eval_options o = eval_options("npgnn", &model);
    npgnn_split_options_default(&how, NPGNN_TRANSDUCTIVE, NULL);
    o.split = &how;
    assert_ok(npgnn_evaluate(runs, graph, 2, &o, &one_thread, &err), err);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(runs[i].seed, 3 + i);
        assert_int_equal(runs[i].iterations, 12);
        check_run(&runs[i]);
        check_by_hand(&runs[i], &o);
    }
    assert_true(runs[0].split_hash != runs[1].split_hash);
}

/* What nodes without links are worth: nothing, unless links are held out at random. */
static void test_emptied(void **state)
{
    enum { NODES = 400 };
    (void)state;
    static const npgnn_protocol protocols[] = {NPGNN_TRANSDUCTIVE, NPGNN_INDUCTIVE, NPGNN_RANDOM_LINKS};
    npgnn_graph *sparse = NULL;
    npgnn_error err = {0};
    npgnn_eval_options o = eval_options("katz", NULL);
    npgnn_pair edges[NODES];
    for (int i = 0; i < NODES; i++) /* a ring whose every other node has one more, with that link alone */
        edges[i] = i % 2 ? (npgnn_pair){i - 1, i} : (npgnn_pair){i, (i + 2) % NODES};
    assert_ok(npgnn_graph_from_arrays(&sparse, edges, NULL, NODES, NODES, 0, &one_thread, &err), err);
    for (size_t i = 0; i < COUNT(protocols); i++) {
        npgnn_split_options how = {.size = sizeof how};
        npgnn_split *cut = NULL;
        npgnn_eval_run run = {.size = sizeof run};
        double touching[2] = {0, 0};
        npgnn_split_options_default(&how, protocols[i], NULL);
        assert_ok(npgnn_split_new(&cut, sparse, &how, &one_thread, &err), err);
        o.fixed = cut;
        assert_ok(npgnn_evaluate(&run, sparse, 1, &o, &one_thread, &err), err);
        const npgnn_pair *pairs;
        const int32_t *neighbors;
        size_t links, count = npgnn_split_pairs(&pairs, &links, cut, NPGNN_SET_TEST);
        for (size_t k = 0; k < count; k++)
            touching[k >= links] += npgnn_graph_neighbors(&neighbors, npi_split_known(cut), pairs[k].u) == 0 ||
                                    npgnn_graph_neighbors(&neighbors, npi_split_known(cut), pairs[k].v) == 0;
        assert_true(run.test_links == (double)links);
        assert_near(run.emptied_links, touching[0] / (double)links, 1e-12);
        assert_near(run.emptied_non_links, touching[1] / (double)(count - links), 1e-12);
        assert_near(run.emptied_auc, 0.5 + (run.emptied_links - run.emptied_non_links) / 2, 1e-12);
        assert_true(protocols[i] == NPGNN_RANDOM_LINKS ? run.emptied_auc > 0.52 : run.emptied_auc == 0.5);
        npgnn_split_free(cut);
    }
    npgnn_graph_free(sparse);
}

/* Without validation links, evaluations and trainers rehearse in the same way. */
static void test_rehearsed_evaluation(void **state)
{
    (void)state;
    static const npgnn_protocol protocols[] = {NPGNN_FEW_SHOT, NPGNN_TRANSDUCTIVE, NPGNN_INDUCTIVE};
    for (size_t i = 0; i < COUNT(protocols); i++)
        for (int kind = 0; kind < 8; kind++) {
            npgnn_eval_run run = {.size = sizeof run};
            npgnn_split_options how = {.size = sizeof how};
            npgnn_error err = {0};
            npgnn_options model = eval_model();
            npgnn_eval_options o = eval_options("npgnn", &model);
            npgnn_split_options_default(&how, protocols[i], NULL);
            how.val = 0;
            o.split = &how;
            model.keep_best = kind & 1;
            model.calibrate = kind >> 1 & 1;
            if (kind & 4)
                model.input_dropout = 0.3;
            assert_ok(npgnn_evaluate(&run, graph, 1, &o, &one_thread, &err), err);
            check_by_hand(&run, &o);
        }
}

/* The method is the model with one option changed. */
static void test_conditional_method(void **state)
{
    (void)state;
    npgnn_eval_run method = {.size = sizeof method}, option = {.size = sizeof option}, plain = {.size = sizeof plain};
    npgnn_error err = {0};
    npgnn_options model = eval_model();
    npgnn_eval_options o = eval_options("cnp", &model);
    assert_ok(npgnn_evaluate(&method, graph, 1, &o, &one_thread, &err), err);
    o.method = "npgnn";
    assert_ok(npgnn_evaluate(&plain, graph, 1, &o, &one_thread, &err), err);
    model.sample_latent = 0;
    assert_ok(npgnn_evaluate(&option, graph, 1, &o, &one_thread, &err), err);
    assert_true(method.auc == option.auc && method.ap == option.ap && method.auc != plain.auc);
}

static void test_every_method(void **state)
{
    (void)state;
    const char *name, *help;
    npgnn_error err = {0};
    npgnn_eval_run run = {.size = sizeof run};
    npgnn_options model = eval_model();
    npgnn_eval_options unknown = eval_options("oracle", &model);
    assert_int_equal(npgnn_evaluate(&run, graph, 1, &unknown, &one_thread, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "oracle"));
    for (int i = 0; npgnn_method_info(&name, &help, i); i++) {
        npgnn_eval_options o = eval_options(name, &model);
        assert_non_null(strstr(err.text, name));
        npgnn_error none = {0};
        assert_ok(npgnn_evaluate(&run, graph, 1, &o, &one_thread, &none), none);
        check_run(&run);
        assert_true(strlen(help) > 0);
    }
    assert_false(npgnn_method_info(&name, &help, -1));
}

static void test_fixed_split(void **state)
{
    (void)state;
    npgnn_eval_run runs[2] = {{.size = sizeof(npgnn_eval_run)}};
    npgnn_error err = {0};
    npgnn_options model = eval_model();
    npgnn_eval_options o = eval_options(NULL, &model);
    o.fixed = split;
    assert_ok(npgnn_evaluate(runs, graph, 2, &o, &one_thread, &err), err);
    assert_true(runs[0].split_hash == npgnn_split_hash(split) && runs[1].split_hash == runs[0].split_hash);
    assert_true(runs[0].auc != runs[1].auc); /* the seed still trains */
}

static void test_cancelled_evaluation(void **state)
{
    (void)state;
    brake second = {.run = 1, .iteration = 4};
    npgnn_env env = {.size = sizeof env, .threads = 1, .progress = press, .user = &second};
    npgnn_eval_run runs[3] = {{.size = sizeof(npgnn_eval_run)}}, whole = {.size = sizeof whole};
    npgnn_error err = {0};
    npgnn_options model = eval_model();
    npgnn_eval_options o = eval_options("npgnn", &model);
    assert_int_equal(npgnn_evaluate(runs, graph, 3, &o, &env, &err), NPGNN_E_CANCELLED);
    assert_int_equal(second.calls, 12 + 4);
    assert_int_equal(second.last_run, 1);
    assert_int_equal(second.runs, 3);
    assert_ok(npgnn_evaluate(&whole, graph, 1, &o, &one_thread, &err), err);
    assert_true(runs[0].auc == whole.auc && runs[0].seed == whole.seed);
}

/* ---- out of memory ---- */

typedef int job(const npgnn_graph *on, const npgnn_env *env, npgnn_error *err);

static int job_fit(const npgnn_graph *on, const npgnn_env *env, npgnn_error *err)
{
    npgnn_options o = small_options(2);
    npgnn_model *model = NULL;
    o.calibrate = 1; /* so that it rehearses */
    int code = npgnn_fit(&model, on, &o, env, err);
    assert_int_equal(model != NULL, code == 0);
    npgnn_model_free(model);
    return code;
}

/* Everything that may be there at once: heads, averaged embeddings, sampled pairs, validation with its best,
 * refinements. */
static int job_train(const npgnn_graph *on, const npgnn_env *env, npgnn_error *err)
{
    npgnn_options o = small_options(2);
    npgnn_split_options how = {.size = sizeof how};
    npgnn_split *cut = NULL;
    npgnn_trainer *trainer = NULL;
    o.encoder_output = NPGNN_RELU;
    o.monte_carlo = NPGNN_MC_EMBEDDING;
    o.samples = 2;
    o.loss = NPGNN_LOSS_SAMPLED;
    o.validate_every = o.keep_best = 1;
    o.input_dropout = 0.3;
    npgnn_split_options_default(&how, NPGNN_INDUCTIVE, NULL);
    int code = npgnn_split_new(&cut, on, &how, env, err);
    if (!code)
        code = npgnn_trainer_new(&trainer, on, cut, &o, env, err);
    if (!code)
        code = npgnn_trainer_run(trainer, err);
    npgnn_trainer_free(trainer);
    npgnn_split_free(cut);
    return code;
}

static int job_evaluate(const npgnn_graph *on, const npgnn_env *env, npgnn_error *err)
{
    npgnn_eval_run run = {.size = sizeof run};
    npgnn_options model = eval_model();
    npgnn_eval_options o = eval_options("npgnn", &model);
    model.iterations = 2;
    model.calibrate = 1;
    return npgnn_evaluate(&run, on, 1, &o, env, err);
}

static int job_compare(const npgnn_graph *on, const npgnn_env *env, npgnn_error *err)
{
    npgnn_eval_run run = {.size = sizeof run};
    npgnn_options model = eval_model();
    npgnn_eval_options o = eval_options("cosine", &model);
    return npgnn_evaluate(&run, on, 1, &o, env, err);
}

/* Lets 0, 1, 2... allocations succeed, until the job is done; the graph, made before, uses the same memory. */
static void check_out_of_memory(job *work)
{
    int code = NPGNN_E_MEMORY;
    long allow = 0;
    for (; code; allow++) {
        meter memory = {.allow = -1};
        npgnn_env env = metered_env(&memory);
        npgnn_error err = {0};
        npgnn_graph *own = NULL;
        assert_ok(npgnn_graph_synthetic(&own, SPEC, &env, &err), err);
        memory.allow = allow;
        code = work(own, &env, &err);
        if (code)
            assert_true(code == NPGNN_E_MEMORY && err.code == code);
        npgnn_graph_free(own);
        assert_int_equal(memory.blocks, 0);
    }
    assert_true(allow > 10);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    job *jobs[] = {job_fit, job_train, job_evaluate, job_compare};
    for (size_t i = 0; i < COUNT(jobs); i++)
        check_out_of_memory(jobs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_emptied),
        cmocka_unit_test(test_evaluation),
        cmocka_unit_test(test_rehearsed_evaluation),
        cmocka_unit_test(test_conditional_method),
        cmocka_unit_test(test_every_method),
        cmocka_unit_test(test_fixed_split),
        cmocka_unit_test(test_cancelled_evaluation),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, make_graph, free_graph);
}
