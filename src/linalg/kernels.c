/* The kernels of kernels.h, as plain loops that the compiler turns into vector code. Compiled once per instruction set:
 * NPI_KERNELS is the symbol of the table, NPI_KERNELS_NAME what it calls itself.
 *
 * Every element goes through the same operations wherever it lies in a vector, and sums run in LANES fixed columns, so
 * that no result depends on alignment or on the width of the registers. */
#include "linalg/kernels.h"

#include <math.h>
#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define INLINE static inline __attribute__((always_inline))

#define LANES 64      /* columns of a sum: four AVX-512 registers of floats */
#define FLUSH_ROWS 32 /* rows of LANES elements that are summed in `real` before the sum goes on in double */

/* ---- exp and log1p where the sigmoid needs them ----
 *
 * With p = exp(-|s|) in (0, 1]: sigmoid(s) = 1 / (1 + p) or p / (1 + p), softplus(s) = max(s, 0) + log1p(p). */
#ifdef NPI_DOUBLE
INLINE double exp_minus(double a)
{
    return exp(-a);
}

INLINE double log1p_unit(double p)
{
    return log1p(p);
}
#else
/* exp(-a), a >= 0, relative error below 1.3e-7 (docs/understand/pairs.md, P11):
 *
 *     -a = r + e ln 2,    |r| <= ln 2 / 2,    exp(-a) = 2^e exp(r)
 *
 * The minimax polynomial of exp(r) is off by 3.1e-9. Beyond LIMIT, where the result would leave the normal floats, the
 * result is exp(-LIMIT), about 1.6e-38. */
INLINE float exp_minus(float a)
{
    const float LIMIT = 87.0f, INV_LN2 = 1.44269504f;
    const float ROUND = 12582912.0f; /* 1.5 * 2^23: adding it leaves the nearest integer in the low bits */
    const float LN2_HIGH = 0.693359375f, LN2_LOW = -2.12194440e-4f; /* e * LN2_HIGH is exact */
    uint32_t bits;
    float x = -(a > LIMIT ? LIMIT : a); /* in this form a NaN stays one */
    float shifted = x * INV_LN2 + ROUND;
    float e = shifted - ROUND;
    float r = (x - e * LN2_HIGH) - e * LN2_LOW;
    float q = 1.38144639e-3f;
    q = q * r + 8.36878038e-3f;
    q = q * r + 4.16683943e-2f;
    q = q * r + 1.66665201e-1f;
    q = q * r + 4.99999934e-1f;
    q = q * r + 1.0f;
    q = q * r + 1.0f;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + 0x3F800000u; /* 2^e */
    float power;
    memcpy(&power, &bits, sizeof power);
    return q * power;
}

/* log1p(p), p in [0, 1]: p + p² Q(p), minimax Q, relative error 3.3e-8 before rounding. */
INLINE float log1p_unit(float p)
{
    float q = 5.36482961e-3f;
    q = q * p - 3.00658121e-2f;
    q = q * p + 7.92045656e-2f;
    q = q * p - 1.37538047e-1f;
    q = q * p + 1.91536560e-1f;
    q = q * p - 2.48571640e-1f;
    q = q * p + 3.33213227e-1f;
    q = q * p - 4.99996480e-1f;
    return p + p * p * q;
}
#endif

/* sigmoid(s), given p = exp(-|s|); a NaN comes out as one through p */
INLINE real sigmoid_of(real s, real p)
{
    return (s < 0 ? p : 1) / (1 + p);
}

INLINE real magnitude(real s)
{
    return s < 0 ? -s : s;
}

static void sigmoid(real *y, const real *x, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        y[i] = sigmoid_of(x[i], exp_minus(magnitude(x[i])));
}

/* ---- pair_tile ---- */

typedef struct quadratic {
    real c1, c2;
} quadratic;

