#include "evidence/columns.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "evidence/regress.h"
#include "evidence/vectors.h"
#include "linalg/blas.h"

static size_t own_rows(const npi_columns *e)
{
    return (size_t)(e->rows.to - e->rows.from);
}

/* ---- what the links alone say ---- */

/* log(1 + d), 1 / d; no two-step neighbourhood is counted yet. */
static int new_degrees(npi_columns *e, npgnn_error *err)
{
    size_t n = (size_t)e->n;
    e->log_degree = npi_alloc(&e->env, n, sizeof *e->log_degree, err);
    e->inverse = npi_alloc(&e->env, n, sizeof *e->inverse, err);
    e->two_steps = npi_alloc(&e->env, n, sizeof *e->two_steps, err);
    if (!e->log_degree || !e->inverse || !e->two_steps)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < n; i++) {
        int64_t degree = e->a->ptr[i + 1] - e->a->ptr[i];
        e->log_degree[i] = (float)log1p((double)degree);
        e->inverse[i] = degree > 0 ? 1 / (double)degree : 0;
        e->two_steps[i] = -1;
    }
    return 0;
}

static int32_t count_linked(const npi_csr *a)
{
    int32_t linked = 0;
    for (int32_t i = 0; i < a->rows; i++)
        linked += a->ptr[i + 1] > a->ptr[i];
    return linked;
}

/* Weights of products of spectral coordinates: 2m λ and 2m / (1 - 0.9 λ). */
static void weigh_coordinates(npi_columns *e, const npi_spectral *s)
{
    double link_ends = (double)e->a->ptr[e->n]; /* 2m */
    int32_t linked = count_linked(e->a);
    e->mean_degree = linked > 0 ? link_ends / linked : 0; /* d̄ */
    for (int c = 0; c < s->width; c++) {
        /* |λ| <= 1, since the rows of D_pad⁻¹ (A + I) sum to (d + 1) / (d + d̄) <= 1 for d̄ >= 1; but λ is rounded. The
         * resolvent is then at most 2m · 10. */
        double lambda = fmax(-1, fmin(1, s->values[c]));
        e->value[c] = s->values[c];
        e->weight[NPI_PLAIN][c] = 1;
        e->weight[NPI_EIGENVALUE][c] = (float)(link_ends * s->values[c]);
        e->weight[NPI_RESOLVENT][c] = (float)(link_ends / (1 - 0.9 * lambda));
    }
}

/* coordinate = s u, region = λ u made unit length, region16 = the first 16 numbers of that. Takes the vectors of s. */
static void fill_spectral_banks(npi_columns *e, npi_spectral *s)
{
    npi_bank *coordinate = &e->bank[NPI_BANK_COORDINATE], *region = &e->bank[NPI_BANK_REGION];
    size_t width = (size_t)s->width;
    coordinate->row = s->vectors;
    s->vectors = NULL;
    for (size_t i = 0; i < own_rows(e); i++)
        for (size_t c = 0; c < width; c++) {
            size_t cell = i * width + c;
            /* region_i = λ ⊙ u_i first: coordinate_i = s_i u_i takes the place of u_i */
            region->row[cell] = (real)((double)coordinate->row[cell] * s->values[c]);
            coordinate->row[cell] *= s->scale[i];
        }
    npi_unit_rows(region->row, (int32_t)own_rows(e), s->width);
    e->bank[NPI_BANK_REGION16].row = region->row;
    npi_banks_measure(e->bank, NPI_GROUP_STRUCTURE, 0, (int32_t)own_rows(e));
}

/* The banks of regions and coordinates. Collective. */
static int new_spectral_banks(npi_columns *e, const npgnn_env *env, npgnn_error *err)
{
    npi_spectral s = {0};
    int code = npi_spectral_new(&s, e->a, env, err);
    if (code)
        return code;
    npi_bank *first16 = &e->bank[NPI_BANK_REGION16], *coordinate = &e->bank[NPI_BANK_COORDINATE];
    e->bank[NPI_BANK_REGION] = npi_bank_empty(NPI_BANK_REGION, s.width);
    *coordinate = npi_bank_empty(NPI_BANK_COORDINATE, s.width);
    *first16 = npi_bank_empty(NPI_BANK_REGION16, s.width < 16 ? s.width : 16);
    first16->stride = s.width; /* row i is the beginning of row i of REGION */
    first16->is_borrowed = 1;
    code = npi_bank_allocate(&e->bank[NPI_BANK_REGION], own_rows(e), &e->env, err);
    first16->distance = npi_alloc(&e->env, own_rows(e), sizeof *first16->distance, err);
    coordinate->distance = npi_alloc(&e->env, own_rows(e), sizeof *coordinate->distance, err);
    code = npi_comm_agree(env->comm, first16->distance && coordinate->distance ? code : NPGNN_E_MEMORY, err);
    if (!code) {
        weigh_coordinates(e, &s);
        fill_spectral_banks(e, &s);
    }
    npi_spectral_free(&e->env, &s);
    return code;
}

