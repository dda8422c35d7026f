/* Sparse and dense features: storage, copies, products against plain double loops, and the same bits for any number
 * of threads. */
#include "features/features.h"
#include "linalg/dense.h"
#include "matrices.h"

static npi_features *features_of(const float *m, int32_t n, int32_t f)
{
    npi_features *x = NULL;
    npgnn_error err = {0};
    assert_ok(npi_features_from_dense(&x, m, n, f, &env, &err), err);
    return x;
}

/* ---- CSR and features ---- */

/* Asserts that rows ascend and a[i][j] == m(i, j), or m(j, i) where `transposed`. */
static void check_csr(const npi_csr *a, const float *m, int32_t f, int transposed)
{
    int64_t nonzeros = 0;
    assert_int_equal(a->ptr[0], 0);
    for (int32_t i = 0; i < a->rows; i++)
        for (int32_t j = 0; j < a->cols; j++) {
            float want = transposed ? m[(size_t)j * (size_t)f + (size_t)i] : m[(size_t)i * (size_t)f + (size_t)j];
            if (want == 0)
                continue;
            assert_true(nonzeros < a->ptr[i + 1]);
            assert_int_equal(a->col[nonzeros], j);
            assert_true((a->val ? a->val[nonzeros] : 1) == want);
            nonzeros++;
            if (nonzeros == a->ptr[i + 1])
                break;
        }
    assert_int_equal(a->ptr[a->rows], nonzeros);
}

static const int32_t shapes[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 9}, {9, 1}, {7, 3}, {40, 131}};

static void test_transpose(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (int ones = 0; ones < 2; ones++) {
            npgnn_error err = {0};
            int32_t n = shapes[s][0], f = shapes[s][1];
            float *m = matrix(n, f, 0.3, ones, 10);
            npi_csr a = csr_of(m, n, f, ones), t;
            assert_ok(npi_csr_transpose(&t, &a, &env, &err), err);
            assert_int_equal(t.rows, f);
            assert_int_equal(t.cols, n);
            assert_int_equal(t.val != NULL, !ones);
            check_csr(&t, m, f, 1);
            npi_csr_free(&env, &t);
            npi_csr_free(&env, &a);
            free(m);
        }
}

/* Asserts that X has these values and the storage that their density asks for. */
static void check_features(const npi_features *x, const float *m, int32_t n, int32_t f)
{
    int64_t nonzeros = 0;
    assert_int_equal(x->n, n);
    assert_int_equal(x->f, f);
    for (size_t i = 0; i < (size_t)n * (size_t)f; i++) {
        nonzeros += m[i] != 0;
        if (x->dense)
            assert_true(x->dense[i] == (real)m[i]);
    }
    assert_int_equal(x->nonzeros, nonzeros);
    if (!x->dense)
        check_csr(&x->x, m, f, 0);
}

static void test_from_csr_and_from_dense(void **state)
{
    (void)state;
    const double densities[] = {0, 0.1, 0.24, 0.5, 1};
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t d = 0; d < 2 * COUNT(densities); d++) {
            npgnn_error err = {0};
            int32_t n = shapes[s][0], f = shapes[s][1];
            int ones = d % 2 == 1;
            float *m = matrix(n, f, densities[d / 2], ones, 20);
            npi_features *a = features_of(m, n, f), *b = NULL;
            npi_csr csr = csr_of(m, n, f, ones);
            assert_ok(npi_features_from_csr(&b, &csr, &env, &err), err);
            check_features(a, m, n, f);
            check_features(b, m, n, f);
            assert_int_equal(a->dense != NULL, b->dense != NULL);
            if (!a->dense && ones)
                assert_true(!a->x.val && !b->x.val);
            npi_features_free(a);
            npi_features_free(b);
            free(m);
        }
}

