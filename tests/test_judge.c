/* npgnn_test: a model on pairs of the caller's; and that its probabilities are true of held-out links. */
#include "check.h"

#include <string.h>

static const npgnn_env one_thread = {.size = sizeof one_thread, .threads = 1};

static npgnn_graph *graph;
static npgnn_split *split;
static npgnn_model *model; /* a process, which uses known links */
static const npgnn_pair *pairs;
static size_t positives, count;

static int make_all(void **state)
{
    (void)state;
    npgnn_options o = {.size = sizeof o};
    npgnn_split_options so = {.size = sizeof so};
    npgnn_options_preset(&o, "best", NULL);
    npgnn_split_options_default(&so, NPGNN_TRANSDUCTIVE, NULL);
    so.test = so.val = 0.15;
    so.negative_ratio = NPGNN_RATIO_FULL;
    int code = npgnn_graph_synthetic(&graph, "nodes=800,seed=3", &one_thread, NULL) ||
               npgnn_split_new(&split, graph, &so, &one_thread, NULL) ||
               npgnn_fit(&model, npgnn_split_train(NULL, split), &o, &one_thread, NULL);
    if (!code)
        count = npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST);
    return code;
}

static int free_all(void **state)
{
    (void)state;
    npgnn_model_free(model);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
    return 0;
}

/* What npgnn_test reports. */
typedef struct report {
    npgnn_eval_run run;
    npgnn_test_counts counts;
} report;

static report judge(const npgnn_graph *on, const npgnn_pair *which, size_t links, size_t all,
                    const npgnn_test_options *options)
{
    report r;
    npgnn_error err = {0};
    memset(&r, 0, sizeof r); /* padding too: reports are compared byte by byte */
    r.run.size = sizeof r.run;
    r.counts.size = sizeof r.counts;
    assert_ok(npgnn_test(&r.run, &r.counts, model, on, which, links, all, options, &one_thread, &err), err);
    return r;
}

static double true_rate(void)
{
    return (double)positives / (double)count; /* the split has as many non-links as the graph */
}

/* The promise: at the true link rate the error is far below 0.02, and that is not because links are rare. */
static void test_calibrated(void **state)
{
    (void)state;
    npgnn_test_options o = {.size = sizeof o, .link_rate = true_rate()};
    npgnn_calibration c = judge(npgnn_split_train(NULL, split), pairs, positives, count, &o).run.calibration;
    assert_true(c.ece < 0.002);
    assert_true(c.balanced_ece < 0.06);
    assert_true(c.link_ece < 0.03);
    assert_true(c.skill > 0.03);
    for (int i = 1; i < NPGNN_TOPS; i++) { /* within three standard deviations of chance */
        double k = c.top[i].pairs, expected = c.top[i].predicted;
        assert_true(fabs(c.top[i].observed - expected) < 3 * sqrt(expected * (1 - expected) / k));
    }
    /* the balanced figure is what a link rate of 1/2 gives, but that this is no share of links among unlinked pairs */
    npgnn_test_options half = {.size = sizeof half, .link_rate = 0.5};
    report even = judge(npgnn_split_train(NULL, split), pairs, positives, count, &half);
    assert_near(even.run.calibration.ece, c.balanced_ece, 5e-3);
}

