/* From scores to probabilities: planted truths come back, and a model's probabilities are those of held-out links. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "meter.h"
#include "model/calibration.h"
#include "model/carry.h"
#include "model/model.h"
#include "network.h"

static const npgnn_env one_thread = {.size = sizeof one_thread, .threads = 1};

/* ---- planted scores ---- */

typedef double truth_fn(double score); /* log-odds where half of all pairs are linked */

typedef struct planted {
    float *score; /* links first */
    size_t positives, count;
} planted;

/* Standard normal non-links, and as links the same density times exp(truth), by rejection: what the truth means. */
static planted plant(truth_fn *truth, size_t positives, size_t negatives, double most)
{
    planted p = {calloc(positives + negatives, sizeof(float)), positives, positives + negatives};
    npi_rng rng = npi_rng_make(5, NPI_RNG_TEST, 1);
    size_t made = 0;
    for (uint64_t i = 0; made < positives; i++) {
        double score = 2 * npi_rng_normal_at(&rng, i);
        if (npi_rng_uniform_at(&rng, ((uint64_t)1 << 40) + i) < exp(truth(score)) / most)
            p.score[made++] = (float)score;
    }
    for (uint64_t i = 0; i < negatives; i++)
        p.score[positives + i] = (float)(2 * npi_rng_normal_at(&rng, ((uint64_t)1 << 41) + i));
    return p;
}

static npi_calibration fit_planted(const planted *p)
{
    npgnn_env env = npi_env_resolve(&one_thread);
    npgnn_error err = {0};
    npi_calibration c;
    assert_ok(npi_calibration_fit(&c, p->score, p->positives, p->score + p->positives, NULL, p->count - p->positives,
                                  &env, &err),
              err);
    assert_true(npi_calibration_is_sound(&c));
    return c;
}

static double plain_slope(double s)
{
    return 0.8 * s - 1.28; /* minus its own normaliser: E exp(0.8 s) = exp(0.64 * 4 / 2) */
}

static double kinked(double s)
{
    return s < 0 ? -1.5 : s < 2 ? -1.5 + 1.5 * s : 1.5; /* up to a constant */
}

/* However many non-links are shown, what a score means is the same. */
static void test_planted_slope(void **state)
{
    (void)state;
    for (size_t negatives = 4000; negatives <= 400000; negatives *= 10) {
        planted p = plant(plain_slope, 4000, negatives, 60);
        npi_calibration c = fit_planted(&p);
        for (double s = -1; s <= 4; s += 0.5)
            assert_near(npi_calibration_log_odds(&c, s), plain_slope(s), 0.15);
        free(p.score);
    }
}

/* A curve that no straight line follows: f is its rise. */
static void test_planted_kinks(void **state)
{
    (void)state;
    planted p = plant(kinked, 8000, 80000, 5);
    npi_calibration c = fit_planted(&p);
    double level = npi_calibration_log_odds(&c, -1) + 1.5;
    assert_true(c.pieces > 3);
    for (double s = -2; s <= 4; s += 0.5)
        assert_near(npi_calibration_log_odds(&c, s), kinked(s) + level, 0.35);
    free(p.score);
}

/* Fewer than 100 links are too few for more than a line. */
static void test_few_links(void **state)
{
    (void)state;
    planted p = plant(plain_slope, 99, 5000, 60);
    npi_calibration c = fit_planted(&p);
    assert_int_equal(c.pieces, 1);
    assert_near(c.slope[0], 0.8, 0.25);
    free(p.score);
}

static void test_extremes(void **state)
{
    (void)state;
    enum { LINKS = 300, ALL = 900 };
    float score[ALL];
    planted p = {score, LINKS, ALL};
    for (int i = 0; i < ALL; i++)
        score[i] = (float)(i < LINKS ? 1 : -1) + 0.001f * (float)i; /* told apart without an error */
    npi_calibration c = fit_planted(&p);
    assert_true(npi_calibration_log_odds(&c, 1.1) > 3 && npi_calibration_log_odds(&c, -0.9) < -3);
    for (int i = 0; i < ALL; i++)
        score[i] = 7; /* says nothing */
    c = fit_planted(&p);
    assert_near(npi_calibration_log_odds(&c, 7), 0, 1e-9);
    for (int i = 0; i < ALL; i++)
        score[i] = (float)(i < LINKS ? -1 : 1) + 0.001f * (float)(i % 7); /* says the opposite */
    c = fit_planted(&p);
    assert_near(npi_calibration_log_odds(&c, -1), 0, 1e-6);
    assert_near(npi_calibration_log_odds(&c, 1), 0, 1e-6);
}