/* 4 of 16 elements, a quarter, is the limit between sparse and dense. */
static void test_storage_choice(void **state)
{
    (void)state;
    float m[16] = {[1] = 2, [6] = 3, [11] = 4};
    npi_features *sparse = features_of(m, 4, 4);
    assert_null(sparse->dense);
    assert_non_null(sparse->x.val);
    m[12] = 5;
    npi_features *dense = features_of(m, 4, 4);
    assert_non_null(dense->dense);
    npi_features_free(sparse);
    npi_features_free(dense);
}

/* Four stored entries of 16, one of them a zero: without it X is sparse. */
static void test_stored_zeros(void **state)
{
    (void)state;
    npgnn_error err = {0};
    float m[16] = {[1] = 1, [6] = 1, [11] = 7, [12] = 1}, without[16] = {[1] = 1, [6] = 1, [12] = 1};
    npi_features *x = NULL;
    npi_csr csr = csr_of(m, 4, 4, 0);
    csr.val[2] = 0;
    assert_ok(npi_features_from_csr(&x, &csr, &env, &err), err);
    assert_null(csr.ptr);
    assert_null(x->dense);
    assert_null(x->x.val); /* the zero was all that was not 1 */
    check_features(x, without, 4, 4);
    npi_features_free(x);
}

static void test_select_rows(void **state)
{
    (void)state;
    const int32_t rows[] = {6, 0, 0, 3, 6};
    const double densities[] = {0.1, 0.1, 0.6};
    for (int kind = 0; kind < 3; kind++)
        for (int32_t count = 0; count <= 5; count++) {
            npgnn_error err = {0};
            enum { N = 7, F = 33 };
            float *m = matrix(N, F, densities[kind], kind == 1, 30), picked[5 * F];
            npi_features *x = features_of(m, N, F), *part = NULL;
            for (int32_t i = 0; i < count; i++)
                memcpy(picked + (size_t)i * F, m + (size_t)rows[i] * F, F * sizeof *m);
            assert_ok(npi_features_select_rows(&part, x, rows, count, &err), err);
            assert_int_equal(part->dense != NULL, kind == 2);
            npi_features_free(x); /* the part does not need it */
            check_features(part, picked, count, F);
            npi_features_free(part);
            free(m);
        }
}

static void test_transpose_is_kept(void **state)
{
    (void)state;
    npgnn_error err = {0};
    float *m = matrix(9, 20, 0.1, 0, 35);
    npi_features *x = features_of(m, 9, 20), *again = npi_features_share(x);
    assert_ok(npi_features_transpose(x, &err), err);
    const npi_csr *xt = x->xt;
    check_csr(xt, m, 20, 1);
    assert_ok(npi_features_transpose(again, &err), err);
    assert_ptr_equal(x->xt, xt);
    npi_features_free(x);
    check_csr(again->xt, m, 20, 1); /* still there for who shares it */
    npi_features_free(again);
    free(m);
}

static double value_of(const npi_features *x, int32_t row, int32_t col)
{
    if (x->dense)
        return (double)x->dense[(size_t)row * (size_t)x->f + (size_t)col];
    for (int64_t p = x->x.ptr[row]; p < x->x.ptr[row + 1]; p++)
        if (x->x.col[p] == col)
            return x->x.val ? (double)x->x.val[p] : 1;
    return 0;
}

static void test_binarize_and_normalize(void **state)
{
    (void)state;
    enum { N = 11, F = 23 };
    for (int kind = 0; kind < 4; kind++) {
        npgnn_error err = {0};
        int binary = kind & 1;
        float *m = matrix(N, F, kind & 2 ? 0.7 : 0.15, 0, 40);
        memset(m + 3 * F, 0, F * sizeof *m); /* a row of zeros stays one */
        npi_features *x = features_of(m, N, F);
        assert_int_equal(x->dense != NULL, kind & 2 ? 1 : 0);
        if (binary)
            npi_features_binarize(x);
        assert_ok(npi_features_normalize(x, &err), err);
        for (int32_t i = 0; i < N; i++) {
            double sum = 0;
            for (int32_t j = 0; j < F; j++)
                sum += binary ? m[i * F + j] != 0 : fabs((double)m[i * F + j]);
            for (int32_t j = 0; j < F; j++) {
                double value = binary ? m[i * F + j] != 0 : (double)m[i * F + j];
                assert_near(value_of(x, i, j), sum > 0 ? value / sum : 0, 1e-7); /* sparse values are floats */
            }
        }
        npi_features_free(x);
        free(m);
    }
}

