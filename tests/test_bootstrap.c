/* Bootstrap intervals: a resample against the same one written out, and how often intervals hold the truth. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "eval/bootstrap.h"

enum { POSITIVES = 60, NEGATIVES = 90, RESAMPLES = 200 };

/* Normal scores, those of the positives `shift` higher; rounded to few levels where levels > 0. */
static void fill(float *positive, float *negative, double shift, double levels, uint64_t seed)
{
    const npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, 0);
    for (uint64_t i = 0; i < POSITIVES + NEGATIVES; i++) {
        double score = npi_rng_normal_at(&rng, i) + (i < POSITIVES ? shift : 0);
        float *place = i < POSITIVES ? &positive[i] : &negative[i - POSITIVES];
        *place = (float)(levels > 0 ? round(score * levels) / levels : score);
    }
}

static int descending(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left < right) - (left > right);
}

/* One resample, pair by pair: positives and negatives are numbered from the highest score down. */
static void write_out(float *out, const float *scores, size_t count, npi_rng *rng)
{
    float sorted[NEGATIVES];
    memcpy(sorted, scores, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, descending);
    for (size_t i = 0; i < count; i++)
        out[i] = sorted[npi_rng_below(rng, count)];
}

static void test_resample(void **state)
{
    (void)state;
    const npgnn_env env = npi_env_resolve(NULL);
    float positive[POSITIVES], negative[NEGATIVES], p[POSITIVES], n[NEGATIVES];
    for (uint64_t seed = 1; seed < 20; seed++) {
        npi_rng rng = npi_rng_make(seed, NPI_RNG_BOOTSTRAP, 0);
        npi_resamples r = {0};
        double auc, ap, got_auc[2], got_ap[2];
        fill(positive, negative, 1, seed % 2 ? 2 : 0, seed);
        assert_int_equal(npi_resamples_new(&r, 1, &env, NULL), 0);
        assert_int_equal(npi_resamples_add(&r, positive, negative, POSITIVES, NEGATIVES, seed, &env, NULL), 0);
        npi_resamples_interval(got_auc, got_ap, &r); /* of one value: that value */
        write_out(p, positive, POSITIVES, &rng);
        write_out(n, negative, NEGATIVES, &rng);
        assert_int_equal(npgnn_auc_ap(&auc, &ap, p, n, POSITIVES, NEGATIVES, &env, NULL), 0);
        assert_near(got_auc[0], auc, 1e-12);
        assert_near(got_auc[1], auc, 1e-12);
        assert_near(got_ap[0], ap, 1e-12);
        npi_resamples_free(&env, &r);
    }
}

static void interval_of(double auc[2], double ap[2], int runs, double shift, uint64_t seed, int threads)
{
    const npgnn_env env = npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = threads});
    float positive[POSITIVES], negative[NEGATIVES];
    npi_resamples r = {0};
    assert_int_equal(npi_resamples_new(&r, RESAMPLES, &env, NULL), 0);
    for (int i = 0; i < runs; i++) {
        fill(positive, negative, shift, 0, seed + (uint64_t)i);
        assert_int_equal(
            npi_resamples_add(&r, positive, negative, POSITIVES, NEGATIVES, seed + (uint64_t)i, &env, NULL), 0);
    }
    npi_resamples_interval(auc, ap, &r);
    npi_resamples_free(&env, &r);
}

/* The area of two normal distributions one apart is Φ(1 / √2). 300 intervals hold it 95 % of the time, give or take. */
static void test_coverage(void **state)
{
    (void)state;
    const double truth = 0.5 * erfc(-0.5);
    int held = 0;
    for (uint64_t i = 0; i < 300; i++) {
        double auc[2], ap[2];
        interval_of(auc, ap, 1, 1, 1000 * i, 1);
        assert_true(auc[0] <= auc[1] && auc[0] >= 0 && auc[1] <= 1 && ap[0] <= ap[1] && ap[0] > 0 && ap[1] <= 1);
        held += auc[0] <= truth && truth <= auc[1];
    }
    assert_in_range(held, 300 * 89 / 100, 300 * 99 / 100);
}

/* The mean of nine runs is known three times as well. */
static void test_runs(void **state)
{
    (void)state;
    double one[2], nine[2], ap[2];
    interval_of(one, ap, 1, 1, 1, 1);
    interval_of(nine, ap, 9, 1, 1, 1);
    double ratio = (one[1] - one[0]) / (nine[1] - nine[0]);
    assert_true(ratio > 2 && ratio < 4.5);
}

static void test_deterministic(void **state)
{
    (void)state;
    double a[4], b[4];
    interval_of(a, a + 2, 2, 1, 1, 1);
    interval_of(b, b + 2, 2, 1, 1, 3);
    assert_memory_equal(a, b, sizeof a);
}

/* The last run has the interval of the evaluation; the mean is inside. */
static void test_evaluate(void **state)
{
    (void)state;
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_eval_run runs[3] = {{.size = sizeof(npgnn_eval_run)}}, plain = {.size = sizeof plain};
    npgnn_eval_options options = {.size = sizeof options, .method = "cosine"};
    assert_ok(npgnn_graph_synthetic(&graph, "nodes=300,seed=2", NULL, &err), err);
    assert_ok(npgnn_evaluate(&plain, graph, 1, &options, NULL, &err), err);
    assert_true(isnan(plain.auc_interval[0]) && isnan(plain.ap_interval[1]));
    options.bootstrap = RESAMPLES;
    assert_ok(npgnn_evaluate(runs, graph, 3, &options, NULL, &err), err);
    double auc = (runs[0].auc + runs[1].auc + runs[2].auc) / 3, ap = (runs[0].ap + runs[1].ap + runs[2].ap) / 3;
    assert_true(runs[2].auc_interval[0] < auc && auc < runs[2].auc_interval[1]);
    assert_true(runs[2].ap_interval[0] < ap && ap < runs[2].ap_interval[1]);
    assert_true(runs[0].auc_interval[1] - runs[0].auc_interval[0] > runs[2].auc_interval[1] - runs[2].auc_interval[0]);
    npgnn_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resample),      cmocka_unit_test(test_coverage), cmocka_unit_test(test_runs),
        cmocka_unit_test(test_deterministic), cmocka_unit_test(test_evaluate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
