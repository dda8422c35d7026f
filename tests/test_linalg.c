/* Matrices and their products against double loops, for every storage, odd sizes and strides; and the same bits for any
 * number of threads. */
#include "check.h"

#include <float.h>
#include <string.h>

#include "base/rng.h"
#include "linalg/adj.h"
#include "linalg/dense.h"
#include "linalg/elementwise.h"

#ifdef NPI_DOUBLE
#define PRECISION DBL_EPSILON
#else
#define PRECISION ((double)FLT_EPSILON)
#endif

/* Of a sum of `terms` products of numbers up to 1. */
#define TOLERANCE(terms) (PRECISION * (4 + (double)(terms)))

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static npgnn_env env;

static int set_up(void **state)
{
    (void)state;
    env = npi_env(NULL);
    return 0;
}

/* ---- random input ---- */

static double random_at(uint32_t stream, uint64_t index)
{
    npi_rng rng = npi_rng_make(5, NPI_RNG_TEST, stream);
    return 2 * npi_rng_uniform_at(&rng, index) - 1;
}

static void *room(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    assert_non_null(block);
    return block;
}

/* (count) in [-1, 1), for the caller to free */
static real *reals(size_t count, uint32_t stream)
{
    real *values = room(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (real)random_at(stream, i);
    return values;
}

/* (n, f), a share `density` of it not zero; with `ones` those are 1 */
static float *matrix(int32_t n, int32_t f, double density, int ones, uint32_t stream)
{
    size_t count = (size_t)n * (size_t)f;
    float *values = room(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        if (random_at(stream, i) < 2 * density - 1)
            values[i] = ones ? 1 : (float)random_at(stream + 1, i);
    return values;
}

/* The non-zeros of a matrix as CSR; val NULL with `pattern`. */
static npi_csr csr_of(const float *m, int32_t n, int32_t f, int pattern)
{
    size_t cells = (size_t)n * (size_t)f;
    npi_csr a = {n, f, npi_alloc(&env, (size_t)n + 1, sizeof *a.ptr, NULL), npi_alloc(&env, cells, sizeof *a.col, NULL),
                 pattern ? NULL : npi_alloc(&env, cells, sizeof *a.val, NULL)};
    for (int32_t i = 0; i < n; i++) {
        a.ptr[i + 1] = a.ptr[i];
        for (int32_t j = 0; j < f; j++) {
            float value = m[(size_t)i * (size_t)f + (size_t)j];
            if (value == 0)
                continue;
            if (a.val)
                a.val[a.ptr[i + 1]] = value;
            a.col[a.ptr[i + 1]++] = j;
        }
    }
    return a;
}

static npi_features *features_of(const float *m, int32_t n, int32_t f)
{
    npi_features *x = NULL;
    npgnn_error err = {0};
    assert_ok(npi_features_from_dense(&x, m, n, f, &env, &err), err);
    return x;
}

/* ---- the judge: near a double loop with one thread, the same bits with more ---- */

typedef struct judge {
    const double *want;
    size_t count;
    double tolerance;
    real *first; /* with one thread */
} judge;

static void hear(judge *j, const real *got, int threads)
{
    if (threads > 1) {
        assert_memory_equal(got, j->first, j->count * sizeof *got);
        return;
    }
    j->first = room(j->count, sizeof *j->first);
    memcpy(j->first, got, j->count * sizeof *got);
    for (size_t i = 0; i < j->count; i++)
        assert_near((double)got[i], j->want[i], j->tolerance);
}

/* ---- CSR and features ---- */

/* The same entries, each row ascending: a[i][j] == m(i, j), or m(j, i) when transposed. */
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

/* X has these values; as it would be stored had it been made from them. */
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

static void test_both_makers(void **state)
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

/* A quarter is the border: 4 of 16. */
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

/* Four entries of 16, one of them a zero: it goes, and with it the reason to be dense. */
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

static void test_rows(void **state)
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
            assert_ok(npi_features_rows(&part, x, rows, count, &err), err);
            assert_int_equal(part->dense != NULL, kind == 2);
            npi_features_free(x); /* the part does not need it */
            check_features(part, picked, count, F);
            npi_features_free(part);
            free(m);
        }
}

