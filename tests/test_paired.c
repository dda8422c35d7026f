/* Statistics of paired differences (npgnn_paired_compare). The p-values are those of scipy 1.17.1:
 *
 *     exact, no ties       wilcoxon(d, method="exact")
 *     exact, with ties     wilcoxon(d, zero_method="wilcox", method=PermutationMethod(n_resamples=inf))
 *     more than 25         wilcoxon(d, method="asymptotic", correction=True)
 */
#include "base/rng.h"
#include "check.h"
#include "eval/delong.h"

/* Of differences to zeros. */
static npgnn_paired compare(const double *difference, int count, uint64_t seed)
{
    static const double zeros[64] = {0};
    npgnn_paired result = {.size = sizeof result};
    npgnn_error err = {0};
    assert_int_equal(npgnn_paired_compare(&result, difference, zeros, count, seed, NULL, &err), 0);
    return result;
}

static double p_of(const double *difference, int count, int better, int worse)
{
    npgnn_paired result = compare(difference, count, 1);
    assert_int_equal(result.better, better);
    assert_int_equal(result.worse, worse);
    return result.p;
}

static void test_exact(void **state)
{
    (void)state;
    const double mixed[] = {1.5, -0.5, 2, 3, -1, 2.5, 4, 3.5}, six[] = {0.3, 0.1, -0.2, 0.5, 0.4, 0.6};
    const double positive[] = {1, 2, 3, 4, 5, 6};
    assert_near(p_of(mixed, 8, 6, 2), 0.0390625, 1e-12);
    assert_near(p_of(six, 6, 5, 1), 0.09375, 1e-12);
    assert_near(p_of(positive, 6, 6, 0), 0.03125, 1e-12);
}

static void test_ties_and_zeros(void **state)
{
    (void)state;
    const double ties[] = {1, 1, -1, 2, 2, -2, 2, 3, -3, 3, 4, 4, 4, -4, 5};
    const double zeros[] = {0, 2, 0, -1, 3, 3, 5, -2, 4}, none[6] = {0};
    assert_near(p_of(ties, 15, 11, 4), 0.08135986328125, 1e-12);
    assert_near(p_of(zeros, 9, 5, 2), 0.09375, 1e-12);
    assert_near(p_of(none, 6, 0, 0), 1, 0);
}

/* 25 differences are the most with an exact p; 30 and 40 have the normal approximation, the latter with ties. */
static void test_many(void **state)
{
    (void)state;
    double distinct[30], tied[40];
    for (int i = 0; i < 30; i++)
        distinct[i] = i % 3 == 0 ? -(i + 1) : i + 1;
    for (int i = 0; i < 40; i++)
        tied[i] = i % 3 == 0 ? -(i / 4 + 1) : i / 4 + 1;
    assert_near(p_of(distinct, 25, 16, 9), 0.23036134243011475, 1e-12);
    assert_near(p_of(distinct, 30, 20, 10), 0.07354309334531801, 1e-12);
    assert_near(p_of(tied, 40, 26, 14), 0.09926624124561341, 1e-12);
}

/* The interval, against the 5^5 resamples that there are. */
static void test_interval(void **state)
{
    (void)state;
    enum { N = 5, ALL = 3125 };
    const double difference[N] = {0.4, -1.1, 2.3, 0.9, 1.7};
    double below = 0, above = 0;
    npgnn_paired got = compare(difference, N, 1), again = compare(difference, N, 1), other = compare(difference, N, 2);
    assert_true(got.low == again.low && got.high == again.high);
    assert_near(got.mean, 0.84, 1e-12);
    for (int r = 0; r < ALL; r++) {
        double mean = 0;
        for (int i = 0, digits = r; i < N; i++, digits /= N)
            mean += difference[digits % N] / N;
        below += mean < got.low;
        above += mean > got.high;
    }
    /* a tail of 0.025 is estimated with a standard deviation of 0.0016 */
    assert_near(below / ALL, 0.025, 0.008);
    assert_near(above / ALL, 0.025, 0.008);
    assert_near(got.low, other.low, 0.1);
    assert_near(got.high, other.high, 0.1);
}

