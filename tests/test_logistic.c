/* Logistic regression: that it finds what was planted, and what it does where there is little to find. */
#include "check.h"

#include "base/rng.h"
#include "linalg/logistic.h"

enum { ROWS = 20000, COLUMNS = 3 };

static double sigmoid(double t)
{
    return 1 / (1 + exp(-t));
}

/* ROWS rows of columns with different means and spreads, those with label 1 first. */
typedef struct data {
    float column[COLUMNS][ROWS];
    const float *x[COLUMNS];
    size_t positives;
} data;

static data *plant(double shift, const double slope[COLUMNS])
{
    data *d = calloc(1, sizeof *d);
    assert_non_null(d);
    npi_rng normal = npi_rng_make(5, NPI_RNG_TEST, 0), coin = npi_rng_make(5, NPI_RNG_TEST, 1);
    size_t first = 0, last = ROWS;
    for (uint64_t i = 0; i < ROWS; i++) {
        float row[COLUMNS];
        double t = shift;
        for (uint64_t c = 0; c < COLUMNS; c++) {
            row[c] = (float)(npi_rng_normal_at(&normal, i * COLUMNS + c) * (c == 1 ? 0.01 : 2) + 3);
            t += slope[c] * (double)row[c];
        }
        size_t at = npi_rng_uniform_at(&coin, i) < sigmoid(t) ? first++ : --last;
        for (int c = 0; c < COLUMNS; c++)
            d->column[c][at] = row[c];
    }
    d->positives = first;
    for (int c = 0; c < COLUMNS; c++)
        d->x[c] = d->column[c];
    return d;
}

static void test_planted_coefficients_are_found(void **state)
{
    (void)state;
    const double slope[COLUMNS] = {0.5, 60, 0};
    data *d = plant(-181.5, slope);
    npi_logistic found = npi_logistic_fit(d->x, NULL, COLUMNS, d->positives, ROWS, 0);
    assert_near(found.slope[0], 0.5, 0.03);
    assert_near(found.slope[1], 60, 0.06);
    assert_near(found.slope[2], 0, 0.03);
    assert_near(found.shift, -181.5, 0.06);
    free(d);
}

/* At the minimum with ridge r, the mean of (label - p) x is r slope spread² for a slope above 0, and no more for one at
 * 0. */
static void test_the_minimum_is_one(void **state)
{
    (void)state;
    const double slope[COLUMNS] = {0.5, 60, -0.2}, ridge = 0.01;
    data *d = plant(-180, slope);
    npi_logistic found = npi_logistic_fit(d->x, NULL, COLUMNS, d->positives, ROWS, ridge);
    double left = 0, pull[COLUMNS] = {0}, sum[COLUMNS] = {0}, square[COLUMNS] = {0};
    for (size_t i = 0; i < ROWS; i++) {
        double t = found.shift;
        for (int c = 0; c < COLUMNS; c++)
            t += found.slope[c] * (double)d->column[c][i];
        double error = (i < d->positives) - sigmoid(t);
        left += error / ROWS;
        for (int c = 0; c < COLUMNS; c++) {
            double x = (double)d->column[c][i] - 3;
            pull[c] += error * x / ROWS;
            sum[c] += x / ROWS;
            square[c] += x * x / ROWS;
        }
    }
    assert_near(left, 0, 1e-6);
    for (int c = 0; c < 2; c++)
        assert_near(pull[c], ridge * found.slope[c] * (square[c] - sum[c] * sum[c]), 1e-6);
    assert_true(found.slope[2] == 0 && pull[2] < 0);
    free(d);
}

static void test_constant_and_equal_columns(void **state)
{
    (void)state;
    const double slope[COLUMNS] = {0.5, 0, 0};
    data *d = plant(-1.5, slope);
    npi_logistic alone = npi_logistic_fit(d->x, NULL, 1, d->positives, ROWS, 1e-3);
    for (size_t i = 0; i < ROWS; i++)
        d->column[1][i] = 7;
    d->x[2] = d->x[0];
    npi_logistic found = npi_logistic_fit(d->x, NULL, COLUMNS, d->positives, ROWS, 1e-3);
    assert_true(found.slope[1] == 0);
    assert_near(found.slope[0] + found.slope[2], alone.slope[0], 0.01);
    assert_near(found.slope[0], found.slope[2], 1e-6);
    free(d);
}

/* Without an error to make, only the ridge keeps the slope finite. */
static void test_separable_rows(void **state)
{
    (void)state;
    const float column[] = {5, 6, 7, 1, 2, 3}, *x[] = {column};
    npi_logistic found = npi_logistic_fit(x, NULL, 1, 3, 6, 1e-3);
    assert_true(found.slope[0] > 1 && found.slope[0] < 100);
    assert_near(found.shift, -4 * found.slope[0], 1e-6);
    npi_logistic held = npi_logistic_fit(x, NULL, 1, 3, 6, 1e3);
    assert_true(held.slope[0] > 0 && held.slope[0] < 0.01);
}

static void test_a_class_that_is_empty(void **state)
{
    (void)state;
    const float column[] = {1, 2, 3}, *x[] = {column};
    for (size_t positives = 0; positives <= 3; positives += 3) {
        npi_logistic found = npi_logistic_fit(x, NULL, 1, positives, 3, 1e-3);
        assert_true(found.shift == 0 && found.slope[0] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted_coefficients_are_found), cmocka_unit_test(test_the_minimum_is_one),
        cmocka_unit_test(test_constant_and_equal_columns),     cmocka_unit_test(test_separable_rows),
        cmocka_unit_test(test_a_class_that_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
