#include "evidence/columns.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/parallel.h"
#include "evidence/endpoints.h"
#include "evidence/rounding.h"
#include "evidence/spread.h"
#include "evidence/vectors.h"
#include "linalg/dense.h"
#include "linalg/kernels.h"
#include "linalg/symmetric.h"

/* Of the mean square of a feature: keep the regressions on few nodes from fitting noise. */
#define REGION_PENALTY 0.01
#define BILINEAR_PENALTY 0.1

const char *npi_column_text(int column)
{
    static const char *const texts[NPI_ALL_COLUMNS] = {
#define NPI_X(name, text) text,
        NPI_COLUMN_LIST(NPI_X) NPI_LEARNT_COLUMN_LIST(NPI_X)
#undef NPI_X
    };
    return texts[column];
}

/* ---- banks of vectors ---- */

/* How many nodes this process has. */
static size_t own_rows(const npi_columns *e)
{
    return (size_t)(e->rows.to - e->rows.from);
}

/* Of how many nodes the numbers that centred cosines need are kept: where nodes are divided among processes and the
 * rows are not kept, they are computed for the ends of every batch of pairs. */
static size_t centred_rows(const npi_columns *e)
{
    return e->rows.comm && !e->kept ? 0 : own_rows(e);
}

/* The rows of this process. */
static int bank_new(npi_bank *bank, const npi_columns *e, int width, npgnn_error *err)
{
    *bank = (npi_bank){.width = width};
    bank->row = npi_alloc(&e->env, own_rows(e) * (size_t)width, sizeof *bank->row, err);
    return bank->row ? 0 : NPGNN_E_MEMORY;
}

static void bank_free(const npgnn_env *env, npi_bank *bank)
{
    npi_free(env, bank->row);
    npi_free(env, bank->mean);
    npi_free(env, bank->along);
    npi_free(env, bank->distance);
    npi_free(env, bank->rounded);
    npi_free(env, bank->unit);
}

/* Memory for cosines of rows minus their mean. */
static int centred_new(npi_bank *bank, const npi_columns *e, npgnn_error *err)
{
    bank->mean = npi_alloc(&e->env, (size_t)bank->width, sizeof *bank->mean, err);
    bank->along = npi_alloc(&e->env, centred_rows(e), sizeof *bank->along, err);
    bank->distance = npi_alloc(&e->env, centred_rows(e), sizeof *bank->distance, err);
    return bank->mean && bank->along && bank->distance ? 0 : NPGNN_E_MEMORY;
}

typedef struct rows_sum {
    double sum[NPI_REDUCED_WIDTH + 1]; /* of the rows and, after that, how many of them are not zero */
    const npi_bank *bank;
    size_t rows;
} rows_sum;

static void add_rows(void *arg, int64_t first, int64_t last)
{
    rows_sum *s = arg;
    int w = s->bank->width, end = last < w ? (int)last : w;
    for (size_t i = 0; i < s->rows; i++) {
        const real *row = s->bank->row + i * (size_t)w;
        for (int c = (int)first; c < end; c++)
            s->sum[c] += (double)row[c];
        if (last > w)
            s->sum[w] += npi_dot(row, row, w) > 0.5; /* rows have length 1 or 0 */
    }
}

/* The mean μ over the nodes of all processes. */
static void find_mean(npi_bank *bank, const npi_columns *e)
{
    enum { CHUNK = 16 }; /* columns that travel at a time, so that all processes work at the same time */
    rows_sum s = {.bank = bank, .rows = own_rows(e)};
    int w = bank->width;
    npi_comm_chain(e->rows.comm, s.sum, w + 1, sizeof *s.sum, CHUNK, add_rows, &s);
    for (int c = 0; c < w; c++)
        bank->mean[c] = s.sum[w] > 0 ? (real)(s.sum[c] / s.sum[w]) : 0;
    bank->square = npi_dot(bank->mean, bank->mean, w);
}

void npi_bank_center(npi_bank *bank, int32_t first, int32_t last)
{
    for (int32_t i = first; i < last; i++) {
        const real *row = bank->row + (size_t)i * (size_t)bank->width;
        double square = npi_dot(row, row, bank->width);
        bank->along[i] = npi_dot(row, bank->mean, bank->width);
        /* |row - μ|² = row · row - 2 row · μ + μ · μ, in double: a row may be next to μ */
        double apart = square - 2 * bank->along[i] + bank->square;
        bank->distance[i] = square > 0.5 && apart > 1e-9 ? (float)sqrt(apart) : 0;
    }
}

/* (a - μ)·(b - ν) / |a - μ| |b - ν| = (a·b - a·ν - μ·b + μ·ν) / ... */
static double centred(double product, double a_nu, double mu_b, double mu_nu, float distance_a, float distance_b)
{
    if (distance_a == 0 || distance_b == 0)
        return 0;
    return (product - a_nu - mu_b + mu_nu) / ((double)distance_a * (double)distance_b);
}

/* ---- structure ---- */

/* The length of the first 16 numbers of row i of the regions. */
static float length16_of(const npi_bank *region, int32_t i)
{
    const real *row = region->row + (size_t)i * (size_t)region->width;
    return (float)sqrt(npi_dot(row, row, region->width < 16 ? region->width : 16));
}

/* length16 and reach of the rows first to last - 1. */
static void measure_rows(npi_columns *e, int32_t first, int32_t last)
{
    int w = e->region.width;
    for (int32_t i = first; i < last; i++) {
        const real *row = e->coordinate.row + (size_t)i * (size_t)w;
        e->length16[i] = length16_of(&e->region, i);
        e->reach[i] = (float)sqrt(npi_dot(row, row, w));
    }
}

static int prepare_structure(npi_columns *e, const npgnn_env *env, npgnn_error *err)
{
    const npi_csr *a = e->a;
    npi_spectral s = {0};
    size_t n = (size_t)e->n;
    e->log_degree = npi_alloc(&e->env, n, sizeof *e->log_degree, err);
    e->inverse = npi_alloc(&e->env, n, sizeof *e->inverse, err);
    e->two_steps = npi_alloc(&e->env, n, sizeof *e->two_steps, err);
    int code = e->log_degree && e->inverse && e->two_steps ? 0 : NPGNN_E_MEMORY;
    code = npi_comm_agree(env->comm, code, err);
    if (!code)
        code = npi_spectral_new(&s, a, env, err);
    if (!code) {
        code = bank_new(&e->region, e, s.width, err);
        e->length16 = npi_alloc(&e->env, own_rows(e), sizeof *e->length16, err);
        e->reach = npi_alloc(&e->env, own_rows(e), sizeof *e->reach, err);
        code = npi_comm_agree(env->comm, e->length16 && e->reach ? code : NPGNN_E_MEMORY, err);
    }
    if (!code) {
        e->coordinate = (npi_bank){.width = s.width, .row = s.vectors}; /* in place */
        s.vectors = NULL;
        double ends = (double)a->ptr[e->n]; /* 2m */
        int32_t linked = 0;
        for (size_t i = 0; i < n; i++)
            linked += a->ptr[i + 1] > a->ptr[i];
        e->mean_degree = linked > 0 ? ends / linked : 0;
        for (int c = 0; c < s.width; c++) {
            double lambda = fmax(-1, fmin(1, s.values[c]));
            e->value[c] = s.values[c];
            e->spectral[c] = (float)(ends * s.values[c]);
            e->pagerank[c] = (float)(ends / (1 - 0.9 * lambda));
        }
        for (size_t i = 0; i < n; i++) {
            int64_t degree = a->ptr[i + 1] - a->ptr[i];
            e->log_degree[i] = (float)log1p((double)degree);
            e->inverse[i] = degree > 0 ? 1 / (double)degree : 0;
            e->two_steps[i] = -1;
        }
        for (size_t i = 0; i < own_rows(e); i++)
            for (int c = 0; c < s.width; c++) {
                size_t cell = i * (size_t)s.width + (size_t)c;
                e->region.row[cell] = (real)((double)e->coordinate.row[cell] * s.values[c]);
                e->coordinate.row[cell] *= s.scale[i];
            }
        npi_unit_rows(e->region.row, (int32_t)own_rows(e), e->region.width);
        measure_rows(e, 0, (int32_t)own_rows(e));
    }
    npi_spectral_free(&e->env, &s);
    return code;
}

/* ---- features ---- */

/* Regressions on the features of the nodes with links, in closed form, G = Fᵀ F over them:
 *
 *     regions    B = (G + r I)⁻¹ Fᵀ Y                       Y unit rows of the regions;       prediction F B
 *     bilinear   K = n (G + r I)⁻¹ Fᵀ Ã F (G + r I)⁻¹       Ã = D^-½ A D^-½, K symmetric;     score F_i K F_j */
typedef struct regression {
    const real *features; /* (r, k) F; the r nodes of this process */
    int k;
    real *known;                            /* (r, k) F, zero for nodes without links; and, after that, */
    real *spread;                           /* (r, k) Ã F in the same memory */
    real *small;                            /* (k, widest) */
    real *scratch;                          /* of tall products */
    double *gram, *factor, *right, *turned; /* (k, widest) */
} regression;

static int regression_new(regression *out, const real *features, int k, const npi_columns *e, npgnn_error *err)
{
    const npgnn_env *env = &e->env;
    int widest = k > e->region.width ? k : e->region.width;
    size_t cells = (size_t)k * (size_t)widest;
    regression r = {.features = features, .k = k};
    r.known = npi_alloc(env, own_rows(e) * (size_t)k, sizeof *r.known, err);
    r.spread = r.known;
    r.small = npi_alloc(env, cells, sizeof *r.small, err);
    r.scratch = npi_alloc(env, npi_gemm_parts_scratch(&e->rows, k, widest), sizeof *r.scratch, err);
    r.gram = npi_alloc(env, 4 * cells, sizeof *r.gram, err);
    *out = r;
    if (!r.known || !r.small || !r.scratch || !r.gram)
        return NPGNN_E_MEMORY;
    out->factor = r.gram + cells;
    out->right = r.gram + 2 * cells;
    out->turned = r.gram + 3 * cells;
    return 0;
}

