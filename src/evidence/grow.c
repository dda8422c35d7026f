/* Evidence that follows a growing graph: rows of new nodes, and of nodes whose links have changed, computed from the
 * rows of their neighbours and from what the last npi_columns_new found (B and K of the regressions, λ, d̄, the means
 * μ). With s_i = 1 / √(d_i + 1) and N(i) the neighbours:
 *
 *     smooth1_i = s_i F_i + Σ_N(i) s_j F_j, unit;     smooth2 the same of smooth1 before it is made unit
 *     (Â q)_i = s_i (s_i q_i + Σ_N(i) s_j q_j)
 *     means_i = (F_i + Σ_N(i) F_j) / (d_i + 1);       bilinear_i = F_i K,  bilinear_means_i = means_i K
 *     ridge_i = F_i B, unit
 *     t_i = c_i + Σ_N(i) c_j,  c = s u the spectral coordinates, s_i² = 1 / (d_i + d̄)
 *     region_i = λ u_i = (M u)_i = s_i t_i, unit;     c_i = s_i² t_i / λ
 */
#include <math.h>
#include <string.h>

#include "evidence/columns.h"
#include "evidence/vectors.h"

#define LEAST_VALUE 0.02 /* smallest |λ| of a dimension that is extended: below it, t_i / λ would be noise */

enum { WIDEST = 64 }; /* numbers of a row */
_Static_assert(WIDEST >= (int)NPI_REDUCED_WIDTH && WIDEST >= (int)NPI_SPECTRAL_WIDTH, "rows fit");

/* ---- memory ---- */

/* Updates the pointers to rows whose memory may have moved. */
static void follow(npi_columns *e)
{
    if (e->has_features)
        e->bank[NPI_BANK_FEATURES].row = e->reduced->row;
    if (e->projection) {
        e->bank[NPI_BANK_PROJECTION].row = e->projection->row;
        e->bank[NPI_BANK_NEIGHBOR_PROJECTION].row = e->projection->neighbor_row;
    }
    e->bank[NPI_BANK_REGION16].row = e->bank[NPI_BANK_REGION].row;
    npi_banks_view(&e->view, e->bank);
}

int npi_columns_reserve_rows(npi_columns *e, int32_t capacity, npgnn_error *err)
{
    int code = 0;
    if (e->has_features)
        code = npi_reduced_reserve(e->reduced, capacity, &e->env, err);
    if (!code && e->projection)
        code = npi_reduced_reserve(e->projection, capacity, &e->env, err);
    for (int b = 0; !code && b < NPI_BANKS; b++)
        code = npi_bank_resize(&e->bank[b], capacity, &e->env, err);
    follow(e); /* where a resize failed, too: others have moved */
    return code;
}

int npi_columns_reserve(npi_columns *e, int32_t n, npgnn_error *err)
{
    if (n <= e->capacity)
        return 0;
    int32_t capacity = n < INT32_MAX / 2 ? n + n / 8 : n;
    const npgnn_env *env = &e->env;
    int code = npi_array_resize(&e->log_degree, capacity, sizeof *e->log_degree, env, err);
    if (!code)
        code = npi_array_resize(&e->inverse, capacity, sizeof *e->inverse, env, err);
    if (!code)
        code = npi_array_resize(&e->two_steps, capacity, sizeof *e->two_steps, env, err);
    if (!code)
        code = npi_columns_reserve_rows(e, capacity, err);
    if (!code && e->is_rounded)
        code = npi_columns_reserve_rounded(e, capacity, err);
    if (!code) /* last: where an array failed, others are larger than `capacity` says, which does no harm */
        e->capacity = capacity;
    return code;
}

/* ---- rows ---- */

/* sum (width) += scale row */
static void add(double *sum, const real *row, double scale, int width)
{
    for (int c = 0; c < width; c++)
        sum[c] += scale * (double)row[c];
}

