/* Whether probabilities are true: every figure against its definition, counted pair by pair. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "meter.h"

static const npgnn_env one_thread = {.size = sizeof one_thread, .threads = 1};

enum { LINKS = 60, OTHERS = 90, ALL = LINKS + OTHERS };

/* ---- by hand ---- */

/* Two links at 0.9 and 0.2, two non-links at 0.6 and 0.2, none of them a sample of more. */
static void test_by_hand(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_calibration c;
    const float links[2] = {0.9f, 0.2f}, others[2] = {0.6f, 0.2f};
    assert_ok(npgnn_calibration_measure(&c, links, others, 2, 2, 0.5, &one_thread, &err), err);
    /* bins: 0.9 is 0.1 too low, 0.6 is 0.6 too high, the two at 0.2 are 0.3 too low on average */
    assert_near(c.ece, (0.1 + 0.6 + 2 * 0.3) / 4, 1e-6);
    assert_near(c.balanced_ece, c.ece, 1e-12);
    assert_near(c.brier, (0.01 + 0.64 + 0.36 + 0.04) / 4, 1e-6);
    double loss = -(log(0.9) + log(0.2) + log(0.4) + log(0.8)) / 4;
    assert_near(c.log_loss, loss, 1e-6);
    assert_near(c.skill, 1 - loss / log(2), 1e-6);
    /* the first half of the links is {0.9}, the second {0.6, 0.2, 0.2} */
    assert_near(c.bins[0].predicted, 0.9, 1e-6);
    assert_near(c.bins[5].observed, 1.0 / 3, 1e-6);
    assert_true(c.bins[1].pairs == 0 && isnan(c.bins[1].predicted));
    assert_near(c.link_ece, (0.1 + fabs(1.0 / 3 - 1.0 / 3)) / 2, 1e-6);
}

/* ---- by definition ---- */

typedef struct weighed {
    double probability, weight, link;
} weighed;

static double brute_ece(const weighed *pairs)
{
    double error = 0, total = 0;
    for (int bin = 0; bin < NPGNN_BINS; bin++) {
        double weight = 0, predicted = 0, observed = 0;
        for (int i = 0; i < ALL; i++)
            if (pairs[i].probability >= bin / 10.0 && (pairs[i].probability < (bin + 1) / 10.0 || bin == 9)) {
                weight += pairs[i].weight;
                predicted += pairs[i].weight * pairs[i].probability;
                observed += pairs[i].weight * pairs[i].link;
            }
        error += fabs(predicted - observed);
        total += weight;
    }
    return error / total;
}

/* A pair's bin is the tenth of the links that those above it have used up. */
static double brute_link_ece(const weighed *pairs)
{
    double error = 0, weight[NPGNN_BINS] = {0}, predicted[NPGNN_BINS] = {0}, links[NPGNN_BINS] = {0};
    for (int i = 0; i < ALL; i++) {
        int above = 0;
        for (int j = 0; j < LINKS; j++)
            above += pairs[j].probability > pairs[i].probability;
        int bin = above * NPGNN_BINS / LINKS < NPGNN_BINS ? above * NPGNN_BINS / LINKS : NPGNN_BINS - 1;
        weight[bin] += pairs[i].weight;
        predicted[bin] += pairs[i].weight * pairs[i].probability;
        links[bin] += pairs[i].link;
    }
    for (int bin = 0; bin < NPGNN_BINS; bin++)
        if (weight[bin] > 0)
            error += links[bin] / LINKS * fabs(predicted[bin] - links[bin]) / weight[bin];
    return error;
}

static void test_by_definition(void **state)
{
    (void)state;
    const double rates[] = {0.4, 0.01, 1e-4, 0.7};
    float p[ALL];
    weighed pairs[ALL], even[ALL];
    npi_rng rng = npi_rng_make(3, NPI_RNG_TEST, 0);
    for (int i = 0; i < ALL; i++) /* ties on purpose, both ends too */
        p[i] = (float)(floor(npi_rng_uniform_at(&rng, (uint64_t)i) * 41) / 40 * (i % 3 ? 1 : 0.3));
    for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
        npgnn_error err = {0};
        npgnn_calibration c;
        double odds = (1 - rates[r]) / rates[r], loss = 0, brier = 0, total = 0;
        for (int i = 0; i < ALL; i++) {
            int link = i < LINKS;
            double q = (double)p[i], weight = link ? 1 : odds * LINKS / OTHERS;
            pairs[i] = (weighed){q, weight, link};
            even[i] = (weighed){q < 1 ? odds * q / (odds * q + 1 - q) : 1, link ? 1 : (double)LINKS / OTHERS, link};
            double right = link ? q : 1 - q;
            loss -= weight * log(right > 1e-12 ? right : 1e-12);
            brier += weight * (1 - right) * (1 - right);
            total += weight;
        }
        assert_ok(npgnn_calibration_measure(&c, p, p + LINKS, LINKS, OTHERS, rates[r], &one_thread, &err), err);
        assert_near(LINKS / total, rates[r], 1e-12);
        assert_near(c.ece, brute_ece(pairs), 1e-9);
        assert_near(c.balanced_ece, brute_ece(even), 1e-9);
        assert_near(c.link_ece, brute_link_ece(pairs), 1e-9);
        assert_near(c.log_loss, loss / total, 1e-9);
        assert_near(c.brier, brier / total, 1e-9);
    }
}

