/* Every kernel of every table that this processor can run, against slow and obvious versions in double. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "linalg/exact.h"
#include "linalg/kernels.h"

/* The bounds of docs/understand/pairs.md (P12, P13), and the smallest argument they hold for. */
#ifdef NPI_DOUBLE
#define RELATIVE 1e-15
#define LOWEST (-700.0)
#define BEYOND 1e-300
#else
#define RELATIVE 2.5e-7
#define LOWEST (-87.0)
#define BEYOND 2e-38
#endif

/* Calls `test` with each table. */
static void for_each_table(void (*test)(const npi_kernels *))
{
    assert_ptr_equal(npi_kernels_at(0), npi_kernels_best());
    for (int i = 0; npi_kernels_at(i); i++) {
        fprintf(stderr, "table %s\n", npi_kernels_at(i)->name);
        test(npi_kernels_at(i));
    }
}

static double ref_sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double ref_softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

static void fill(real *x, size_t count, double size, uint32_t stream)
{
    npi_rng rng = npi_rng_make(1, NPI_RNG_TEST, stream);
    for (size_t i = 0; i < count; i++)
        x[i] = (real)(size * npi_rng_normal_at(&rng, i));
}

static void tables(void **state)
{
    (void)state;
    int count = 0;
    while (npi_kernels_at(count))
        count++;
    assert_true(count >= 1 && count <= 3);
    assert_string_equal(npi_kernels_at(count - 1)->name, "baseline");
    assert_null(npi_kernels_at(-1));
}

/* ---- sigmoid and softplus over all floats ---- */

#define STRIDE 8191 /* a prime: patterns of every exponent, half a million values */
#define CHUNK 1000

/* y is ref(x) within the relative bound; where x is lower than the bound's range, close to zero. */
static int accurate(double y, double x, double ref)
{
    if (isnan(x))
        return isnan(y);
    if (isinf(ref))
        return y == ref;
    return x < LOWEST ? fabs(y) <= BEYOND : fabs(y - ref) <= RELATIVE * ref;
}

static void check_chunk(const npi_kernels *kernels, const real *x, int count)
{
    real y[CHUNK];
    kernels->sigmoid(y, x, count);
    for (int i = 0; i < count; i++) {
        double at = (double)x[i];
        real slope = x[i];
        double loss = kernels->pair_tile(&slope, 1, 0, 0);
        if (!accurate((double)y[i], at, ref_sigmoid(at)) || !accurate((double)slope, at, ref_sigmoid(at)) ||
            !accurate(loss, at, ref_softplus(at)))
            fail_msg("at %.9g: sigmoid %.9g and %.9g, softplus %.9g", at, (double)y[i], (double)slope, loss);
    }
}

static void sweep(const npi_kernels *kernels)
{
    real x[CHUNK];
    int count = 0;
    for (uint64_t pattern = 0; pattern <= UINT32_MAX; pattern += STRIDE) {
        uint32_t bits = (uint32_t)pattern;
        float value;
        memcpy(&value, &bits, sizeof value);
        x[count++] = (real)value;
        if (count == CHUNK) {
            check_chunk(kernels, x, count);
            count = 0;
        }
    }
    check_chunk(kernels, x, count);
}

static void special(const npi_kernels *kernels)
{
    const real x[] = {0,           (real)-0.0,  (real)INFINITY, (real)-INFINITY,
                      (real)NAN,   (real)1e-40, (real)-1e-40,   (real)87.5,
                      (real)-87.5, 1000,        -1000};
    check_chunk(kernels, x, sizeof x / sizeof *x);
    real half = 0;
    kernels->sigmoid(&half, &half, 1);
    assert_true(half == (real)0.5);
}

static void elementwise(void **state)
{
    (void)state;
    for_each_table(sweep);
    for_each_table(special);
}

/* ---- pair_tile ---- */

static void tile_of(const npi_kernels *kernels, int count, double c1, double c2)
{
    real s[5000], g[5000];
    double loss = 0, size = 0;
    fill(s, (size_t)count, 3, (uint32_t)count);
    memcpy(g, s, (size_t)count * sizeof *g);
    double sum = kernels->pair_tile(g, count, c1, c2);
    for (int i = 0; i < count; i++) {
        double x = (double)s[i], slope = ref_sigmoid(x) - (c1 + c2 * x);
        loss += ref_softplus(x) - x * (c1 + 0.5 * c2 * x);
        size += ref_softplus(x) + fabs(x * c1) + fabs(0.5 * c2 * x * x);
        assert_near((double)g[i], slope, 8 * RELATIVE);
    }
    assert_near(sum / (size + 1), loss / (size + 1), 8 * RELATIVE);
}