/* One row of at most LANES elements; sum[l] takes the loss of element l. `fitted` is known where this is inlined. */
INLINE void pair_row(real *restrict s, real *restrict sum, int width, int fitted, quadratic q)
{
#pragma omp simd
    for (int l = 0; l < width; l++) {
        real x = s[l], p = exp_minus(magnitude(x));
        /* softplus(x) and sigmoid(x), less q(x) and q'(x) */
        real value = (x > 0 ? x : 0) + log1p_unit(p), slope = sigmoid_of(x, p);
        if (fitted) {
            real tangent = q.c2 * x + q.c1;
            value -= x * (real)0.5 * (tangent + q.c1); /* c1 x + c2 x² / 2 */
            slope -= tangent;
        }
        s[l] = slope;
        sum[l] += value;
    }
}

/* Sums in `real` over FLUSH_ROWS rows, then in double: each of the LANES columns on its own, in a fixed order. */
INLINE double pair_rows(real *s, int64_t count, int fitted, quadratic q)
{
    double total[LANES] = {0}, sum = 0;
    int64_t i = 0;
    while (i < count) {
        real part[LANES] = {0};
        for (int row = 0; row < FLUSH_ROWS && i + LANES <= count; row++, i += LANES)
            pair_row(s + i, part, LANES, fitted, q);
        if (count - i < LANES) {
            pair_row(s + i, part, (int)(count - i), fitted, q);
            i = count;
        }
        for (int l = 0; l < LANES; l++)
            total[l] += (double)part[l];
    }
    for (int l = 0; l < LANES && l < count; l++)
        sum += total[l];
    return sum;
}

static double pair_tile(real *s, int64_t count, double c1, double c2)
{
    /* two calls, so that the compiler makes a loop without q of the first */
    quadratic q = {(real)c1, (real)c2};
    if (c1 == 0 && c2 == 0)
        return pair_rows(s, count, 0, q);
    return pair_rows(s, count, 1, q);
}

/* ---- products with sparse rows ---- */

/* The weight of entry p; what is NULL where this is inlined costs nothing. */
typedef struct weights {
    const float *val;  /* by entry */
    const real *scale; /* by column */
    const real *by;    /* by entry, in the number type */
} weights;

INLINE real weight_of(weights w, int64_t p, int32_t column)
{
    real weight = w.val ? (real)w.val[p] : 1;
    if (w.by)
        weight *= w.by[p];
    return w.scale ? weight * w.scale[column] : weight;
}

/* One register, loaded from and stored to any address; arithmetic on it is elementwise. */
typedef real vec __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));
#define VEC ((int)(VECTOR_BYTES / sizeof(real)))

/* y += Σ_p weight b[col[p]] on `count` <= 4 registers of columns, where the sums stay */
INLINE void gather_vectors(real *y, const int32_t *col, weights w, int64_t begin, int64_t end, const real *b, int count,
                           int ldb)
{
    vec sum[4];
    for (int v = 0; v < count; v++)
        sum[v] = *(vec *)(y + v * VEC);
    for (int64_t p = begin; p < end; p++) {
        const real *row = b + (size_t)col[p] * (size_t)ldb;
        real weight = weight_of(w, p, col[p]);
        for (int v = 0; v < count; v++)
            sum[v] += weight * *(const vec *)(row + v * VEC);
    }
    for (int v = 0; v < count; v++)
        *(vec *)(y + v * VEC) = sum[v];
}

/* The same on fewer columns than a register has */
INLINE void gather_rest(real *y, const int32_t *col, weights w, int64_t begin, int64_t end, const real *b, int columns,
                        int ldb)
{
    for (int64_t p = begin; p < end; p++) {
        const real *row = b + (size_t)col[p] * (size_t)ldb;
        real weight = weight_of(w, p, col[p]);
        for (int c = 0; c < columns; c++)
            y[c] += weight * row[c];
    }
}

/* The same on any number of columns: as many registers at a time as possible, and the rest. */
INLINE void gather_blocks(real *y, const int32_t *col, weights w, int64_t begin, int64_t end, const real *b, int width,
                          int ldb)
{
    int c = 0;
    for (; c + 4 * VEC <= width; c += 4 * VEC)
        gather_vectors(y + c, col, w, begin, end, b + c, 4, ldb);
    for (; c + 2 * VEC <= width; c += 2 * VEC)
        gather_vectors(y + c, col, w, begin, end, b + c, 2, ldb);
    for (; c + VEC <= width; c += VEC)
        gather_vectors(y + c, col, w, begin, end, b + c, 1, ldb);
    if (c < width)
        gather_rest(y + c, col, w, begin, end, b + c, width - c, ldb);
}