/* ---- truth and its distortions ---- */

/* Probabilities that are true by construction: each is drawn, then the label by it. */
static npgnn_calibration judge_planted(double power)
{
    enum { COUNT = 20000 };
    static float links[COUNT], others[COUNT];
    size_t positives = 0, negatives = 0;
    npi_rng rng = npi_rng_make(4, NPI_RNG_TEST, 0);
    npgnn_error err = {0};
    npgnn_calibration c;
    for (uint64_t i = 0; i < COUNT; i++) {
        double truth = pow(npi_rng_uniform_at(&rng, 2 * i), 3), said = pow(truth, power);
        if (npi_rng_uniform_at(&rng, 2 * i + 1) < truth)
            links[positives++] = (float)said;
        else
            others[negatives++] = (float)said;
    }
    assert_ok(npgnn_calibration_measure(&c, links, others, positives, negatives, (double)positives / COUNT, &one_thread,
                                        &err),
              err);
    return c;
}

static void test_truth(void **state)
{
    (void)state;
    npgnn_calibration truth = judge_planted(1), bold = judge_planted(0.5), shy = judge_planted(2);
    assert_true(truth.ece < 0.01 && truth.link_ece < 0.02 && truth.skill > 0.3);
    assert_true(bold.ece > 0.1 && bold.link_ece > 0.05 && bold.skill < truth.skill - 0.1);
    assert_true(shy.ece > 0.05 && shy.link_ece > 0.1 && shy.skill < truth.skill - 0.1);
    for (int i = 0; i < NPGNN_TOPS; i++)
        assert_near(truth.top[i].predicted, truth.top[i].observed, 0.05);
}

/* What the most likely hold is not told by non-links that stand for too many. */
static void test_tops(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_calibration c;
    float links[200], others[400];
    for (int i = 0; i < 200; i++)
        links[i] = 0.9f - 0.001f * (float)i;
    for (int i = 0; i < 400; i++)
        others[i] = 0.8995f - 0.001f * (float)i;
    assert_ok(npgnn_calibration_measure(&c, links, others, 200, 400, 1.0 / 3, &one_thread, &err), err);
    assert_near(c.top[0].observed, 0.5, 1e-9); /* they take turns */
    assert_near(c.top[0].predicted, 0.9 - 0.00225, 1e-5);
    assert_near(c.top[1].observed, 0.5, 1e-9);
    assert_true(isnan(c.top[2].observed)); /* there are 600 */
    assert_ok(npgnn_calibration_measure(&c, links, others, 200, 400, 0.1, &one_thread, &err), err);
    assert_true(isnan(c.top[0].observed)); /* a non-link stands for 4.5 */
    assert_near(c.top[1].observed, 1 / 5.5, 0.02);
}

static void test_refused(void **state)
{
    (void)state;
    npgnn_error err = {0};
    npgnn_calibration c;
    const float good[2] = {0.5f, 0.1f}, bad[3] = {1.5f, -0.1f, NAN};
    const double rates[3] = {0, 1, (double)NAN};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(npgnn_calibration_measure(&c, &bad[i], good, 1, 2, 0.5, NULL, &err), NPGNN_E_ARGUMENT);
        assert_int_equal(npgnn_calibration_measure(&c, good, &bad[i], 2, 1, 0.5, NULL, &err), NPGNN_E_ARGUMENT);
        assert_int_equal(npgnn_calibration_measure(&c, good, good, 2, 2, rates[i], NULL, &err), NPGNN_E_ARGUMENT);
    }
    assert_int_equal(npgnn_calibration_measure(&c, good, good, 0, 2, 0.5, NULL, &err), NPGNN_E_ARGUMENT);
    assert_int_equal(npgnn_calibration_measure(&c, good, good, 2, 0, 0.5, NULL, &err), NPGNN_E_ARGUMENT);
    meter memory = {.allow = 0};
    npgnn_env env = metered_env(&memory);
    assert_int_equal(npgnn_calibration_measure(&c, good, good, 2, 2, 0.5, &env, &err), NPGNN_E_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_by_definition), cmocka_unit_test(test_truth),
        cmocka_unit_test(test_tops),    cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