static void tiles(const npi_kernels *kernels)
{
    const int counts[] = {0, 1, 2, 15, 63, 64, 65, 127, 2048, 2049, 4096, 4999};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        tile_of(kernels, counts[i], 0, 0);
        tile_of(kernels, counts[i], 0.45, 0.11);
        tile_of(kernels, counts[i], 0, -0.3);
    }
}

static void pair_tile(void **state)
{
    (void)state;
    for_each_table(tiles);
}

/* Same values at another address: same bits. */
static void shifted(const npi_kernels *kernels)
{
    enum { COUNT = 1777 };
    real block[COUNT + 16], first[COUNT];
    double sum = 0;
    for (int shift = 0; shift < 16; shift++) {
        fill(block + shift, COUNT, 4, 7);
        double again = kernels->pair_tile(block + shift, COUNT, 0.5, 0.1);
        if (shift == 0) {
            sum = again;
            memcpy(first, block, sizeof first);
        }
        assert_memory_equal(&again, &sum, sizeof sum);
        assert_memory_equal(block + shift, first, sizeof first);
    }
}

static void alignment(void **state)
{
    (void)state;
    for_each_table(shifted);
}

/* ---- products with sparse rows ---- */

enum { ROWS = 37, ENTRIES = 23, MAX_WIDTH = 140, STRIDE_B = MAX_WIDTH + 3 };

typedef struct sparse {
    int32_t col[ENTRIES];
    float val[ENTRIES];
    real weight[ENTRIES], scale[ROWS], b[ROWS * STRIDE_B];
} sparse;

static sparse sparse_make(void)
{
    sparse a;
    real noise[ENTRIES];
    fill(noise, ENTRIES, 1, 1);
    fill(a.weight, ENTRIES, 1, 2);
    fill(a.scale, ROWS, 1, 3);
    fill(a.b, sizeof a.b / sizeof *a.b, 1, 4);
    for (int p = 0; p < ENTRIES; p++) {
        a.val[p] = (float)noise[p];
        a.col[p] = (p * 17 + 5) % ROWS;
    }
    return a;
}

/* y0 + Σ_p weight b[col[p], c] over [begin, end) */
static double ref_gather(double y0, const sparse *a, int c, int begin, int end, int val, int scale, int weight)
{
    for (int p = begin; p < end; p++)
        y0 += (val ? (double)a->val[p] : 1) * (scale ? (double)a->scale[a->col[p]] : 1) *
              (weight ? (double)a->weight[p] : 1) * (double)a->b[a->col[p] * STRIDE_B + c];
    return y0;
}

/* Each way of gathering, on the first w columns, with y from `start`. */
static void gather_each(real y[5][MAX_WIDTH + 1], const real *start, const npi_kernels *kernels, const sparse *a, int w)
{
    for (int i = 0; i < 5; i++)
        memcpy(y[i], start, sizeof y[i]);
    kernels->gather(y[0], a->col, NULL, 3, ENTRIES, a->b, w, STRIDE_B);
    kernels->gather(y[1], a->col, a->val, 3, ENTRIES, a->b, w, STRIDE_B);
    kernels->gather_scaled(y[2], a->col, NULL, 0, 9, a->scale, a->b, w, STRIDE_B);
    kernels->gather_scaled(y[3], a->col, a->val, 0, 9, a->scale, a->b, w, STRIDE_B);
    kernels->combine(y[4], a->col, a->weight, ENTRIES, a->b, w, STRIDE_B);
}