/* Links of the graph are taken out of it: it does not matter whether they are there. */
static void test_known_links(void **state)
{
    (void)state;
    enum { OTHERS = 500 };
    npgnn_test_options o = {.size = sizeof o, .link_rate = 0.01},
                       keep = {.size = sizeof keep, .link_rate = 0.01, .keep_known = 1};
    npgnn_pair *some = calloc(positives + OTHERS, sizeof *some);
    memcpy(some, pairs, (positives + OTHERS) * sizeof *some);
    const npgnn_graph *known = npgnn_split_train(NULL, split);
    report without = judge(known, some, positives, positives + OTHERS, &o);
    assert_true(without.counts.known_links == 0 && without.counts.links == positives &&
                without.counts.non_links == OTHERS);
    assert_int_equal(without.counts.drawn, 0);
    /* the complete graph also knows the validation links: hide those by testing on what remains */
    const npgnn_pair *val;
    size_t val_links;
    npgnn_split_pairs(&val, &val_links, split, NPGNN_SET_VAL);
    report hidden = judge(graph, some, positives, positives + OTHERS, &o);
    report shown = judge(graph, some, positives, positives + OTHERS, &keep);
    assert_int_equal(hidden.counts.known_links, positives);
    assert_int_equal(shown.counts.known_links, positives);
    assert_true(shown.run.auc > hidden.run.auc + 0.02); /* a known link pulls its ends together */
    assert_near(hidden.run.auc, without.run.auc, 0.05);
    /* labelled as non-links: counted, and taken out as well */
    npgnn_pair odd[3] = {pairs[0], pairs[positives], pairs[1]};
    report wrong = judge(graph, odd, 1, 3, &o);
    assert_true(wrong.counts.known_links == 1 && wrong.counts.known_non_links == 1);
    free(some);
}

static void test_drawn_non_links(void **state)
{
    (void)state;
    npgnn_test_options o = {
        .size = sizeof o, .negative_ratio = 3, .seed = 5, .negatives = NPGNN_NEGATIVES_HARD, .bootstrap = 50};
    report a = judge(graph, pairs, positives, positives, &o), b = judge(graph, pairs, positives, positives, &o);
    assert_int_equal(a.counts.drawn, 3 * positives);
    assert_int_equal(a.counts.non_links, a.counts.drawn);
    assert_true(a.run.auc > 0.6 && a.run.hard_mrr > 0 && a.run.hard_mrr < a.run.mrr * 10);
    assert_true(a.run.auc_interval[0] < a.run.auc && a.run.auc < a.run.auc_interval[1]);
    assert_memory_equal(&a, &b, sizeof a);
    o.seed = 6;
    assert_true(judge(graph, pairs, positives, positives, &o).run.auc != a.run.auc);
    report plain = judge(graph, pairs, positives, positives, NULL);
    npgnn_eval_run alone = {.size = sizeof alone}; /* without counts */
    npgnn_error err = {0};
    assert_ok(npgnn_test(&alone, NULL, model, graph, pairs, positives, positives, NULL, &one_thread, &err), err);
    assert_true(alone.auc == plain.run.auc);
    assert_true(isnan(plain.run.hard_mrr) && isnan(plain.run.auc_interval[0]) && plain.counts.drawn == positives);
}

static void test_refused(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_eval_run r = {.size = sizeof r, .auc = 77};
    npgnn_test_counts counts = {.size = sizeof counts, .links = 77};
    npgnn_test_options bad = {.size = sizeof bad, .link_rate = 1};
    const npgnn_pair far[2] = {{0, 1}, {0, 800}}, self[2] = {{0, 1}, {5, 5}}, both[2] = {{0, 1}, {1, 0}};
    assert_int_equal(npgnn_test(&r, &counts, model, graph, far, 0, 2, NULL, NULL, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no link"));
    assert_int_equal(npgnn_test(&r, &counts, model, graph, far, 1, 2, NULL, NULL, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "nodes are 0 to 799"));
    assert_int_equal(npgnn_test(&r, &counts, model, graph, self, 1, 2, NULL, NULL, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "to itself"));
    assert_int_equal(npgnn_test(&r, &counts, model, graph, both, 1, 2, NULL, NULL, &err), NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "as linked and as not linked"));
    assert_int_equal(npgnn_test(&r, &counts, model, graph, far, 1, 1, &bad, NULL, &err), NPGNN_E_ARGUMENT);
    assert_true(r.auc == 77 && counts.links == 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calibrated),
        cmocka_unit_test(test_known_links),
        cmocka_unit_test(test_drawn_non_links),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
