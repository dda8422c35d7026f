/* The evidence of one pair, to the bit: whoever else computes a column has to agree with this up to rounding. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "evidence/structure.h"

static double slog(double x)
{
    return x < 0 ? -log1p(-x) : log1p(x);
}

/* sum (count) = Σ_c a_ic b_ic of pairs of vectors, each in double in the order of its terms: sums of large terms
 * cancel, and some are divided by small numbers. Four run side by side: a sum by itself waits for every addition. */
static void multiply(double *sum, const real *const *a, const real *const *b, int count, int width)
{
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        const real *a0 = a[i], *a1 = a[i + 1], *a2 = a[i + 2], *a3 = a[i + 3];
        const real *b0 = b[i], *b1 = b[i + 1], *b2 = b[i + 2], *b3 = b[i + 3];
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (int c = 0; c < width; c++) {
            s0 += (double)a0[c] * (double)b0[c];
            s1 += (double)a1[c] * (double)b1[c];
            s2 += (double)a2[c] * (double)b2[c];
            s3 += (double)a3[c] * (double)b3[c];
        }
        sum[i] = s0;
        sum[i + 1] = s1;
        sum[i + 2] = s2;
        sum[i + 3] = s3;
    }
    for (; i < count; i++) {
        sum[i] = 0;
        for (int c = 0; c < width; c++)
            sum[i] += (double)a[i][c] * (double)b[i][c];
    }
}

/* Σ_c a_c b_c w_c */
static double multiply_weighted(const real *a, const real *b, const float *weight, int width)
{
    double sum = 0;
    for (int c = 0; c < width; c++)
        sum += (double)a[c] * (double)b[c] * (double)weight[c];
    return sum;
}

/* product (plan.products): those of some groups. The right rows are those of u, the left ones those of v, u <= v. */
static void fill_products(double *product, const npi_columns *e, const npi_view *view, npgnn_pair place,
                          unsigned groups)
{
    const npi_plan *plan = &e->plan;
    const real *left[NPI_MOST_PRODUCTS], *right[NPI_MOST_PRODUCTS];
    double sum[NPI_MOST_PRODUCTS];
    int wanted[NPI_MOST_PRODUCTS], count = 0, width = 0;
    /* Products whose rows have the same width are collected, and multiplied side by side when the width changes and
     * once after the last. */
    for (int p = 0; p <= plan->products; p++) {
        const npi_product *next = &plan->product[p];
        int is_wanted = p < plan->products && groups & 1u << next->group;
        int of_width = is_wanted ? view->bank[next->right].width : 0;
        if (p == plan->products || (is_wanted && of_width != width)) { /* those before it had the same width */
            multiply(sum, left, right, count, width);
            for (int i = 0; i < count; i++)
                product[wanted[i]] = sum[i];
            count = 0;
            width = of_width;
        }
        if (is_wanted && next->weighting != NPI_PLAIN) { /* Σ_c a_c b_c w_c, w = 2m λ or 2m / (1 - 0.9 λ) */
            product[p] = multiply_weighted(npi_view_row(view, next->left, place.v),
                                           npi_view_row(view, next->right, place.u), e->weight[next->weighting], width);
        } else if (is_wanted) { /* multiplied later, together with others of this width */
            left[count] = npi_view_row(view, next->left, place.v);
            right[count] = npi_view_row(view, next->right, place.u);
            wanted[count++] = p;
        }
    }
}

/* The cosine of a - μ and b - ν,
 *
 *     (a - μ)·(b - ν) / |a - μ| |b - ν| = (a·b - a·ν - μ·b + μ·ν) / |a - μ| |b - ν|
 *
 * 0 where a length is 0. The bank with the lower number, or that of u, is subtracted first, whatever it is: so both
 * directions of a pair have the same bits. */
static double centred(double product, const npi_product *p, const npi_view *view, npgnn_pair place)
{
    const npi_bank_view *a = &view->bank[p->left], *b = &view->bank[p->right];
    /* along = row · own mean, cross = row · mean of the partner, between = μ · ν, square = μ · μ */
    int same = p->left == p->right;
    double a_nu = same ? a->along[place.v] : a->cross[place.v], mu_b = same ? b->along[place.u] : b->cross[place.u];
    double mu_nu = same ? a->square : a->between;
    float distance_a = a->distance[place.v], distance_b = b->distance[place.u];
    if (distance_a == 0 || distance_b == 0)
        return 0;
    double rest = p->left < p->right ? product - a_nu - mu_b : product - mu_b - a_nu;
    return (rest + mu_nu) / ((double)distance_a * (double)distance_b);
}