static void regression_free(const npgnn_env *env, regression *r)
{
    npi_free(env, r->known);
    npi_free(env, r->small);
    npi_free(env, r->scratch);
    npi_free(env, r->gram);
}

/* right (k, w) = Aᵀ B in double, A (r, k) and B (r, w), over the nodes of all processes */
static void tall(regression *r, const real *a, const real *b, int w, const npi_columns *e)
{
    memset(r->small, 0, (size_t)r->k * (size_t)w * sizeof *r->small);
    npi_gemm_parts(r->small, a, r->k, b, w, &e->rows, r->k, w, r->scratch, e->env.threads);
    for (int c = 0; c < r->k * w; c++)
        r->right[c] = (double)r->small[c];
}

/* factor = the Cholesky factor of G + ridge mean(diag G) I */
static void factorize(regression *r, double ridge)
{
    double trace = 0;
    for (int c = 0; c < r->k; c++)
        trace += r->gram[c * r->k + c];
    memcpy(r->factor, r->gram, (size_t)r->k * (size_t)r->k * sizeof *r->gram);
    for (int c = 0; c < r->k; c++)
        r->factor[c * r->k + c] += ridge * (trace / r->k + 1e-9);
    npi_cholesky(r->factor, r->k, 1e-12);
}

/* D^-½; 0 without links */
static real scale_of_links(int64_t degree, double given)
{
    (void)given;
    return degree > 0 ? (real)sqrt(1 / (double)degree) : 0;
}

/* to_region = B and to_bilinear = K */
static int regress(npi_columns *e, npi_spread *links, npgnn_error *err)
{
    int k = e->features.width, w = e->region.width;
    const real *features = e->features.row;
    regression r;
    int code = npi_comm_agree(e->rows.comm, regression_new(&r, features, k, e, err), err);
    if (!code) {
        for (size_t i = 0; i < own_rows(e); i++) {
            if (e->inverse[(size_t)e->rows.from + i] > 0)
                memcpy(r.known + i * (size_t)k, features + i * (size_t)k, (size_t)k * sizeof *r.known);
        }
        tall(&r, r.known, r.known, k, e); /* G = Fᵀ F */
        memcpy(r.gram, r.right, (size_t)k * (size_t)k * sizeof *r.gram);

        factorize(&r, REGION_PENALTY);
        tall(&r, r.known, e->region.row, w, e); /* B = (G + r I)⁻¹ Fᵀ Y */
        npi_cholesky_solve(r.right, r.factor, k, w);
        for (int c = 0; c < k * w; c++)
            e->to_region[c] = (real)r.right[c];

        const real *scale = links->adj.scale;
        npi_spread_scale(links, scale_of_links, 0);
        npi_spread_mul(r.spread, links, features, k); /* Ã F = S (A + I) S F - S² F */
        for (size_t i = 0; i < own_rows(e); i++)
            for (size_t c = 0; c < (size_t)k; c++)
                r.spread[i * (size_t)k + c] -= scale[i] * scale[i] * features[i * (size_t)k + c];
        factorize(&r, BILINEAR_PENALTY);
        tall(&r, features, r.spread, k, e); /* K = n (G + r I)⁻¹ (Fᵀ Ã F) (G + r I)⁻¹, made symmetric */
        npi_cholesky_solve(r.right, r.factor, k, k);
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++)
                r.turned[i * k + j] = r.right[j * k + i];
        npi_cholesky_solve(r.turned, r.factor, k, k);
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++)
                e->to_bilinear[i * k + j] = (real)((r.turned[i * k + j] + r.turned[j * k + i]) / 2 * (double)e->n);
    }
    regression_free(&e->env, &r);
    return code;
}

/* The banks of the features in four groups, which need nothing of each other. Each process makes its rows; all return the
 * same code. */

/* What centred cosines of F, smooth1 and smooth2 need, of the rows first to last - 1. */
static void center_smooth(npi_columns *e, int32_t first, int32_t last)
{
    int k = e->features.width;
    npi_bank_center(&e->features, first, last);
    npi_bank_center(&e->smooth1, first, last);
    npi_bank_center(&e->smooth2, first, last);
    for (size_t i = (size_t)first; i < (size_t)last; i++) {
        e->features_along[i] = npi_dot(e->features.row + i * (size_t)k, e->smooth1.mean, k);
        e->smooth1_along[i] = npi_dot(e->smooth1.row + i * (size_t)k, e->features.mean, k);
    }
}

/* smooth1 and smooth2, and the means for centred cosines of them and of F. */
static int make_smooth(npi_columns *e, npi_spread *links, npgnn_error *err)
{
    int k = e->features.width, code = bank_new(&e->smooth1, e, k, err);
    npi_bank *banks[] = {&e->features, &e->smooth1, &e->smooth2};
    if (!code)
        code = bank_new(&e->smooth2, e, k, err);
    for (int b = 0; !code && b < 3; b++)
        code = centred_new(banks[b], e, err);
    e->features_along = npi_alloc(&e->env, centred_rows(e), sizeof *e->features_along, err);
    e->smooth1_along = npi_alloc(&e->env, centred_rows(e), sizeof *e->smooth1_along, err);
    if (!code && (!e->features_along || !e->smooth1_along))
        code = NPGNN_E_MEMORY;
    code = npi_comm_agree(e->rows.comm, code, err);
    if (code)
        return code;
    npi_spread_scale(links, npi_scale_padded, 1);              /* D̃^-½ */
    npi_spread_mul(e->smooth1.row, links, e->features.row, k); /* Â F */
    npi_spread_mul(e->smooth2.row, links, e->smooth1.row, k);  /* Â² F */
    npi_unit_rows(e->smooth1.row, (int32_t)own_rows(e), k);
    npi_unit_rows(e->smooth2.row, (int32_t)own_rows(e), k);
    for (int b = 0; b < 3; b++)
        find_mean(banks[b], e);
    e->cross_square = npi_dot(e->features.mean, e->smooth1.mean, k);
    center_smooth(e, 0, (int32_t)centred_rows(e));
    return 0;
}

/* bank (r, width) = in (r, k) factor (k, width) */
static int make_product(npi_bank *bank, const npi_bank *in, const real *factor, int width, const npi_columns *e,
                        npgnn_error *err)
{
    int k = in->width, code = npi_comm_agree(e->rows.comm, bank_new(bank, e, width, err), err);
    if (!code)
        npi_gemm_rows(bank->row, width, in->row, k, factor, width, 0, (int64_t)own_rows(e), width, k, 0,
                      e->env.threads);
    return code;
}

static int make_means(npi_columns *e, npi_spread *links, npgnn_error *err)
{
    int code = npi_comm_agree(e->rows.comm, bank_new(&e->means, e, e->features.width, err), err);
    if (code)
        return code;
    npi_spread_average(e->means.row, links, e->features.row, e->means.width);
    return make_product(&e->bilinear_means, &e->means, e->to_bilinear, e->means.width, e, err);
}

static int make_bilinear(npi_columns *e, npi_spread *links, npgnn_error *err)
{
    (void)links;
    return make_product(&e->bilinear, &e->features, e->to_bilinear, e->features.width, e, err);
}

static int make_ridge(npi_columns *e, npi_spread *links, npgnn_error *err)
{
    (void)links;
    int code = make_product(&e->ridge, &e->features, e->to_region, e->region.width, e, err);
    if (!code)
        npi_unit_rows(e->ridge.row, (int32_t)own_rows(e), e->ridge.width);
    return code;
}

typedef int make_fn(npi_columns *e, npi_spread *links, npgnn_error *err);
enum { SMOOTH_GROUP, MEANS_GROUP, BILINEAR_GROUP, RIDGE_GROUP, GROUPS };
static make_fn *const makers[GROUPS] = {make_smooth, make_means, make_bilinear, make_ridge};

/* With the communicator of the nodes. */
static npgnn_env shared_env(const npi_columns *e)
{
    npgnn_env env = e->env;
    env.comm = e->rows.comm;
    return env;
}

static int prepare_features(npi_columns *e, const npi_reduced *reduced, npi_spread *links, npgnn_error *err)
{
    size_t k = (size_t)reduced->width;
    e->features = (npi_bank){.width = reduced->width, .row = reduced->row};
    e->to_region = npi_alloc(&e->env, k * (size_t)e->region.width, sizeof *e->to_region, err);
    e->to_bilinear = npi_alloc(&e->env, k * k, sizeof *e->to_bilinear, err);
    int code = npi_comm_agree(e->rows.comm, e->to_region && e->to_bilinear ? 0 : NPGNN_E_MEMORY, err);
    if (!code)
        code = regress(e, links, err);
    for (int g = 0; !code && e->kept && g < GROUPS; g++)
        code = makers[g](e, links, err);
    e->has_features = !code;
    return code;
}

/* The length of the longest row, at least `most`. */
static double longest(double most, const npi_bank *bank, int32_t first, int32_t last)
{
    for (int32_t i = first; i < last; i++) {
        const real *row = bank->row + (size_t)i * (size_t)bank->width;
        most = fmax(most, sqrt(npi_dot(row, row, bank->width)));
    }
    return most;
}

void npi_columns_bound(npi_columns *e, int32_t first, int32_t last)
{
    if (e->count > NPI_COLUMNS) {
        e->longest_projection = longest(e->longest_projection, &e->projection, first, last);
        e->longest_projection_around = longest(e->longest_projection_around, &e->projection_around, first, last);
    }
    if (!e->has_features)
        return;
    for (int32_t i = first; i < last; i++) {
        const float distances[] = {e->features.distance[i], e->smooth1.distance[i], e->smooth2.distance[i]};
        for (int b = 0; b < 3; b++)
            if (distances[b] > 0)
                e->least_distance = fmin(e->least_distance, (double)distances[b]);
    }
    e->longest_bilinear = longest(e->longest_bilinear, &e->bilinear, first, last);
    e->longest_bilinear_means = longest(e->longest_bilinear_means, &e->bilinear_means, first, last);
}

