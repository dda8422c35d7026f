/* How far rows are from pairs; and integers for a quick first look at all partners of a node (search/). A row a of a
 * bank becomes
 *
 *     rounded_c = a_c / unit, rounded to the nearest of -127 ... 127,     unit = max |a_c| / 127
 *
 * so that the product of a with a vector x is off by at most |x| unit off, with off = |a / unit - rounded|, about 2.3
 * for 64 numbers, of which the largest of all rows is kept. The vectors of the node that is asked about are rounded to
 * 16 bits with unit = |x| / 32767, so that each is off by at most 4 / 32767 of its length (64 numbers, each off by at
 * most half a unit). The length of a rounded x is at most 32767 + 4 and that of a rounded row at most 8 · 127: their
 * product is below 2^31. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "evidence/rounding.h"
#include "evidence/rows.h"
#include "evidence/vectors.h"

void npi_short_round(int16_t *rounded, float *unit, const real *row, int width)
{
    double length = sqrt(npi_dot(row, row, width));
    for (int c = width; c % NPI_SHORT_STEP != 0; c++)
        rounded[c] = 0;
    int sound = length > (double)FLT_MIN && length < (double)INFINITY;
    for (int c = 0; c < width; c++)
        rounded[c] = sound ? (int16_t)lrint((double)row[c] * (32767 / length)) : 0;
    /* row_c ≈ rounded_c unit, unit = |row| / 32767 */
    *unit = (float)(length / 32767); /* a NaN in the row stays one in all of its products */
}

void npi_byte_round(int8_t *rounded, float *unit, float *off, const real *row, int width)
{
    double most = 0, length = sqrt(npi_dot(row, row, width)), square = 0;
    for (int c = 0; c < width; c++)
        most = fabs((double)row[c]) > most ? fabs((double)row[c]) : most;
    int sound = most > 1e-30 && length < (double)INFINITY;   /* less than that is nothing */
    *unit = sound ? (float)(most / 127) : 0 * (float)length; /* a NaN in the row stays one in all of its products */
    for (int c = 0; c < width; c++) {
        /* off² = Σ_c (row_c / unit - rounded_c)² */
        double exact = sound ? (double)row[c] / (double)*unit : 0;
        rounded[c] = (int8_t)lrint(exact);
        square += (exact - rounded[c]) * (exact - rounded[c]);
    }
    for (int c = width; c % NPI_SHORT_STEP != 0; c++)
        rounded[c] = 0;
    *off = (float)(1.000001 * sqrt(square)); /* not less than the root, as a float */
}

/* Where number c of row `place` is in its group. */
static int in_group(int place, int c)
{
    return NPI_SHORT_GROUP * (c - c % 2) + 2 * place + c % 2;
}

/* ---- rounded rows ---- */

/* Whether rows of a bank are rounded: those that many nodes are read of. */
static int is_rounded(const npi_columns *e, int bank)
{
    return e->plan.is_right[bank] && e->bank[bank].row && e->bank[bank].width <= NPI_SHORT_WIDTH;
}

int npi_columns_reserve_rounded(npi_columns *e, int32_t capacity, npgnn_error *err)
{
    for (int b = 0; b < NPI_BANKS; b++) {
        npi_bank *bank = &e->bank[b];
        if (!is_rounded(e, b))
            continue;
        int width = npi_short_width(bank->width),
            rest = e->n % NPI_SHORT_GROUP; /* rows in the last group of all nodes */
        size_t whole = ((size_t)capacity + NPI_SHORT_GROUP - 1) / NPI_SHORT_GROUP * NPI_SHORT_GROUP;
        size_t numbers = whole * (size_t)width, used = (size_t)(e->n - rest) * (size_t)width;
        int8_t *rounded = npi_resize(&e->env, bank->rounded, numbers, sizeof *rounded, err);
        bank->rounded = rounded ? rounded : bank->rounded;
        float *unit = rounded ? npi_resize(&e->env, bank->unit, (size_t)capacity, sizeof *unit, err) : NULL;
        bank->unit = unit ? unit : bank->unit;
        if (!unit)
            return NPGNN_E_MEMORY;
        /* whole groups are multiplied: rows that nobody has written yet are zeros */
        for (int place = rest; rest > 0 && place < NPI_SHORT_GROUP; place++)
            for (int c = 0; c < width; c++)
                rounded[used + (size_t)in_group(place, c)] = 0;
        used += rest > 0 ? (size_t)NPI_SHORT_GROUP * (size_t)width : 0;
        memset(rounded + used, 0, numbers - used);
    }
    return 0;
}