/* row (width) = sum, made unit length; zeros stay zeros */
static void set_unit(real *row, const double *sum, int width)
{
    double square = 0;
    for (int c = 0; c < width; c++)
        square += sum[c] * sum[c];
    for (int c = 0; c < width; c++) /* |sum| > 1e-12, as in npi_unit_rows */
        row[c] = square > 1e-24 ? (real)(sum[c] / sqrt(square)) : 0;
}

/* product (width) = row (k) map (k, width) */
static void multiply(double *product, const real *row, const real *map, int k, int width)
{
    memset(product, 0, (size_t)width * sizeof *product);
    for (int i = 0; i < k; i++)
        if (row[i] != 0)
            add(product, map + (size_t)i * (size_t)width, (double)row[i], width);
}

static double smoothing(const npi_csr *a, int32_t i)
{
    return 1 / sqrt((double)(a->ptr[i + 1] - a->ptr[i]) + 1);
}

/* sum (width) += scale (Â bank)_i */
static void add_smooth(double *sum, const npi_bank *bank, const npi_csr *a, int32_t i, double scale)
{
    /* (Â bank)_i = s_i (s_i bank_i + Σ_N(i) s_j bank_j) */
    scale *= smoothing(a, i);
    add(sum, npi_bank_row(bank, i), scale * smoothing(a, i), bank->width);
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
        add(sum, npi_bank_row(bank, a->col[p]), scale * smoothing(a, a->col[p]), bank->width);
}

static void set_row(const npi_bank *bank, int32_t i, const double *sum)
{
    for (int c = 0; c < bank->width; c++)
        npi_bank_row(bank, i)[c] = (real)sum[c];
}

/* The mean of the rows of a node and its neighbours. */
static void set_mean(const npi_bank *means, const npi_bank *bank, const npi_csr *a, int32_t i)
{
    double share = 1 / (double)(a->ptr[i + 1] - a->ptr[i] + 1);
    real *mean = npi_bank_row(means, i);
    for (int c = 0; c < bank->width; c++) {
        double sum = (double)npi_bank_row(bank, i)[c];
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
            sum += (double)npi_bank_row(bank, a->col[p])[c];
        mean[c] = (real)(sum * share);
    }
}

static void update_features(npi_columns *e, int32_t i)
{
    const npi_csr *a = e->a;
    npi_bank *bank = e->bank;
    const npi_bank *features = &bank[NPI_BANK_FEATURES], *means = &bank[NPI_BANK_MEANS];
    int k = features->width, d = bank[NPI_BANK_REGION].width;
    double sum[WIDEST] = {0};           /* (k) or (d) */
    add_smooth(sum, features, a, i, 1); /* smooth1_i = (Â F)_i, unit */
    set_unit(npi_bank_row(&bank[NPI_BANK_SMOOTH1], i), sum, k);

    /* smooth2_i = s_i (s_i (Â F)_i + Σ_N(i) s_j (Â F)_j), unit, which takes the first s_i out. From F of nodes two
     * steps away, because rows of SMOOTH1 have lost their lengths. */
    memset(sum, 0, sizeof sum);
    add_smooth(sum, features, a, i, smoothing(a, i));
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
        add_smooth(sum, features, a, a->col[p], smoothing(a, a->col[p]));
    set_unit(npi_bank_row(&bank[NPI_BANK_SMOOTH2], i), sum, k);

    /* means_i K, F_i K, and F_i B, unit: with B and K of the last npi_columns_new */
    set_mean(means, features, a, i);
    multiply(sum, npi_bank_row(means, i), e->kernel, k, k);
    set_row(&bank[NPI_BANK_BILINEAR_MEANS], i, sum);
    multiply(sum, npi_bank_row(features, i), e->kernel, k, k);
    set_row(&bank[NPI_BANK_BILINEAR], i, sum);
    multiply(sum, npi_bank_row(features, i), e->to_region, k, d);
    set_unit(npi_bank_row(&bank[NPI_BANK_RIDGE], i), sum, d);
}

static void update_projection(npi_columns *e, int32_t i)
{
    double sum[WIDEST] = {0};
    add_smooth(sum, &e->bank[NPI_BANK_NEIGHBOR_PROJECTION], e->a, i, 1);
    set_row(&e->bank[NPI_BANK_SMOOTH_PROJECTION], i, sum);
}

