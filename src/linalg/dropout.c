#include "linalg/dropout.h"

#include <string.h>

#include "base/hash.h"
#include "base/rng.h"

/* a with room for values of its own */
static int own_values(npi_csr *out, const npi_csr *a, const npgnn_env *env, npgnn_error *err)
{
    *out = *a;
    out->val = npi_alloc(env, (size_t)a->ptr[a->rows], sizeof *out->val, err);
    return out->val ? 0 : NPGNN_E_MEMORY;
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
        failed =
            !made.view.xt || own_values(&made.view.x, &x->x, env, err) || own_values(made.view.xt, x->xt, env, err);
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
    npi_free(env, dropout->view.x.val);
    if (dropout->view.xt)
        npi_free(env, dropout->view.xt->val);
    npi_free(env, dropout->view.xt);
    memset(dropout, 0, sizeof *dropout);
}

/* Entry (row, col) stays when the hash of its place, under the key of the draw, is below the limit: the same answer whether it
 * is met in X or in Xᵀ. */
typedef struct lottery {
    uint64_t key, limit;
    float scale;
} lottery;

static float keep(const lottery *l, int32_t row, int32_t col)
{
    return npi_mix(l->key ^ ((uint64_t)row << 32 | (uint32_t)col)) < l->limit ? l->scale : 0;
}

static void draw_csr(float *out, const npi_csr *a, int transposed, const lottery *l, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int32_t i = 0; i < a->rows; i++)
        for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
            float factor = transposed ? keep(l, a->col[p], i) : keep(l, i, a->col[p]);
            out[p] = a->val ? factor * a->val[p] : factor;
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
        draw_csr(dropout->view.x.val, &x->x, 0, &l, threads);
        draw_csr(dropout->view.xt->val, x->xt, 1, &l, threads);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int32_t i = 0; i < x->n; i++)
        for (int32_t c = 0; c < x->f; c++) {
            size_t at = (size_t)i * (size_t)x->f + (size_t)c;
            dropout->view.dense[at] = (real)keep(&l, i, c) * x->dense[at];
        }
}
