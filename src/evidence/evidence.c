#include "evidence/evidence.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "evidence/cosine.h"
#include "evidence/paths.h"

/* ---- the columns ---- */

/* A column of one pair, `walk` (n) being zero before and after; and of nodes[0 .. count) with all nodes: value (count, n). */
typedef double pair_fn(const npi_evidence *e, npgnn_pair pair, double *walk);
typedef void rows_fn(real *value, npi_evidence_desk *desk, const npi_evidence *e, const int32_t *nodes, int count);

static double cosine_pair(const npi_evidence *e, npgnn_pair pair, double *walk)
{
    (void)walk;
    return npi_cosine_pair(e->x, e->norm, pair);
}

static void cosine_rows(real *value, npi_evidence_desk *desk, const npi_evidence *e, const int32_t *nodes, int count)
{
    npi_cosine_rows(value, e->x, e->norm, nodes, count, desk->picked, desk->sum);
}

static double degrees_pair(const npi_evidence *e, npgnn_pair pair, double *walk)
{
    (void)walk;
    return e->excess[pair.u] + e->excess[pair.v];
}

static void degrees_rows(real *value, npi_evidence_desk *desk, const npi_evidence *e, const int32_t *nodes, int count)
{
    (void)desk;
    for (int r = 0; r < count; r++)
        for (int32_t i = 0; i < e->a->rows; i++)
            *value++ = (real)(e->excess[nodes[r]] + e->excess[i]);
}

/* Sums of shares of degrees are small and skewed: a root spreads them. */
static double damp(double sum)
{
    return sqrt(sum);
}

static double neighbors_pair(const npi_evidence *e, npgnn_pair pair, double *walk)
{
    (void)walk;
    return damp(npi_paths_two(e->a, e->share, pair));
}

static double paths_pair(const npi_evidence *e, npgnn_pair pair, double *walk)
{
    return damp(npi_paths_three(walk, e->a, e->share, pair));
}

/* value (n): the sums of one node, which become zero again */
static void take_sums(real *value, double *sum, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        value[i] = sum[i] > 0 ? (real)damp(sum[i]) : 0;
        sum[i] = 0;
    }
}

static void neighbors_rows(real *value, npi_evidence_desk *desk, const npi_evidence *e, const int32_t *nodes, int count)
{
    for (int r = 0; r < count; r++) {
        npi_paths_two_row(desk->sum, e->a, e->share, nodes[r]);
        take_sums(value + (size_t)r * (size_t)e->a->rows, desk->sum, e->a->rows);
    }
}

static void paths_rows(real *value, npi_evidence_desk *desk, const npi_evidence *e, const int32_t *nodes, int count)
{
    for (int r = 0; r < count; r++) {
        npi_paths_three_row(desk->sum, desk->walk, e->a, e->share, nodes[r]);
        take_sums(value + (size_t)r * (size_t)e->a->rows, desk->sum, e->a->rows);
    }
}

static double regions_pair(const npi_evidence *e, npgnn_pair pair, double *walk)
{
    (void)walk;
    return npi_regions_pair(&e->regions, pair);
}

static void regions_rows(real *value, npi_evidence_desk *desk, const npi_evidence *e, const int32_t *nodes, int count)
{
    npi_regions_rows(value, &e->regions, nodes, count, e->a->rows, desk->picked);
}

static const struct {
    const char *name;
    pair_fn *pair;
    rows_fn *rows;
} columns[NPI_EVIDENCE_COLUMNS] = {
    [NPI_EVIDENCE_COSINE] = {"cosine", cosine_pair, cosine_rows},
    [NPI_EVIDENCE_DEGREES] = {"degrees", degrees_pair, degrees_rows},
    [NPI_EVIDENCE_NEIGHBORS] = {"neighbors", neighbors_pair, neighbors_rows},
    [NPI_EVIDENCE_PATHS] = {"paths", paths_pair, paths_rows},
    [NPI_EVIDENCE_REGIONS] = {"regions", regions_pair, regions_rows},
};

const char *npi_evidence_name(int column)
{
    return columns[column].name;
}

unsigned npi_evidence_asked(npgnn_evidence evidence)
{
    const unsigned all = (1u << NPI_EVIDENCE_COLUMNS) - 1, features = 1u << NPI_EVIDENCE_COSINE;
    switch (evidence) {
    case NPGNN_EVIDENCE_NONE:
        return 0;
    case NPGNN_EVIDENCE_FEATURES:
        return features;
    case NPGNN_EVIDENCE_STRUCTURE:
        return all & ~features;
    case NPGNN_EVIDENCE_ALL:
        break;
    }
    return all;
}

unsigned npi_evidence_weighed(const npi_weights *weights)
{
    unsigned set = 0;
    for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++)
        set |= (unsigned)(weights->column[c] > 0) << c;
    return set;
}

/* ---- making ---- */

static int64_t degree(const npi_csr *a, int32_t node)
{
    return a->ptr[node + 1] - a->ptr[node];
}

/* A node without links is new: that says nothing about how many it will have, so it counts as average. */
static void fill_excess(double *excess, const npi_csr *a)
{
    double sum = 0;
    int32_t linked = 0;
    for (int32_t i = 0; i < a->rows; i++) {
        excess[i] = log1p((double)degree(a, i));
        sum += excess[i];
        linked += degree(a, i) > 0;
    }
    for (int32_t i = 0; i < a->rows; i++)
        excess[i] = degree(a, i) > 0 ? excess[i] - sum / linked : 0;
}

static int uses(const npi_evidence *e, int column)
{
    for (int c = 0; c < e->count; c++)
        if (e->column[c] == column)
            return 1;
    return 0;
}