static void update_structure(npi_columns *e, int32_t i)
{
    const npi_csr *a = e->a;
    const npi_bank *coordinates = &e->bank[NPI_BANK_COORDINATE];
    int d = coordinates->width;
    int64_t degree = a->ptr[i + 1] - a->ptr[i];
    double sum[WIDEST] = {0};
    real *coordinate = npi_bank_row(coordinates, i);
    e->log_degree[i] = (float)log1p((double)degree);
    e->inverse[i] = degree > 0 ? 1 / (double)degree : 0;
    /* t_i = c_i + Σ_N(i) c_j; a node without links lies nowhere: t_i = 0, and so are both of its rows */
    if (degree > 0)
        add(sum, coordinate, 1, d);
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
        add(sum, npi_bank_row(coordinates, a->col[p]), 1, d);
    set_unit(npi_bank_row(&e->bank[NPI_BANK_REGION], i), sum, d); /* λ u_i = s_i t_i: s_i cancels */
    for (int c = 0; c < d; c++)                                   /* c_i = s_i² t_i / λ, s_i² = 1 / (d_i + d̄) */
        coordinate[c] =
            fabs(e->value[c]) > LEAST_VALUE ? (real)(sum[c] / (((double)degree + e->mean_degree) * e->value[c])) : 0;
}

/* Copies the given rows of new nodes. */
static void append(const npi_bank *bank, int32_t first, const real *rows, int32_t count)
{
    memcpy(npi_bank_row(bank, first), rows, (size_t)count * (size_t)bank->width * sizeof *rows);
}

/* Takes over the given rows of the nodes from `before` on: all of them exist before any is read as a neighbour's. */
static void take_rows(npi_columns *e, int32_t before, npi_reduced *more_reduced, const npi_reduced *more_projection)
{
    const npi_bank *coordinates = &e->bank[NPI_BANK_COORDINATE];
    int32_t added = e->n - before;
    /* a new node starts at c_i = 0: its first coordinates are those that its neighbours give it */
    memset(npi_bank_row(coordinates, before), 0, (size_t)added * (size_t)coordinates->width * sizeof(real));
    if (e->has_features)
        append(&e->bank[NPI_BANK_FEATURES], before, more_reduced->row, added);
    if (e->has_features && e->reduced->tfidf.rows.ptr)
        npi_tfidf_move(&e->reduced->tfidf, &more_reduced->tfidf, &e->env);
    if (e->projection) {
        append(&e->bank[NPI_BANK_PROJECTION], before, more_projection->row, added);
        append(&e->bank[NPI_BANK_NEIGHBOR_PROJECTION], before, more_projection->neighbor_row, added);
    }
}

int npi_columns_extend(npi_columns *e, const npi_csr *a, npi_reduced *more_reduced, const npi_reduced *more_projection,
                       const int32_t *touched, int32_t count, npgnn_error *err)
{
    int32_t before = e->n, added = a->rows - before;
    int code = npi_columns_reserve(e, a->rows, err);
    if (code)
        return code;
    e->a = a;
    e->n = a->rows;
    e->rows = npi_partition_tall(e->n, NULL);
    /* counts change for touched nodes, their neighbours and new ones: all are counted again, when they are needed */
    for (int32_t i = 0; i < e->n; i++)
        e->two_steps[i] = -1;
    if (added > 0)
        take_rows(e, before, more_reduced, more_projection);
    /* touched nodes, then new ones: each reads the rows of its neighbours as they are by then */
    for (int32_t t = 0; t < count + added; t++) {
        int32_t node = t < count ? touched[t] : before + t - count;
        update_structure(e, node);
        if (e->has_features)
            update_features(e, node);
        if (e->projection)
            update_projection(e, node);
        npi_columns_measure(e, node, node + 1);
        npi_columns_bound(e, node, node + 1);
        npi_columns_round_rows(e, node, node + 1);
    }
    return 0;
}