/* ---- banks ---- */

/* What banks are made from: with these products with the graph. */
static npi_bank_source source_of(const npi_columns *e, npi_spread *links, int measured)
{
    return (npi_bank_source){.env = &e->env,
                             .rows = &e->rows,
                             .links = links,
                             .to_region = e->to_region,
                             .kernel = e->kernel,
                             .measured = measured};
}

int npi_columns_make_group(npi_bank banks[NPI_BANKS], const npi_columns *e, npi_group group, npi_spread *links,
                           npgnn_error *err)
{
    /* rows that are fetched for every batch are measured then */
    const npi_bank_source source = source_of(e, links, !e->rows.comm || e->kept);
    return npi_banks_make(banks, group, &source, err);
}

int npi_columns_widest(const npi_columns *e)
{
    int widest = 1;
    for (int b = 0; b < NPI_BANKS; b++)
        widest = e->bank[b].width > widest ? e->bank[b].width : widest;
    return widest;
}

static void borrow(npi_columns *e, npi_bank_id bank, int width, real *row)
{
    e->bank[bank] = npi_bank_empty(bank, width);
    e->bank[bank].row = row;
    e->bank[bank].is_borrowed = 1;
}

/* The regressions and, if they are kept, the banks of the features. Collective. */
static int new_feature_banks(npi_columns *e, npi_spread *links, npgnn_error *err)
{
    const npi_reduced *reduced = e->reduced;
    size_t k = (size_t)reduced->width, d = (size_t)e->bank[NPI_BANK_REGION].width;
    for (int b = 0; b < NPI_BANKS; b++)
        if (npi_bank_specs[b].group < NPI_FEATURE_GROUPS)
            e->bank[b] = npi_bank_empty((npi_bank_id)b, npi_bank_specs[b].width == NPI_WIDTH_REDUCED ? (int)k : (int)d);
    /* B and K are kept even where the banks are not: they are small, and cost a pass over all nodes */
    borrow(e, NPI_BANK_FEATURES, reduced->width, reduced->row);
    e->to_region = npi_alloc(&e->env, k * d, sizeof *e->to_region, err);
    e->kernel = npi_alloc(&e->env, k * k, sizeof *e->kernel, err);
    int code = npi_comm_agree(e->rows.comm, e->to_region && e->kernel ? 0 : NPGNN_E_MEMORY, err);
    if (!code)
        code = npi_regress(e->to_region, e->kernel, &e->bank[NPI_BANK_FEATURES], &e->bank[NPI_BANK_REGION], e->inverse,
                           links, &e->rows, &e->env, err);
    for (int g = 0; !code && e->kept && g < NPI_FEATURE_GROUPS; g++)
        code = npi_columns_make_group(e->bank, e, (npi_group)g, links, err);
    return code;
}

static int new_projection_banks(npi_columns *e, npi_spread *links, npgnn_error *err)
{
    int width = e->projection->width;
    borrow(e, NPI_BANK_PROJECTION, width, e->projection->row);
    borrow(e, NPI_BANK_NEIGHBOR_PROJECTION, width, e->projection->neighbor_row);
    e->bank[NPI_BANK_SMOOTH_PROJECTION] = npi_bank_empty(NPI_BANK_SMOOTH_PROJECTION, width);
    return npi_columns_make_group(e->bank, e, NPI_GROUP_STRUCTURE, links, err);
}

/* ---- bounds of rows ---- */

void npi_columns_bound(npi_columns *e, int32_t first, int32_t last)
{
    for (int b = 0; b < NPI_BANKS; b++)
        if (e->bank[b].row)
            npi_bank_bound(&e->bank[b], &e->least_distance, npi_bank_specs[b].flags, first, last);
}

typedef struct bounds {
    double most[NPI_BANKS + 1], own[NPI_BANKS + 1]; /* the longest row of each bank, and minus the least distance */
} bounds;

static void widen_bounds(void *arg, int64_t first, int64_t last)
{
    bounds *b = arg;
    for (int64_t i = first; i < last; i++)
        b->most[i] = fmax(b->most[i], b->own[i]);
}