static int fill(npi_evidence *e, npgnn_error *err)
{
    size_t n = (size_t)e->a->rows;
    e->norm = npi_alloc(&e->env, n, sizeof *e->norm, err);
    e->excess = npi_alloc(&e->env, n, sizeof *e->excess, err);
    e->share = npi_alloc(&e->env, n, sizeof *e->share, err);
    e->walks = npi_alloc(&e->env, (size_t)e->env.threads * n, sizeof *e->walks, err);
    if (!e->norm || !e->excess || !e->share || !e->walks)
        return NPGNN_E_MEMORY;
    npi_cosine_norms(e->norm, e->x, e->env.threads);
    fill_excess(e->excess, e->a);
    for (int32_t i = 0; i < e->a->rows; i++)
        e->share[i] = degree(e->a, i) > 0 ? 1 / (double)degree(e->a, i) : 0;
    return uses(e, NPI_EVIDENCE_REGIONS) ? npi_regions_new(&e->regions, e->a, &e->env, err) : 0;
}

int npi_evidence_new(npi_evidence *out, unsigned set, const npi_csr *a, npi_features *x, const npgnn_env *env,
                     npgnn_error *err)
{
    npi_evidence e = {.env = *env, .a = a, .x = x};
    for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++)
        if (set >> c & 1)
            e.column[e.count++] = c;
    int code = e.count > 0 ? fill(&e, err) : 0;
    if (code)
        npi_evidence_free(&e);
    else
        *out = e;
    return code;
}

void npi_evidence_free(npi_evidence *e)
{
    npi_free(&e->env, e->norm);
    npi_free(&e->env, e->excess);
    npi_free(&e->env, e->share);
    npi_free(&e->env, e->walks);
    npi_regions_free(&e->env, &e->regions);
    memset(e, 0, sizeof *e);
}

/* ---- pairs ---- */

typedef struct column_loop {
    float *column;
    npi_evidence *e;
    const npgnn_pair *pairs;
    pair_fn *pair;
} column_loop;

static void fill_column(const void *arg, int64_t first, int64_t last)
{
    const column_loop *l = arg;
    double *walks = l->e->walks + (size_t)npi_worker() * (size_t)l->e->a->rows;
    for (int64_t i = first; i < last; i++)
        l->column[i] = (float)l->pair(l->e, l->pairs[i], walks);
}

void npi_evidence_pairs(float *value, npi_evidence *e, const npgnn_pair *pairs, size_t count)
{
    for (int c = 0; c < e->count; c++) {
        column_loop loop = {value + (size_t)c * count, e, pairs, columns[e->column[c]].pair};
        npi_parallel(e->env.threads, (int64_t)count, 64, fill_column, &loop);
    }
}

static int changes_nothing(const npi_evidence *e, const npi_weights *weights)
{
    return e->count == 0 && weights->own == 1 && weights->shift == 0;
}

void npi_evidence_add(float *score, const float *value, const npi_evidence *e, const npi_weights *weights, size_t count)
{
    if (changes_nothing(e, weights))
        return;
    for (size_t i = 0; i < count; i++) {
        double sum = weights->own * (double)score[i] + weights->shift;
        for (int c = 0; c < e->count; c++)
            sum += weights->column[e->column[c]] * (double)value[(size_t)c * count + i];
        score[i] = (float)sum;
    }
}

/* ---- rows ---- */

void npi_evidence_pair(float *value, npi_evidence_desk *desk, const npi_evidence *e, npgnn_pair pair)
{
    for (int c = 0; c < e->count; c++)
        value[c] = (float)columns[e->column[c]].pair(e, pair, desk->walk);
}

int npi_evidence_desk_new(npi_evidence_desk *out, const npi_evidence *e, int block, npgnn_error *err)
{
    npi_evidence_desk desk = {.block = block};
    int code = e->count > 0 && !e->x->dense ? npi_features_transpose(e->x, err) : 0;
    if (code)
        return code;
    size_t rows = e->count > 0 ? (size_t)block : 0, n = (size_t)e->x->n;
    int widest = e->x->dense && e->x->f > e->regions.width ? e->x->f : e->regions.width;
    desk.value = npi_alloc(&e->env, rows * n, sizeof *desk.value, err);
    desk.picked = npi_alloc(&e->env, rows * (size_t)widest, sizeof *desk.picked, err);
    desk.sum = npi_alloc(&e->env, n, sizeof *desk.sum, err);
    desk.walk = npi_alloc(&e->env, n, sizeof *desk.walk, err);
    if (!desk.value || !desk.picked || !desk.sum || !desk.walk) {
        npi_evidence_desk_free(&e->env, &desk);
        return NPGNN_E_MEMORY;
    }
    *out = desk;
    return 0;
}

void npi_evidence_desk_free(const npgnn_env *env, npi_evidence_desk *desk)
{
    npi_free(env, desk->value);
    npi_free(env, desk->picked);
    npi_free(env, desk->sum);
    npi_free(env, desk->walk);
    memset(desk, 0, sizeof *desk);
}

void npi_evidence_rows(real *score, npi_evidence_desk *desk, const npi_evidence *e, const npi_weights *weights,
                       const int32_t *nodes, int count)
{
    size_t cells = (size_t)count * (size_t)e->x->n;
    if (changes_nothing(e, weights))
        return;
    for (size_t i = 0; i < cells; i++)
        score[i] = (real)(weights->own * (double)score[i] + weights->shift);
    for (int c = 0; c < e->count; c++) {
        columns[e->column[c]].rows(desk->value, desk, e, nodes, count);
        real weight = (real)weights->column[e->column[c]];
        for (size_t i = 0; i < cells; i++)
            score[i] += weight * desk->value[i];
    }
}
