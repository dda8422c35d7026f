/* Products with the normalised adjacency (docs/understand/math.md, (1)), from the pattern of A and s = D̃^-½, with D̃ =
 * D + I:
 *
 *     Â = diag(s) (A + I) diag(s),    (Â P)_i = s_i (s_i p_i + Σ_j A_ij s_j p_j)          P (n, w)
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
}

/* y_i = s_i (s_i p_i + Σ_j w_ij s_j p_j) */
void npi_adj_row(real *y, const npi_adj *adj, int32_t i, const real *p, int ldp, int w, const npi_kernels *kernels)
{
    const npi_csr *a = &adj->a;
    const real *own = p + (size_t)i * (size_t)ldp;
    real scale = adj->scale[i];
    for (int c = 0; c < w; c++)
        y[c] = scale * own[c];
    kernels->gather_scaled(y, a->col, a->val, a->ptr[i], a->ptr[i + 1], adj->scale, p, w, ldp);
    for (int c = 0; c < w; c++)
        y[c] *= scale;
}

typedef struct mul_loop {
    real *y;
    const npi_adj *adj;
    const real *p;
    int ldy, ldp, w;
    const npi_kernels *kernels;
} mul_loop;

static void mul_rows(const void *arg, int64_t first, int64_t last)
{
    const mul_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        npi_adj_row(l->y + i * l->ldy, l->adj, (int32_t)i, l->p, l->ldp, l->w, l->kernels);
}

void npi_adj_mul(real *y, int ldy, const npi_adj *adj, const real *p, int ldp, int w, int threads)
{
    mul_loop loop = {y, adj, p, ldy, ldp, w, npi_kernels_best()};
    npi_parallel(threads, adj->a.rows, 256, mul_rows, &loop);
}

/* Σ_j Â_ji = s_i (s_i + Σ_j A_ij s_j), by symmetry */
real npi_adj_column_sum(const npi_adj *adj, int32_t i)
{
    const npi_csr *a = &adj->a;
    double sum = (double)adj->scale[i];
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
        sum += (double)adj->scale[a->col[p]] * (a->val ? (double)a->val[p] : 1);
    return (real)((double)adj->scale[i] * sum);
}
