/* Feature dropout: kept entries are scaled, X and its transpose agree, and the number of threads does not matter. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "features/dropout.h"
#include "meter.h"

enum { ROWS = 300, COLUMNS = 50 };
#define SHARE 0.4

static npi_features *make(double density)
{
    static float cells[ROWS * COLUMNS];
    npi_rng rng = npi_rng_make(1, NPI_RNG_TEST, 0);
    const npgnn_env env = npi_env_resolve(NULL);
    npi_features *x = NULL;
    npgnn_error err = {0};
    for (int i = 0; i < ROWS * COLUMNS; i++)
        cells[i] = i / COLUMNS != 7 && npi_rng_uniform(&rng) < density ? 1 + (float)(i % 5) : 0;
    assert_ok(npi_features_from_dense(&x, cells, ROWS, COLUMNS, &env, &err), err);
    assert_ok(npi_features_transpose(x, &err), err);
    return x;
}

static double value_of(const npi_features *x, int32_t row, int32_t column)
{
    if (x->dense)
        return (double)x->dense[row * COLUMNS + column];
    int64_t at = npi_csr_find(&x->x, row, column);
    return at < 0 ? 0 : x->x.val ? (double)x->x.val[at] : 1;
}

static void check_is_part(const npi_dropout *d, const npi_features *x)
{
    int kept = 0, all = 0;
    for (int32_t i = 0; i < ROWS; i++)
        for (int32_t j = 0; j < COLUMNS; j++) {
            double before = value_of(x, i, j), after = value_of(&d->view, i, j);
            assert_true(after == 0 || check_near(after, before / (1 - SHARE), 1e-6));
            if (!x->dense) {
                int64_t back = npi_csr_find(d->view.xt, j, i);
                assert_true(after == (back < 0 ? 0 : (double)d->view.xt->val[back]));
            }
            all += before != 0;
            kept += after != 0;
        }
    assert_true(fabs(kept - (1 - SHARE) * all) < 5 * sqrt(SHARE * (1 - SHARE) * all));
    if (!x->dense)
        assert_int_equal(d->view.x.ptr[ROWS], kept); /* what is hidden takes no place */
}

static void test_kept_entries(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        npi_features *x = make(dense ? 0.9 : 0.1);
        const npgnn_env env = npi_env_resolve(NULL);
        npi_dropout d;
        assert_true(!x->dense == !dense);
        assert_int_equal(npi_dropout_new(&d, x, 1, &env, NULL), 0);
        for (uint32_t draw = 0; draw < 3; draw++) {
            npi_dropout_draw(&d, SHARE, 9, draw, 1);
            check_is_part(&d, x);
        }
        npi_dropout_free(&env, &d);
        npi_features_free(x);
    }
}

static int same_csr(const npi_csr *a, const npi_csr *b)
{
    size_t entries = (size_t)a->ptr[a->rows];
    return memcmp(a->ptr, b->ptr, ((size_t)a->rows + 1) * sizeof *a->ptr) == 0 &&
           memcmp(a->col, b->col, entries * sizeof *a->col) == 0 &&
           memcmp(a->val, b->val, entries * sizeof *a->val) == 0;
}

static void test_same_bits_for_any_threads(void **state)
{
    (void)state;
    npi_features *x = make(0.1);
    const npgnn_env env = npi_env_resolve(NULL);
    npi_dropout one, three;
    assert_int_equal(npi_dropout_new(&one, x, 1, &env, NULL), 0);
    assert_int_equal(npi_dropout_new(&three, x, 1, &env, NULL), 0);
    npi_dropout_draw(&three, SHARE, 9, 1, 1); /* and whatever was drawn before */
    npi_dropout_draw(&one, SHARE, 9, 2, 1);
    assert_false(same_csr(&one.view.x, &three.view.x));
    npi_dropout_draw(&three, SHARE, 9, 2, 3);
    assert_true(same_csr(&one.view.x, &three.view.x) && same_csr(one.view.xt, three.view.xt));
    /* in one memory, one after the other */
    npi_dropout turned;
    assert_int_equal(npi_dropout_new(&turned, x, 0, &env, NULL), 0);
    for (int again = 0; again < 2; again++) {
        npi_dropout_draw(&turned, SHARE, 9, 2, 2);
        assert_true(same_csr(&one.view.x, &turned.view.x));
        npi_dropout_turn(&turned, 2);
        assert_true(same_csr(one.view.xt, turned.view.xt));
    }
    npi_dropout_free(&env, &turned);
    npi_dropout_free(&env, &one);
    npi_dropout_free(&env, &three);
    npi_features_free(x);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    npi_features *x = make(0.1);
    int code = NPGNN_E_MEMORY;
    for (long allow = 0; code && allow < 50; allow++) {
        meter m = {.allow = allow};
        npgnn_env asked = metered_env(&m), env = npi_env_resolve(&asked);
        npi_dropout d;
        code = npi_dropout_new(&d, x, (int)(allow % 2), &env, NULL);
        if (!code)
            npi_dropout_free(&env, &d);
        assert_int_equal(m.blocks, 0);
    }
    assert_int_equal(code, 0);
    npi_features_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_entries),
        cmocka_unit_test(test_same_bits_for_any_threads),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
