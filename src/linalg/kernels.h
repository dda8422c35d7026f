/* The inner loops that decide the speed, compiled once per instruction set and chosen at run time.
 *
 * kernels.c is compiled several times (meson.build): for baseline x86-64, x86-64-v3 (AVX2, FMA) and x86-64-v4
 * (AVX-512); on other processors once. The best table that the processor can run is used, unless the environment names
 * another one (NPGNN_KERNELS). Within one table the result of every kernel depends on its arguments only, never on
 * alignment or threads. */
#ifndef NPI_LINALG_KERNELS_H
#define NPI_LINALG_KERNELS_H

#include <stdint.h>

#include "base/error.h"
#include "linalg/real.h"

enum {
    NPI_SMALL_NETWORK_MOST = 64, /* inputs or units of a layer */
    NPI_SHORT_WIDTH = 64,        /* most numbers of a row of integers; */
    NPI_SHORT_STEP = 16,         /* their number is a multiple of this */
    NPI_SHORT_GROUP = 8,         /* rows of integers that lie together: see integer_products */
    NPI_KEPT_MORE = 8            /* see keep_columns */
};

/* h1 = relu(x W1 + b1),  score = f(h1 W2 + b2) · w3 + h1 · skip + tail |h1|² + x · line + shift,  f = relu or the
 * square */
typedef struct npi_small_network {
    int inputs, hidden, hidden2;
    const real *w1, *b1;   /* (inputs, hidden), (hidden) */
    const real *w2, *b2;   /* (hidden, hidden2), (hidden2) */
    const real *w3, *line; /* (hidden2), (inputs) */
    real shift;
    const real *skip; /* (hidden); NULL: skip and tail are 0, and f is relu. Otherwise f is the square. */
    real tail;
} npi_small_network;

/* score = constant + Σ_c max(line_c x_c, most_c x_c + most_shift_c, least_c x_c + least_shift_c) */
typedef struct npi_pieces {
    int inputs;
    real line[NPI_SMALL_NETWORK_MOST];
    real most[NPI_SMALL_NETWORK_MOST], most_shift[NPI_SMALL_NETWORK_MOST];
    real least[NPI_SMALL_NETWORK_MOST], least_shift[NPI_SMALL_NETWORK_MOST];
    real constant;
} npi_pieces;

