#include "features/dropout.h"

#include <string.h>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/rng.h"

/* Room for some of the entries of a. */
static int part_room(npi_csr *out, const npi_csr *a, const npgnn_env *env, npgnn_error *err)
{
    size_t entries = (size_t)a->ptr[a->rows];
    *out = (npi_csr){.rows = a->rows, .cols = a->cols};
    out->ptr = npi_alloc(env, (size_t)a->rows + 1, sizeof *out->ptr, err);
    out->col = npi_alloc(env, entries, sizeof *out->col, err);
    out->val = npi_alloc(env, entries, sizeof *out->val, err);
    return out->ptr && out->col && out->val ? 0 : NPGNN_E_MEMORY;
}

int npi_dropout_new(npi_dropout *out, const npi_features *x, const npgnn_env *env, npgnn_error *err)
{
    npi_dropout made = {.whole = x, .view = {.n = x->n, .f = x->f, .nonzeros = x->nonzeros}};
    int failed;
    if (x->dense) {
        made.view.dense = npi_alloc(env, (size_t)x->n * (size_t)x->f, sizeof *x->dense, err);
        failed = !made.view.dense;
    } else {
        made.view.xt = npi_alloc(env, 1, sizeof *made.view.xt, err);
        failed = !made.view.xt || part_room(&made.view.x, &x->x, env, err) || part_room(made.view.xt, x->xt, env, err);
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
    npi_csr_free(env, &dropout->view.x);
    if (dropout->view.xt)
        npi_csr_free(env, dropout->view.xt);
    npi_free(env, dropout->view.xt);
    memset(dropout, 0, sizeof *dropout);
}

/* Entry (row, col) stays when the hash of its place, under the key of the draw, is below the limit: the same answer whether it
 * is met in X or in Xᵀ. */
typedef struct lottery {
    uint64_t key, limit;
    float scale;
} lottery;

static int keeps(const lottery *l, int32_t row, int32_t col)
{
    return npi_mix(l->key ^ ((uint64_t)row << 32 | (uint32_t)col)) < l->limit;
}

/* Rows are dealt in so many parts, each of which one thread moves to the front of its room. */
#define PARTS 64

static int32_t first_row(const npi_csr *a, int part)
{
    return (int32_t)((int64_t)a->rows * part / PARTS);
}

/* Returns where the entries of the part end; ptr[i + 1] is where those of row i do. */
static int64_t draw_part(npi_csr *out, const npi_csr *a, int transposed, const lottery *l, int part)
{
    int64_t at = a->ptr[first_row(a, part)];
    for (int32_t i = first_row(a, part); i < first_row(a, part + 1); i++) {
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
            int32_t j = a->col[p];
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
    const lottery *draw;
    int64_t *end; /* (PARTS) */
} parts_loop;

static void draw_parts(const void *arg, int64_t first, int64_t last)
{
    const parts_loop *l = arg;
    for (int part = (int)first; part < last; part++)
        l->end[part] = draw_part(l->out, l->a, l->transposed, l->draw, part);
}

static void draw_csr(npi_csr *out, const npi_csr *a, int transposed, const lottery *l, int threads)
{
    int64_t end[PARTS], total = 0;
    parts_loop loop = {out, a, transposed, l, end};
    npi_parallel(threads, PARTS, 0, draw_parts, &loop);
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
    const lottery *draw;
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

void npi_dropout_draw(npi_dropout *dropout, double share, uint64_t seed, uint32_t draw, int threads)
{
    const npi_features *x = dropout->whole;
    npi_rng rng = npi_rng_make(seed, NPI_RNG_DROPOUT, draw);
    uint32_t bits[4];
    npi_rng_block(bits, &rng, 0);
    lottery l = {(uint64_t)bits[0] << 32 | bits[1], (uint64_t)((1 - share) * 0x1p64), (float)(1 / (1 - share))};
    if (!x->dense) {
        draw_csr(&dropout->view.x, &x->x, 0, &l, threads);
        draw_csr(dropout->view.xt, x->xt, 1, &l, threads);
        dropout->view.nonzeros = dropout->view.x.ptr[x->n];
        return;
    }
    dense_loop loop = {dropout->view.dense, x, &l};
    npi_parallel(threads, x->n, 0, draw_dense, &loop);
}
