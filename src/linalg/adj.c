/* Products with the normalised adjacency (docs/understand/math.md, (1)), from the pattern of A and the scale s (n):
 *
 *     s = D̃^-½,    D̃ = D + I
 *     Â = diag(s) (A + I) diag(s)
 *     (Â P)_i = s_i (s_i p_i + Σ_j A_ij s_j p_j)          P (n, w)
 */
#include "linalg/adj.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"

#define MANY_ROWS 16384 /* from here on, waking threads pays for one number per row */

static void normalize_rows(const void *arg, int64_t first, int64_t last)
{
    const npi_adj *adj = arg;
    const npi_csr *a = &adj->a;
    for (int64_t i = first; i < last; i++) {
        double degree = 1; /* of A + I */
        if (!a->val)
            degree += (double)(a->ptr[i + 1] - a->ptr[i]);
        else
            for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
                degree += (double)a->val[p];
        adj->scale[i] = (real)(1 / sqrt(degree));
    }
}

void npi_adj_normalize(npi_adj *adj, int threads)
{
    npi_parallel(adj->a.rows >= MANY_ROWS ? threads : 1, adj->a.rows, 0, normalize_rows, adj);
    if (adj->halo)
        npi_fetch_rows(&adj->halo->fetch, adj->halo_scale, adj->scale, 1, 1, threads);
}

void npi_adj_fetch(const npi_adj *adj, const real *p, int ldp, int w, int threads)
{
    if (adj->halo)
        npi_fetch_rows(&adj->halo->fetch, adj->halo->rows, p, ldp, w, threads);
}

/* y_i = s_i (s_i p_i + Σ_j w_ij s_j p_j) */
void npi_adj_row(real *y, const npi_adj *adj, int32_t i, const real *p, int ldp, int w, const npi_kernels *kernels)
{
    const npi_csr *a = &adj->a;
    const real *own = p + (size_t)i * (size_t)ldp;
    real scale = adj->scale[i];
    int64_t begin, end;
    npi_adj_own(&begin, &end, adj, i);
    for (int c = 0; c < w; c++)
        y[c] = scale * own[c];
    /* in the order of the nodes: those of processes before this one, own ones, those of processes after it */
    if (begin > a->ptr[i])
        kernels->gather_scaled(y, a->col, a->val, a->ptr[i], begin, adj->halo_scale, adj->halo->rows, w, w);
    kernels->gather_scaled(y, a->col, a->val, begin, end, adj->scale, p, w, ldp);
    if (end < a->ptr[i + 1])
        kernels->gather_scaled(y, a->col, a->val, end, a->ptr[i + 1], adj->halo_scale, adj->halo->rows, w, w);
    for (int c = 0; c < w; c++)
        y[c] *= scale;
}

typedef struct mul_loop {
    real *y;
    const npi_adj *adj;
    const real *p;
    int ldy, ldp, w;
    int64_t start;
    const npi_kernels *kernels;
} mul_loop;

static void mul_rows(const void *arg, int64_t first, int64_t last)
{
    const mul_loop *l = arg;
    for (int64_t i = l->start + first; i < l->start + last; i++)
        npi_adj_row(l->y + i * l->ldy, l->adj, (int32_t)i, l->p, l->ldp, l->w, l->kernels);
}

void npi_adj_mul(real *y, int ldy, const npi_adj *adj, const real *p, int ldp, int w, int threads)
{
    npi_adj_fetch(adj, p, ldp, w, threads);
    npi_adj_mul_rows(y, ldy, adj, p, ldp, w, 0, adj->a.rows, threads);
}

void npi_adj_mul_rows(real *y, int ldy, const npi_adj *adj, const real *p, int ldp, int w, int64_t first, int64_t last,
                      int threads)
{
    mul_loop loop = {y, adj, p, ldy, ldp, w, first, npi_kernels_best()};
    npi_parallel(threads, last - first, 256, mul_rows, &loop);
}

/* Σ_j Â_ji = s_i (s_i + Σ_j A_ij s_j), by symmetry */
real npi_adj_column_sum(const npi_adj *adj, int32_t i)
{
    const npi_csr *a = &adj->a;
    double sum = (double)adj->scale[i];
    int64_t begin, end;
    npi_adj_own(&begin, &end, adj, i);
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
        const real *scale = p >= begin && p < end ? adj->scale : adj->halo_scale;
        sum += (double)scale[a->col[p]] * (a->val ? (double)a->val[p] : 1);
    }
    return (real)((double)adj->scale[i] * sum);
}

/* ---- the rows of one process ---- */

/* Lists the nodes of other processes in the rows [from, to) of a. They are marked in a set of bits, which then numbers
 * them. */