/* Links that nobody knows are among the pairs that stand for non-links. Told how many there are, the calibration says of the
 * pairs with high scores what comes true; without, it says of pairs that are all links that half of them are. */
static void test_hidden_links(void **state)
{
    enum { LINKS = 4000, HIDDEN = 4000, OTHERS = 200000, UNLINKED = HIDDEN + OTHERS };
    (void)state;
    npgnn_env env = npi_env_resolve(&one_thread);
    npgnn_error err = {0};
    npi_rng rng = npi_rng_make(8, NPI_RNG_TEST, 0);
    float *link = calloc(LINKS, sizeof *link), *unlinked = calloc(UNLINKED, sizeof *unlinked);
    for (uint64_t i = 0; i < LINKS; i++)
        link[i] = (float)(4 + npi_rng_normal_at(&rng, i));
    for (uint64_t i = 0; i < UNLINKED; i++)
        unlinked[i] = (float)((i < HIDDEN ? 4 : 0) + npi_rng_normal_at(&rng, LINKS + i));
    npi_calibration c;
    assert_ok(npi_calibration_fit(&c, link, LINKS, unlinked, NULL, UNLINKED, &env, &err), err);
    double rate = (double)HIDDEN / UNLINKED;
    const npi_calibration told = npi_calibration_at(c, rate, rate), untold = npi_calibration_at(c, rate, 0);
    for (float from = 2; from < 5; from++) {
        double promised = 0, least = 0, came_true = 0;
        for (int i = 0; i < UNLINKED; i++)
            if (unlinked[i] >= from && unlinked[i] < from + 1) {
                promised += npi_calibration_probability(&told, (double)unlinked[i]);
                least += npi_calibration_probability(&untold, (double)unlinked[i]);
                came_true += i < HIDDEN;
            }
        assert_true(fabs(promised / came_true - 1) < 0.12);
        assert_true(from < 4 || least < 0.6 * came_true);
    }
    assert_true(npi_calibration_probability(&told, 5) > 0.95);
    for (double s = -2.03; s < 5; s += 0.1)
        assert_near(npi_calibration_slope(&told, s),
                    (npi_calibration_log_odds(&told, s + 1e-6) - npi_calibration_log_odds(&told, s - 1e-6)) / 2e-6,
                    1e-3);
    free(link);
    free(unlinked);
}

/* Pairs that stand for many count as many: the same as if they were repeated. */
static void test_weights(void **state)
{
    enum { LINKS = 500, OTHERS = 3000, TIMES = 5 };
    (void)state;
    npgnn_env env = npi_env_resolve(&one_thread);
    npgnn_error err = {0};
    npi_rng rng = npi_rng_make(9, NPI_RNG_TEST, 0);
    float link[LINKS], *other = calloc(OTHERS * TIMES, sizeof *other), *weight = calloc(OTHERS, sizeof *weight);
    size_t repeated = OTHERS;
    for (uint64_t i = 0; i < LINKS; i++)
        link[i] = (float)(1 + npi_rng_normal_at(&rng, i));
    for (uint64_t i = 0; i < OTHERS; i++) {
        other[i] = (float)npi_rng_normal_at(&rng, LINKS + i);
        weight[i] = other[i] < 0 ? TIMES : 1;
    }
    npi_calibration weighed, counted;
    assert_ok(npi_calibration_fit(&weighed, link, LINKS, other, weight, OTHERS, &env, &err), err);
    for (size_t i = 0; i < OTHERS; i++)
        for (int k = 1; k < (int)weight[i]; k++)
            other[repeated++] = other[i];
    assert_ok(npi_calibration_fit(&counted, link, LINKS, other, NULL, repeated, &env, &err), err);
    for (double s = -2; s <= 3; s += 0.5)
        assert_near(npi_calibration_log_odds(&weighed, s), npi_calibration_log_odds(&counted, s), 0.02);
    free(other);
    free(weight);
}