static void test_transposed_once(void **state)
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

/* It adds: the gradient begins as something. */
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

/* ---- the adjacency ---- */

typedef struct network {
    int32_t n;
    double *dense; /* (n, n): Â from its definition */
    npi_adj adj;
} network;

static network network_new(int32_t n, double density, int weighted)
{
    network g = {.n = n, .dense = room((size_t)n * (size_t)n, sizeof *g.dense)};
    float *m = matrix(n, n, density, 1, 70);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++)
            if (i == j)
                m[i * n + j] = 0;
            else
                m[j * n + i] = m[i * n + j] *= weighted ? (float)(1.5 + random_at(71, (uint64_t)(i * n + j))) : 1;
    g.adj.a = csr_of(m, n, n, !weighted);
    g.adj.scale = room((size_t)n, sizeof *g.adj.scale);
    npi_adj_normalize(&g.adj, 2);
    double *degree = room((size_t)n, sizeof *degree);
    for (int32_t i = 0; i < n; i++) {
        degree[i] = 1;
        for (int32_t j = 0; j < n; j++)
            degree[i] += (double)m[i * n + j];
        assert_near((double)g.adj.scale[i], 1 / sqrt(degree[i]), TOLERANCE(1));
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            g.dense[i * n + j] = ((double)m[i * n + j] + (i == j)) / sqrt(degree[i] * degree[j]);
    free(degree);
    free(m);
    return g;
}

static void network_free(network *g)
{
    npi_csr_free(&env, &g->adj.a);
    free(g->adj.scale);
    free(g->dense);
}

/* Y = Â P with strides of their own; what lies between the rows of Y stays. */
static void check_adj_mul(const network *g, int width)
{
    int ldp = width + 2, ldy = width + 1;
    size_t count = (size_t)g->n * (size_t)ldy;
    real *p = reals((size_t)g->n * (size_t)ldp, 72), *y = reals(count, 73);
    double *want = room(count, sizeof *want);
    for (int32_t i = 0; i < g->n; i++) {
        for (int32_t j = 0; j < g->n; j++)
            for (int c = 0; c < width; c++)
                want[i * ldy + c] += g->dense[i * g->n + j] * (double)p[j * ldp + c];
        want[i * ldy + width] = (double)y[i * ldy + width];
    }
    judge verdict = {want, count, TOLERANCE(g->n), NULL};
    for (int threads = 1; threads <= 3; threads++) {
        npi_adj_mul(y, ldy, &g->adj, p, ldp, width, threads);
        hear(&verdict, y, threads);
    }
    free(verdict.first);
    free(want);
    free(p);
    free(y);
}

static void check_adj_colsum(const network *g)
{
    real *sums = reals((size_t)g->n, 74);
    double *want = room((size_t)g->n, sizeof *want);
    for (int32_t i = 0; i < g->n; i++)
        for (int32_t j = 0; j < g->n; j++)
            want[j] += g->dense[i * g->n + j];
    judge verdict = {want, (size_t)g->n, TOLERANCE(g->n), NULL};
    for (int32_t i = 0; i < g->n; i++)
        sums[i] = npi_adj_column_sum(&g->adj, i);
    hear(&verdict, sums, 1);
    free(verdict.first);
    free(want);
    free(sums);
}

static void test_adjacency(void **state)
{
    (void)state;
    const int32_t sizes[] = {0, 1, 2, 31, 600};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int weighted = 0; weighted < 2; weighted++) {
            network g = network_new(sizes[s], sizes[s] > 100 ? 0.01 : 0.2, weighted);
            for (int width = 1; width <= (sizes[s] == 31 ? 130 : 3); width++)
                check_adj_mul(&g, width);
            check_adj_colsum(&g);
            network_free(&g);
        }
}

/* ---- dense products ---- */