enum { BOUNDS = 5 };
typedef struct bounds {
    double most[BOUNDS], own[BOUNDS];
} bounds;

static void widen_bounds(void *arg, int64_t first, int64_t last)
{
    bounds *b = arg;
    for (int64_t i = first; i < last; i++)
        b->most[i] = fmax(b->most[i], b->own[i]);
}

/* What rounding depends on, over the nodes of all processes. */
static void bound_all(npi_columns *e)
{
    npi_columns_bound(e, 0, (int32_t)own_rows(e));
    bounds b = {.own = {-e->least_distance, e->longest_bilinear, e->longest_bilinear_means, e->longest_projection,
                        e->longest_projection_around}};
    memcpy(b.most, b.own, sizeof b.most);
    npi_comm_chain(e->rows.comm, b.most, BOUNDS, sizeof *b.most, BOUNDS, widen_bounds, &b);
    e->least_distance = -b.most[0];
    e->longest_bilinear = b.most[1];
    e->longest_bilinear_means = b.most[2];
    e->longest_projection = b.most[3];
    e->longest_projection_around = b.most[4];
}

int npi_columns_new(npi_columns *out, const npi_csr *a, const npi_reduced *reduced, const npi_reduced *projection,
                    int keep, const npgnn_env *env, npgnn_error *err)
{
    npi_columns e = {.env = *env, .a = a, .n = a->rows, .count = NPI_COLUMNS, .capacity = a->rows, .least_distance = 1};
    npi_spread links = {0};
    int has_reduced = reduced && reduced->width > 0, has_projection = projection && projection->width > 0;
    e.rows = npi_partition_tall(a->rows, env->comm);
    e.kept = keep;
    e.env.comm = NULL;
    int code = npi_comm_agree(env->comm, npi_blas_open(env, err), err);
    if (!code)
        code = prepare_structure(&e, env, err);
    if (!code && (has_reduced || has_projection))
        code = npi_spread_new(&links, a, env, err);
    if (!code && has_reduced)
        code = prepare_features(&e, reduced, &links, err);
    if (!code && has_projection) {
        e.count = NPI_ALL_COLUMNS;
        if (reduced) {
            e.exact = reduced->exact;
            e.exact_t = reduced->exact_t;
            e.exact_x = reduced->exact_x;
            e.exact_weight = reduced->exact_weight;
        }
        e.projection = (npi_bank){.width = projection->width, .row = projection->row};
        e.before_around = (npi_bank){.width = projection->width, .row = projection->around};
        code = npi_comm_agree(env->comm, bank_new(&e.projection_around, &e, projection->width, err), err);
        if (!code) {
            npi_spread_scale(&links, npi_scale_padded, 1);
            npi_spread_mul(e.projection_around.row, &links, e.before_around.row, projection->width);
        }
    }
    npi_spread_free(&links);
    e.kept = keep || !e.has_features; /* without features there is nothing to save */
    if (!code && e.kept)
        bound_all(&e);
    if (code)
        npi_columns_free(&e);
    else
        *out = e;
    return code;
}

void npi_columns_measure(npi_columns *e, int32_t first, int32_t last)
{
    measure_rows(e, first, last);
    if (e->has_features)
        center_smooth(e, first, last);
}

/* Frees what the groups have made. */
static void free_features(npi_columns *e)
{
    e->features.row = NULL; /* borrowed */
    npi_bank *banks[] = {&e->features, &e->smooth1,        &e->smooth2, &e->means,
                         &e->bilinear, &e->bilinear_means, &e->ridge};
    for (size_t b = 0; b < sizeof banks / sizeof banks[0]; b++)
        bank_free(&e->env, banks[b]);
    npi_free(&e->env, e->features_along);
    npi_free(&e->env, e->smooth1_along);
}

int npi_columns_complete(npi_columns *e, npi_reduced *reduced, npgnn_error *err)
{
    npi_spread links = {0};
    npi_columns made = *e;
    const npgnn_env shared = shared_env(e);
    int code = 0;
    if (e->kept)
        return 0;
    made.kept = 1;
    if (e->has_features)
        code = npi_spread_new(&links, e->a, &shared, err);
    for (int g = 0; !code && e->has_features && g < GROUPS; g++)
        code = makers[g](&made, &links, err);
    npi_spread_free(&links);
    if (!code && e->exact_x && !e->exact_t.ptr) {
        code = e->rows.comm
                   ? npi_comm_agree(e->rows.comm, npi_reduced_index_exact(reduced, &e->rows, &e->env, err), err)
                   : npi_reduced_keep_exact(reduced, e->exact_x, &e->env, err);
        made.exact = reduced->exact;
        made.exact_t = reduced->exact_t;
    }
    if (code) {
        free_features(&made);
        return code;
    }
    bound_all(&made);
    *e = made;
    return 0;
}

void npi_columns_free(npi_columns *e)
{
    e->projection.row = e->before_around.row = NULL; /* borrowed */
    npi_bank *banks[] = {&e->region,     &e->region16,      &e->coordinate,
                         &e->projection, &e->before_around, &e->projection_around};
    free_features(e);
    for (size_t b = 0; b < sizeof banks / sizeof banks[0]; b++)
        bank_free(&e->env, banks[b]);
    npi_free(&e->env, e->log_degree);
    npi_free(&e->env, e->inverse);
    npi_free(&e->env, e->two_steps);
    npi_free(&e->env, e->to_region);
    npi_free(&e->env, e->to_bilinear);
    npi_free(&e->env, e->length16);
    npi_free(&e->env, e->reach);
    npi_spare_free(&e->env, e->spare);
    memset(e, 0, sizeof *e);
}

/* ---- from inner products to columns, for one pair ---- */

static double slog(double x)
{
    return x < 0 ? -log1p(-x) : log1p(x);
}

/* The inner products of the vectors of two nodes. */
enum {
    FEATURES,
    SMOOTH1,
    SMOOTH2,
    FEATURES_SMOOTH1, /* F_u · (Â F)_v */
    SMOOTH1_FEATURES,
    RIDGE_RIDGE,
    RIDGE_REGION,
    REGION_RIDGE,
    BILINEAR, /* F_u · (F K)_v */
    BILINEAR_MEANS,
    MEANS,
    FEATURE_PRODUCTS,
    REGION = FEATURE_PRODUCTS,
    REGION16,
    SPECTRAL,
    PAGERANK,
    PRODUCTS
};

typedef void columns_fn(float *value, const double *product, const npi_columns *e, int32_t u, int32_t v);

static void smooth_columns(float *value, const double *product, const npi_columns *e, int32_t u, int32_t v)
{
    const npi_bank *f = &e->features, *s1 = &e->smooth1, *s2 = &e->smooth2;
    value[NPI_COLUMN_FEATURES] = (float)product[FEATURES];
    value[NPI_COLUMN_SMOOTH1] = (float)product[SMOOTH1];
    value[NPI_COLUMN_SMOOTH2] = (float)product[SMOOTH2];
    value[NPI_COLUMN_CENTRED1] =
        (float)centred(product[SMOOTH1], s1->along[u], s1->along[v], s1->square, s1->distance[u], s1->distance[v]);
    value[NPI_COLUMN_CENTRED2] =
        (float)centred(product[SMOOTH2], s2->along[u], s2->along[v], s2->square, s2->distance[u], s2->distance[v]);
    double there = centred(product[FEATURES_SMOOTH1], e->features_along[u], e->smooth1_along[v], e->cross_square,
                           f->distance[u], s1->distance[v]);
    double back = centred(product[SMOOTH1_FEATURES], e->features_along[v], e->smooth1_along[u], e->cross_square,
                          f->distance[v], s1->distance[u]);
    value[NPI_COLUMN_CROSS] = (float)((there + back) / 2);
    value[NPI_COLUMN_HAS_FEATURES] = 1;
}

static void means_columns(float *value, const double *product, const npi_columns *e, int32_t u, int32_t v)
{
    (void)e, (void)u, (void)v;
    value[NPI_COLUMN_BILINEAR_MEANS] = (float)slog(product[BILINEAR_MEANS]);
    value[NPI_COLUMN_MEANS] = (float)product[MEANS];
}

static void bilinear_columns(float *value, const double *product, const npi_columns *e, int32_t u, int32_t v)
{
    (void)e, (void)u, (void)v;
    value[NPI_COLUMN_BILINEAR] = (float)slog(product[BILINEAR]);
}

static void ridge_columns(float *value, const double *product, const npi_columns *e, int32_t u, int32_t v)
{
    (void)e, (void)u, (void)v;
    value[NPI_COLUMN_RIDGE] = (float)product[RIDGE_RIDGE];
    value[NPI_COLUMN_CROSS_RIDGE] = (float)((product[RIDGE_REGION] + product[REGION_RIDGE]) / 2);
}

static columns_fn *const group_columns[GROUPS] = {smooth_columns, means_columns, bilinear_columns, ridge_columns};

static void structure_columns(float *value, const double *product, const npi_walks *walks, const npi_columns *e,
                              npgnn_pair pair, npgnn_pair place)
{
    int32_t u = pair.u, v = pair.v;
    float du = e->log_degree[u], dv = e->log_degree[v];
    int64_t ends = e->a->ptr[u + 1] - e->a->ptr[u] + e->a->ptr[v + 1] - e->a->ptr[v];
    float lengths = e->length16[place.u] * e->length16[place.v];
    value[NPI_COLUMN_DEGREE_SUM] = du + dv;
    value[NPI_COLUMN_DEGREE_DIFFERENCE] = fabsf(du - dv);
    value[NPI_COLUMN_DEGREE_LEAST] = du < dv ? du : dv;
    value[NPI_COLUMN_COMMON] = (float)sqrt((double)walks->common);
    value[NPI_COLUMN_JACCARD] =
        ends > walks->common ? (float)((double)walks->common / (double)(ends - walks->common)) : 0;
    for (int t = 0; t < NPI_WALK_LIFTS; t++)
        value[NPI_COLUMN_LIFT2 + t] = (float)log1p(walks->lift[t]);
    value[NPI_COLUMN_REGION16] = lengths > 1e-12f ? (float)(product[REGION16] / (double)lengths) : 0;
    value[NPI_COLUMN_REGION64] = (float)product[REGION];
    value[NPI_COLUMN_SPECTRAL] = (float)slog(product[SPECTRAL]);
    value[NPI_COLUMN_PAGERANK] = (float)slog(product[PAGERANK]);
}