static void gather(real *y, const int32_t *col, const float *val, int64_t begin, int64_t end, const real *b, int w,
                   int ldb)
{
    if (val)
        gather_blocks(y, col, (weights){val, NULL, NULL}, begin, end, b, w, ldb);
    else
        gather_blocks(y, col, (weights){NULL, NULL, NULL}, begin, end, b, w, ldb);
}

static void gather_scaled(real *y, const int32_t *col, const float *val, int64_t begin, int64_t end, const real *scale,
                          const real *b, int w, int ldb)
{
    if (val)
        gather_blocks(y, col, (weights){val, scale, NULL}, begin, end, b, w, ldb);
    else
        gather_blocks(y, col, (weights){NULL, scale, NULL}, begin, end, b, w, ldb);
}

static void combine(real *y, const int32_t *col, const real *weight, int64_t count, const real *b, int w, int ldb)
{
    gather_blocks(y, col, (weights){NULL, NULL, weight}, 0, count, b, w, ldb);
}

static void dots(real *s, const real *x, const int32_t *col, int64_t count, const real *b, int w, int ldb)
{
    int whole = w - w % VEC;
    for (int64_t p = 0; p < count; p++) {
        const real *row = b + (size_t)col[p] * (size_t)ldb;
        vec lanes = {0};
        real sum = 0;
        for (int c = 0; c < whole; c += VEC)
            lanes += *(const vec *)(x + c) * *(const vec *)(row + c);
        for (int c = whole; c < w; c++)
            sum += x[c] * row[c];
#pragma omp simd reduction(+ : sum)
        for (int l = 0; l < VEC; l++)
            sum += lanes[l];
        s[p] = sum;
    }
}

