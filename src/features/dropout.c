/* Feature dropout. Entry (i, c) of X is kept when
 *
 *   hash(key(seed, draw) ^ (i, c)) < (1 - share) 2^64
 *
 * so that X and Xᵀ agree on every entry without communication, and kept entries are multiplied by 1 / (1 - share). */
#include "features/dropout.h"

#include <string.h>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/rng.h"

/* Allocates memory for any subset of the entries of a. */
static int reserve_like(npi_csr *out, const npi_csr *a, const npgnn_env *env, npgnn_error *err)
{
    size_t entries = (size_t)a->ptr[a->rows];
    *out = (npi_csr){.rows = a->rows, .cols = a->cols};
    out->ptr = npi_alloc(env, (size_t)a->rows + 1, sizeof *out->ptr, err);
    /* not set to zero: pages that no draw reaches take no memory */
    out->col = npi_resize(env, NULL, entries, sizeof *out->col, err);
    out->val = npi_resize(env, NULL, entries, sizeof *out->val, err);
    return out->ptr && out->col && out->val ? 0 : NPGNN_E_MEMORY;
}

int npi_dropout_new(npi_dropout *out, const npi_features *x, int both, const npgnn_env *env, npgnn_error *err)
{
    npi_dropout made = {
        .whole = x, .view = {.n = x->n, .f = x->f, .nonzeros = x->nonzeros}, .both = both || x->dense != NULL};
    int failed;
    if (x->dense) {
        made.view.dense = npi_alloc(env, (size_t)x->n * (size_t)x->f, sizeof *x->dense, err);
        failed = !made.view.dense;
    } else {
        made.view.xt = npi_alloc(env, 1, sizeof *made.view.xt, err);
        failed = !made.view.xt || reserve_like(&made.view.x, &x->x, env, err);
        if (!failed && both) {
            failed = reserve_like(made.view.xt, x->xt, env, err);
        } else if (!failed) {
            *made.view.xt =
                (npi_csr){.rows = x->xt->rows, .cols = x->xt->cols, .col = made.view.x.col, .val = made.view.x.val};
            made.view.xt->ptr = npi_alloc(env, (size_t)x->xt->rows + 1, sizeof *x->xt->ptr, err);
            failed = !made.view.xt->ptr;
        }
    }
    if (failed) {
        npi_dropout_free(env, &made);
        return NPGNN_E_MEMORY;
    }
    *out = made;
    return 0;
}

void npi_dropout_free(const npgnn_env *env, npi_dropout *dropout)
{
    npi_free(env, dropout->view.dense);
    if (dropout->view.xt && !dropout->both) { /* its arrays are those of x */
        dropout->view.xt->col = NULL;
        dropout->view.xt->val = NULL;
    }
    npi_csr_free(env, &dropout->view.x);
    if (dropout->view.xt)
        npi_csr_free(env, dropout->view.xt);
    npi_free(env, dropout->view.xt);
    memset(dropout, 0, sizeof *dropout);
}

typedef struct sampler {
    uint64_t key;   /* of the draw */
    uint64_t limit; /* (1 - share) 2^64 */
    float scale;    /* 1 / (1 - share) */
    int32_t first;  /* row of the whole matrix that the first one is */
} sampler;

static int keeps(const sampler *l, int32_t row, int32_t col)
{
    return npi_hash_mix(l->key ^ ((uint64_t)(l->first + row) << 32 | (uint32_t)col)) < l->limit;
}

/* The rows are divided into this many parts. Which thread processes a part does not matter for the result. */
#define PARTS 64

static int32_t first_row(const npi_csr *a, int part)
{
    return (int32_t)((int64_t)a->rows * part / PARTS);
}

/* Copies the kept entries of one part to the place where its entries begin in a. out->ptr[i + 1] becomes the end of
 * row i; returns the end of the last row. */