/* ---- pairs ---- */

enum {
    CELLS = 4096,      /* pairs whose columns stay in a processor's cache */
    ALL_PRODUCTS = 17, /* of a node with another */
    MOST_PRODUCTS = 3, /* of those, with the rows of one bank */
    ONE_RANGE = 256,   /* nodes that one node meets at a time: their rows of one bank stay there, too */
    LISTED = 8,        /* doubles and floats of a node besides its rows: see partners */
    LISTED_FLOATS = 7
};

int npi_columns_workspace_new(npi_columns_workspace *out, const npi_columns *e, int block, npgnn_error *err)
{
    npi_columns_workspace w = {.block = block,
                               .range = block == 1  ? ONE_RANGE
                                        : block > 1 ? (CELLS + block - 1) / block
                                                    : 0};
    w.capacity = e->spare ? e->capacity : e->n;
    size_t rows = (size_t)block, n = e->rows.comm ? own_rows(e) : (size_t)w.capacity;
    int widest = e->features.width > e->region.width ? e->features.width : e->region.width;
    widest = e->projection.width > widest ? e->projection.width : widest;
    int code = npi_walker_new(&w.walker, e->a, e->inverse, e->two_steps, w.capacity, &e->env, err);
    if (!code && block > 0) {
        w.picked = npi_alloc(&e->env, (rows + MOST_PRODUCTS) * (size_t)widest, sizeof *w.picked, err);
        w.product = npi_alloc(&e->env, 2 * rows * (size_t)w.range, sizeof *w.product, err);
        w.left = npi_alloc(&e->env, ALL_PRODUCTS, NPI_SHORT_WIDTH * sizeof *w.left, err);
        w.unit = npi_alloc(&e->env, ALL_PRODUCTS, sizeof *w.unit, err);
        w.error = npi_alloc(&e->env, 2 * ALL_PRODUCTS, sizeof *w.error, err);
        w.listed = npi_alloc(&e->env, LISTED * (size_t)w.range, sizeof *w.listed, err);
        w.listed_floats = npi_alloc(&e->env, LISTED_FLOATS * (size_t)w.range, sizeof *w.listed_floats, err);
        w.common = npi_alloc(&e->env, rows * n, sizeof *w.common, err);
        w.jaccard = npi_alloc(&e->env, rows * n, sizeof *w.jaccard, err);
        w.lift = npi_alloc(&e->env, rows * n * NPI_WALK_LIFTS, sizeof *w.lift, err);
        w.overlap = e->exact_t.ptr ? npi_alloc(&e->env, rows * n, sizeof *w.overlap, err) : NULL;
        if (!w.picked || !w.product || !w.left || !w.unit || !w.error || !w.listed || !w.listed_floats || !w.common ||
            !w.jaccard || !w.lift || (e->exact_t.ptr && !w.overlap))
            code = NPGNN_E_MEMORY;
    }
    if (code)
        npi_columns_workspace_free(&e->env, &w);
    else
        *out = w;
    return code;
}

void npi_columns_workspace_free(const npgnn_env *env, npi_columns_workspace *w)
{
    npi_walker_free(env, &w->walker);
    npi_free(env, w->picked);
    npi_free(env, w->product);
    npi_free(env, w->left);
    npi_free(env, w->unit);
    npi_free(env, w->error);
    npi_free(env, w->listed);
    npi_free(env, w->listed_floats);
    npi_free(env, w->common);
    npi_free(env, w->jaccard);
    npi_free(env, w->lift);
    npi_free(env, w->overlap);
    memset(w, 0, sizeof *w);
}

/* Workspaces that are kept. Each slot is taken and filled by one atomic operation. */
enum { SLOTS = 16 };
struct npi_spare {
    _Atomic(npi_columns_workspace *) slot[SLOTS];
};

int npi_spare_new(struct npi_spare **out, const npgnn_env *env, npgnn_error *err)
{
    *out = npi_alloc(env, 1, sizeof **out, err);
    return *out ? 0 : NPGNN_E_MEMORY;
}

void npi_spare_free(const npgnn_env *env, struct npi_spare *spare)
{
    for (int i = 0; spare && i < SLOTS; i++) {
        npi_columns_workspace *w = atomic_load(&spare->slot[i]);
        if (w)
            npi_columns_workspace_free(env, w);
        npi_free(env, w);
    }
    npi_free(env, spare);
}

int npi_columns_workspace_take(npi_columns_workspace *out, const npi_columns *e, int block, npgnn_error *err)
{
    npi_columns_workspace *w = NULL;
    if (!e->spare || block > 1)
        return npi_columns_workspace_new(out, e, block, err);
    for (int i = 0; !w && i < SLOTS; i++)
        w = atomic_exchange(&e->spare->slot[i], NULL);
    if (!w)
        return npi_columns_workspace_new(out, e, 1, err); /* of one node: it serves pairs, too */
    *out = *w;
    npi_free(&e->env, w);
    if (out->capacity < e->n) { /* the graph has outgrown it */
        npi_columns_workspace_free(&e->env, out);
        return npi_columns_workspace_new(out, e, 1, err);
    }
    /* links and degrees may have changed since */
    out->walker.a = e->a;
    out->walker.inverse = e->inverse;
    out->walker.two_steps = e->two_steps;
    out->walker.source = -1;
    return 0;
}

void npi_columns_workspace_give(const npi_columns *e, npi_columns_workspace *w)
{
    npi_columns_workspace *kept = NULL;
    if (e->spare && w->block == 1 && (kept = npi_alloc(&e->env, 1, sizeof *kept, NULL))) {
        *kept = *w;
        for (int i = 0; kept && i < SLOTS; i++) {
            npi_columns_workspace *none = NULL;
            if (atomic_compare_exchange_strong(&e->spare->slot[i], &none, kept))
                return;
        }
        npi_free(&e->env, kept);
    }
    npi_columns_workspace_free(&e->env, w);
}

/* Row i of a bank. */
static const real *at(const npi_bank *bank, int32_t i)
{
    return bank->row + (size_t)i * (size_t)bank->width;
}

/* The inner products of a pair, each summed in double in the order of its terms, as npi_dot does: sums of large terms
 * cancel, and some are divided by small numbers. Those of equal length run side by side: a sum by itself waits for
 * every addition. */
static void feature_products(double *product, const npi_columns *e, int32_t u, int32_t v)
{
    double sum[FEATURE_PRODUCTS] = {0};
    const real *fu = at(&e->features, u), *s1u = at(&e->smooth1, u), *s2u = at(&e->smooth2, u);
    const real *fv = at(&e->features, v), *s1v = at(&e->smooth1, v), *s2v = at(&e->smooth2, v);
    const real *mu = at(&e->means, u), *mv = at(&e->means, v);
    const real *bv = at(&e->bilinear, v), *bmv = at(&e->bilinear_means, v);
    for (int c = 0; c < e->features.width; c++) {
        double f = (double)fu[c], s1 = (double)s1u[c], m = (double)mu[c];
        sum[FEATURES] += f * (double)fv[c];
        sum[SMOOTH1] += s1 * (double)s1v[c];
        sum[SMOOTH2] += (double)s2u[c] * (double)s2v[c];
        sum[FEATURES_SMOOTH1] += f * (double)s1v[c];
        sum[SMOOTH1_FEATURES] += s1 * (double)fv[c];
        sum[BILINEAR] += f * (double)bv[c];
        sum[BILINEAR_MEANS] += m * (double)bmv[c];
        sum[MEANS] += m * (double)mv[c];
    }
    const real *au = at(&e->ridge, u), *av = at(&e->ridge, v), *ru = at(&e->region, u), *rv = at(&e->region, v);
    for (int c = 0; c < e->region.width; c++) {
        double a = (double)au[c], b = (double)av[c];
        sum[RIDGE_RIDGE] += a * b;
        sum[RIDGE_REGION] += a * (double)rv[c];
        sum[REGION_RIDGE] += (double)ru[c] * b;
    }
    memcpy(product, sum, sizeof sum);
}

static void structure_products(double *product, const npi_columns *e, int32_t u, int32_t v)
{
    double sum[PRODUCTS] = {0};
    const real *ru = at(&e->region, u), *rv = at(&e->region, v), *cu = at(&e->coordinate, u),
               *cv = at(&e->coordinate, v);
    for (int c = 0; c < e->region.width; c++) {
        double both = (double)cu[c] * (double)cv[c];
        sum[REGION] += (double)ru[c] * (double)rv[c];
        sum[SPECTRAL] += both * (double)e->spectral[c];
        sum[PAGERANK] += both * (double)e->pagerank[c];
        if (c < 16)
            sum[REGION16] = sum[REGION];
    }
    memcpy(product + FEATURE_PRODUCTS, sum + FEATURE_PRODUCTS, (PRODUCTS - FEATURE_PRODUCTS) * sizeof *sum);
}

/* T_u · T_v: both rows are in ascending order of their columns. */
static double overlap(const npi_csr *t, int32_t u, int32_t v)
{
    int64_t p = t->ptr[u], q = t->ptr[v];
    double sum = 0;
    while (p < t->ptr[u + 1] && q < t->ptr[v + 1]) {
        int32_t a = t->col[p], b = t->col[q];
        if (a == b)
            sum += (double)t->val[p] * (double)t->val[q];
        p += a <= b;
        q += b <= a;
    }
    return sum;
}