static void gather_width(const npi_kernels *kernels, const sparse *a, int w)
{
    real y[5][MAX_WIDTH + 1], all[5][MAX_WIDTH + 1], start[MAX_WIDTH + 1];
    fill(start, MAX_WIDTH + 1, 1, 5);
    gather_each(y, start, kernels, a, w);
    gather_each(all, start, kernels, a, MAX_WIDTH);
    for (int i = 0; i < 5; i++) /* whoever gathers some columns at a time gets the bits of all at once */
        assert_memory_equal(y[i], all[i], sizeof(real) * (size_t)w);
    for (int c = 0; c < w; c++) {
        double y0 = (double)start[c], tolerance = 30 * RELATIVE;
        assert_near((double)y[0][c], ref_gather(y0, a, c, 3, ENTRIES, 0, 0, 0), tolerance);
        assert_near((double)y[1][c], ref_gather(y0, a, c, 3, ENTRIES, 1, 0, 0), tolerance);
        assert_near((double)y[2][c], ref_gather(y0, a, c, 0, 9, 0, 1, 0), tolerance);
        assert_near((double)y[3][c], ref_gather(y0, a, c, 0, 9, 1, 1, 0), tolerance);
        assert_near((double)y[4][c], ref_gather(y0, a, c, 0, ENTRIES, 0, 0, 1), tolerance);
    }
    for (int i = 0; i < 5; i++) /* nothing past the row is touched */
        assert_memory_equal(y[i] + w, start + w, sizeof(real) * (size_t)(MAX_WIDTH + 1 - w));
}

static void dots_width(const npi_kernels *kernels, const sparse *a, int w)
{
    real s[ENTRIES];
    const real *x = a->b + 11 * STRIDE_B;
    kernels->dots(s, x, a->col, ENTRIES, a->b, w, STRIDE_B);
    for (int p = 0; p < ENTRIES; p++) {
        double sum = 0;
        for (int c = 0; c < w; c++)
            sum += (double)x[c] * (double)a->b[a->col[p] * STRIDE_B + c];
        assert_near((double)s[p], sum, 30 * RELATIVE);
    }
}

/* Vectors that lie one behind the other, with the first rows of b, and with those of a list. */
static void row_products_width(const npi_kernels *kernels, const sparse *a, int w)
{
    enum { FIRST = 7, MOST = 4 };
    real x[MOST * MAX_WIDTH], s[MOST][FIRST + 1];
    real *const out[MOST] = {s[0], s[1], s[2], s[3]};
    fill(x, sizeof x / sizeof x[0], 1, 77);
    for (int i = 0; i < 2 * MOST; i++) {
        int vectors = 1 + i / 2;
        const int32_t *list = i % 2 ? a->col : NULL;
        memset(s, 0, sizeof s);
        kernels->row_products(out, x, vectors, a->b, list, FIRST, w, STRIDE_B);
        for (int v = 0; v < MOST; v++)
            for (int p = 0; p <= FIRST; p++) {
                double sum = 0;
                for (int c = 0; c < w && v < vectors && p < FIRST; c++) /* nothing else is written */
                    sum += (double)x[v * w + c] * (double)a->b[(list ? list[p] : p) * STRIDE_B + c];
                assert_near((double)s[v][p], sum, 30 * RELATIVE);
            }
    }
}

static void widths(const npi_kernels *kernels)
{
    sparse a = sparse_make();
    for (int w = 1; w <= MAX_WIDTH; w++) {
        gather_width(kernels, &a, w);
        dots_width(kernels, &a, w);
        row_products_width(kernels, &a, w);
    }
}

/* Rows of integers as long as they may be. Of every width. */
static void integer_rows(const npi_kernels *kernels)
{
    enum { INTEGER_ROWS = 43, MOST = 4, W = NPI_SHORT_WIDTH, GROUP = NPI_SHORT_GROUP };
    enum { ALLOCATED = (INTEGER_ROWS + GROUP - 1) / GROUP * GROUP };
    int16_t x[MOST * W];
    int8_t b[INTEGER_ROWS * W], grouped[ALLOCATED * W];
    float unit[INTEGER_ROWS], xunit[MOST] = {1, 0.5f, 4, 0.25f};
    real s[MOST][INTEGER_ROWS + 1];
    real *const out[MOST] = {s[0], s[1], s[2], s[3]};
    for (int i = 0; i < MOST * W; i++)
        x[i] = (int16_t)((i * 7919 + 13) % 8191 - 4095);
    for (int i = 0; i < INTEGER_ROWS * W; i++)
        b[i] =
            (int8_t)(i < W ? (x[i] < 0 ? -127 : 127) : (i * 104729 + 7) % 255 - 127); /* the first sum is the largest */
    for (int p = 0; p < INTEGER_ROWS; p++)
        unit[p] = 1 / (float)(1 << (p % 8 + 10));
    for (int w = NPI_SHORT_STEP; w <= W; w += NPI_SHORT_STEP)
        for (int rows = 1; rows <= INTEGER_ROWS; rows += rows < 19 ? 1 : 6)
            for (int vectors = 1; vectors <= MOST; vectors++) {
                memset(s, 0, sizeof s);
                memset(grouped, 99, sizeof grouped);
                for (int p = 0; p < rows; p++)
                    for (int c = 0; c < w; c++)
                        grouped[((p / GROUP * (w / 2) + c / 2) * GROUP + p % GROUP) * 2 + c % 2] = b[p * w + c];
                kernels->integer_products(out, x, xunit, vectors, grouped, unit, rows, w);
                for (int v = 0; v < MOST; v++)
                    for (int p = 0; p <= INTEGER_ROWS; p++) {
                        double sum = 0;
                        for (int c = 0; c < w && v < vectors && p < rows; c++)
                            sum += (double)x[v * W + c] * (double)b[p * w + c];
                        assert_near((double)s[v][p], p < rows ? sum * (double)unit[p] * (double)xunit[v] : 0, RELATIVE);
                    }
            }
}