/* The sum of the lanes: halves are added until two numbers are left. */
typedef real half_vec __attribute__((vector_size(VECTOR_BYTES / 2)));
INLINE real lane_sum(vec lanes)
{
    half_vec low, high;
    memcpy(&low, &lanes, sizeof low);
    memcpy(&high, (const char *)&lanes + sizeof low, sizeof high);
    low += high;
    real part[VEC / 2], sum = 0;
    memcpy(part, &low, sizeof part);
    for (int half = VEC / 4; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            part[l] += part[l + half];
    sum = part[0];
    return sum;
}

/* `vectors` is a constant wherever this is inlined, so that the sums stay in registers. */
INLINE void rows_by(real *const *s, const real *x, int vectors, const real *b, const int32_t *list, int64_t rows, int w,
                    int ldb)
{
    enum {
        AHEAD = 4,
        LINE = 64 / (int)sizeof(real)
    }; /* rows of a list lie anywhere: they are asked for before they are needed */
    int whole = w - w % VEC;
    for (int64_t p = 0; p < rows; p++) {
        const real *row = b + (size_t)(list ? list[p] : p) * (size_t)ldb;
        for (int c = 0; list && p + AHEAD < rows && c < w; c += LINE)
            __builtin_prefetch(b + (size_t)list[p + AHEAD] * (size_t)ldb + c);
        vec zero = {0}, lanes0 = zero, lanes1 = zero, lanes2 = zero, lanes3 = zero;
        for (int c = 0; c < whole; c += VEC) {
            vec right = *(const vec *)(row + c);
            lanes0 += *(const vec *)(x + c) * right;
            if (vectors > 1)
                lanes1 += *(const vec *)(x + w + c) * right;
            if (vectors > 2)
                lanes2 += *(const vec *)(x + 2 * w + c) * right;
            if (vectors > 3)
                lanes3 += *(const vec *)(x + 3 * w + c) * right;
        }
        real rest[4] = {0};
        for (int v = 0; v < vectors; v++)
            for (int c = whole; c < w; c++)
                rest[v] += x[v * w + c] * row[c];
        s[0][p] = lane_sum(lanes0) + rest[0];
        if (vectors > 1)
            s[1][p] = lane_sum(lanes1) + rest[1];
        if (vectors > 2)
            s[2][p] = lane_sum(lanes2) + rest[2];
        if (vectors > 3)
            s[3][p] = lane_sum(lanes3) + rest[3];
    }
}

static void row_products(real *const *s, const real *x, int vectors, const real *b, const int32_t *list, int64_t rows,
                         int w, int ldb)
{
    if (vectors == 1)
        rows_by(s, x, 1, b, list, rows, w, ldb);
    else if (vectors == 2)
        rows_by(s, x, 2, b, list, rows, w, ldb);
    else if (vectors == 3)
        rows_by(s, x, 3, b, list, rows, w, ldb);
    else
        rows_by(s, x, 4, b, list, rows, w, ldb);
}

/* Sums of products of 16-bit with 8-bit integers, which are exact: sum (vectors, GROUPS, 8) of `groups` groups of eight
 * rows. */
enum { GROUP = NPI_SHORT_GROUP, GROUPS = 2 };
typedef int32_t integers __attribute__((vector_size(4 * GROUP)));
typedef float floats __attribute__((vector_size(4 * GROUP), aligned(4), may_alias));
typedef real reals __attribute__((vector_size(GROUP * sizeof(real)), aligned(sizeof(real)), may_alias));

#ifdef __AVX2__
/* _mm256_madd_epi16 multiplies 16 pairs of integers and adds them two by two: two numbers of each of eight rows with
 * those of x. */
INLINE void integer_sums(integers (*sum)[GROUPS], const int16_t *x, int vectors, const int8_t *b, int groups, int width)
{
    __m256i lanes[4][GROUPS];
    for (int v = 0; v < vectors; v++)
        for (int g = 0; g < groups; g++)
            lanes[v][g] = _mm256_setzero_si256();
    for (int c = 0; c < width; c += 2) {
        __m256i rows[GROUPS];
        for (int g = 0; g < groups; g++)
            rows[g] = _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)(b + GROUP * (g * width + c))));
        for (int v = 0; v < vectors; v++) {
            int32_t two;
            memcpy(&two, x + v * NPI_SHORT_WIDTH + c, sizeof two);
            __m256i left = _mm256_set1_epi32(two);
            for (int g = 0; g < groups; g++)
                lanes[v][g] = _mm256_add_epi32(lanes[v][g], _mm256_madd_epi16(left, rows[g]));
        }
    }
    for (int v = 0; v < vectors; v++)
        for (int g = 0; g < groups; g++)
            sum[v][g] = (integers)lanes[v][g];
}
#else
INLINE void integer_sums(integers (*sum)[GROUPS], const int16_t *x, int vectors, const int8_t *b, int groups, int width)
{
    for (int v = 0; v < vectors; v++)
        for (int g = 0; g < groups; g++) {
            const int16_t *left = x + v * NPI_SHORT_WIDTH;
            const int8_t *rows = b + GROUP * g * width;
            int32_t lanes[GROUP] = {0};
            for (int c = 0; c < width; c += 2)
                for (int r = 0; r < GROUP; r++)
                    lanes[r] += left[c] * rows[GROUP * c + 2 * r] + left[c + 1] * rows[GROUP * c + 2 * r + 1];
            memcpy(&sum[v][g], lanes, sizeof lanes);
        }
}
#endif