/* C = A op(B) + beta C; with beta 0 what C held, even NaN, does not matter. */
static void check_gemm_rows(int64_t rows, int n, int k, int trans_b, int beta)
{
    int lda = k + 1, ldb = (trans_b ? k : n) + 2, ldc = n + 3;
    size_t count = (size_t)rows * (size_t)ldc;
    real *a = reals((size_t)rows * (size_t)lda, 80), *b = reals((size_t)(trans_b ? n : k) * (size_t)ldb, 81);
    real *start = reals(count, 82), *c = reals(count, 0);
    double *want = room(count, sizeof *want);
    for (size_t i = 0; i < count; i++)
        want[i] = (double)start[i];
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) {
            double sum = beta * want[i * ldc + j];
            for (int l = 0; l < k; l++)
                sum += (double)a[i * lda + l] * (double)(trans_b ? b[j * ldb + l] : b[l * ldb + j]);
            want[i * ldc + j] = sum;
            if (beta == 0)
                start[i * ldc + j] = (real)NAN;
        }
    judge verdict = {want, count, TOLERANCE(k), NULL};
    for (int threads = 1; threads <= 3; threads++) {
        memcpy(c, start, count * sizeof *c);
        npi_gemm_rows(c, ldc, a, lda, b, ldb, trans_b, rows, n, k, (real)beta, threads);
        hear(&verdict, c, threads);
    }
    free(verdict.first);
    free(want);
    free(start);
    free(a);
    free(b);
    free(c);
}

static void test_gemm_rows(void **state)
{
    (void)state;
    const int64_t rows[] = {0, 1, 511, 512, 513, 1601};
    for (size_t r = 0; r < COUNT(rows); r++)
        for (int how = 0; how < 4; how++) {
            check_gemm_rows(rows[r], 7, 13, how & 1, how >> 1);
            check_gemm_rows(rows[r], 1, 1, how & 1, how >> 1);
        }
    for (int width = 1; width <= 130; width += 3)
        check_gemm_rows(37, width, 131 - width, width & 1, 0);
}

static void check_tall(int64_t rows, int k, int n)
{
    int lda = k + 1, ldb = n + 2, ldc = n + 1;
    size_t count = (size_t)k * (size_t)ldc;
    real *a = reals((size_t)rows * (size_t)lda, 83), *b = reals((size_t)rows * (size_t)ldb, 84);
    real *start = reals(count, 85), *c = reals(count, 0);
    real *scratch = room(npi_gemm_tall_scratch(rows, k, n), sizeof *scratch);
    double *want = room(count, sizeof *want);
    for (size_t i = 0; i < count; i++)
        want[i] = (double)start[i];
    for (int64_t r = 0; r < rows; r++)
        for (int i = 0; i < k; i++)
            for (int j = 0; j < n; j++)
                want[i * ldc + j] += (double)a[r * lda + i] * (double)b[r * ldb + j];
    judge verdict = {want, count, TOLERANCE(32 + rows / 16), NULL};
    for (int threads = 1; threads <= 3; threads++) {
        memcpy(c, start, count * sizeof *c);
        npi_gemm_tall(c, ldc, a, lda, b, ldb, rows, k, n, scratch, threads);
        hear(&verdict, c, threads);
    }
    free(verdict.first);
    free(want);
    free(scratch);
    free(start);
    free(a);
    free(b);
    free(c);
}

/* 17000 rows are more blocks than there are parts, and do not share out evenly. */
static void test_sums_over_rows(void **state)
{
    (void)state;
    const int64_t rows[] = {0, 1, 511, 512, 513, 17000};
    for (size_t r = 0; r < COUNT(rows); r++)
        check_tall(rows[r], 5, 3);
    for (int width = 1; width <= 130; width += 3)
        check_tall(29, width, 131 - width);
}

/* ---- activations ---- */

/* y and dy/dx at x, by definition */
static double activation(double *slope, double x, npgnn_activation act)
{
    double y = x;
    *slope = 1;
    if (act == NPGNN_RELU) {
        y = x > 0 ? x : 0;
        *slope = x > 0;
    } else if (act == NPGNN_SIGMOID) {
        y = 1 / (1 + exp(-x));
        *slope = y * (1 - y);
    }
    return y;
}

