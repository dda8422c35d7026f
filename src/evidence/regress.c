#include "evidence/regress.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/symmetric.h"

/* Relative to the mean square of a feature: keep regressions on few nodes from fitting noise. */
#define REGION_PENALTY 0.01
#define BILINEAR_PENALTY 0.1

typedef struct regression {
    const npi_partition *rows; /* the nodes of this process, r of them */
    int threads, k;
    real *known;                            /* (r, k) F, zero for nodes without links; later Ã F */
    real *small;                            /* (k, widest) */
    real *scratch;                          /* for tall products */
    double *gram, *factor, *right, *turned; /* (k, widest) */
} regression;

static size_t own_rows(const npi_partition *rows)
{
    return (size_t)(rows->to - rows->from);
}

static int regression_new(regression *out, int k, int d, const npi_partition *rows, const npgnn_env *env,
                          npgnn_error *err)
{
    int widest = k > d ? k : d;
    size_t cells = (size_t)k * (size_t)widest;
    *out = (regression){.rows = rows, .threads = env->threads, .k = k};
    out->known = npi_alloc(env, own_rows(rows) * (size_t)k, sizeof *out->known, err);
    out->small = npi_alloc(env, cells, sizeof *out->small, err);
    out->scratch = npi_alloc(env, npi_gemm_parts_scratch(rows, k, widest), sizeof *out->scratch, err);
    out->gram = npi_alloc(env, 4 * cells, sizeof *out->gram, err);
    if (!out->known || !out->small || !out->scratch || !out->gram)
        return NPGNN_E_MEMORY;
    out->factor = out->gram + cells;
    out->right = out->gram + 2 * cells;
    out->turned = out->gram + 3 * cells;
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
static void multiply_tall(regression *r, const real *a, const real *b, int w)
{
    memset(r->small, 0, (size_t)r->k * (size_t)w * sizeof *r->small);
    npi_gemm_parts(r->small, a, r->k, b, w, r->rows, r->k, w, r->scratch, r->threads);
    for (int c = 0; c < r->k * w; c++)
        r->right[c] = (double)r->small[c];
}

/* factor = the Cholesky factor of G + penalty mean(diag G) I */
static void factorize(regression *r, double penalty)
{
    double trace = 0;
    for (int c = 0; c < r->k; c++)
        trace += r->gram[c * r->k + c];
    memcpy(r->factor, r->gram, (size_t)r->k * (size_t)r->k * sizeof *r->gram);
    for (int c = 0; c < r->k; c++)
        /* r = penalty · trace(G) / k; 1e-9 for features that are all zero */
        r->factor[c * r->k + c] += penalty * (trace / r->k + 1e-9);
    npi_cholesky(r->factor, r->k, 1e-12);
}

/* D^-½; 0 without links */
static real scale_of_links(int64_t degree, double given)
{
    (void)given;
    return degree > 0 ? (real)sqrt(1 / (double)degree) : 0;
}

/* out (r, k) = Ã F = S (A + I) S F - S² F,  S = D^-½ */
static void spread_features(real *out, npi_spread *links, const real *features, size_t rows, int k)
{
    const real *scale = links->adj.scale;
    /* npi_spread_mul adds each node's own row, as Â needs it and Ã does not: s_i² F_i is taken out again */
    npi_spread_scale(links, scale_of_links, 0);
    npi_spread_mul(out, links, features, k);
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < (size_t)k; c++)
            out[i * (size_t)k + c] -= scale[i] * scale[i] * features[i * (size_t)k + c];
}

int npi_regress(real *to_region, real *kernel, const npi_bank *features, const npi_bank *region, const double *inverse,
                npi_spread *links, const npi_partition *rows, const npgnn_env *env, npgnn_error *err)
{
    int k = features->width, d = region->width;
    size_t own = own_rows(rows);
    regression r;
    int code = npi_comm_agree(rows->comm, regression_new(&r, k, d, rows, env, err), err);
    if (!code) {
        /* F of the nodes with links, which alone have something to predict: all other rows are 0 */
        for (size_t i = 0; i < own; i++)
            if (inverse[(size_t)rows->from + i] > 0)
                memcpy(r.known + i * (size_t)k, features->row + i * (size_t)k, (size_t)k * sizeof *r.known);
        /* G = Fᵀ F */
        multiply_tall(&r, r.known, r.known, k);
        memcpy(r.gram, r.right, (size_t)k * (size_t)k * sizeof *r.gram);

        /* B = (G + r I)⁻¹ Fᵀ Y */
        factorize(&r, REGION_PENALTY);
        multiply_tall(&r, r.known, region->row, d);
        npi_cholesky_solve(r.right, r.factor, k, d);
        for (int c = 0; c < k * d; c++)
            to_region[c] = (real)r.right[c];

        /* K = n (G + r I)⁻¹ C (G + r I)⁻¹,  C = Fᵀ Ã F */
        spread_features(r.known, links, features->row, own, k);
        factorize(&r, BILINEAR_PENALTY);
        multiply_tall(&r, features->row, r.known, k);
        npi_cholesky_solve(r.right, r.factor, k, k); /* (G + r I)⁻¹ C */
        for (int i = 0; i < k; i++)                  /* its transpose C (G + r I)⁻¹, since C is symmetric */
            for (int j = 0; j < k; j++)
                r.turned[i * k + j] = r.right[j * k + i];
        npi_cholesky_solve(r.turned, r.factor, k, k); /* (G + r I)⁻¹ C (G + r I)⁻¹ */
        /* symmetric but for rounding, and exactly so as the mean with its transpose: columns with K take it for granted
         * that both directions of a pair are equal (table.h) */
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++)
                kernel[i * k + j] = (real)((r.turned[i * k + j] + r.turned[j * k + i]) / 2 * (double)rows->n);
    }
    regression_free(env, &r);
    return code;
}