/* `vectors` and, where it is NPI_SHORT_WIDTH, `width` are constants wherever this is inlined. */
INLINE void integer_rows(real *const *s, const int16_t *x, const float *xunit, int vectors, const int8_t *b,
                         const float *unit, int64_t rows, int width)
{
    enum {
        AHEAD = 2048,
        LINE = 64
    }; /* bytes: processors follow a row of addresses by themselves, but not into the next page */
    integers sum[4][GROUPS];
    int64_t p = 0;
    for (; p + GROUPS * GROUP <= rows; p += GROUPS * GROUP) {
        for (int byte = 0; byte < GROUPS * GROUP * width; byte += LINE)
            __builtin_prefetch(
                (const void *)((uintptr_t)b + (uintptr_t)(p * width + AHEAD + byte))); /* may be past the end */
        integer_sums(sum, x, vectors, b + p * width, GROUPS, width);
        for (int v = 0; v < vectors; v++)
            for (int g = 0; g < GROUPS; g++) {
                floats units = *(const floats *)(unit + p + g * GROUP) * xunit[v];
                *(reals *)(s[v] + p + g * GROUP) =
                    __builtin_convertvector(units, reals) * __builtin_convertvector(sum[v][g], reals);
            }
    }
    for (; p < rows; p += GROUP) { /* the last group may have fewer rows */
        integer_sums(sum, x, vectors, b + p * width, 1, width);
        for (int v = 0; v < vectors; v++)
            for (int r = 0; r < GROUP && p + r < rows; r++)
                s[v][p + r] = (real)(unit[p + r] * xunit[v]) * (real)sum[v][0][r];
    }
}

INLINE void integer_rows_by(real *const *s, const int16_t *x, const float *xunit, int vectors, const int8_t *b,
                            const float *unit, int64_t rows, int width)
{
    if (width == NPI_SHORT_WIDTH)
        integer_rows(s, x, xunit, vectors, b, unit, rows, NPI_SHORT_WIDTH);
    else
        integer_rows(s, x, xunit, vectors, b, unit, rows, width);
}

static void integer_products(real *const *s, const int16_t *x, const float *xunit, int vectors, const int8_t *b,
                             const float *unit, int64_t rows, int width)
{
    if (vectors == 1)
        integer_rows_by(s, x, xunit, 1, b, unit, rows, width);
    else if (vectors == 2)
        integer_rows_by(s, x, xunit, 2, b, unit, rows, width);
    else if (vectors == 3)
        integer_rows_by(s, x, xunit, 3, b, unit, rows, width);
    else
        integer_rows_by(s, x, xunit, 4, b, unit, rows, width);
}

/* ---- a small network ---- */

#define TILE (2 * VEC) /* columns at a time: two registers */

#define UNITS 6 /* units at a time: their twelve sums, two inputs and two weights fill the 16 registers of AVX2 */

/* y (units, TILE) = W[:, first .. first + units)ᵀ x + b, for x (inputs, TILE) with `stride` numbers per row; W (inputs,
 * width). `units`, at most UNITS, is a constant wherever this is inlined. */
INLINE void layer_tile(vec (*y)[2], const real *x, int64_t stride, const real *w, const real *b, int inputs, int width,
                       int first, int units)
{
    vec zero = {0}, sum[UNITS][2];
    for (int q = 0; q < units; q++)
        sum[q][0] = sum[q][1] = zero + b[first + q];
    for (int i = 0; i < inputs; i++) {
        vec left = *(const vec *)(x + i * stride), right = *(const vec *)(x + i * stride + VEC);
        const real *row = w + (size_t)i * (size_t)width + first;
        for (int q = 0; q < units; q++) {
            sum[q][0] += row[q] * left;
            sum[q][1] += row[q] * right;
        }
    }
    for (int q = 0; q < units; q++) {
        y[q][0] = sum[q][0];
        y[q][1] = sum[q][1];
    }
}

INLINE vec positive(vec x)
{
    vec zero = {0};
    __typeof__(x > zero) mask = x > zero; /* all bits, or none; none for a NaN */
    return (vec)((__typeof__(mask))x & mask);
}

/* Units j to j + UNITS - 1 of a layer, or as many as there are. Returns how many. */
INLINE int layer_units(vec (*y)[2], const real *x, int64_t stride, const real *w, const real *b, int inputs, int width,
                       int j)
{
    int units = width - j < UNITS ? width - j : UNITS;
    if (units == UNITS)
        layer_tile(y, x, stride, w, b, inputs, width, j, UNITS);
    else
        for (int q = 0; q < units; q++)
            layer_tile(y + q, x, stride, w, b, inputs, width, j + q, 1);
    return units;
}