static void rows_of_integers(void **state)
{
    (void)state;
    for_each_table(integer_rows);
}

/* Sums of exact.h: to the bit those of the plain loop, with every table. */
static void exact_layers(void **state)
{
    (void)state;
    enum { INPUTS = 300, WIDTH = 70 };
    static real w[INPUTS * WIDTH], start[WIDTH], in[INPUTS];
    double x[INPUTS], y[WIDTH], plain[WIDTH];
    fill(w, sizeof w / sizeof w[0], 1, 21);
    fill(start, WIDTH, 1, 22);
    fill(in, INPUTS, 1, 23);
    assert_ptr_equal(npi_exact_at(0), npi_exact_best());
    for (int i = 0; i < INPUTS; i++)
        x[i] = (double)in[i] / 3;
    for (int table = 0; npi_exact_at(table); table++)
        for (int inputs = 0; inputs <= INPUTS; inputs += 25)
            for (int width = 0; width <= WIDTH; width += 7)
                for (int positive = 0; positive < 2; positive++) {
                    for (int j = 0; j < width; j++)
                        y[j] = plain[j] = (double)start[j];
                    npi_exact_at(table)->layer(y, x, w, inputs, width, positive);
                    for (int i = 0; i < inputs; i++)
                        for (int j = 0; j < width; j++) {
                            volatile double product = x[i] * (double)w[i * width + j]; /* rounded before it is added */
                            plain[j] += !positive || x[i] > 0 ? product : 0;
                        }
                    assert_memory_equal(y, plain, (size_t)width * sizeof *y);
                }
    assert_null(npi_exact_at(3));
}

static void sparse_rows(void **state)
{
    (void)state;
    for_each_table(widths);
}

/* ---- a small network ---- */

/* Of every number of columns and, since units are computed six at a time, of some that six does not divide. */
static void small_networks(const npi_kernels *kernels)
{
    enum { COLUMNS = 70, STRIDE_X = 73, E = 26, H = 47 };
    static real weights[E * H + H * H + 4 * H + E], x[E * STRIDE_X], score[COLUMNS + 1];
    fill(weights, sizeof weights / sizeof weights[0], 0.3, 5);
    fill(x, sizeof x / sizeof x[0], 1, 6);
    const real *w1 = weights, *w2 = w1 + E * H, *b1 = w2 + H * H, *b2 = b1 + H, *w3 = b2 + H, *line = w3 + H;
    for (int h = H - 5; h <= H; h++)
        for (int count = 1; count <= COLUMNS; count += count < 35 ? 1 : 7) {
            const real *skip = h % 2 ? line + E : NULL;
            int k = h % 3 ? h : h - 20;
            const npi_small_network net = {E, h, k, w1, b1, w2, b2, w3, line, (real)0.25, skip, (real)0.125};
            score[count] = 77;
            kernels->network_columns(score, x, STRIDE_X, count, &net);
            assert_true(score[count] == 77); /* nothing past the last is written */
            for (int c = 0; c < count; c++) {
                double sum = 0.25, h1[H];
                for (int i = 0; i < E; i++)
                    sum += (double)line[i] * (double)x[i * STRIDE_X + c];
                for (int j = 0; j < h; j++) {
                    h1[j] = (double)b1[j];
                    for (int i = 0; i < E; i++)
                        h1[j] += (double)w1[i * h + j] * (double)x[i * STRIDE_X + c];
                    h1[j] = h1[j] > 0 ? h1[j] : 0;
                    sum += skip ? h1[j] * (double)skip[j] + 0.125 * h1[j] * h1[j] : 0;
                }
                for (int j = 0; j < k; j++) {
                    double h2 = (double)b2[j];
                    for (int i = 0; i < h; i++)
                        h2 += (double)w2[i * k + j] * h1[i];
                    sum += (skip ? h2 * h2 : h2 > 0 ? h2 : 0) * (double)w3[j];
                }
                assert_near((double)score[c], sum, 300 * RELATIVE);
            }
        }
}