/* The columns of a pair, u <= v, besides those of the groups of features, which are there. `place` has the rows of the
 * two nodes in the banks, and where their lengths are. */
static void finish_pair(float *value, npi_columns_workspace *w, const npi_columns *e, npgnn_pair pair, npgnn_pair place)
{
    double product[PRODUCTS];
    npi_walks walks = npi_walks_pair(&w->walker, pair);
    int own = e->projection.width;
    structure_products(product, e, place.u, place.v);
    structure_columns(value, product, &walks, e, pair, place);
    if (e->count > NPI_COLUMNS) {
        value[NPI_COLUMN_OVERLAP] = e->exact.ptr ? (float)overlap(&e->exact, pair.u, pair.v)
                                    : e->exact_x
                                        ? (float)npi_reduced_overlap(e->exact_x, e->exact_weight, pair.u, pair.v)
                                        : value[NPI_COLUMN_FEATURES];
        value[NPI_COLUMN_PROJECTION] = (float)npi_dot(at(&e->projection, place.u), at(&e->projection, place.v), own);
        value[NPI_COLUMN_PROJECTION_AROUND] =
            (float)npi_dot(at(&e->projection_around, place.u), at(&e->projection_around, place.v), own);
    }
}

static npgnn_pair ascending(npgnn_pair pair)
{
    return pair.u < pair.v ? pair : (npgnn_pair){pair.v, pair.u};
}

void npi_columns_pair_at(float *value, npi_columns_workspace *w, const npi_columns *e, npgnn_pair pair,
                         npgnn_pair place)
{
    double product[FEATURE_PRODUCTS];
    if (pair.v < pair.u) { /* sums are in the same order for both directions */
        pair = (npgnn_pair){pair.v, pair.u};
        place = (npgnn_pair){place.v, place.u};
    }
    assert(e->kept);
    memset(value, 0, (size_t)e->count * sizeof *value);
    if (e->has_features)
        feature_products(product, e, place.u, place.v);
    for (int g = 0; e->has_features && g < GROUPS; g++)
        group_columns[g](value, product, e, place.u, place.v);
    finish_pair(value, w, e, pair, place);
}

void npi_columns_pair(float *value, npi_columns_workspace *w, const npi_columns *e, npgnn_pair pair)
{
    npi_columns_pair_at(value, w, e, pair, pair);
}

/* See npi_columns_prefetch; `place` as for finish_pair. */
static void prefetch(const npi_columns *e, npgnn_pair pair, npgnn_pair place, int ahead)
{
    enum { LINE = 64, MOST_NEIGHBOURS = 32 }; /* bytes that come at a time */
    const npi_csr *a = e->a;
    const npi_bank *banks[] = {
        &e->features,   &e->smooth1,    &e->smooth2,           &e->means,    &e->ridge,         &e->region,
        &e->coordinate, &e->projection, &e->projection_around, &e->bilinear, &e->bilinear_means};
    enum { BANKS = sizeof banks / sizeof banks[0], OF_LARGER = 2 }; /* the last two are read of the larger node only */
    pair = ascending(pair);
    place = ascending(place); /* places ascend as nodes do */
    for (int end = 0; end < 2; end++) {
        int32_t node = end == 0 ? pair.u : pair.v, row = end == 0 ? place.u : place.v;
        int64_t begin = a->ptr[node], last = a->ptr[node + 1];
        last = last - begin < MOST_NEIGHBOURS ? last : begin + MOST_NEIGHBOURS;
        for (int b = 0; ahead == NPI_AHEAD && b < BANKS - (end == 0) * OF_LARGER; b++)
            for (size_t byte = 0; banks[b]->row && byte < (size_t)banks[b]->width * sizeof(real); byte += LINE)
                __builtin_prefetch((const char *)at(banks[b], row) + byte);
        if (ahead == NPI_AHEAD)
            __builtin_prefetch(a->col + begin);
        for (int64_t p = begin; ahead == 2 && p < last; p++)
            __builtin_prefetch(a->ptr + a->col[p]);
        for (int64_t p = begin; ahead == 1 && p < last; p++)
            for (int64_t q = a->ptr[a->col[p]]; q < a->ptr[a->col[p] + 1]; q += LINE / (int64_t)sizeof *a->col)
                __builtin_prefetch(a->col + q);
    }
}

void npi_columns_prefetch(const npi_columns *e, npgnn_pair pair, int ahead)
{
    prefetch(e, pair, pair, ahead);
}

typedef struct pairs_loop {
    float *value;
    const npi_columns *e;
    const npgnn_pair *pairs;
    const npgnn_pair *places; /* where the rows of their nodes are; `pairs` where the rows of all nodes are there */
    int group;                /* of features; GROUPS: the other columns, or all where everything is kept */
    npi_columns_workspace *workspace; /* (threads) */
} pairs_loop;

/* The columns of all features that are kept, and of everything else. */
static void pairs_range(const void *arg, int64_t first, int64_t last)
{
    const pairs_loop *l = arg;
    for (int64_t i = first - NPI_AHEAD; i < last; i++) {
        for (int ahead = 1; ahead <= NPI_AHEAD; ahead++)
            if (i + ahead >= first && i + ahead < last)
                prefetch(l->e, l->pairs[i + ahead], l->places[i + ahead], ahead);
        if (i < first)
            continue;
        float *value = l->value + i * l->e->count;
        npi_columns_workspace *w = &l->workspace[npi_worker()];
        if (l->e->kept)
            npi_columns_pair(value, w, l->e, l->pairs[i]);
        else
            finish_pair(value, w, l->e, ascending(l->pairs[i]), ascending(l->places[i]));
    }
}

/* The columns of one group of features, whose rows are at hand. */
static void group_range(const void *arg, int64_t first, int64_t last)
{
    const pairs_loop *l = arg;
    const npi_columns *e = l->e;
    const struct {
        int group, product;
        const npi_bank *left, *right;
    } all[] = {
        {SMOOTH_GROUP, FEATURES, &e->features, &e->features},
        {SMOOTH_GROUP, SMOOTH1, &e->smooth1, &e->smooth1},
        {SMOOTH_GROUP, SMOOTH2, &e->smooth2, &e->smooth2},
        {SMOOTH_GROUP, FEATURES_SMOOTH1, &e->features, &e->smooth1},
        {SMOOTH_GROUP, SMOOTH1_FEATURES, &e->smooth1, &e->features},
        {MEANS_GROUP, BILINEAR_MEANS, &e->means, &e->bilinear_means},
        {MEANS_GROUP, MEANS, &e->means, &e->means},
        {BILINEAR_GROUP, BILINEAR, &e->features, &e->bilinear},
        {RIDGE_GROUP, RIDGE_RIDGE, &e->ridge, &e->ridge},
        {RIDGE_GROUP, RIDGE_REGION, &e->ridge, &e->region},
        {RIDGE_GROUP, REGION_RIDGE, &e->region, &e->ridge},
    };
    for (int64_t i = first; i < last; i++) {
        npgnn_pair place = ascending(l->places[i]);
        double product[FEATURE_PRODUCTS];
        for (size_t p = 0; p < sizeof all / sizeof all[0]; p++)
            if (all[p].group == l->group)
                product[all[p].product] =
                    npi_dot(at(all[p].left, place.u), at(all[p].right, place.v), all[p].right->width);
        group_columns[l->group](l->value + i * e->count, product, e, place.u, place.v);
    }
}

/* What a batch of pairs needs where nodes are divided among processes. */
enum { MOST_BANKS = 4 };
typedef struct fetched {
    npi_endpoints ends;
    real *row[MOST_BANKS]; /* (ends.most, widest) the rows of the banks of a group */
    double *along;   /* (5, ends.most) what centred cosines need: along of three banks, and two with the mean of */
    float *distance; /* (3, ends.most) the other bank; and distance */
    float *length16; /* (ends.most) */
} fetched;

static int fetched_new(fetched *out, const npi_columns *e, npgnn_error *err)
{
    int widest = e->features.width > e->region.width ? e->features.width : e->region.width;
    widest = e->projection.width > widest ? e->projection.width : widest;
    int code = npi_endpoints_new(&out->ends, &e->rows, widest, &e->env, err);
    for (int b = 0; !code && b < MOST_BANKS; b++)
        if (!(out->row[b] = npi_resize(&e->env, NULL, (size_t)out->ends.most * (size_t)widest, sizeof(real), err)))
            code = NPGNN_E_MEMORY;
    size_t most = (size_t)out->ends.most;
    if (!code && (!(out->length16 = npi_resize(&e->env, NULL, most, sizeof *out->length16, err)) ||
                  !(out->along = npi_resize(&e->env, NULL, 5 * most, sizeof *out->along, err)) ||
                  !(out->distance = npi_resize(&e->env, NULL, 3 * most, sizeof *out->distance, err))))
        code = NPGNN_E_MEMORY;
    return code;
}

static void fetched_free(const npgnn_env *env, fetched *f)
{
    npi_endpoints_free(&f->ends);
    for (int b = 0; b < MOST_BANKS; b++)
        npi_free(env, f->row[b]);
    npi_free(env, f->length16);
    npi_free(env, f->along);
    npi_free(env, f->distance);
}

/* Lets columns, whose rows are those of the ends, have what centred cosines need of them. */
static void center_ends(npi_columns *at_hand, const fetched *f)
{
    npi_bank *banks[] = {&at_hand->features, &at_hand->smooth1, &at_hand->smooth2};
    size_t most = (size_t)f->ends.most;
    for (size_t b = 0; b < sizeof banks / sizeof banks[0]; b++) {
        banks[b]->along = f->along + b * most;
        banks[b]->distance = f->distance + b * most;
    }
    at_hand->features_along = f->along + 3 * most;
    at_hand->smooth1_along = f->along + 4 * most;
    center_smooth(at_hand, 0, f->ends.count);
}