/* The scores of TILE columns. */
INLINE void network_tile(real *score, const real *x, int64_t stride, const npi_small_network *net)
{
    int e = net->inputs, h = net->hidden, k = net->hidden2;
    real h1[NPI_SMALL_NETWORK_MOST * TILE];
    vec y[UNITS][2], zero = {0}, sum[2] = {zero + net->shift, zero + net->shift};
    for (int i = 0; i < e; i++) {
        sum[0] += net->line[i] * *(const vec *)(x + i * stride);
        sum[1] += net->line[i] * *(const vec *)(x + i * stride + VEC);
    }
    for (int j = 0; j < h; j += UNITS) {
        int units = layer_units(y, x, stride, net->w1, net->b1, e, h, j);
        for (int q = 0; q < units; q++) {
            vec left = positive(y[q][0]), right = positive(y[q][1]);
            *(vec *)(h1 + (j + q) * TILE) = left;
            *(vec *)(h1 + (j + q) * TILE + VEC) = right;
            if (net->skip) {
                sum[0] += (net->tail * left + net->skip[j + q]) * left;
                sum[1] += (net->tail * right + net->skip[j + q]) * right;
            }
        }
    }
    for (int j = 0; j < k; j += UNITS) {
        int units = layer_units(y, h1, TILE, net->w2, net->b2, h, k, j);
        for (int q = 0; q < units; q++) {
            vec left = positive(y[q][0]), right = positive(y[q][1]);
            if (net->skip) {
                left = y[q][0] * y[q][0];
                right = y[q][1] * y[q][1];
            }
            sum[0] += net->w3[j + q] * left;
            sum[1] += net->w3[j + q] * right;
        }
    }
    *(vec *)score = sum[0];
    *(vec *)(score + VEC) = sum[1];
}

static void network_columns(real *score, const real *x, int64_t stride, int64_t count, const npi_small_network *net)
{
    int64_t i = 0;
    for (; i + TILE <= count; i += TILE)
        network_tile(score + i, x + i, stride, net);
    if (i < count) { /* the last columns, with zeros beside them */
        real last[NPI_SMALL_NETWORK_MOST * TILE] = {0}, scores[TILE];
        for (int c = 0; c < net->inputs; c++)
            memcpy(last + c * TILE, x + c * stride + i, (size_t)(count - i) * sizeof *x);
        network_tile(scores, last, TILE, net);
        memcpy(score + i, scores, (size_t)(count - i) * sizeof *score);
    }
}

/* a > b ? a : b, lane by lane: one instruction where compilers do not find it. */
INLINE vec larger_of(vec a, vec b)
{
#if defined(__AVX512F__) && !defined(NPI_DOUBLE)
    return (vec)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX__) && !defined(NPI_DOUBLE)
    return (vec)_mm256_max_ps((__m256)a, (__m256)b);
#else
    __typeof__(a > b) mask = a > b;
    return (vec)(((__typeof__(mask))a & mask) | ((__typeof__(mask))b & ~mask));
#endif
}

/* The values of TILE columns. */
INLINE void piecewise_tile(vec sum[2], const real *x, int64_t stride, const npi_pieces *f)
{
    vec zero = {0};
    sum[0] = sum[1] = zero + f->constant;
    for (int c = 0; c < f->inputs; c++)
        for (int half = 0; half < 2; half++) {
            vec value = *(const vec *)(x + c * stride + half * VEC), line = f->line[c] * value;
            vec most = f->most[c] * value + f->most_shift[c], least = f->least[c] * value + f->least_shift[c];
            sum[half] += larger_of(line, larger_of(most, least));
        }
}

