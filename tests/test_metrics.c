/* The metrics against their definitions, counted the slow way, and against scikit-learn's numbers. */
#include "check.h"

#include <string.h>

#include "base/rng.h"

#define MOST 300

/* The probability that a positive is above a negative, a tie being half: O(P N). */
static double slow_auc(const float *p, const float *n, size_t ps, size_t ns)
{
    double wins = 0;
    for (size_t i = 0; i < ps; i++)
        for (size_t j = 0; j < ns; j++)
            wins += p[i] > n[j] ? 1 : p[i] == n[j] ? 0.5 : 0;
    return wins / (double)(ps * ns);
}

static double count_from(const float *scores, size_t count, float threshold)
{
    double above = 0;
    for (size_t i = 0; i < count; i++)
        above += scores[i] >= threshold;
    return above;
}

/* The mean over the positives of the precision at their score: the step-wise sum, written per positive. */
static double slow_ap(const float *p, const float *n, size_t ps, size_t ns)
{
    double sum = 0;
    for (size_t i = 0; i < ps; i++) {
        double found = count_from(p, ps, p[i]);
        sum += found / (found + count_from(n, ns, p[i]));
    }
    return sum / (double)ps;
}

static double slow_rank(float score, const float *n, size_t ns)
{
    double rank = 1;
    for (size_t j = 0; j < ns; j++)
        rank += n[j] > score ? 1 : n[j] == score ? 0.5 : 0;
    return rank;
}

static void check_all(const float *p, const float *n, size_t ps, size_t ns)
{
    const int k[] = {1, 3, 10, 100};
    double auc, ap, mrr, hits[4], slow_mrr = 0, slow_hits[4] = {0};
    npgnn_error err = {0};
    assert_ok(npgnn_auc_ap(&auc, &ap, p, n, ps, ns, NULL, &err), err);
    assert_near(auc, slow_auc(p, n, ps, ns), 1e-12);
    assert_near(ap, slow_ap(p, n, ps, ns), 1e-12);

    assert_ok(npgnn_mrr_hits(&mrr, hits, p, n, ps, ns, k, 4, NULL, &err), err);
    for (size_t i = 0; i < ps; i++) {
        double rank = slow_rank(p[i], n, ns);
        slow_mrr += 1 / rank / (double)ps;
        for (int j = 0; j < 4; j++)
            slow_hits[j] += (rank <= k[j]) / (double)ps;
    }
    assert_near(mrr, slow_mrr, 1e-12);
    for (int j = 0; j < 4; j++)
        assert_near(hits[j], slow_hits[j], 1e-12);
}

/* Scores on few levels around zero, so that most of them are tied and both zeros occur. */
static void fill(float *scores, size_t count, int levels, npi_rng *rng)
{
    for (size_t i = 0; i < count; i++) {
        float level = (float)npi_rng_below(rng, (uint64_t)levels);
        scores[i] = (npi_rng_below(rng, 2) ? 0.25f : -0.25f) * level;
    }
}

static void test_random_with_ties(void **state)
{
    (void)state;
    npi_rng rng = npi_rng_make(1, NPI_RNG_TEST, 0);
    float p[MOST], n[MOST];
    for (int round = 0; round < 200; round++) {
        size_t ps = 1 + npi_rng_below(&rng, MOST), ns = 1 + npi_rng_below(&rng, MOST);
        int levels = 1 << npi_rng_below(&rng, 12);
        fill(p, ps, levels, &rng);
        fill(n, ns, levels, &rng);
        check_all(p, n, ps, ns);
    }
}