/* The banks that the columns of a group are computed from. Returns how many. */
static int banks_of(npi_bank *banks[MOST_BANKS], npi_columns *e, int group)
{
    npi_bank *const all[GROUPS + 1][MOST_BANKS] = {
        [SMOOTH_GROUP] = {&e->features, &e->smooth1, &e->smooth2},
        [MEANS_GROUP] = {&e->means, &e->bilinear_means},
        [BILINEAR_GROUP] = {&e->features, &e->bilinear},
        [RIDGE_GROUP] = {&e->ridge, &e->region},
        [GROUPS] = {&e->region, &e->coordinate, &e->projection, &e->projection_around},
    };
    int count = 0;
    while (count < MOST_BANKS && all[group][count] && all[group][count]->width > 0) {
        banks[count] = all[group][count];
        count++;
    }
    return count;
}

/* The columns of a group, for all pairs. Where nodes are divided, the rows of the ends are fetched for a batch of pairs
 * at a time, as often as some process has pairs left. */
static int run_group(const pairs_loop *all, size_t pair_count, fetched *f, npgnn_error *err)
{
    const npi_columns *e = all->e;
    npi_body *range = all->group == GROUPS ? pairs_range : group_range;
    if (!e->rows.comm) {
        npi_parallel(e->env.threads, (int64_t)pair_count, 64, range, all);
        return 0;
    }
    for (size_t done = 0, size; npi_comm_any(e->rows.comm, done < pair_count); done += size) {
        size = pair_count - done < NPI_ENDPOINTS_BATCH ? pair_count - done : NPI_ENDPOINTS_BATCH;
        int code = npi_endpoints_plan(&f->ends, all->pairs + done, size, err);
        if (code)
            return code;
        npi_columns at_hand = *e;
        npi_bank *banks[MOST_BANKS];
        npi_bank *features[] = {&at_hand.features, &at_hand.smooth1,        &at_hand.smooth2, &at_hand.means,
                                &at_hand.bilinear, &at_hand.bilinear_means, &at_hand.ridge};
        int count = banks_of(banks, &at_hand, all->group);
        for (int b = 0; b < count; b++) {
            npi_endpoints_fetch(f->row[b], &f->ends, banks[b]->row, banks[b]->width);
            banks[b]->row = f->row[b];
        }
        at_hand.length16 = f->length16;
        at_hand.kept = 0; /* of these nodes, only the rows of this group are there */
        for (size_t b = 0; all->group == GROUPS && b < sizeof features / sizeof features[0]; b++)
            features[b]->row = NULL;
        if (all->group == SMOOTH_GROUP)
            center_ends(&at_hand, f);
        for (int32_t i = 0; all->group == GROUPS && i < f->ends.count; i++)
            at_hand.length16[i] = length16_of(&at_hand.region, i);
        pairs_loop batch = *all;
        batch.value += done * (size_t)e->count;
        batch.e = &at_hand;
        batch.pairs += done;
        batch.places = f->ends.places;
        npi_parallel(e->env.threads, (int64_t)size, 64, range, &batch);
    }
    return 0;
}

/* Makes the banks of the features of e group by group, has the columns of all pairs computed, and frees their rows: the
 * same bits as of all banks at once. Rows of this process that are kept are only fetched. */
static int run_features(npi_columns *e, pairs_loop *loop, size_t pair_count, fetched *f, npgnn_error *err)
{
    npi_bank *banks[] = {&e->smooth1, &e->smooth2, &e->means, &e->bilinear_means, &e->bilinear, &e->ridge};
    const npgnn_env shared = shared_env(e);
    npi_spread links = {0};
    int code = e->kept ? 0 : npi_spread_new(&links, e->a, &shared, err);
    for (int g = 0; !code && g < GROUPS; g++) {
        loop->group = g;
        code = e->kept ? 0 : makers[g](e, &links, err);
        if (!code)
            code = run_group(loop, pair_count, f, err);
        for (size_t b = 0; !e->kept && b < sizeof banks / sizeof banks[0]; b++) {
            npi_free(&e->env, banks[b]->row);
            banks[b]->row = NULL;
        }
    }
    e->features.row = NULL; /* borrowed; nothing that follows reads it */
    npi_spread_free(&links);
    return code;
}

int npi_columns_pairs(float *value, const npi_columns *given, const npgnn_pair *pairs, size_t pair_count,
                      npgnn_error *err)
{
    int threads = given->env.threads, by_group = given->has_features && (!given->kept || given->rows.comm);
    npi_columns made = *given; /* with the banks that are made for these pairs */
    fetched f = {0};
    npi_columns_workspace *w = npi_alloc(&made.env, (size_t)threads, sizeof *w, err);
    pairs_loop loop = {value, &made, pairs, pairs, GROUPS, w};
    int code = w ? 0 : NPGNN_E_MEMORY;
    if (!code && made.rows.comm)
        code = fetched_new(&f, &made, err);
    code = npi_comm_agree(made.rows.comm, code, err);
    if (!code && (!made.kept || made.rows.comm))
        memset(value, 0, pair_count * (size_t)made.count * sizeof *value);
    if (!code && by_group)
        code = run_features(&made, &loop, pair_count, &f, err);
    for (int t = 0; t < threads && !code; t++)
        code = npi_columns_workspace_take(&w[t], &made, 0, err);
    code = npi_comm_agree(made.rows.comm, code, err);
    loop.group = GROUPS;
    if (!code)
        code = run_group(&loop, pair_count, &f, err);
    for (int t = 0; w && t < threads; t++)
        npi_columns_workspace_give(&made, &w[t]);
    if (by_group && !made.kept)
        free_features(&made);
    fetched_free(&made.env, &f);
    npi_free(&made.env, w);
    return code;
}

/* ---- rows ---- */

void npi_columns_rounding(double *rounding, const npi_columns *e, double unit)
{
    double least = e->least_distance; /* centring divides by distances, which are seldom small */
    for (int c = 0; c < e->count; c++)
        rounding[c] = unit;
    rounding[NPI_COLUMN_CENTRED1] = rounding[NPI_COLUMN_CENTRED2] = rounding[NPI_COLUMN_CROSS] = unit / (least * least);
    rounding[NPI_COLUMN_BILINEAR] = unit * e->longest_bilinear;
    rounding[NPI_COLUMN_BILINEAR_MEANS] = unit * e->longest_bilinear_means;
    if (e->count > NPI_COLUMNS) {
        rounding[NPI_COLUMN_PROJECTION] = unit * pow(e->longest_projection, 2);
        rounding[NPI_COLUMN_PROJECTION_AROUND] = unit * pow(e->longest_projection_around, 2);
    }
}

double npi_columns_rounding_along(const npi_columns *e, int column, int32_t u, double unit)
{
    const float *weight = column == NPI_COLUMN_SPECTRAL ? e->spectral : e->pagerank;
    const real *row = at(&e->coordinate, u);
    double square = 0;
    for (int c = 0; c < e->coordinate.width; c++)
        square += pow((double)row[c] * (double)weight[c], 2);
    return unit * sqrt(square);
}

/* out (n) = T T_u, feature by feature of u */
static void overlap_row(double *out, const npi_csr *t, const npi_csr *by_column, int32_t u)
{
    memset(out, 0, (size_t)t->rows * sizeof *out);
    for (int64_t p = t->ptr[u]; p < t->ptr[u + 1]; p++) {
        int32_t c = t->col[p];
        double value = (double)t->val[p];
        for (int64_t q = by_column->ptr[c]; q < by_column->ptr[c + 1]; q++)
            out[by_column->col[q]] += value * (double)by_column->val[q];
    }
}

/* A product of the nodes at hand with the rows of a bank: plane (count, range) = left rows, times `weight` (NULL: 1),
 * with right rows, in the first `width` numbers of each. */
typedef struct product {
    const npi_bank *left, *right;
    const float *weight;
    int plane; /* a column, or one of those below */
    int width;
} product;

enum { BACK = NPI_ALL_COLUMNS, FROM_REGION, PLANES }; /* of CROSS and of CROSS_RIDGE, the other direction */

/* All products, those with one bank next to each other: its rows are read once. rounded: 1 if rounded rows are
 * multiplied. */
static int list_products(product *out, const npi_columns *e, int rounded)
{
    int k = e->features.width, d = e->region.width, own = e->projection.width, count = 0;
    const product of_features[] = {
        {&e->features, &e->features, NULL, NPI_COLUMN_FEATURES, k},
        {&e->bilinear, &e->features, NULL, NPI_COLUMN_BILINEAR, k}, /* K is symmetric: F_u K F_j = (F K)_u · F_j */
        {&e->smooth1, &e->features, NULL, BACK, k},
        {&e->smooth1, &e->smooth1, NULL, NPI_COLUMN_SMOOTH1, k},
        {&e->features, &e->smooth1, NULL, NPI_COLUMN_CROSS, k},
        {&e->smooth2, &e->smooth2, NULL, NPI_COLUMN_SMOOTH2, k},
        {&e->means, &e->means, NULL, NPI_COLUMN_MEANS, k},
        {&e->bilinear_means, &e->means, NULL, NPI_COLUMN_BILINEAR_MEANS, k},
        {&e->ridge, &e->ridge, NULL, NPI_COLUMN_RIDGE, d},
        {&e->region, &e->ridge, NULL, FROM_REGION, d},
        {&e->ridge, &e->region, NULL, NPI_COLUMN_CROSS_RIDGE, d},
    };
    const product of_structure[] = {
        {&e->region, &e->region, NULL, NPI_COLUMN_REGION64, d},
        {&e->region, rounded ? &e->region16 : &e->region, NULL, NPI_COLUMN_REGION16, d < 16 ? d : 16},
        {&e->coordinate, &e->coordinate, e->spectral, NPI_COLUMN_SPECTRAL, d},
        {&e->coordinate, &e->coordinate, e->pagerank, NPI_COLUMN_PAGERANK, d},
    };
    const product of_projection[] = {
        {&e->projection, &e->projection, NULL, NPI_COLUMN_PROJECTION, own},
        {&e->projection_around, &e->projection_around, NULL, NPI_COLUMN_PROJECTION_AROUND, own},
    };
    for (size_t i = 0; e->has_features && i < sizeof of_features / sizeof of_features[0]; i++)
        out[count++] = of_features[i];
    for (size_t i = 0; i < sizeof of_structure / sizeof of_structure[0]; i++)
        out[count++] = of_structure[i];
    for (size_t i = 0; e->count > NPI_COLUMNS && i < sizeof of_projection / sizeof of_projection[0]; i++)
        out[count++] = of_projection[i];
    return count;
}