static void piecewise_columns(real *score, const real *x, int64_t stride, int64_t count,
                              const npi_pieces *const *pieces, int functions)
{
    real last[NPI_SMALL_NETWORK_MOST * TILE] = {0};
    for (int64_t i = 0; i < count; i += TILE) {
        const real *columns = x + i;
        int64_t step = stride, some = count - i < TILE ? count - i : TILE;
        if (some < TILE) { /* the last columns, with zeros beside them */
            for (int c = 0; c < pieces[0]->inputs; c++)
                memcpy(last + c * TILE, columns + c * stride, (size_t)some * sizeof *x);
            columns = last;
            step = TILE;
        }
        vec least[2], sum[2];
        piecewise_tile(least, columns, step, pieces[0]);
        for (int f = 1; f < functions; f++) {
            piecewise_tile(sum, columns, step, pieces[f]);
            for (int half = 0; half < 2; half++)
                least[half] = -larger_of(-least[half], -sum[half]);
        }
        memcpy(score + i, least, (size_t)some * sizeof *score);
    }
}

#if defined(__AVX2__) && !defined(NPI_DOUBLE)
/* Eight columns at a time: those that are kept move to the left of a register, all eight are written, and the next go
 * on where the kept ones end. */
static int64_t keep_columns(int32_t *kept, real *y, int64_t stride_y, const real *x, int64_t stride, int inputs,
                            const real *score, const real *apart, real least, int64_t count)
{
    enum { EIGHT = 8, TOGETHER = 64 }; /* columns, and how many have their order made first */
    __m256i order[TOGETHER / EIGHT];
    int64_t left = 0, taken[TOGETHER / EIGHT];
    for (int64_t first = 0; first < count; first += TOGETHER) {
        int64_t whole = count - first < TOGETHER ? (count - first) / EIGHT * EIGHT : TOGETHER, begin = left;
        for (int64_t i = 0; i < whole; i += EIGHT) {
            __m256 sum = _mm256_add_ps(_mm256_loadu_ps(score + first + i), _mm256_loadu_ps(apart + first + i));
            unsigned bits = (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(sum, _mm256_set1_ps(least), _CMP_NLT_UQ));
            uint64_t bytes = _pdep_u64(bits, UINT64_C(0x0101010101010101)) * 255;
            bytes = _pext_u64(UINT64_C(0x0706050403020100), bytes); /* the numbers of the bits that are set */
            order[i / EIGHT] = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)bytes));
            taken[i / EIGHT] = left;
            _mm256_storeu_si256((void *)(kept + left),
                                _mm256_add_epi32(order[i / EIGHT], _mm256_set1_epi32((int)(first + i))));
            left += __builtin_popcount(bits);
        }
        for (int c = 0; c < inputs && left > begin; c++)
            for (int64_t i = 0; i < whole; i += EIGHT)
                _mm256_storeu_ps(
                    y + c * stride_y + taken[i / EIGHT],
                    _mm256_permutevar8x32_ps(_mm256_loadu_ps(x + c * stride + first + i), order[i / EIGHT]));
        for (int64_t i = first + whole; i < count && i < first + TOGETHER; i++)
            if (!(score[i] + apart[i] < least)) {
                for (int c = 0; c < inputs; c++)
                    y[c * stride_y + left] = x[c * stride + i];
                kept[left++] = (int32_t)i;
            }
    }
    return left;
}
#else
static int64_t keep_columns(int32_t *kept, real *y, int64_t stride_y, const real *x, int64_t stride, int inputs,
                            const real *score, const real *apart, real least, int64_t count)
{
    int64_t left = 0;
    for (int64_t i = 0; i < count; i++) { /* no branch: it would often be predicted wrongly */
        kept[left] = (int32_t)i;
        left += !(score[i] + apart[i] < least);
    }
    for (int c = 0; c < inputs; c++)
        for (int64_t i = 0; i < left; i++)
            y[c * stride_y + i] = x[c * stride + kept[i]];
    return left;
}
#endif

/* ---- columns of evidence ---- */

/* With 1 + |x| = 2^k m, m in [√½, √2), and t = (m - 1) / (m + 1), which is below 0.172,
 *
 *     log(1 + |x|) = k log 2 + 2 (t + t³/3 + t⁵/5 + t⁷/7 + t⁹/9) */
