/* Evidence that follows a growing graph: rows of new nodes, and of nodes whose links have changed, computed from the rows of their
 * neighbours and from what the last npi_columns_new found (B and K of the regressions, λ, d̄, the means μ). With s_i = 1 / √(d_i +
 * 1), x_i the features, N(i) the neighbours:
 *
 *     smooth1_i = s_i F_i + Σ_N(i) s_j F_j, unit;     smooth2 the same of smooth1 before it is made unit
 *     (Â q)_i = s_i (s_i q_i + Σ_N(i) s_j q_j)
 *     means_i = (F_i + Σ_N(i) F_j) / (d_i + 1);       bilinear_i = F_i K,  bilinear_means_i = means_i K,  ridge_i = F_i B, unit
 *     t_i = c_i + Σ_N(i) c_j,  c = s u the spectral coordinates, s_i² = 1 / (d_i + d̄)
 *     region_i = λ u_i = (M u)_i = s_i t_i, unit;     c_i = s_i² t_i / λ
 */
#include <math.h>
#include <string.h>

#include "evidence/rounding.h"
#include "evidence/vectors.h"

#define LEAST_VALUE 0.02 /* of |λ|: in a dimension with less, t_i / λ would be noise */

enum { WIDEST = 64 }; /* numbers of a row */
_Static_assert(WIDEST >= (int)NPI_REDUCED_WIDTH && WIDEST >= (int)NPI_SPECTRAL_WIDTH, "rows fit");

static real *row_of(const npi_bank *bank, int32_t i)
{
    return bank->row + (size_t)i * (size_t)bank->width;
}

/* ---- memory ---- */

static int resize(void *array_pointer, int32_t capacity, size_t size, const npgnn_env *env, npgnn_error *err)
{
    void *array;
    memcpy(&array, array_pointer, sizeof array); /* the address of a pointer of any type */
    void *larger = npi_resize(env, array, (size_t)capacity, size, err);
    if (!larger)
        return NPGNN_E_MEMORY;
    memcpy(array_pointer, &larger, sizeof larger);
    return 0;
}

int npi_columns_reserve_rows(npi_columns *e, npi_reduced *reduced, npi_reduced *projection, int32_t capacity,
                             npgnn_error *err)
{
    const npgnn_env *env = &e->env;
    int code = resize(&e->length16, capacity, sizeof *e->length16, env, err);
    if (!code)
        code = resize(&e->reach, capacity, sizeof *e->reach, env, err);
    if (!code && e->has_features) {
        code = resize(&reduced->row, capacity, (size_t)reduced->width * sizeof(real), env, err);
        e->features.row = reduced->row; /* borrowed; where the resize failed it is what it was */
        if (!code)
            code = resize(&e->features_along, capacity, sizeof *e->features_along, env, err);
        if (!code)
            code = resize(&e->smooth1_along, capacity, sizeof *e->smooth1_along, env, err);
    }
    if (!code && e->projection.width > 0) {
        code = resize(&projection->row, capacity, (size_t)projection->width * sizeof(real), env, err);
        e->projection.row = projection->row;
        if (!code)
            code = resize(&projection->around, capacity, (size_t)projection->width * sizeof(real), env, err);
        e->before_around.row = projection->around;
    }
    npi_bank *owned[] = {&e->projection_around, &e->smooth1, &e->smooth2, &e->means,     &e->bilinear,
                         &e->bilinear_means,    &e->ridge,   &e->region,  &e->coordinate};
    for (size_t b = 0; !code && b < sizeof owned / sizeof owned[0]; b++)
        if (owned[b]->row)
            code = resize(&owned[b]->row, capacity, (size_t)owned[b]->width * sizeof(real), env, err);
    npi_bank *centred[] = {&e->features, &e->smooth1, &e->smooth2};
    for (size_t b = 0; !code && e->has_features && b < sizeof centred / sizeof centred[0]; b++) {
        code = resize(&centred[b]->along, capacity, sizeof *centred[b]->along, env, err);
        if (!code)
            code = resize(&centred[b]->distance, capacity, sizeof *centred[b]->distance, env, err);
    }
    return code;
}

int npi_columns_reserve(npi_columns *e, npi_reduced *reduced, npi_reduced *projection, int32_t n, npgnn_error *err)
{
    if (n <= e->capacity)
        return 0;
    int32_t capacity = n < INT32_MAX / 2 ? n + n / 8 : n;
    const npgnn_env *env = &e->env;
    int code = resize(&e->log_degree, capacity, sizeof *e->log_degree, env, err);
    if (!code)
        code = resize(&e->inverse, capacity, sizeof *e->inverse, env, err);
    if (!code)
        code = resize(&e->two_steps, capacity, sizeof *e->two_steps, env, err);
    if (!code)
        code = npi_columns_reserve_rows(e, reduced, projection, capacity, err);
    if (!code && e->is_rounded)
        code = npi_columns_reserve_rounded(e, capacity, err);
    if (!code)
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
    for (int c = 0; c < width; c++)
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
    scale *= smoothing(a, i);
    add(sum, row_of(bank, i), scale * smoothing(a, i), bank->width);
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
        add(sum, row_of(bank, a->col[p]), scale * smoothing(a, a->col[p]), bank->width);
}

static void set_row(const npi_bank *bank, int32_t i, const double *sum)
{
    for (int c = 0; c < bank->width; c++)
        row_of(bank, i)[c] = (real)sum[c];
}

