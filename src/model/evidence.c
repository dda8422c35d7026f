#include "model/evidence.h"

#include <string.h>

#include "linalg/cosine.h"
#include "model/logistic.h"

#define RIDGE 1e-3

/* ---- the columns ---- */

/* A column of one pair, and of nodes[0 .. count) with all nodes: value (count, n). */
typedef double pair_fn(const npi_evidence *e, npgnn_pair pair);
typedef void rows_fn(real *value, npi_evidence_desk *desk, const npi_evidence *e, const int32_t *nodes, int count);

static double cosine_pair(const npi_evidence *e, npgnn_pair pair)
{
    return npi_cosine_pair(e->x, e->norm, pair);
}

static void cosine_rows(real *value, npi_evidence_desk *desk, const npi_evidence *e, const int32_t *nodes, int count)
{
    npi_cosine_rows(value, e->x, e->norm, nodes, count, desk->picked, desk->sum);
}

static const struct {
    size_t weight; /* where it is in the options */
    pair_fn *pair;
    rows_fn *rows;
} columns[NPI_EVIDENCE_COLUMNS] = {
    [NPI_EVIDENCE_COSINE] = {offsetof(npgnn_options, prior_weight), cosine_pair, cosine_rows},
};

/* ---- weights ---- */

npi_weights npi_weights_of(const npgnn_options *options)
{
    npi_weights weights = {.shift = options->score_shift, .own = options->own_weight};
    for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++)
        memcpy(&weights.column[c], (const char *)options + columns[c].weight, sizeof weights.column[c]);
    return weights;
}

void npi_weights_store(npgnn_options *options, const npi_weights *weights)
{
    options->score_shift = weights->shift;
    options->own_weight = weights->own;
    for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++)
        memcpy((char *)options + columns[c].weight, &weights->column[c], sizeof weights->column[c]);
}

/* ---- making ---- */

int npi_evidence_new(npi_evidence *out, const npgnn_options *options, int fit, const npi_csr *a, npi_features *x,
                     const npgnn_env *env, npgnn_error *err)
{
    npi_evidence e = {.env = *env, .a = a, .x = x};
    npi_weights weights = npi_weights_of(options);
    for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++)
        if (fit || weights.column[c] > 0)
            e.column[e.count++] = c;
    if (e.count > 0) {
        e.norm = npi_alloc(env, (size_t)x->n, sizeof *e.norm, err);
        if (!e.norm)
            return NPGNN_E_MEMORY;
        npi_cosine_norms(e.norm, x, env->threads);
    }
    *out = e;
    return 0;
}

void npi_evidence_free(npi_evidence *e)
{
    npi_free(&e->env, e->norm);
    memset(e, 0, sizeof *e);
}

/* ---- pairs ---- */

void npi_evidence_pairs(float *value, const npi_evidence *e, const npgnn_pair *pairs, size_t count)
{
    for (int c = 0; c < e->count; c++) {
        pair_fn *pair = columns[e->column[c]].pair;
        float *column = value + (size_t)c * count;
#pragma omp parallel for num_threads(e->env.threads) schedule(dynamic, 64)
        for (size_t i = 0; i < count; i++)
            column[i] = (float)pair(e, pairs[i]);
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

npi_weights npi_evidence_fit(const float *score, const float *value, const npi_evidence *e, size_t positives,
                             size_t count)
{
    const float *x[NPI_EVIDENCE_COLUMNS + 1] = {score};
    for (int c = 0; c < e->count; c++)
        x[c + 1] = value + (size_t)c * count;
    npi_logistic fitted = npi_logistic_fit(x, e->count + 1, positives, count, RIDGE);
    npi_weights weights = {.shift = fitted.shift, .own = fitted.slope[0]};
    for (int c = 0; c < e->count; c++)
        weights.column[e->column[c]] = fitted.slope[c + 1];
    return weights;
}

/* ---- rows ---- */

void npi_evidence_pair(float *value, npi_evidence_desk *desk, const npi_evidence *e, npgnn_pair pair)
{
    (void)desk;
    for (int c = 0; c < e->count; c++)
        value[c] = (float)columns[e->column[c]].pair(e, pair);
}

int npi_evidence_desk_new(npi_evidence_desk *out, const npi_evidence *e, int block, npgnn_error *err)
{
    npi_evidence_desk desk = {.block = block};
    int code = e->count > 0 && !e->x->dense ? npi_features_transpose(e->x, err) : 0;
    if (code)
        return code;
    size_t rows = e->count > 0 ? (size_t)block : 0, n = (size_t)e->x->n;
    desk.value = npi_alloc(&e->env, rows * n, sizeof *desk.value, err);
    desk.picked = npi_alloc(&e->env, e->x->dense ? rows * (size_t)e->x->f : 0, sizeof *desk.picked, err);
    desk.sum = npi_alloc(&e->env, n, sizeof *desk.sum, err);
    if (!desk.value || !desk.picked || !desk.sum) {
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