/* npi_columns_bound over the nodes of all processes. */
static void bound_all(npi_columns *e)
{
    bounds b;
    npi_columns_bound(e, 0, (int32_t)own_rows(e));
    for (int i = 0; i < NPI_BANKS; i++)
        b.own[i] = e->bank[i].longest;
    /* min x = -max(-x): one chain finds all bounds */
    b.own[NPI_BANKS] = -e->least_distance;
    memcpy(b.most, b.own, sizeof b.most);
    npi_comm_chain(e->rows.comm, b.most, NPI_BANKS + 1, sizeof *b.most, NPI_BANKS + 1, widen_bounds, &b);
    for (int i = 0; i < NPI_BANKS; i++)
        e->bank[i].longest = b.most[i];
    e->least_distance = -b.most[NPI_BANKS];
}

/* ---- making and freeing ---- */

static void make_plan(npi_columns *e)
{
    int has_projection = e->projection != NULL;
    npi_plan_make(&e->plan, e->has_features, has_projection, has_projection && e->reduced && e->reduced->tfidf.x);
}

int npi_columns_new(npi_columns *out, const npi_csr *a, npi_reduced *reduced, npi_reduced *projection, int keep,
                    const npgnn_env *env, npgnn_error *err)
{
    npi_spread links = {0};
    npi_columns *e = out;
    *e = (npi_columns){.env = *env, .a = a, .n = a->rows, .capacity = a->rows, .least_distance = 1};
    e->rows = npi_partition_tall(a->rows, env->comm);
    /* what is collective gets the caller's env; all other calls are of this process alone */
    e->env.comm = NULL;
    e->reduced = reduced && reduced->width > 0 ? reduced : NULL;
    e->projection = projection && projection->width > 0 ? projection : NULL;
    e->has_features = e->reduced != NULL;
    e->kept = keep || !e->has_features; /* without features there is nothing to save */
    make_plan(e);
    int code = npi_comm_agree(env->comm, npi_blas_open(env, err), err);
    if (!code)
        code = npi_comm_agree(env->comm, new_degrees(e, err), err);
    if (!code) /* before the features, whose regression B predicts the rows of REGION */
        code = new_spectral_banks(e, env, err);
    if (!code && (e->reduced || e->projection))
        code = npi_spread_new(&links, a, env, err);
    if (!code && e->reduced)
        code = new_feature_banks(e, &links, err);
    if (!code && e->projection)
        code = new_projection_banks(e, &links, err);
    npi_spread_free(&links);
    if (!code && e->kept)
        bound_all(e);
    if (code)
        npi_columns_free(e);
    else
        npi_banks_view(&e->view, e->bank);
    return code;
}

void npi_columns_measure(npi_columns *e, int32_t first, int32_t last)
{
    for (int g = 0; g < NPI_GROUPS; g++)
        npi_banks_measure(e->bank, (npi_group)g, first, last);
}

int npi_columns_complete(npi_columns *e, npgnn_error *err)
{
    npi_spread links = {0};
    npgnn_env shared = e->env;
    int code = 0;
    if (e->kept)
        return 0;
    shared.comm = e->rows.comm;
    e->kept = 1; /* set first: npi_columns_make_group measures the rows of banks that are kept */
    code = npi_spread_new(&links, e->a, &shared, err);
    for (int g = 0; !code && g < NPI_FEATURE_GROUPS; g++)
        code = npi_columns_make_group(e->bank, e, (npi_group)g, &links, err);
    npi_spread_free(&links);
    if (!code && e->projection)
        code = e->rows.comm
                   ? npi_comm_agree(e->rows.comm, npi_tfidf_index(&e->reduced->tfidf, &e->rows, &e->env, err), err)
                   : npi_tfidf_keep(&e->reduced->tfidf, &e->env, err);
    if (code) { /* as before the call: pairs can still be computed, group by group */
        for (int g = 0; g < NPI_FEATURE_GROUPS; g++)
            npi_banks_release(e->bank, (npi_group)g, &e->env);
        e->kept = 0;
        return code;
    }
    bound_all(e);
    npi_banks_view(&e->view, e->bank);
    return 0;
}

void npi_columns_free(npi_columns *e)
{
    npi_banks_free(e->bank, &e->env);
    npi_free(&e->env, e->log_degree);
    npi_free(&e->env, e->inverse);
    npi_free(&e->env, e->two_steps);
    npi_free(&e->env, e->to_region);
    npi_free(&e->env, e->kernel);
    npi_spare_free(&e->env, e->spare);
    memset(e, 0, sizeof *e);
}
