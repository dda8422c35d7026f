/* Wilcoxon's signed-rank test (bench/wilcoxon.h) against all 2^n signs, and against a worked example. */
#include "check.h"

#include "../bench/wilcoxon.h"

/* The exact two-sided p-value: the share of the 2^n ways to choose signs whose W is at least as far from its mean. */
static double exact(const double *difference, int n)
{
    double rank[16], observed = 0, mean = n * (n + 1) / 4.0, extreme = 0;
    for (int i = 0; i < n; i++) {
        rank[i] = 0.5;
        for (int j = 0; j < n; j++)
            rank[i] += fabs(difference[j]) < fabs(difference[i])    ? 1
                       : fabs(difference[j]) == fabs(difference[i]) ? 0.5
                                                                    : 0;
        observed += difference[i] > 0 ? rank[i] : 0;
    }
    for (int signs = 0; signs < 1 << n; signs++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += signs >> i & 1 ? rank[i] : 0;
        extreme += fabs(sum - mean) >= fabs(observed - mean) - 1e-9;
    }
    return extreme / (1 << n);
}

static void test_against_all_signs(void **state)
{
    (void)state;
    enum { N = 15 };
    /* without ties, with ties, one-sided */
    const double cases[3][N] = {{1, -2, 3, 4, -5, 6, 7, 8, -9, 10, 11, -12, 13, 14, 15},
                                {1, 1, -1, 2, 2, -2, 2, 3, -3, 3, 4, 4, 4, -4, 5},
                                {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -0.5}};
    for (int c = 0; c < 3; c++) {
        double copy[N + 1] = {0};
        for (int i = 0; i < N; i++)
            copy[i + 1] = cases[c][i]; /* and a difference of 0, which does not count */
        wilcoxon test = wilcoxon_test(copy, N + 1);
        assert_true(fabs(test.p - exact(cases[c], N)) < 0.01);
        assert_int_equal(test.better + test.worse, N);
    }
}

/* By hand: the ranks of the positive differences add up to 33, the mean is 18, the variance 51. */
static void test_example(void **state)
{
    (void)state;
    double difference[] = {1.5, -0.5, 2, 3, -1, 2.5, 4, 3.5};
    wilcoxon test = wilcoxon_test(difference, 8);
    assert_near(test.p, erfc((33 - 18 - 0.5) / sqrt(2 * 51.0)), 1e-12);
    assert_int_equal(test.better, 6);
    assert_int_equal(test.worse, 2);
    double none[] = {0, 0};
    assert_true(isnan(wilcoxon_test(none, 2).p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_all_signs), cmocka_unit_test(test_example)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