/* Scores are carried to where as many pairs are above them. */
static void test_carry(void **state)
{
    enum { PAIRS = 20000 };
    (void)state;
    npgnn_env env = npi_env_resolve(&one_thread);
    npgnn_error err = {0};
    npi_rng rng = npi_rng_make(10, NPI_RNG_TEST, 0);
    float *thin = calloc(PAIRS, sizeof *thin), *full = calloc(PAIRS, sizeof *full), *one = calloc(PAIRS, sizeof *one);
    for (uint64_t i = 0; i < PAIRS; i++) {
        thin[i] = (float)npi_rng_normal_at(&rng, i);
        full[i] = (float)(3 + 2 * npi_rng_normal_at(&rng, PAIRS + i)); /* independent: only the distributions count */
        one[i] = 1;
    }
    npi_carry carry;
    assert_ok(npi_carry_make(&carry, thin, full, one, PAIRS, &env, &err), err);
    for (double s = 0; s < 3; s += 0.5)
        assert_near(npi_carry_score(&carry, s), 3 + 2 * s, 0.2);
    for (double s = -4; s < 6; s += 0.01)
        assert_true(npi_carry_score(&carry, s + 0.01) > npi_carry_score(&carry, s));
    /* the same scores, and too few of them: nothing changes */
    assert_ok(npi_carry_make(&carry, thin, thin, one, PAIRS, &env, &err), err);
    assert_near(npi_carry_score(&carry, 1.3), 1.3, 1e-12);
    assert_ok(npi_carry_make(&carry, thin, full, one, 3, &env, &err), err);
    assert_near(npi_carry_score(&carry, 1.3), 1.3, 1e-12);
    free(thin);
    free(full);
    free(one);
}