void npi_columns_round_rows(npi_columns *e, int32_t first, int32_t last)
{
    for (int b = 0; b < NPI_BANKS; b++) {
        npi_bank *bank = &e->bank[b];
        for (int32_t i = first; bank->rounded && i < last; i++) {
            int8_t row[NPI_SHORT_WIDTH], *group;
            int width = npi_short_width(bank->width), place = i % NPI_SHORT_GROUP;
            float off;
            npi_byte_round(row, &bank->unit[i], &off, npi_bank_row(bank, i), bank->width);
            group = bank->rounded + (size_t)(i - place) * (size_t)width;
            for (int c = 0; c < width; c++)
                group[in_group(place, c)] = row[c];
            bank->off = off > bank->off ? off : bank->off; /* a NaN stays out: all products with its row are NaN */
        }
    }
}

int npi_columns_round(npi_columns *e, npgnn_error *err)
{
    int code = npi_columns_reserve_rounded(e, e->capacity, err);
    if (!code)
        code = npi_spare_new(&e->spare, &e->env, err);
    e->is_rounded = !code;
    if (!code)
        npi_columns_round_rows(e, 0, e->n);
    return code;
}

/* ---- how far columns may be off ---- */

void npi_columns_rounding(double *rounding, const npi_columns *e, double unit)
{
    double least = e->least_distance; /* centring divides by distances, which are seldom small */
    for (int c = 0; c < e->plan.columns; c++) {
        const npi_product *p = e->plan.term[c][0] < 0 ? NULL : &e->plan.product[e->plan.term[c][0]];
        /* |a · b| <= |a| |b|, and a sum of rounded terms is off by `unit` of that */
        double lengths = p ? e->bank[p->left].longest * e->bank[p->right].longest : 1;
        /* centred: the product is divided by |a - μ| |b - ν| >= least² */
        rounding[c] = e->plan.operation[c] == NPI_CENTRED ? unit / (least * least) : unit * lengths;
    }
}

double npi_columns_rounding_along(const npi_columns *e, int column, int32_t u, double unit)
{
    const npi_product *p = &e->plan.product[e->plan.term[column][0]];
    const real *row = npi_view_row(&e->view, p->left, u);
    double square = 0; /* |w ⊙ row_u|² */
    for (int c = 0; c < e->view.bank[p->left].width; c++)
        square += pow((double)row[c] * (double)e->weight[p->weighting][c], 2);
    return unit * sqrt(square);
}

/* ---- one node with all, from rounded rows ---- */

/* 1 / x; 0 for 0, where a column is 0 rather than divided */
static double inverse_of(float x)
{
    return x > 0 ? 1 / (double)x : 0;
}

/* How much an error of 1 in a product counts: as it is, and where a column divides it by a length or distance of the
 * row that is met. Returns whether a column is slog of it, whose error is small where the product is large. */
static int weigh_error(double *plain, double *divided, const npi_columns *e, int product, int32_t u,
                       const double *weight)
{
    const npi_plan *plan = &e->plan;
    int is_slog = 0;
    *plain = *divided = 0;
    for (int c = 0; c < plan->columns; c++) {
        int terms = 1 + (plan->term[c][1] >= 0); /* a mean of two halves the error of each */
        if (plan->term[c][0] != product && plan->term[c][1] != product)
            continue;
        if (plan->operation[c] == NPI_CENTRED || plan->operation[c] == NPI_COSINE)
            *divided += weight[c] / terms * inverse_of(e->view.bank[plan->product[product].left].distance[u]);
        else
            *plain += weight[c] / terms;
        is_slog |= plan->operation[c] == NPI_SLOG;
    }
    return is_slog;
}