static double cosine(double product, const npi_product *p, const npi_view *view, npgnn_pair place)
{
    float lengths = view->bank[p->left].distance[place.v] * view->bank[p->right].distance[place.u];
    return lengths > 1e-12f ? product / (double)lengths : 0;
}

/* A term of a column from its product. */
static double finish(double product, const npi_product *p, npi_operation operation, const npi_view *view,
                     npgnn_pair place)
{
    return operation == NPI_SLOG      ? slog(product)
           : operation == NPI_COSINE  ? cosine(product, p, view, place)
           : operation == NPI_CENTRED ? centred(product, p, view, place)
                                      : product;
}

void npi_columns_pair_groups(float *value, npi_columns_workspace *w, const npi_columns *e, const npi_view *view,
                             npgnn_pair pair, npgnn_pair place, unsigned groups)
{
    const npi_plan *plan = &e->plan;
    double product[NPI_MOST_PRODUCTS], term[2];
    if (pair.v < pair.u) { /* sums are in the same order for both directions; places ascend as nodes do */
        pair = (npgnn_pair){pair.v, pair.u};
        place = (npgnn_pair){place.v, place.u};
    }
    fill_products(product, e, view, place, groups);
    for (int c = 0; c < plan->columns; c++) { /* a term, or the mean of two: a(u) with b(v), a(v) with b(u) */
        int terms = 0;
        for (int t = 0; t < 2 && plan->term[c][t] >= 0; t++) {
            const npi_product *p = &plan->product[plan->term[c][t]];
            if (groups & 1u << p->group)
                term[terms++] = finish(product[plan->term[c][t]], p, plan->operation[c], view, place);
        }
        if (terms > 0)
            value[c] = (float)(terms == 1 ? term[0] : (term[0] + term[1]) / 2);
    }
    if (!(groups & 1u << NPI_GROUP_STRUCTURE))
        return;
    npi_structure_pair(value, &w->walker, e, pair);
    value[NPI_COLUMN_HAS_FEATURES] = (float)e->has_features;
    if (plan->columns > NPI_COLUMNS && plan->operation[NPI_COLUMN_OVERLAP] == NPI_OVERLAP)
        value[NPI_COLUMN_OVERLAP] = (float)npi_tfidf_pair(&e->reduced->tfidf, pair.u, pair.v);
}

void npi_columns_pair_at(float *value, npi_columns_workspace *w, const npi_columns *e, npgnn_pair pair,
                         npgnn_pair place)
{
    assert(e->kept);
    memset(value, 0, (size_t)e->plan.columns * sizeof *value);
    npi_columns_pair_groups(value, w, e, &e->view, pair, place, (1u << NPI_GROUPS) - 1); /* all groups */
}

void npi_columns_pair(float *value, npi_columns_workspace *w, const npi_columns *e, npgnn_pair pair)
{
    npi_columns_pair_at(value, w, e, pair, pair);
}

void npi_columns_prefetch(const npi_columns *e, const npi_view *view, npgnn_pair pair, npgnn_pair place, int ahead)
{
    enum { LINE = 64, MOST_NEIGHBOURS = 32 }; /* bytes that come at a time */
    const npi_csr *a = e->a;
    for (int end = 0; end < 2; end++) {
        int larger = (pair.u < pair.v) == end; /* left rows are those of the larger node */
        int32_t node = end == 0 ? pair.u : pair.v, row = end == 0 ? place.u : place.v;
        const unsigned char *is_read = larger ? e->plan.is_left : e->plan.is_right;
        int64_t begin = a->ptr[node], last = a->ptr[node + 1];
        /* a hub has too many: the rest would push out what the next pair needs */
        last = last - begin < MOST_NEIGHBOURS ? last : begin + MOST_NEIGHBOURS;
        /* three pairs ahead: the rows that products read, and the list of neighbours */
        for (int b = 0; ahead == NPI_AHEAD && b < NPI_BANKS; b++)
            for (size_t byte = 0; is_read[b] && view->bank[b].row && byte < (size_t)view->bank[b].width * sizeof(real);
                 byte += LINE)
                __builtin_prefetch((const char *)npi_view_row(view, (npi_bank_id)b, row) + byte);
        if (ahead == NPI_AHEAD)
            __builtin_prefetch(a->col + begin);
        /* two ahead, the list has arrived: where the links of the neighbours begin */
        for (int64_t p = begin; ahead == 2 && p < last; p++)
            __builtin_prefetch(a->ptr + a->col[p]);
        /* one ahead: these links, which walks of two steps pass over */
        for (int64_t p = begin; ahead == 1 && p < last; p++)
            for (int64_t q = a->ptr[a->col[p]]; q < a->ptr[a->col[p] + 1]; q += LINE / (int64_t)sizeof *a->col)
                __builtin_prefetch(a->col + q);
    }
}