static void test_nothing_to_fit(void **state)
{
    (void)state;
    npgnn_env env = npi_env_resolve(&one_thread);
    npgnn_error err = {0};
    npi_calibration c = {.pieces = 77};
    const float score[2] = {1, 2};
    assert_int_equal(npi_calibration_fit(&c, score, 0, score, NULL, 2, &env, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(npi_calibration_fit(&c, score, 2, score, NULL, 0, &env, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(c.pieces, 77);
}

/* ---- rates ---- */

static void test_rates(void **state)
{
    (void)state;
    npi_calibration c = {.pieces = 1, .slope = {2}, .offset = -1};
    npi_calibration half = npi_calibration_at(c, 0.5, 0), rare = npi_calibration_at(c, 0.001, 0);
    assert_near(npi_calibration_probability(&half, 0.5), 0.5, 1e-12);
    /* Bayes: odds of 1 : 999, times e^(2 * 3 - 1) */
    assert_near(npi_calibration_probability(&rare, 3), exp(5) / (exp(5) + 999), 1e-12);
    assert_near(npi_link_rate(5, 4), 0.4, 1e-15);
    assert_true(npi_link_rate(2, 1) < 1 && npi_link_rate(INT32_MAX, 1) > 0);
    assert_near(npi_link_rate(1, 0), 0.5, 0);
    npi_calibration plain = npi_calibration_at(npi_calibration_unfitted(NPGNN_PLAIN, 0.01), 0.01, 0);
    assert_near(npi_calibration_probability(&plain, 0.3), npi_sigmoid(0.3), 1e-12);
    npi_calibration weighted = npi_calibration_at(npi_calibration_unfitted(NPGNN_WEIGHTED, 0.01), 0.5, 0);
    assert_near(npi_calibration_probability(&weighted, 0.3), npi_sigmoid(0.3), 1e-12);
}

static void test_soundness(void **state)
{
    (void)state;
    const npi_calibration good = {.pieces = 3, .knot = {-1, 2}, .slope = {1, 0, 3}, .offset = 4};
    assert_true(npi_calibration_is_sound(&good));
    assert_near(npi_calibration_log_odds(&good, -3), 4 - 3, 1e-12);
    assert_near(npi_calibration_log_odds(&good, 1), 4 - 1, 1e-12);
    assert_near(npi_calibration_log_odds(&good, 4), 4 - 1 + 3 * 2, 1e-12);
    npi_calibration bad[] = {good, good, good, good, good, good, good, good, good};
    bad[0].pieces = 0;
    bad[1].pieces = NPI_CALIBRATION_MOST + 1;
    bad[2].knot[1] = -1;
    bad[3].slope[1] = -0.1;
    bad[4].slope[2] = (double)NAN;
    bad[5].offset = (double)INFINITY;
    bad[6].offset =
        -1e300; /* finite, but products and sums of such numbers may be inf - inf, which is no probability */
    bad[7].slope[2] = 1e300;
    bad[8].knot[0] = -1e300;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(npi_calibration_is_sound(&bad[i]));
}

/* ---- models ---- */

typedef struct trained {
    npgnn_graph *graph;
    npgnn_split *split;
    npgnn_model *model;
} trained;

static trained train(npgnn_protocol protocol, const char *spec, int iterations)
{
    trained t = {0};
    npgnn_error err = {0};
    npgnn_options o = {.size = sizeof o};
    npgnn_split_options so = {.size = sizeof so};
    npgnn_trainer *trainer = NULL;
    npgnn_options_preset(&o, NULL, NULL);
    o.iterations = iterations;
    o.calibrate = 0; /* the tests do that */
    npgnn_split_options_default(&so, protocol, NULL);
    so.val = 0.1;
    so.negative_ratio = NPGNN_RATIO_FULL;
    assert_ok(npgnn_graph_synthetic(&t.graph, spec, &one_thread, &err), err);
    assert_ok(npgnn_split_new(&t.split, t.graph, &so, &one_thread, &err), err);
    assert_ok(npgnn_trainer_new(&trainer, t.graph, t.split, &o, &one_thread, &err), err);
    assert_ok(npgnn_trainer_run(trainer, &err), err);
    assert_ok(npgnn_trainer_model(&t.model, trainer, &err), err);
    npgnn_trainer_free(trainer);
    return t;
}

static void trained_free(trained *t)
{
    npgnn_model_free(t->model);
    npgnn_split_free(t->split);
    npgnn_graph_free(t->graph);
}

/* Of all unlinked pairs, those that the model calls likely: as many must be links as the probabilities add up to. */
static void test_held_out_links(void **state)
{
    (void)state;
    trained t = train(NPGNN_TRANSDUCTIVE, "nodes=600,seed=3", 60);
    npgnn_error err = {0};
    npgnn_model_info info = {.size = sizeof info};
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, t.split, NPGNN_SET_TEST);
    double rate = (double)positives / (double)count;
    npgnn_predict_options options = {.size = sizeof options, .link_rate = rate};
    npgnn_prediction *p = calloc(count, sizeof *p);
    npgnn_model_describe(&info, t.model, NULL);
    assert_false(info.calibrated);
    assert_ok(npgnn_model_calibrate(t.model, t.split, &one_thread, &err), err);
    npgnn_model_describe(&info, t.model, NULL);
    assert_true(info.calibrated);
    assert_ok(npgnn_predict(p, t.model, npgnn_split_train(NULL, t.split), pairs, count, &options, &one_thread, &err),
              err);
    double expected = 0, likely = 0, found = 0;
    for (size_t i = 0; i < count; i++) {
        expected += (double)p[i].probability;
        if ((double)p[i].probability > 3 * rate) {
            likely += (double)p[i].probability;
            found += i < positives;
        }
    }
    assert_near(expected / (double)positives, 1, 0.1);
    assert_true(found > 20);
    assert_true(fabs(likely - found) < 3 * sqrt(likely)); /* within chance */
    free(p);
    trained_free(&t);
}

/* For new nodes, too; and the same bits for any number of threads. */
static void test_new_nodes(void **state)
{
    (void)state;
    static const npgnn_protocol protocols[] = {NPGNN_INDUCTIVE, NPGNN_INDUCTIVE_HIDDEN, NPGNN_PRODUCTION};
    const npgnn_env three = {.size = sizeof three, .threads = 3};
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        trained t = train(protocols[i], "nodes=300,seed=3", 5);
        npgnn_error err = {0};
        assert_ok(npgnn_model_calibrate(t.model, t.split, &one_thread, &err), err);
        npi_calibration one = t.model->scorer.calibration;
        assert_true(npi_calibration_is_sound(&one));
        assert_ok(npgnn_model_calibrate(t.model, t.split, &three, &err), err);
        assert_memory_equal(&one, &t.model->scorer.calibration, sizeof one);
        trained_free(&t);
    }
}

static void test_no_validation(void **state)
{
    (void)state;
    trained t = train(NPGNN_TRANSDUCTIVE, "nodes=200,seed=3", 2);
    npgnn_error err = {0};
    npgnn_split *split = NULL;
    npgnn_split_options so = {.size = sizeof so};
    npgnn_split_options_default(&so, NPGNN_TRANSDUCTIVE, NULL);
    so.val = 0;
    assert_ok(npgnn_split_new(&split, t.graph, &so, &one_thread, &err), err);
    assert_int_equal(npgnn_model_calibrate(t.model, split, &one_thread, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no validation links"));
    assert_false(t.model->scorer.calibrated);
    npgnn_split_free(split);
    trained_free(&t);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    trained t = train(NPGNN_TRANSDUCTIVE, "nodes=200,seed=3", 2);
    int code = NPGNN_E_MEMORY;
    long allow = 0;
    for (; code; allow++) {
        meter memory = {.allow = allow};
        npgnn_env env = metered_env(&memory);
        npgnn_error err = {0};
        code = npgnn_model_calibrate(t.model, t.split, &env, &err);
        assert_true(code == 0 || (code == NPGNN_E_MEMORY && err.code == code));
        assert_int_equal(t.model->scorer.calibrated, code == 0);
        assert_int_equal(memory.blocks, 0);
    }
    assert_true(allow > 5);
    trained_free(&t);
}

/* A trainer calibrates in the memory of its validation, npgnn_model_calibrate in its own: to the same bits. */
static void test_trainers_calibrate(void **state)
{
    (void)state;
    static const npgnn_protocol protocols[] = {NPGNN_TRANSDUCTIVE, NPGNN_PRODUCTION};
    for (int i = 0; i < 4; i++) {
        npgnn_error err = {0};
        npgnn_graph *graph = NULL;
        npgnn_split *split = NULL;
        npgnn_trainer *trainer = NULL;
        npgnn_model *model = NULL;
        npgnn_options o = rich_network();
        npgnn_split_options so = {.size = sizeof so};
        if (i / 2 == 0)
            npgnn_options_preset(&o, NULL, NULL);
        o.iterations = 20;
        npgnn_split_options_default(&so, protocols[i % 2], NULL);
        so.val = so.test = 0.2;
        assert_ok(npgnn_graph_synthetic(&graph, "nodes=300,seed=3", &one_thread, &err), err);
        assert_ok(npgnn_split_new(&split, graph, &so, &one_thread, &err), err);
        assert_ok(npgnn_trainer_new(&trainer, graph, split, &o, &one_thread, &err), err);
        assert_ok(npgnn_trainer_run(trainer, &err), err);
        assert_ok(npgnn_trainer_model(&model, trainer, &err), err);
        npi_calibration own = model->scorer.calibration;
        assert_true(model->scorer.calibrated);
        npi_model_uncalibrate(model);
        assert_ok(npgnn_model_calibrate(model, split, &one_thread, &err), err);
        assert_memory_equal(&own, &model->scorer.calibration, sizeof own);
        npgnn_model_free(model);
        npgnn_trainer_free(trainer);
        npgnn_split_free(split);
        npgnn_graph_free(graph);
    }
}

static void keep_notice(void *user, const char *message)
{
    snprintf(user, 256, "%s", message);
}

/* npgnn_fit finds out by itself; a graph too small to hold links out is trained on all the same, with a notice. */
static void test_fit_calibrates(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_graph *graph = NULL;
    npgnn_model *model = NULL;
    npgnn_options o = {.size = sizeof o};
    npgnn_options_preset(&o, NULL, NULL);
    o.iterations = 3;
    assert_ok(npgnn_graph_synthetic(&graph, "nodes=200", &one_thread, &err), err);
    assert_ok(npgnn_fit(&model, graph, &o, &one_thread, &err), err);
    assert_true(model->scorer.calibrated && npi_calibration_is_sound(&model->scorer.calibration));
    assert_near(model->info.link_rate, npi_link_rate(200, npgnn_graph_edges(graph)), 1e-15);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
    const npgnn_pair edge = {0, 1};
    const float x[3] = {1, 2, 3};
    char notice[256] = "";
    npgnn_env env = {.size = sizeof env, .threads = 1, .log = keep_notice, .user = notice};
    assert_ok(npgnn_graph_from_arrays(&graph, &edge, x, 3, 1, 1, &one_thread, &err), err);
    assert_ok(npgnn_fit(&model, graph, &o, &env, &err), err);
    assert_false(model->scorer.calibrated);
    assert_non_null(strstr(notice, "too few links"));
    assert_int_equal(model->options.calibrate, 1); /* the options are those that were given */
    npgnn_model_free(model);
    notice[0] = '\0';
    o.calibrate = 0;
    assert_ok(npgnn_fit(&model, graph, &o, &env, &err), err);
    assert_string_equal(notice, ""); /* nothing was asked for */
    npgnn_model_free(model);
    npgnn_graph_free(graph);
}

/* ---- draws ---- */

static void test_intervals(void **state)
{
    (void)state;
    trained t = train(NPGNN_TRANSDUCTIVE, "nodes=200,seed=3", 20);
    npgnn_error err = {0};
    npgnn_predict_options options = {.size = sizeof options, .samples = 40, .seed = 1}, none = {.size = sizeof none},
                          half = {.size = sizeof half, .link_rate = 0.5}, bad = {.size = sizeof bad};
    enum { PAIRS = 100 };
    npgnn_pair pairs[PAIRS];
    npgnn_prediction drawn[PAIRS], mean[PAIRS], balanced[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = (npgnn_pair){i, 199 - i};
    assert_ok(npgnn_model_calibrate(t.model, t.split, &one_thread, &err), err);
    assert_ok(npgnn_predict(drawn, t.model, t.graph, pairs, PAIRS, &options, &one_thread, &err), err);
    assert_ok(npgnn_predict(mean, t.model, t.graph, pairs, PAIRS, &none, &one_thread, &err), err);
    assert_ok(npgnn_predict(balanced, t.model, t.graph, pairs, PAIRS, &half, &one_thread, &err), err);
    for (int i = 0; i < PAIRS; i++) {
        assert_true(mean[i].low == mean[i].probability && mean[i].high == mean[i].probability);
        assert_true(drawn[i].low <= drawn[i].probability && drawn[i].probability <= drawn[i].high);
        assert_true(drawn[i].low < drawn[i].high && drawn[i].low > 0 && drawn[i].high < 1);
        npi_calibration c = npi_calibration_at(t.model->scorer.calibration, t.model->info.link_rate, 0);
        npi_calibration even = npi_calibration_at(t.model->scorer.calibration, 0.5, 0);
        assert_near((double)mean[i].probability, npi_calibration_probability(&c, (double)mean[i].score), 1e-6);
        assert_near((double)balanced[i].probability, npi_calibration_probability(&even, (double)mean[i].score), 1e-6);
    }
    for (int i = 0; i < 3; i++) {
        bad.link_rate = (const double[]){-0.1, 1, (double)NAN}[i];
        assert_int_equal(npgnn_predict(mean, t.model, t.graph, pairs, PAIRS, &bad, &one_thread, &err),
                         NPGNN_E_ARGUMENT);
    }
    trained_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted_slope),
        cmocka_unit_test(test_planted_kinks),
        cmocka_unit_test(test_few_links),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_hidden_links),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_carry),
        cmocka_unit_test(test_nothing_to_fit),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_soundness),
        cmocka_unit_test(test_held_out_links),
        cmocka_unit_test(test_new_nodes),
        cmocka_unit_test(test_no_validation),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_trainers_calibrate),
        cmocka_unit_test(test_fit_calibrates),
        cmocka_unit_test(test_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