/* The mean of the rows of a node and its neighbours. */
static void set_mean(npi_bank *means, const npi_bank *bank, const npi_csr *a, int32_t i)
{
    double share = 1 / (double)(a->ptr[i + 1] - a->ptr[i] + 1);
    real *mean = row_of(means, i);
    for (int c = 0; c < bank->width; c++) {
        double sum = (double)row_of(bank, i)[c];
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
            sum += (double)row_of(bank, a->col[p])[c];
        mean[c] = (real)(sum * share);
    }
}

static void update_features(npi_columns *e, int32_t i)
{
    const npi_csr *a = e->a;
    int k = e->features.width, w = e->region.width;
    double sum[WIDEST] = {0};
    add_smooth(sum, &e->features, a, i, 1);
    set_unit(row_of(&e->smooth1, i), sum, k);

    memset(sum, 0, sizeof sum); /* (Â² F)_i, up to the factor s_i, which the length takes out */
    add_smooth(sum, &e->features, a, i, smoothing(a, i));
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
        add_smooth(sum, &e->features, a, a->col[p], smoothing(a, a->col[p]));
    set_unit(row_of(&e->smooth2, i), sum, k);

    set_mean(&e->means, &e->features, a, i);
    multiply(sum, row_of(&e->means, i), e->to_bilinear, k, k);
    set_row(&e->bilinear_means, i, sum);
    multiply(sum, row_of(&e->features, i), e->to_bilinear, k, k);
    set_row(&e->bilinear, i, sum);
    multiply(sum, row_of(&e->features, i), e->to_region, k, w);
    set_unit(row_of(&e->ridge, i), sum, w);

    npi_bank_center(&e->features, i, i + 1);
    npi_bank_center(&e->smooth1, i, i + 1);
    npi_bank_center(&e->smooth2, i, i + 1);
    e->features_along[i] = npi_dot(row_of(&e->features, i), e->smooth1.mean, k);
    e->smooth1_along[i] = npi_dot(row_of(&e->smooth1, i), e->features.mean, k);
}

static void update_projection(npi_columns *e, int32_t i)
{
    double sum[WIDEST] = {0};
    add_smooth(sum, &e->before_around, e->a, i, 1);
    set_row(&e->projection_around, i, sum);
}

static void update_structure(npi_columns *e, int32_t i)
{
    const npi_csr *a = e->a;
    int w = e->region.width;
    int64_t degree = a->ptr[i + 1] - a->ptr[i];
    double sum[WIDEST] = {0};
    real *coordinate = row_of(&e->coordinate, i), *region = row_of(&e->region, i);
    e->log_degree[i] = (float)log1p((double)degree);
    e->inverse[i] = degree > 0 ? 1 / (double)degree : 0;
    if (degree > 0)
        add(sum, coordinate, 1, w);
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
        add(sum, row_of(&e->coordinate, a->col[p]), 1, w);
    set_unit(region, sum, w);
    for (int c = 0; c < w; c++)
        coordinate[c] =
            fabs(e->value[c]) > LEAST_VALUE ? (real)(sum[c] / (((double)degree + e->mean_degree) * e->value[c])) : 0;
    e->length16[i] = (float)sqrt(npi_dot(region, region, w < 16 ? w : 16));
    e->reach[i] = (float)sqrt(npi_dot(coordinate, coordinate, w));
}

/* T of all nodes goes from one to the other. */
static void move_exact(npi_columns *e, npi_reduced *reduced, npi_reduced *more)
{
    npi_csr_free(&e->env, &reduced->exact);
    npi_csr_free(&e->env, &reduced->exact_t);
    e->exact = reduced->exact = more->exact;
    e->exact_t = reduced->exact_t = more->exact_t;
    more->exact = more->exact_t = (npi_csr){0};
}

int npi_columns_extend(npi_columns *e, npi_reduced *reduced, npi_reduced *projection, const npi_csr *a,
                       npi_reduced *more_reduced, const npi_reduced *more_projection, const int32_t *touched,
                       int32_t count, npgnn_error *err)
{
    int32_t before = e->n, added = a->rows - before;
    int code = npi_columns_reserve(e, reduced, projection, a->rows, err);
    if (code)
        return code;
    e->a = a;
    e->n = a->rows;
    e->rows = npi_partition_tall(e->n, NULL);
    for (int32_t i = 0; i < e->n;
         i++) /* those of touched nodes, their neighbours and new ones have changed: all are counted again */
        e->two_steps[i] = -1;
    /* all new rows exist before any of them is read as a neighbour's */
    if (added > 0) {
        size_t rows = (size_t)added;
        memset(row_of(&e->coordinate, before), 0, rows * (size_t)e->coordinate.width * sizeof(real));
        if (e->has_features)
            memcpy(row_of(&e->features, before), more_reduced->row, rows * (size_t)reduced->width * sizeof(real));
        if (e->exact.ptr)
            move_exact(e, reduced, more_reduced);
        if (e->projection.width > 0) {
            size_t bytes = rows * (size_t)projection->width * sizeof(real);
            memcpy(row_of(&e->projection, before), more_projection->row, bytes);
            memcpy(row_of(&e->before_around, before), more_projection->around, bytes);
        }
    }
    for (int32_t t = 0; t < count + added; t++) {
        int32_t node = t < count ? touched[t] : before + t - count;
        update_structure(e, node);
        if (e->has_features)
            update_features(e, node);
        if (e->projection.width > 0)
            update_projection(e, node);
        npi_columns_bound(e, node, node + 1);
        npi_columns_round_rows(e, node, node + 1);
    }
    return 0;
}