typedef struct npi_kernels {
    const char *name; /* "x86-64-v3" */

    /* y = sigmoid(x), elementwise; y may be x. */
    void (*sigmoid)(real *y, const real *x, int64_t count);

    /* s <- sigmoid(s) - (c1 + c2 s), elementwise, in place; returns the sum of softplus(s) - (c1 s + c2 s²/2) in
     * double. With c1 = c2 = 0: the plain loss and gradient of the pair kernel. */
    double (*pair_tile)(real *s, int64_t count, double c1, double c2);

    /* y (w) += sum over p of val[p] * b[col[p]] for p in [begin, end); b has rows of width w, stride ldb. val NULL:
     * ones. */
    void (*gather)(real *y, const int32_t *col, const float *val, int64_t begin, int64_t end, const real *b, int w,
                   int ldb);

    /* gather with each b[col[p]] also scaled by scale[col[p]]. */
    void (*gather_scaled)(real *y, const int32_t *col, const float *val, int64_t begin, int64_t end, const real *scale,
                          const real *b, int w, int ldb);

    /* y (w) += sum over p of weight[p] * b[col[p]] for p in [0, count): gather with weights in the number type. */
    void (*combine)(real *y, const int32_t *col, const real *weight, int64_t count, const real *b, int w, int ldb);

    /* s[p] = x . b[col[p]] for p in [0, count), vectors of width w. */
    void (*dots)(real *s, const real *x, const int32_t *col, int64_t count, const real *b, int w, int ldb);

    /* s[v][p] = x[v] . b[p] for each of 1 to 4 vectors x (vectors, w) and the rows p of b, stride ldb; of b[list[p]]
     * unless list (rows) is NULL. */
    void (*row_products)(real *const *s, const real *x, int vectors, const real *b, const int32_t *list, int64_t rows,
                         int w, int ldb);

    /* s[v][p] = xunit[v] unit[p] (x[v] . b[p]) for each of 1 to 4 vectors x (vectors, NPI_SHORT_WIDTH) and `rows` rows
     * p of b, in their first `width` numbers. Rows lie in groups of NPI_SHORT_GROUP, the last of which must be whole,
     * too: two numbers of the first row of a group, two of the second, ..., then the next two of the first; b (groups,
     * width / 2, NPI_SHORT_GROUP, 2). The lengths |x[v]| |b[p]| must stay below 2^31: then, by Cauchy and Schwarz, no
     * partial sum overflows. */
    void (*integer_products)(real *const *s, const int16_t *x, const float *xunit, int vectors, const int8_t *b,
                             const float *unit, int64_t rows, int width);

    /* score (count) of a small network for the columns of x (inputs, count), with `stride` numbers from one row to the
     * next. */
    void (*network_columns)(real *score, const real *x, int64_t stride, int64_t count, const npi_small_network *net);

    /* score (count) = the least of `pieces` (functions) for the columns of x, as above. */
    void (*piecewise_columns)(real *score, const real *x, int64_t stride, int64_t count,
                              const npi_pieces *const *pieces, int functions);

    /* kept (returned number) = the i in [0, count) for which score[i] + apart[i] is not below `least`, in order; a NaN
     * is not. The columns i of x (inputs, count), with `stride` numbers from one row to the next, go to y (inputs,
     * kept), with stride_y. y may be x. kept and the rows of y need memory for NPI_KEPT_MORE numbers after the last. */
    int64_t (*keep_columns)(int32_t *kept, real *y, int64_t stride_y, const real *x, int64_t stride, int inputs,
                            const real *score, const real *apart, real least, int64_t count);

    /* x (count) becomes sign(x) log(1 + |x|), to about three units of the last place. */
    void (*slog)(real *x, int64_t count);

    /* x[i] becomes (x[i] + shift - along[i]) / (length distance[i]), 0 where that divides by 0. */
    void (*centre)(real *x, const double *along, const float *distance, real shift, real length, int64_t count);

    /* error[i] += (plain + divided / distance[i]) unit[i]; without the quotient where distance is NULL or distance[i]
     * is 0. */
    void (*add_errors)(real *error, const float *unit, float plain, const float *distance, float divided,
                       int64_t count);

    /* error[i] += weight unit[i] / (1 + max(|x[i]| - apart unit[i], 0)): by how much sign(x) log(1 + |x|) is off, times
     * weight / apart, where x[i] is off by apart unit[i]. */
    void (*add_slog_errors)(real *error, const float *unit, float weight, float apart, const real *x, int64_t count);

    /* sum (count), difference (count), least (count) of degree[i] and `own`: their sum, the magnitude of their
     * difference, the smaller. */
    void (*degrees)(real *sum, real *difference, real *least, const float *degree, float own, int64_t count);

    /* x[i] becomes x[i] / (own length[i]), 0 where that divides by at most `least`. */
    void (*divide)(real *x, const float *length, float own, float least, int64_t count);

    /* x[i] becomes (x[i] - mean) / deviation, at most `most` in magnitude. */
    void (*standardize)(real *x, real mean, real deviation, real most, int64_t count);

    /* One Adam step on a range: see eq. (A1)-(A3) in docs/understand/math.md; rate is already bias-corrected. */
    void (*adam)(real *parameter, real *m, real *v, const real *gradient, int64_t count, real rate, real beta1,
                 real beta2, real epsilon);
} npi_kernels;

/* The best table for this processor or, if the environment has NPGNN_KERNELS, the table of that name. */
const npi_kernels *npi_kernels_best(void);

/* E_ARGUMENT if NPGNN_KERNELS is not the name of a table that this processor can run. */
int npi_kernels_check(npgnn_error *err);

/* The index-th table that this processor can run, NULL past the last: for the tests. */
const npi_kernels *npi_kernels_at(int index);

#endif