/* vector (width) = the left vector of a product, for one node. */
static void pick(real *vector, const product *p, int32_t node)
{
    for (int c = 0; c < p->width; c++)
        vector[c] = at(p->left, node)[c] * (p->weight ? (real)p->weight[c] : 1);
}

void npi_columns_rows_begin(npi_columns_workspace *w, const npi_columns *e, const int32_t *nodes, const int32_t *places,
                            int count)
{
    size_t n = own_rows(e);
    w->nodes = nodes;
    w->places = places;
    w->count = count;
    for (int r = 0; r < count; r++) {
        float *common = w->common + (size_t)r * n, *jaccard = w->jaccard + (size_t)r * n;
        double *lift = w->lift + (size_t)r * NPI_WALK_LIFTS * n;
        if (e->rows.comm)
            npi_walks_part(common, lift, &w->walker, nodes[r], e->rows.from, e->rows.to);
        else
            npi_walks_row(common, lift, &w->walker, nodes[r]);
        memset(jaccard, 0, n * sizeof *jaccard);
        int64_t degree = e->a->ptr[nodes[r] + 1] - e->a->ptr[nodes[r]];
        for (int32_t i = 0; i < w->walker.count; i++) { /* the others have no neighbours in common */
            int32_t node = w->walker.reached[i], j = node - e->rows.from;
            if (node < e->rows.from || node >= e->rows.to)
                continue;
            jaccard[j] = common[j] / ((float)(degree + e->a->ptr[node + 1] - e->a->ptr[node]) - common[j]);
            common[j] = sqrtf(common[j]);
        }
    }
    for (int r = 0; e->exact_t.ptr && r < count; r++) {
        double *row = w->overlap + (size_t)r * n;
        if (e->exact.ptr)
            overlap_row(row, &e->exact, &e->exact_t, nodes[r]);
        else
            npi_reduced_overlap_row(row, &e->exact_t, e->exact_x, e->exact_weight, nodes[r]);
    }
}

/* What the columns need of the other nodes besides their rows. */
typedef struct partners {
    int count;
    const double *smooth1_along, *smooth2_along;  /* (count) of the banks, */
    const double *features_cross, *smooth1_cross; /* (count) and with the mean of the other bank */
    const float *features_distance, *smooth1_distance, *smooth2_distance; /* (count) */
    const float *log_degree, *length16;                                   /* (count) */
    /* and of the walks to them, from the first of the nodes at hand; those from the next are `stride` numbers on, its
     * lifts 3 strides */
    const float *common, *jaccard;      /* (count) */
    const double *lift[NPI_WALK_LIFTS]; /* (count) */
    const double *overlap;              /* (count), or NULL */
    size_t stride;
} partners;

/* Of the rows first to last - 1 of this process. */
static partners partners_of_range(const npi_columns_workspace *w, const npi_columns *e, int32_t first, int32_t last)
{
    size_t n = own_rows(e);
    partners p = {.count = last - first,
                  .log_degree = e->log_degree + e->rows.from + first,
                  .length16 = e->length16 + first,
                  .common = w->common + first,
                  .jaccard = w->jaccard + first,
                  .overlap = e->exact_t.ptr ? w->overlap + first : NULL,
                  .stride = n};
    for (size_t t = 0; t < NPI_WALK_LIFTS; t++)
        p.lift[t] = w->lift + t * n + (size_t)first;
    if (e->has_features) {
        p.smooth1_along = e->smooth1.along + first;
        p.smooth2_along = e->smooth2.along + first;
        p.features_cross = e->features_along + first;
        p.smooth1_cross = e->smooth1_along + first;
        p.features_distance = e->features.distance + first;
        p.smooth1_distance = e->smooth1.distance + first;
        p.smooth2_distance = e->smooth2.distance + first;
    }
    return p;
}

static const double *gather_doubles(double **to, const double *from, const int32_t *list, int count)
{
    double *out = *to;
    for (int i = 0; i < count; i++)
        out[i] = from[list[i]];
    *to += count;
    return out;
}

static const float *gather_floats(float **to, const float *from, const int32_t *list, int count)
{
    float *out = *to;
    for (int i = 0; i < count; i++)
        out[i] = from[list[i]];
    *to += count;
    return out;
}

/* Of a list of nodes, with one node at hand. */
static partners partners_of_list(npi_columns_workspace *w, const npi_columns *e, const int32_t *list, int count)
{
    double *to = w->listed;
    float *floats = w->listed_floats;
    partners p = {.count = count,
                  .log_degree = gather_floats(&floats, e->log_degree, list, count),
                  .length16 = gather_floats(&floats, e->length16, list, count),
                  .common = gather_floats(&floats, w->common, list, count),
                  .jaccard = gather_floats(&floats, w->jaccard, list, count),
                  .overlap = e->exact_t.ptr ? gather_doubles(&to, w->overlap, list, count) : NULL};
    for (size_t t = 0; t < NPI_WALK_LIFTS; t++)
        p.lift[t] = gather_doubles(&to, w->lift + t * (size_t)e->n, list, count);
    if (e->has_features) {
        p.smooth1_along = gather_doubles(&to, e->smooth1.along, list, count);
        p.smooth2_along = gather_doubles(&to, e->smooth2.along, list, count);
        p.features_cross = gather_doubles(&to, e->features_along, list, count);
        p.smooth1_cross = gather_doubles(&to, e->smooth1_along, list, count);
        p.features_distance = gather_floats(&floats, e->features.distance, list, count);
        p.smooth1_distance = gather_floats(&floats, e->smooth1.distance, list, count);
        p.smooth2_distance = gather_floats(&floats, e->smooth2.distance, list, count);
    }
    return p;
}

/* The planes of `count` products with one bank. Those of one node are computed together, and without BLAS, which would
 * copy the range first. */
static void multiply(real *const *plane, npi_columns_workspace *w, const product *products, int count, int32_t first,
                     int32_t last)
{
    const npi_bank *right = products->right;
    int width = products->width;
    real *out[MOST_PRODUCTS];
    for (int p = 0; p < count; p++) {
        real *picked = w->count == 1 ? w->picked + p * width : w->picked;
        out[p] = plane[products[p].plane];
        for (int r = 0; r < w->count; r++)
            pick(picked + r * width, &products[p], w->places[r]);
        if (w->count > 1)
            npi_gemm(out[p], last - first, picked, width, 0, at(right, first), right->width, 1, w->count, last - first,
                     width, 1, 0); /* L_nodes R_rangeᵀ */
    }
    if (w->count == 1)
        npi_kernels_best()->row_products(out, w->picked, count, at(right, first), NULL, last - first, width,
                                         right->width);
}

/* The same with the rounded rows of the range. left (count, NPI_SHORT_WIDTH) and unit (count): the left vectors. */
static void multiply_rounded(real *const *plane, const int16_t *left, const float *unit, const product *products,
                             int count, int32_t first, int32_t last)
{
    const npi_bank *right = products->right;
    int width = npi_short_width(right);
    real *out[MOST_PRODUCTS];
    for (int p = 0; p < count; p++)
        out[p] = plane[products[p].plane];
    npi_kernels_best()->integer_products(out, left, unit, count, right->rounded + (size_t)first * (size_t)width,
                                         right->unit + first, last - first, width);
}

/* x (count) = a row of products with node u, centred. */
static void centre_row(real *x, const npi_bank *b, int32_t u, const double *along, const float *distance, int count)
{
    npi_kernels_best()->centre(x, along, distance, (real)(b->square - b->along[u]), (real)b->distance[u], count);
}

/* The feature columns from their products; back (cells) and region_ridge (cells) are those of the other direction. */
static void finish_features(real *value, real *back, const real *region_ridge, const npi_columns_workspace *w,
                            const npi_columns *e, const partners *others)
{
    int range = others->count, cells = w->count * range;
    real *plane[NPI_COLUMNS];
    for (int c = 0; c < NPI_COLUMNS; c++)
        plane[c] = value + (size_t)c * (size_t)cells;
    const npi_bank *f = &e->features, *s1 = &e->smooth1;
    memcpy(plane[NPI_COLUMN_CENTRED1], plane[NPI_COLUMN_SMOOTH1], (size_t)cells * sizeof *value);
    memcpy(plane[NPI_COLUMN_CENTRED2], plane[NPI_COLUMN_SMOOTH2], (size_t)cells * sizeof *value);
    for (int r = 0; r < w->count; r++) {
        int32_t u = w->places[r];
        size_t row = (size_t)r * (size_t)range;
        centre_row(plane[NPI_COLUMN_CENTRED1] + row, s1, u, others->smooth1_along, others->smooth1_distance, range);
        centre_row(plane[NPI_COLUMN_CENTRED2] + row, &e->smooth2, u, others->smooth2_along, others->smooth2_distance,
                   range);
        real *cross = plane[NPI_COLUMN_CROSS] + row;
        /* F_u with (Â F)_j, and (Â F)_u with F_j */
        npi_kernels_best()->centre(cross, others->smooth1_cross, others->smooth1_distance,
                                   (real)(e->cross_square - e->features_along[u]), (real)f->distance[u], range);
        npi_kernels_best()->centre(back + row, others->features_cross, others->features_distance,
                                   (real)(e->cross_square - e->smooth1_along[u]), (real)s1->distance[u], range);
        for (int32_t j = 0; j < range; j++)
            cross[j] = (cross[j] + back[row + (size_t)j]) / 2;
    }
    for (int i = 0; i < cells; i++)
        plane[NPI_COLUMN_CROSS_RIDGE][i] = (plane[NPI_COLUMN_CROSS_RIDGE][i] + region_ridge[i]) / 2;
    npi_kernels_best()->slog(plane[NPI_COLUMN_BILINEAR], cells);
    npi_kernels_best()->slog(plane[NPI_COLUMN_BILINEAR_MEANS], cells);
    for (int i = 0; i < cells; i++)
        plane[NPI_COLUMN_HAS_FEATURES][i] = 1;
}