/* w->left and w->unit: the left vectors of the node, rounded to 16 bits. w->error (products, 2): how much an error of
 * the right row counts, times the length of the left vector, plain and divided; of a product that a column is slog of,
 * plain, and the length itself. */
void npi_columns_rounded_begin(npi_columns_workspace *w, const npi_columns *e, const double *weight)
{
    int32_t u = w->places[0];
    assert(w->count == 1);
    for (int p = 0; p < e->plan.products; p++) {
        const npi_product *product = &e->plan.product[p];
        real vector[NPI_SHORT_WIDTH];
        double plain, divided;
        w->error[2 * p] = w->error[2 * p + 1] = 0;
        if (!e->bank[product->right].rounded)
            continue;
        int width = e->bank[product->right].width, is_slog = weigh_error(&plain, &divided, e, p, u, weight);
        npi_rows_left(vector, e, product, u);
        npi_short_round(w->left + p * NPI_SHORT_WIDTH, &w->unit[p], vector, width);
        double length = sqrt(npi_dot(vector, vector, width)) * 1.001; /* the rounded vector may be longer */
        w->error[2 * p] = (float)(plain * length);
        w->error[2 * p + 1] = (float)(is_slog ? length : divided * length);
    }
}

/* Whether a column is slog of a product. */
static int is_slog(const npi_plan *plan, int product)
{
    for (int c = 0; c < plan->columns; c++)
        if (plan->operation[c] == NPI_SLOG && plan->term[c][0] == product)
            return 1;
    return 0;
}

/* The planes of `count` products from `first` on, with rounded rows; error (range) grows by what the integers may
 * add. */
static void multiply_rounded(real *const *plane, real *error, npi_columns_workspace *w, const npi_columns *e,
                             int product, int count, int32_t first, int32_t last)
{
    const npi_product *products = &e->plan.product[product];
    const npi_bank *right = &e->bank[products->right];
    int width = npi_short_width(right->width), range = last - first;
    const float *unit = right->unit + first, *distance = right->distance ? right->distance + first : NULL;
    float plain = 0, divided = 0; /* sums over the products of off |left vector| weight */
    real *out[NPI_MOST_PRODUCTS];
    for (int p = 0; p < count; p++)
        out[p] = plane[products[p].plane];
    npi_kernels_best()->integer_products(out, w->left + product * NPI_SHORT_WIDTH, w->unit + product, count,
                                         right->rounded + (size_t)first * (size_t)width, unit, range, width);
    /* |x · (row_j - unit_j rounded_j)| <= |x| unit_j off: the kernels multiply by unit_j */
    for (int p = 0; p < count; p++) {
        float one = right->off * w->error[2 * (product + p)], other = right->off * w->error[2 * (product + p) + 1];
        if (is_slog(&e->plan, product + p)) {
            npi_kernels_best()->add_slog_errors(error, unit, one, other, out[p], range);
        } else {
            plain += one;
            divided += other;
        }
    }
    npi_kernels_best()->add_errors(error, unit, plain, distance, divided, range);
}

void npi_columns_rounded(real *value, real *error, npi_columns_workspace *w, const npi_columns *e, int32_t first,
                         int32_t last)
{
    real *plane[NPI_PLANES];
    assert(first % NPI_SHORT_GROUP == 0);
    npi_rows_place(plane, value, w, (size_t)(last - first));
    memset(error, 0, (size_t)(last - first) * sizeof *error);
    for (int p = 0, count; p < e->plan.products; p += count) {
        count = npi_rows_together(&e->plan, p);
        if (e->bank[e->plan.product[p].right].rounded)
            multiply_rounded(plane, error, w, e, p, count, first, last);
        else
            npi_rows_multiply(plane, w, e, &e->plan.product[p], count, first, last);
    }
    npi_rows_finish(plane, w, e, first, last);
}