static void slog(real *x, int64_t count)
{
#ifdef NPI_DOUBLE
    for (int64_t i = 0; i < count; i++)
        x[i] = x[i] < 0 ? -log1p(-x[i]) : log1p(x[i]);
#else
    for (int64_t i = 0; i < count; i++) { /* no `omp simd`, by which gcc would keep y, bits and m in memory */
        const int32_t root = 0x3F3504F3;  /* the bits of √½ */
        float y = 1 + (x[i] < 0 ? -x[i] : x[i]), m;
        int32_t bits;
        memcpy(&bits, &y, sizeof bits);
        int32_t k = (bits - root) >> 23; /* y >= 1: the difference is not negative */
        bits -= k * (1 << 23);
        memcpy(&m, &bits, sizeof m);
        float t = (m - 1) / (m + 1), square = t * t;
        float series = 1 + square * (1 / 3.0f + square * (0.2f + square * (1 / 7.0f + square * (1 / 9.0f))));
        float value = (float)k * 0.69314718f + 2 * t * series;
        x[i] = x[i] < 0 ? -value : x[i] >= 0 ? value : x[i]; /* NaN stays */
    }
#endif
}

static void centre(real *x, const double *along, const float *distance, real shift, real length, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        real both = length * (real)distance[i], value = x[i] + (shift - (real)along[i]);
        x[i] = both > 0 ? value / both : 0;
    }
}

static void add_errors(real *error, const float *unit, float plain, const float *distance, float divided, int64_t count)
{
    if (!distance || !(divided > 0)) {
#pragma omp simd
        for (int64_t i = 0; i < count; i++)
            error[i] += (real)(plain * unit[i]);
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        error[i] += (real)((plain + (distance[i] > 0 ? divided / distance[i] : 0)) * unit[i]);
}

static void add_slog_errors(real *error, const float *unit, float weight, float apart, const real *x, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        real least = (x[i] < 0 ? -x[i] : x[i]) - (real)(apart * unit[i]);
        error[i] += (real)(weight * unit[i]) / (1 + (least > 0 ? least : 0));
    }
}

static void degrees(real *sum, real *difference, real *least, const float *degree, float own, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        real one = (real)own, other = (real)degree[i];
        sum[i] = one + other;
        difference[i] = one < other ? other - one : one - other;
        least[i] = one < other ? one : other;
    }
}

static void divide(real *x, const float *length, float own, float least, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        float both = own * length[i];
        x[i] = both > least ? x[i] / (real)both : 0;
    }
}

static void standardize(real *x, real mean, real deviation, real most, int64_t count)
{
    real scale = 1 / deviation;
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        real units = (x[i] - mean) * scale;
        units = units > most ? most : units;
        x[i] = units < -most ? -most : units;
    }
}

/* ---- Adam ---- */

static void adam(real *parameter, real *m, real *v, const real *gradient, int64_t count, real rate, real beta1,
                 real beta2, real epsilon)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        real g = gradient[i];
        m[i] = m[i] * beta1 + (1 - beta1) * g;
        v[i] = v[i] * beta2 + (1 - beta2) * (g * g);
#ifdef NPI_DOUBLE
        parameter[i] -= rate * m[i] / (sqrt(v[i]) + epsilon);
#else
        parameter[i] -= rate * m[i] / (sqrtf(v[i]) + epsilon);
#endif
    }
}

extern const npi_kernels NPI_KERNELS;
const npi_kernels NPI_KERNELS = {
    .name = NPI_KERNELS_NAME,
    .sigmoid = sigmoid,
    .pair_tile = pair_tile,
    .gather = gather,
    .gather_scaled = gather_scaled,
    .combine = combine,
    .dots = dots,
    .row_products = row_products,
    .integer_products = integer_products,
    .network_columns = network_columns,
    .piecewise_columns = piecewise_columns,
    .keep_columns = keep_columns,
    .slog = slog,
    .centre = centre,
    .add_errors = add_errors,
    .add_slog_errors = add_slog_errors,
    .degrees = degrees,
    .divide = divide,
    .standardize = standardize,
    .adam = adam,
};
