/* Evaluation on a small graph: what it reports, for every method; and what becomes of it, and of training, when memory
 * runs out. */
#include "meter.h"
#include "training.h"

/* ---- evaluation ---- */

static npgnn_eval_options eval_options(const char *method)
{
    npgnn_eval_options o;
    npgnn_eval_options_default(&o, NPGNN_TRANSDUCTIVE);
    o.method = method;
    o.model = small_options(12);
    o.model.keep_best = 1;
    o.model.validate_every = 5;
    o.first_seed = 3;
    return o;
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
    npgnn_eval_options o = *options;
    o.split.seed = o.model.seed = run->seed;
    assert_ok(npgnn_split_new(&own, graph, &o.split, &one_thread, &err), err);
    npgnn_trainer *trainer = trainer_of(own, &o.model, &one_thread);
    assert_ok(npgnn_trainer_run(trainer, &err), err);
    npgnn_model *model = model_of(trainer);
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, own, NPGNN_SET_TEST);
    npgnn_prediction *p = calloc(count, sizeof *p);
    float *score = calloc(count, sizeof *score);
    double auc, ap;
    predict(p, model, pairs, count, 0);
    for (size_t i = 0; i < count; i++)
        score[i] = p[i].score;
    assert_ok(npgnn_auc_ap(&auc, &ap, score, score + positives, positives, count - positives, NULL, &err), err);
    assert_true(run->auc == auc && run->ap == ap && run->val_auc == model->info.val_auc);
    assert_int_equal(run->best_iteration, model->info.iterations);
    assert_int_equal(run->iterations, 12);
    assert_true(run->split_hash == npgnn_split_hash(own));
    free(p);
    free(score);
    npgnn_model_free(model);
    npgnn_trainer_free(trainer);
    npgnn_split_free(own);
}

static void test_evaluation(void **state)
{
    (void)state;
    npgnn_eval_run runs[2];
    npgnn_error err = {0};
    npgnn_eval_options o = eval_options("npgnn");
    assert_ok(npgnn_evaluate(runs, graph, 2, &o, &one_thread, &err), err);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(runs[i].seed, 3 + i);
        check_run(&runs[i]);
        check_by_hand(&runs[i], &o);
    }
    assert_true(runs[0].split_hash != runs[1].split_hash);
}

/* The method is the model with one option changed. */
static void test_conditional_method(void **state)
{
    (void)state;
    npgnn_eval_run method, option, model;
    npgnn_error err = {0};
    npgnn_eval_options o = eval_options("cnp");
    assert_ok(npgnn_evaluate(&method, graph, 1, &o, &one_thread, &err), err);
    o.method = "npgnn";
    assert_ok(npgnn_evaluate(&model, graph, 1, &o, &one_thread, &err), err);
    o.model.sample_latent = 0;
    assert_ok(npgnn_evaluate(&option, graph, 1, &o, &one_thread, &err), err);
    assert_true(method.auc == option.auc && method.ap == option.ap && method.auc != model.auc);
}

static void test_every_method(void **state)
{
    (void)state;
    const char *name, *help;
    npgnn_error err = {0};
    npgnn_eval_run run;
    npgnn_eval_options unknown = eval_options("oracle");
    assert_int_equal(npgnn_evaluate(&run, graph, 1, &unknown, &one_thread, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "oracle"));
    for (int i = 0; npgnn_method_info(&name, &help, i); i++) {
        npgnn_eval_options o = eval_options(name);
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
    npgnn_eval_run runs[2];
    npgnn_error err = {0};
    npgnn_eval_options o = eval_options(NULL);
    o.fixed = split;
    assert_ok(npgnn_evaluate(runs, graph, 2, &o, &one_thread, &err), err);
    assert_true(runs[0].split_hash == npgnn_split_hash(split) && runs[1].split_hash == runs[0].split_hash);
    assert_true(runs[0].auc != runs[1].auc); /* the seed still trains */
}

static void test_cancelled_evaluation(void **state)
{
    (void)state;
    brake second = {.run = 1, .iteration = 4};
    npgnn_env env = {.threads = 1, .progress = press, .user = &second};
    npgnn_eval_run runs[3], whole;
    npgnn_error err = {0};
    npgnn_eval_options o = eval_options("npgnn");
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
    int code = npgnn_fit(&model, on, &o, env, err);
    assert_int_equal(model != NULL, code == 0);
    npgnn_model_free(model);
    return code;
}

/* Everything that may be there at once: heads, averaged embeddings, sampled pairs, validation with its best, refinements. */
static int job_train(const npgnn_graph *on, const npgnn_env *env, npgnn_error *err)
{
    npgnn_options o = small_options(2);
    npgnn_split_options how;
    npgnn_split *cut = NULL;
    npgnn_trainer *trainer = NULL;
    o.encoder_output = NPGNN_RELU;
    o.monte_carlo = NPGNN_MC_EMBEDDING;
    o.samples = 2;
    o.loss = NPGNN_LOSS_SAMPLED;
    o.validate_every = o.keep_best = 1;
    refine(&o);
    npgnn_split_options_default(&how, NPGNN_INDUCTIVE);
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
    npgnn_eval_run run;
    npgnn_eval_options o = eval_options("npgnn");
    o.model.iterations = 2;
    return npgnn_evaluate(&run, on, 1, &o, env, err);
}

static int job_compare(const npgnn_graph *on, const npgnn_env *env, npgnn_error *err)
{
    npgnn_eval_run run;
    npgnn_eval_options o = eval_options("cosine");
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
        cmocka_unit_test(test_evaluation),           cmocka_unit_test(test_conditional_method),
        cmocka_unit_test(test_every_method),         cmocka_unit_test(test_fixed_split),
        cmocka_unit_test(test_cancelled_evaluation), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, make_graph, free_graph);
}