/* The other columns, from the products that are in them and from the walks of each node. */
static void finish_structure(real *value, const npi_columns_workspace *w, const npi_columns *e, const partners *others)
{
    int range = others->count, cells = w->count * range;
    real *plane[NPI_COLUMNS];
    for (int r = 0; r < w->count; r++) {
        int32_t u = w->nodes[r], place = w->places[r];
        size_t on = (size_t)r * others->stride;
        for (int c = 0; c < NPI_COLUMNS; c++)
            plane[c] = value + (size_t)c * (size_t)cells + (size_t)r * (size_t)range;
        npi_kernels_best()->degrees(plane[NPI_COLUMN_DEGREE_SUM], plane[NPI_COLUMN_DEGREE_DIFFERENCE],
                                    plane[NPI_COLUMN_DEGREE_LEAST], others->log_degree, e->log_degree[u], range);
        npi_kernels_best()->divide(plane[NPI_COLUMN_REGION16], others->length16, e->length16[place], 1e-12f, range);
        for (int j = 0; j < range; j++) {
            plane[NPI_COLUMN_COMMON][j] = (real)others->common[on + (size_t)j];
            plane[NPI_COLUMN_JACCARD][j] = (real)others->jaccard[on + (size_t)j];
        }
        for (int t = 0; t < NPI_WALK_LIFTS; t++)
            for (int j = 0; j < range; j++)
                plane[NPI_COLUMN_LIFT2 + t][j] = (real)others->lift[t][NPI_WALK_LIFTS * on + (size_t)j];
    }
    for (int t = 0; t < NPI_WALK_LIFTS; t++)
        npi_kernels_best()->slog(value + (size_t)(NPI_COLUMN_LIFT2 + t) * (size_t)cells, cells);
    npi_kernels_best()->slog(value + (size_t)NPI_COLUMN_SPECTRAL * (size_t)cells, cells);
    npi_kernels_best()->slog(value + (size_t)NPI_COLUMN_PAGERANK * (size_t)cells, cells);
}

/* value (columns, cells), back (cells) and from_region (cells): where the planes of products are. */
static void place(real *plane[PLANES], real *value, const npi_columns_workspace *w, const npi_columns *e, size_t cells)
{
    for (int c = 0; c < e->count; c++)
        plane[c] = value + (size_t)c * cells;
    plane[BACK] = w->product;
    plane[FROM_REGION] = w->product + cells;
}

/* All columns, once the products are in their planes. */
static void finish(real *value, real *const *plane, const npi_columns_workspace *w, const npi_columns *e,
                   const partners *others)
{
    int range = others->count;
    size_t cells = (size_t)w->count * (size_t)range;
    if (e->has_features) {
        finish_features(value, plane[BACK], plane[FROM_REGION], w, e, others);
    } else {
        memset(value, 0, NPI_FEATURE_COLUMNS * cells * sizeof *value);
        memset(plane[NPI_COLUMN_HAS_FEATURES], 0, cells * sizeof *value);
    }
    finish_structure(value, w, e, others);
    for (int r = 0; e->count > NPI_COLUMNS && e->exact_t.ptr && r < w->count; r++)
        for (int j = 0; j < range; j++)
            plane[NPI_COLUMN_OVERLAP][r * range + j] = (real)others->overlap[(size_t)r * others->stride + (size_t)j];
    if (e->count > NPI_COLUMNS && !e->exact_t.ptr)
        memcpy(plane[NPI_COLUMN_OVERLAP], plane[NPI_COLUMN_FEATURES], cells * sizeof *value);
}

/* How many of the products from `from` on, of which there are `most`, are with the same rows: at least 1. */
static int with_same_rows(const product *from, int most)
{
    int count = 1;
    while (count < most && from[count].right == from->right && from[count].width == from->width)
        count++;
    return count;
}

void npi_columns_rows(real *value, npi_columns_workspace *w, const npi_columns *e, int32_t first, int32_t last)
{
    real *plane[PLANES];
    product products[ALL_PRODUCTS];
    int all = list_products(products, e, 0);
    place(plane, value, w, e, (size_t)w->count * (size_t)(last - first));
    for (int p = 0, count; p < all; p += count) {
        count = with_same_rows(&products[p], all - p);
        multiply(plane, w, &products[p], count, first, last);
    }
    const partners others = partners_of_range(w, e, first, last);
    finish(value, plane, w, e, &others);
}

void npi_columns_list(real *value, npi_columns_workspace *w, const npi_columns *e, const int32_t *list, int count)
{
    real *plane[PLANES];
    product products[ALL_PRODUCTS];
    int all = list_products(products, e, 0);
    place(plane, value, w, e, (size_t)count);
    for (int p = 0, together; p < all; p += together) {
        const npi_bank *right = products[p].right;
        int width = products[p].width;
        real *out[MOST_PRODUCTS];
        together = with_same_rows(&products[p], all - p);
        for (int i = 0; i < together; i++) {
            out[i] = plane[products[p + i].plane];
            pick(w->picked + i * width, &products[p + i], w->places[0]);
        }
        npi_kernels_best()->row_products(out, w->picked, together, right->row, list, count, width, right->width);
    }
    const partners others = partners_of_list(w, e, list, count);
    finish(value, plane, w, e, &others);
}

/* ---- rows of integers ---- */

/* 1 / x; 0 for 0, where a column is 0 rather than divided */
static double inverse_of(float x)
{
    return x > 0 ? 1 / (double)x : 0;
}

/* Whether a column is slog of its product. */
static int is_slog(int plane)
{
    return plane == NPI_COLUMN_BILINEAR || plane == NPI_COLUMN_BILINEAR_MEANS || plane == NPI_COLUMN_SPECTRAL ||
           plane == NPI_COLUMN_PAGERANK;
}

void npi_columns_rounded_begin(npi_columns_workspace *w, const npi_columns *e, const double *weight)
{
    product products[ALL_PRODUCTS];
    int32_t u = w->places[0];
    int all = list_products(products, e, 1);
    int copied = e->count > NPI_COLUMNS && !e->exact_t.ptr; /* OVERLAP is FEATURES */
    for (int p = 0; p < all; p++) {
        real vector[NPI_SHORT_WIDTH];
        /* what an error of 1 in the product counts: as it is, and where a column divides it by a length or distance of
         * the row */
        double plain = 0, divided = 0;
        int plane = products[p].plane;
        w->error[2 * p] = w->error[2 * p + 1] = 0;
        if (!products[p].right->rounded)
            continue;
        if (plane == NPI_COLUMN_FEATURES)
            plain = weight[plane] + (copied ? weight[NPI_COLUMN_OVERLAP] : 0);
        else if (plane == NPI_COLUMN_SMOOTH1 || plane == NPI_COLUMN_SMOOTH2) {
            plain = weight[plane];
            divided = weight[plane == NPI_COLUMN_SMOOTH1 ? NPI_COLUMN_CENTRED1 : NPI_COLUMN_CENTRED2] *
                      inverse_of(products[p].right->distance[u]);
        } else if (plane == NPI_COLUMN_CROSS)
            divided = weight[NPI_COLUMN_CROSS] / 2 * inverse_of(e->features.distance[u]);
        else if (plane == BACK)
            divided = weight[NPI_COLUMN_CROSS] / 2 * inverse_of(e->smooth1.distance[u]);
        else if (plane == NPI_COLUMN_CROSS_RIDGE || plane == FROM_REGION)
            plain = weight[NPI_COLUMN_CROSS_RIDGE] / 2;
        else if (plane == NPI_COLUMN_REGION16)
            divided = weight[plane] * inverse_of(e->length16[u]);
        else
            plain = weight[plane];
        pick(vector, &products[p], u);
        npi_short_round(w->left + p * NPI_SHORT_WIDTH, &w->unit[p], vector, products[p].width);
        double length = sqrt(npi_dot(vector, vector, products[p].width)) * 1.001; /* the rounded vector may be longer */
        w->error[2 * p] = (float)(plain * length);
        w->error[2 * p + 1] = (float)(is_slog(plane) ? length : divided * length);
    }
}

void npi_columns_rounded(real *value, real *error, npi_columns_workspace *w, const npi_columns *e, int32_t first,
                         int32_t last)
{
    real *plane[PLANES];
    product products[ALL_PRODUCTS];
    int all = list_products(products, e, 1), range = last - first;
    assert(first % NPI_SHORT_GROUP == 0);
    place(plane, value, w, e, (size_t)range);
    memset(error, 0, (size_t)range * sizeof *error);
    for (int p = 0, count; p < all; p += count) {
        const npi_bank *right = products[p].right;
        const float *distance = right == &e->region16 ? e->length16 : right->distance;
        float plain = 0, divided = 0;
        count = with_same_rows(&products[p], all - p);
        if (!right->rounded) {
            multiply(plane, w, &products[p], count, first, last);
            continue;
        }
        multiply_rounded(plane, w->left + p * NPI_SHORT_WIDTH, w->unit + p, &products[p], count, first, last);
        for (int i = p; i < p + count; i++) {
            float one = right->off * w->error[2 * i], other = right->off * w->error[2 * i + 1];
            if (is_slog(products[i].plane)) /* its error is small where the product is large */
                npi_kernels_best()->add_slog_errors(error, right->unit + first, one, other, plane[products[i].plane],
                                                    range);
            else {
                plain += one;
                divided += other;
            }
        }
        npi_kernels_best()->add_errors(error, right->unit + first, plain, distance ? distance + first : NULL, divided,
                                       range);
    }
    const partners others = partners_of_range(w, e, first, last);
    finish(value, plane, w, e, &others);
}