static void check_activation(npgnn_activation act, size_t count)
{
    const double special[] = {0, -0.0, 100, -100, 1e-30, -1e-30, 20, -20};
    real *x = reals(count, 90), *start = reals(count, 91), *y = reals(count, 0), *dy = reals(count, 0);
    double *want = room(count, sizeof *want), *dwant = room(count, sizeof *dwant);
    for (size_t i = 0; i < count; i++) {
        double slope;
        x[i] = (real)(i < COUNT(special) ? special[i] : 8 * (double)x[i]);
        want[i] = activation(&slope, (double)x[i], act);
        dwant[i] = (double)start[i] * slope;
    }
    judge forward = {want, count, 4 * PRECISION, NULL}, backward = {dwant, count, 4 * PRECISION, NULL};
    for (int threads = 1; threads <= 3; threads++) {
        memcpy(y, x, count * sizeof *y);
        memcpy(dy, start, count * sizeof *dy);
        npi_activate(y, (int64_t)count, act, threads);
        hear(&forward, y, threads);
        npi_activate_backward(dy, y, (int64_t)count, act, threads);
        hear(&backward, dy, threads);
    }
    free(forward.first);
    free(backward.first);
    free(want);
    free(dwant);
    free(start);
    free(x);
    free(y);
    free(dy);
}

static void test_gram(void **state)
{
    (void)state;
    const int64_t rows[] = {1, 511, 513, 40000};
    const int k = 5;
    for (size_t r = 0; r < COUNT(rows); r++) {
        real *a = reals((size_t)rows[r] * 5, 86), got[6 * 5];
        double want[6 * 5] = {0};
        real *scratch = room(npi_gram_tall_scratch(rows[r], k), sizeof *scratch);
        for (int64_t i = 0; i < rows[r]; i++)
            for (int c = 0; c < k; c++) {
                want[k * k + c] += (double)a[i * k + c];
                for (int j = 0; j < k; j++)
                    want[j * k + c] += (double)a[i * k + j] * (double)a[i * k + c];
            }
        judge verdict = {want, COUNT(want), TOLERANCE(rows[r]), NULL};
        for (int threads = 1; threads <= 3; threads++) {
            npi_gram_tall(got, got + k * k, a, rows[r], k, scratch, threads);
            hear(&verdict, got, threads);
        }
        free(verdict.first);
        free(scratch);
        free(a);
    }
}

/* A single number in any place decides. */
static void test_zero_and_finite(void **state)
{
    (void)state;
    const int64_t count = (1 << 17) + 77, places[] = {0, 63, 64, 8191, 8192, count - 1};
    real *x = reals((size_t)count, 90);
    assert_true(npi_all_finite(x, 0));
    assert_true(npi_all_finite(x, count));
    for (size_t p = 0; p < COUNT(places); p++)
        for (int kind = 0; kind < 3; kind++) {
            real saved = x[places[p]];
            x[places[p]] = (real)(kind == 0 ? NAN : kind == 1 ? INFINITY : -INFINITY);
            assert_false(npi_all_finite(x, places[p] + 1));
            assert_false(npi_all_finite(x, count));
            assert_true(npi_all_finite(x, places[p]));
            x[places[p]] = saved;
        }
    npi_zero(x, count - 1, 2);
    for (int64_t i = 0; i < count - 1; i++)
        assert_true(x[i] == 0);
    assert_false(x[count - 1] == 0); /* and not beyond */
    free(x);
}

static void test_activations(void **state)
{
    (void)state;
    const npgnn_activation acts[] = {NPGNN_LINEAR, NPGNN_RELU, NPGNN_SIGMOID};
    const size_t counts[] = {0, 1, 8, 67, 8191, 8192, 8193, 30001};
    for (size_t a = 0; a < COUNT(acts); a++)
        for (size_t c = 0; c < COUNT(counts); c++)
            check_activation(acts[a], counts[c]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_both_makers),
        cmocka_unit_test(test_storage_choice),
        cmocka_unit_test(test_stored_zeros),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_transposed_once),
        cmocka_unit_test(test_binarize_and_normalize),
        cmocka_unit_test(test_every_width),
        cmocka_unit_test(test_every_shape),
        cmocka_unit_test(test_adjacency),
        cmocka_unit_test(test_gemm_rows),
        cmocka_unit_test(test_sums_over_rows),
        cmocka_unit_test(test_gram),
        cmocka_unit_test(test_zero_and_finite),
        cmocka_unit_test(test_activations),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