/* ---- products with the features ---- */

typedef struct product {
    float *m; /* (n, f) */
    npi_features *x;
    int32_t n, f;
} product;

/* kind 0: sparse, 1: sparse ones, 2: dense */
static product product_new(int32_t n, int32_t f, int kind)
{
    npgnn_error err = {0};
    float *m = matrix(n, f, kind == 2 ? 0.6 : 0.1, kind == 1, 50);
    product p = {m, features_of(m, n, f), n, f};
    assert_ok(npi_features_transpose(p.x, &err), err);
    return p;
}

static void product_free(product *p)
{
    npi_features_free(p->x);
    free(p->m);
}

static void check_mul(const product *p, int width)
{
    int ldw = width + 3;
    size_t count = (size_t)p->n * (size_t)width;
    real *w = reals((size_t)p->f * (size_t)ldw, 60), *y = reals(count, 61);
    double *want = room(count, sizeof *want);
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t j = 0; j < p->f; j++)
            for (int c = 0; c < width; c++)
                want[i * width + c] += (double)p->m[i * p->f + j] * (double)w[j * ldw + c];
    judge verdict = {want, count, TOLERANCE(p->f), NULL};
    for (int threads = 1; threads <= 3; threads++) {
        npi_features_mul(y, p->x, w, ldw, width, threads);
        hear(&verdict, y, threads);
    }
    free(verdict.first);
    free(want);
    free(w);
    free(y);
}

/* The product is added to a gradient that is not zero. */
static void check_mul_t(const product *p, int width)
{
    size_t count = (size_t)p->f * (size_t)width;
    real *dy = reals((size_t)p->n * (size_t)width, 62), *start = reals(count, 63), *dw = reals(count, 0);
    double *want = room(count, sizeof *want);
    for (size_t i = 0; i < count; i++)
        want[i] = (double)start[i];
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t j = 0; j < p->f; j++)
            for (int c = 0; c < width; c++)
                want[j * width + c] += (double)p->m[i * p->f + j] * (double)dy[i * width + c];
    judge verdict = {want, count, TOLERANCE(p->n), NULL};
    for (int threads = 1; threads <= 3; threads++) {
        memcpy(dw, start, count * sizeof *dw);
        npi_features_mul_t(dw, p->x, dy, width, threads);
        hear(&verdict, dw, threads);
    }
    free(verdict.first);
    free(want);
    free(start);
    free(dw);
    free(dy);
}

static void test_every_width(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        product p = product_new(17, 29, kind);
        for (int width = 1; width <= 130; width++) {
            check_mul(&p, width);
            check_mul_t(&p, width);
        }
        product_free(&p);
    }
}

static void test_every_shape(void **state)
{
    (void)state;
    const int32_t large[][2] = {{1030, 65}, {300, 200}, {0, 3},    {3, 0}, {1, 1},
                                {600, 1},   {1, 600},   {13000, 3}}; /* several bands of rows in the backward product */
    for (size_t s = 0; s < COUNT(large); s++)
        for (int kind = 0; kind < 3; kind++) {
            product p = product_new(large[s][0], large[s][1], kind);
            check_mul(&p, 5);
            check_mul_t(&p, 5);
            product_free(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_from_csr_and_from_dense),
        cmocka_unit_test(test_storage_choice),
        cmocka_unit_test(test_stored_zeros),
        cmocka_unit_test(test_select_rows),
        cmocka_unit_test(test_transpose_is_kept),
        cmocka_unit_test(test_binarize_and_normalize),
        cmocka_unit_test(test_every_width),
        cmocka_unit_test(test_every_shape),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