static int64_t draw_part(npi_csr *out, const npi_csr *a, int transposed, const sampler *l, int part)
{
    int64_t at = a->ptr[first_row(a, part)];
    for (int32_t i = first_row(a, part); i < first_row(a, part + 1); i++) {
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
            int32_t j = a->col[p];
            /* without a branch: write the entry, and advance only where it is kept */
            out->col[at] = j;
            out->val[at] = a->val ? l->scale * a->val[p] : l->scale;
            at += transposed ? keeps(l, j, i) : keeps(l, i, j);
        }
        out->ptr[i + 1] = at;
    }
    return at;
}

typedef struct parts_loop {
    npi_csr *out;
    const npi_csr *a;
    int transposed;
    const sampler *draw;
    int64_t *end; /* (PARTS) */
} parts_loop;

static void draw_parts(const void *arg, int64_t first, int64_t last)
{
    const parts_loop *l = arg;
    for (int part = (int)first; part < last; part++)
        l->end[part] = draw_part(l->out, l->a, l->transposed, l->draw, part);
}

/* The kept entries of a, which is X or Xᵀ. */
static void draw_csr(npi_csr *out, const npi_csr *a, int transposed, const sampler *l, int threads)
{
    int64_t end[PARTS], total = 0;
    parts_loop loop = {out, a, transposed, l, end};
    npi_parallel(threads, PARTS, 0, draw_parts, &loop);
    /* close the gaps between the parts */
    for (int part = 0; part < PARTS; part++) {
        int64_t begin = a->ptr[first_row(a, part)], gap = begin - total;
        size_t count = (size_t)(end[part] - begin);
        memmove(out->col + total, out->col + begin, count * sizeof *out->col);
        memmove(out->val + total, out->val + begin, count * sizeof *out->val);
        for (int32_t i = first_row(a, part); i < first_row(a, part + 1); i++)
            out->ptr[i + 1] -= gap;
        total += (int64_t)count;
    }
}

typedef struct dense_loop {
    real *out;
    const npi_features *x;
    const sampler *draw;
} dense_loop;

static void draw_dense(const void *arg, int64_t first, int64_t last)
{
    const dense_loop *l = arg;
    for (int32_t i = (int32_t)first; i < last; i++)
        for (int32_t c = 0; c < l->x->f; c++) {
            size_t at = (size_t)i * (size_t)l->x->f + (size_t)c;
            l->out[at] = keeps(l->draw, i, c) ? (real)l->draw->scale * l->x->dense[at] : 0;
        }
}

static sampler sampler_of(const npi_dropout *dropout)
{
    npi_rng rng = npi_rng_make(dropout->seed, NPI_RNG_DROPOUT, dropout->draw);
    uint32_t bits[4];
    npi_rng_block(bits, &rng, 0);
    return (sampler){(uint64_t)bits[0] << 32 | bits[1], (uint64_t)((1 - dropout->share) * 0x1p64),
                     (float)(1 / (1 - dropout->share)), dropout->whole->first};
}

void npi_dropout_turn(npi_dropout *dropout, int threads)
{
    sampler l = sampler_of(dropout);
    if (!dropout->both)
        draw_csr(dropout->view.xt, dropout->whole->xt, 1, &l, threads);
}

void npi_dropout_draw(npi_dropout *dropout, double share, uint64_t seed, uint32_t draw, int threads)
{
    const npi_features *x = dropout->whole;
    dropout->share = share;
    dropout->seed = seed;
    dropout->draw = draw;
    sampler l = sampler_of(dropout);
    if (!x->dense) {
        draw_csr(&dropout->view.x, &x->x, 0, &l, threads);
        if (dropout->both)
            draw_csr(dropout->view.xt, x->xt, 1, &l, threads);
        dropout->view.nonzeros = dropout->view.x.ptr[x->n];
        return;
    }
    dense_loop loop = {dropout->view.dense, x, &l};
    npi_parallel(threads, x->n, 0, draw_dense, &loop);
}