static void test_few(void **state)
{
    (void)state;
    const double difference[NPGNN_PAIRED_LEAST] = {1, 2, 3, 4, 5, 6};
    npgnn_paired result = compare(difference, NPGNN_PAIRED_LEAST, 1);
    assert_near(result.p, 0.03125, 1e-12);
    result = compare(difference, NPGNN_PAIRED_LEAST - 1, 1);
    assert_true(isnan(result.p));
    assert_int_equal(result.better, 5);
    result = compare(difference, 1, 1);
    assert_true(isnan(result.low) && isnan(result.high));
    assert_near(result.mean, 1, 0);
}

/* 0.3 - 0.2 and 0.2 - 0.1 differ in the last bits, and tie all the same: p of {1, -1, 2, 3, 4, 5}. */
static void test_rounding(void **state)
{
    (void)state;
    const double values[] = {0.3, 0.1, 0.2, 0.3, 0.4, 0.5}, reference[] = {0.2, 0.2, 0, 0, 0, 0};
    npgnn_paired result = {.size = sizeof result};
    npgnn_error err = {0};
    assert_true(values[0] - reference[0] != reference[1] - values[1]);
    assert_int_equal(npgnn_paired_compare(&result, values, reference, 6, 1, NULL, &err), 0);
    const double tied[] = {1, -1, 2, 3, 4, 5};
    assert_near(result.p, p_of(tied, 6, 5, 1), 0);
    assert_near(result.p, 0.09375, 1e-12);
}

static void test_refusals(void **state)
{
    (void)state;
    const double values[] = {1, (double)NAN}, reference[] = {0, 0};
    npgnn_paired result = {.size = sizeof result}, unsized = {0};
    npgnn_error err = {0};
    assert_int_equal(npgnn_paired_compare(&result, values, reference, 0, 1, NULL, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(npgnn_paired_compare(&result, values, reference, 2, 1, NULL, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(npgnn_paired_compare(&unsized, values, reference, 1, 1, NULL, &err), NPGNN_E_ARGUMENT);
}

/* ---- two scores of the same pairs ---- */

/* DeLong's statistic as it is defined, over all couples of a link and a non-link. */
static void test_auc_of_two_scores(void **state)
{
    enum { LINKS = 40, COUNT = 130, OTHERS = COUNT - LINKS };
    (void)state;
    npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, 0);
    float score[2][COUNT];
    for (int i = 0; i < COUNT; i++) { /* rounded, so that there are ties */
        double noise = npi_rng_normal_at(&rng, (uint64_t)i);
        score[0][i] = (float)floor(4 * (noise + (i < LINKS) + 0.5 * npi_rng_normal_at(&rng, (uint64_t)(COUNT + i))));
        score[1][i] = (float)floor(4 * (noise + 1.5 * (i < LINKS)));
    }
    double share[2][COUNT] = {{0}}, auc[2] = {0, 0}, variance = 0;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < LINKS; i++)
            for (int j = LINKS; j < COUNT; j++) {
                double won = score[s][i] > score[s][j] ? 1 : score[s][i] == score[s][j] ? 0.5 : 0;
                share[s][i] += won / OTHERS;
                share[s][j] += won / LINKS;
                auc[s] += won / (LINKS * OTHERS);
            }
    for (int i = 0; i < COUNT; i++) {
        double n = i < LINKS ? LINKS : OTHERS, off = share[1][i] - share[0][i] - (auc[1] - auc[0]);
        variance += off * off / (n - 1) / n;
    }
    const float *const scores[2] = {score[0], score[1]};
    const npgnn_env env = npi_env_resolve(NULL);
    npi_auc_pair compared;
    npgnn_error err = {0};
    assert_int_equal(npi_auc_compare(&compared, scores, LINKS, COUNT, &env, &err), 0);
    for (int s = 0; s < 2; s++)
        assert_near(compared.auc[s], auc[s], 1e-12);
    assert_near(compared.error, sqrt(variance), 1e-12);
    assert_true(compared.error > 0.005);
    const float *const same[2] = {score[0], score[0]};
    assert_int_equal(npi_auc_compare(&compared, same, LINKS, COUNT, &env, &err), 0);
    assert_true(compared.auc[0] == compared.auc[1] && compared.error == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact),    cmocka_unit_test(test_ties_and_zeros),
                                       cmocka_unit_test(test_many),     cmocka_unit_test(test_interval),
                                       cmocka_unit_test(test_few),      cmocka_unit_test(test_rounding),
                                       cmocka_unit_test(test_refusals), cmocka_unit_test(test_auc_of_two_scores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