static void test_corner_cases(void **state)
{
    (void)state;
    const float low = -1, high = 1, equal[5] = {2, 2, 2, 2, 2}, zeros[2] = {0.0f, -0.0f};
    const float p[4] = {INFINITY, 1e38f, -INFINITY, 1e-45f}, n[5] = {-INFINITY, INFINITY, 0, -1e-45f, -1e38f};
    double auc, ap;
    check_all(&low, &high, 1, 1);
    check_all(&high, &low, 1, 1);
    check_all(equal, equal, 5, 4);
    check_all(zeros, zeros + 1, 1, 1);
    check_all(p, n, 4, 5);

    assert_int_equal(npgnn_auc_ap(&auc, &ap, &high, &low, 1, 1, NULL, NULL), 0);
    assert_true(auc == 1 && ap == 1);
    assert_int_equal(npgnn_auc_ap(&auc, &ap, equal, equal, 3, 1, NULL, NULL), 0);
    assert_true(auc == 0.5 && ap == 0.75);
}

static void expect_refusal(int code, const npgnn_error *err, const char *word)
{
    assert_int_equal(code, NPGNN_E_ARGUMENT);
    assert_int_equal(err->code, NPGNN_E_ARGUMENT);
    assert_non_null(strstr(err->text, word));
}

static void test_refusals(void **state)
{
    (void)state;
    const float good[2] = {1, 2}, bad[2] = {1, NAN};
    const int k[2] = {10, 0};
    double auc = 7, ap = 7, mrr = 7, hits[2] = {7, 7};
    npgnn_error err = {0};
    expect_refusal(npgnn_auc_ap(&auc, &ap, bad, good, 2, 2, NULL, &err), &err, "positive 1");
    expect_refusal(npgnn_auc_ap(&auc, &ap, good, bad, 2, 2, NULL, &err), &err, "negative 1");
    expect_refusal(npgnn_auc_ap(&auc, &ap, good, good, 0, 2, NULL, &err), &err, "no positives");
    expect_refusal(npgnn_auc_ap(&auc, &ap, good, good, 2, 0, NULL, &err), &err, "no negatives");
    expect_refusal(npgnn_mrr_hits(&mrr, hits, good, good, 2, 2, k, 2, NULL, &err), &err, "hits at 0");
    expect_refusal(npgnn_mrr_hits(&mrr, hits, good, bad, 2, 2, k, 1, NULL, &err), &err, "negative 1");
    assert_true(auc == 7 && ap == 7 && mrr == 7 && hits[0] == 7 && hits[1] == 7);
}

static void *no_memory(void *user, void *block, size_t size)
{
    (void)user;
    (void)block;
    (void)size;
    return NULL;
}

static void test_no_memory(void **state)
{
    (void)state;
    const npgnn_env env = {.size = sizeof env, .allocator = {no_memory, NULL}};
    const float scores[2] = {1, 2};
    double auc, ap;
    assert_int_equal(npgnn_auc_ap(&auc, &ap, scores, scores, 2, 2, &env, NULL), NPGNN_E_MEMORY);
}

/* Reads comma-separated floats; returns how many. */
static size_t parse_list(float *scores, char *text)
{
    size_t count = 0;
    for (char *word = strtok(text, ",\n"); word; word = strtok(NULL, ",\n")) {
        assert_true(count < MOST);
        scores[count++] = strtof(word, NULL);
    }
    return count;
}

static void test_scikit_learn(void **state)
{
    (void)state;
    char line[8192];
    float p[MOST], n[MOST];
    int cases = 0;
    FILE *file = fopen(NPGNN_SOURCE_ROOT "/tests/golden/metrics.tsv", "r");
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); cases++) {
        char *rest;
        double auc, ap;
        double want_auc = strtod(line, &rest), want_ap = strtod(rest, &rest);
        char *second = strchr(rest + 1, '\t');
        assert_non_null(second);
        *second = '\0';
        size_t ps = parse_list(p, rest + 1), ns = parse_list(n, second + 1);
        assert_int_equal(npgnn_auc_ap(&auc, &ap, p, n, ps, ns, NULL, NULL), 0);
        assert_near(auc, want_auc, 1e-12);
        assert_near(ap, want_ap, 1e-12);
    }
    fclose(file);
    assert_int_equal(cases, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_with_ties), cmocka_unit_test(test_corner_cases), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_memory),        cmocka_unit_test(test_scikit_learn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