static int list_halo(npi_halo *halo, const npi_csr *a, const npi_partition *rows, const npgnn_env *env,
                     npgnn_error *err)
{
    size_t words = (size_t)rows->n / 64 + 1;
    halo->bits = npi_alloc(env, words, sizeof *halo->bits, err);
    halo->below = npi_alloc(env, words, sizeof *halo->below, err);
    if (!halo->bits || !halo->below)
        return NPGNN_E_MEMORY;
    for (int64_t p = a->ptr[rows->from]; p < a->ptr[rows->to]; p++)
        if (a->col[p] < rows->from || a->col[p] >= rows->to)
            halo->bits[a->col[p] / 64] |= UINT64_C(1) << a->col[p] % 64;
    for (size_t word = 0; word < words; word++) {
        halo->below[word] = halo->count;
        halo->count += __builtin_popcountll(halo->bits[word]);
    }
    halo->node = npi_alloc(env, (size_t)halo->count, sizeof *halo->node, err);
    int32_t count = 0;
    for (int32_t node = 0; halo->node && node < rows->n; node++)
        if (halo->bits[node / 64] >> node % 64 & 1)
            halo->node[count++] = node;
    return halo->node ? 0 : NPGNN_E_MEMORY;
}

int32_t npi_halo_find(const npi_halo *halo, int32_t node)
{
    uint64_t lower = (UINT64_C(1) << node % 64) - 1;
    return halo->below[node / 64] + __builtin_popcountll(halo->bits[node / 64] & lower);
}

/* Copies the rows [from, to) of a with the columns in the numbers of this process. */
static void copy_own(npi_adj *adj, const npi_csr *a, const npi_partition *rows)
{
    npi_csr *own = &adj->a;
    int64_t start = a->ptr[rows->from];
    for (int32_t i = 0; i < own->rows; i++) {
        for (int64_t p = a->ptr[rows->from + i]; p < a->ptr[rows->from + i + 1]; p++) {
            int32_t node = a->col[p];
            int inside = node >= rows->from && node < rows->to;
            own->col[p - start] = inside ? node - rows->from : npi_halo_find(adj->halo, node);
            adj->before[i] += node < rows->from;
            adj->after[i] += node >= rows->to;
            if (own->val)
                own->val[p - start] = a->val[p];
        }
        own->ptr[i + 1] = a->ptr[rows->from + i + 1] - start;
    }
}

int npi_adj_divide(npi_adj *out, const npi_csr *a, const npi_partition *rows, int width, const npgnn_env *env,
                   npgnn_error *err)
{
    npi_adj adj = {0};
    int32_t count = rows->to - rows->from;
    int64_t entries = a->ptr[rows->to] - a->ptr[rows->from];
    npi_halo *halo = adj.halo = npi_alloc(env, 1, sizeof *halo, err);
    int code = halo ? list_halo(halo, a, rows, env, err) : NPGNN_E_MEMORY;
    if (!code)
        code = npi_fetch_new(&halo->fetch, rows, halo->count, 0, width, env, err);
    if (!code)
        code = npi_csr_new(&adj.a, count, count, entries, a->val != NULL, env, err);
    if (!code) {
        adj.scale = npi_alloc(env, (size_t)count, sizeof *adj.scale, err);
        adj.halo_scale = npi_alloc(env, (size_t)halo->count, sizeof *adj.halo_scale, err);
        adj.before = npi_alloc(env, (size_t)count, sizeof *adj.before, err);
        adj.after = npi_alloc(env, (size_t)count, sizeof *adj.after, err);
        code = adj.scale && adj.halo_scale && adj.before && adj.after ? 0 : NPGNN_E_MEMORY;
    }
    code = npi_comm_agree(rows->comm, code, err);
    if (!code)
        code = npi_fetch_plan(&halo->fetch, halo->node, halo->count, err);
    if (code) {
        npi_adj_free(env, &adj);
        return code;
    }
    npi_fetch_keep(&halo->fetch);
    copy_own(&adj, a, rows);
    *out = adj;
    return 0;
}

void npi_adj_free(const npgnn_env *env, npi_adj *adj)
{
    npi_csr_free(env, &adj->a);
    npi_free(env, adj->scale);
    npi_free(env, adj->halo_scale);
    npi_free(env, adj->before);
    npi_free(env, adj->after);
    if (adj->halo) {
        npi_free(env, adj->halo->bits);
        npi_free(env, adj->halo->below);
        npi_free(env, adj->halo->node);
        npi_fetch_free(&adj->halo->fetch);
    }
    npi_free(env, adj->halo);
    memset(adj, 0, sizeof *adj);
}
