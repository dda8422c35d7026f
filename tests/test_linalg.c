/* Products with the adjacency and dense ones, and activations, against double loops, for odd sizes and strides; and the
 * same bits for any number of threads. */
#include "linalg/adj.h"
#include "linalg/dense.h"
#include "linalg/elementwise.h"
#include "matrices.h"

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

static void check_tall(int32_t rows, int k, int n)
{
    int lda = k + 1, ldb = n + 2;
    size_t count = (size_t)k * (size_t)n;
    real *a = reals((size_t)rows * (size_t)lda, 83), *b = reals((size_t)rows * (size_t)ldb, 84);
    real *start = reals(count, 85), *c = reals(count, 0);
    real *scratch = room(npi_gemm_tall_scratch(rows, k, n), sizeof *scratch);
    double *want = room(count, sizeof *want);
    for (size_t i = 0; i < count; i++)
        want[i] = (double)start[i];
    for (int64_t r = 0; r < rows; r++)
        for (int i = 0; i < k; i++)
            for (int j = 0; j < n; j++)
                want[i * n + j] += (double)a[r * lda + i] * (double)b[r * ldb + j];
    judge verdict = {want, count, TOLERANCE(32 + rows / 16), NULL};
    for (int threads = 1; threads <= 3; threads++) {
        memcpy(c, start, count * sizeof *c);
        npi_gemm_tall(c, a, lda, b, ldb, rows, k, n, scratch, threads);
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
    const int32_t rows[] = {0, 1, 511, 512, 513, 17000};
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
        const npi_partition whole = npi_partition_whole((int32_t)rows[r]);
        real *scratch = room(npi_gram_parts_scratch(&whole, k), sizeof *scratch);
        for (int64_t i = 0; i < rows[r]; i++)
            for (int c = 0; c < k; c++) {
                want[k * k + c] += (double)a[i * k + c];
                for (int j = 0; j < k; j++)
                    want[j * k + c] += (double)a[i * k + j] * (double)a[i * k + c];
            }
        judge verdict = {want, COUNT(want), TOLERANCE(rows[r]), NULL};
        for (int threads = 1; threads <= 3; threads++) {
            npi_gram_parts(got, a, &whole, k, scratch, threads);
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
        cmocka_unit_test(test_adjacency), cmocka_unit_test(test_gemm_rows),       cmocka_unit_test(test_sums_over_rows),
        cmocka_unit_test(test_gram),      cmocka_unit_test(test_zero_and_finite), cmocka_unit_test(test_activations),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