/* ---- columns of evidence ---- */

static void columns_of(const npi_kernels *kernels)
{
    enum { COUNT = 61 };
    real x[COUNT], y[COUNT];
    double along[COUNT];
    float distance[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = (real)((i - 30) * pow(1.7, abs(i - 30) / 2.0));
        along[i] = 0.01 * i;
        distance[i] = i % 5 ? 0.3f * (float)i : 0;
    }
    memcpy(y, x, sizeof x);
    kernels->slog(y, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_near((double)y[i], copysign(log1p(fabs((double)x[i])), (double)x[i]), 4 * RELATIVE);
    memcpy(y, x, sizeof x);
    kernels->centre(y, along, distance, (real)0.5, 2, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_near((double)y[i], i % 5 ? ((double)x[i] + 0.5 - along[i]) / (2 * (double)distance[i]) : 0,
                    4 * RELATIVE);
    memcpy(y, x, sizeof x);
    kernels->divide(y, distance, 2, 0.1f, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_near((double)y[i], i % 5 ? (double)x[i] / (2 * (double)distance[i]) : 0, 4 * RELATIVE);
    real sum[COUNT], difference[COUNT], least[COUNT];
    kernels->degrees(sum, difference, least, distance, 5, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_near((double)sum[i], 5 + (double)distance[i], 4 * RELATIVE);
        assert_near((double)difference[i], fabs(5 - (double)distance[i]), 4 * RELATIVE);
        assert_near((double)least[i], fmin(5, (double)distance[i]), 4 * RELATIVE);
    }
    for (int i = 0; i < COUNT; i++)
        y[i] = 1;
    kernels->add_slog_errors(y, distance, 0.5f, 2, x, COUNT);
    for (int i = 0; i < COUNT; i++) {
        double nearest = fmax(fabs((double)x[i]) - 2 * (double)distance[i], 0); /* to 0 that x may be */
        assert_near((double)y[i], 1 + 0.5 * (double)distance[i] / (1 + nearest), 8 * RELATIVE);
    }
    memcpy(y, x, sizeof x);
    x[7] = y[7] = (real)NAN;
    kernels->standardize(y, 1, 3, 8, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_true(isnan(x[i]) ? isnan(y[i])
                                : check_near((double)y[i], fmax(-8, fmin(8, ((double)x[i] - 1) / 3)), 4 * RELATIVE));
}

static void evidence(void **state)
{
    (void)state;
    for_each_table(columns_of);
}

/* The least of one to three piecewise linear functions. */
static void piecewise(const npi_kernels *kernels)
{
    enum { COLUMNS = 70, STRIDE_X = 73, E = 26, MOST = 3 };
    static real x[E * STRIDE_X], score[COLUMNS + 1], numbers[MOST * 5 * E];
    npi_pieces pieces[MOST];
    const npi_pieces *const listed[MOST] = {&pieces[0], &pieces[1], &pieces[2]};
    fill(x, sizeof x / sizeof x[0], 1, 8);
    fill(numbers, sizeof numbers / sizeof numbers[0], 1, 9);
    for (int f = 0; f < MOST; f++) {
        pieces[f] = (npi_pieces){.inputs = E, .constant = (real)(f + 1)};
        for (int c = 0; c < E; c++) {
            const real *from = numbers + (f * E + c) * 5;
            pieces[f].line[c] = from[0];
            pieces[f].most[c] = from[1];
            pieces[f].most_shift[c] = from[2];
            pieces[f].least[c] = from[3];
            pieces[f].least_shift[c] = from[4];
        }
    }
    for (int functions = 1; functions <= MOST; functions++)
        for (int count = 1; count <= COLUMNS; count += count < 35 ? 1 : 7) {
            score[count] = 77;
            kernels->piecewise_columns(score, x, STRIDE_X, count, listed, functions);
            assert_true(score[count] == 77);
            for (int i = 0; i < count; i++) {
                double least = (double)INFINITY;
                for (int f = 0; f < functions; f++) {
                    double sum = f + 1;
                    for (int c = 0; c < E; c++) {
                        const real *from = numbers + (f * E + c) * 5;
                        double value = (double)x[c * STRIDE_X + i];
                        sum += fmax((double)from[0] * value, fmax((double)from[1] * value + (double)from[2],
                                                                  (double)from[3] * value + (double)from[4]));
                    }
                    least = fmin(least, sum);
                }
                assert_near((double)score[i], least, 30 * RELATIVE);
            }
        }
    x[5 * STRIDE_X + 1] = (real)NAN;
    kernels->piecewise_columns(score, x, STRIDE_X, 3, listed, MOST);
    assert_true(isnan((double)score[1]) && !isnan((double)score[0]) && !isnan((double)score[2]));
}

/* Columns that are kept, to other memory and in place: those whose sum reaches 1 or is no number. */
static void kept_columns(const npi_kernels *kernels)
{
    enum { COLUMNS = 150, STRIDE_X = COLUMNS + NPI_KEPT_MORE, INPUTS = 3 };
    real x[INPUTS * STRIDE_X], y[INPUTS * STRIDE_X], score[COLUMNS], apart[COLUMNS];
    int32_t kept[COLUMNS + NPI_KEPT_MORE];
    fill(score, COLUMNS, 1, 31);
    fill(apart, COLUMNS, 1, 32);
    score[3] = (real)NAN;
    score[5] = 1 - apart[5]; /* may be just 1 */
    for (int share = 0; share < 3; share++)
        for (int count = 0; count <= COLUMNS; count += count < 20 ? 1 : 13)
            for (int in_place = 0; in_place < 2; in_place++) {
                real least = (real)(share == 0 ? -9 : share == 1 ? 0.25 : 9); /* all, some, hardly any */
                int64_t left = 0;
                for (int i = 0; i < INPUTS * STRIDE_X; i++)
                    x[i] = (real)i;
                memset(y, 0, sizeof y);
                real *to = in_place ? x : y;
                int64_t got =
                    kernels->keep_columns(kept, to, STRIDE_X, x, STRIDE_X, INPUTS, score, apart, least, count);
                for (int i = 0; i < count; i++)
                    if (!(score[i] + apart[i] < least)) {
                        assert_int_equal(kept[left], i);
                        for (int c = 0; c < INPUTS; c++)
                            assert_true(to[c * STRIDE_X + left] == (real)(c * STRIDE_X + i));
                        left++;
                    }
                assert_int_equal(got, left);
            }
}

static void networks(void **state)
{
    (void)state;
    for_each_table(kept_columns);
    for_each_table(small_networks);
    for_each_table(piecewise);
}

/* ---- Adam ---- */

static void adam_steps(const npi_kernels *kernels)
{
    enum { COUNT = 77, STEPS = 5 };
    real p[COUNT], m[COUNT] = {0}, v[COUNT] = {0}, g[COUNT];
    double rp[COUNT], rm[COUNT] = {0}, rv[COUNT] = {0};
    fill(p, COUNT, 1, 1);
    for (int i = 0; i < COUNT; i++)
        rp[i] = (double)p[i];
    for (uint32_t step = 0; step < STEPS; step++) {
        fill(g, COUNT, 1, 10 + step);
        kernels->adam(p, m, v, g, COUNT, (real)0.25, (real)0.875, (real)0.9375, (real)0.5);
        for (int i = 0; i < COUNT; i++) {
            double d = (double)g[i];
            rm[i] = 0.875 * rm[i] + 0.125 * d;
            rv[i] = 0.9375 * rv[i] + 0.0625 * d * d;
            rp[i] -= 0.25 * rm[i] / (sqrt(rv[i]) + 0.5);
            assert_near((double)m[i], rm[i], 8 * RELATIVE);
            assert_near((double)v[i], rv[i], 8 * RELATIVE);
            assert_near((double)p[i], rp[i], 8 * RELATIVE);
        }
    }
}

static void adam(void **state)
{
    (void)state;
    for_each_table(adam_steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),           cmocka_unit_test(elementwise), cmocka_unit_test(pair_tile),
        cmocka_unit_test(alignment),        cmocka_unit_test(networks),    cmocka_unit_test(evidence),
        cmocka_unit_test(rows_of_integers), cmocka_unit_test(sparse_rows), cmocka_unit_test(adam),
        cmocka_unit_test(exact_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
