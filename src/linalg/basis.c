#include "linalg/basis.h"

#include <string.h>

#include "base/rng.h"
#include "linalg/dense.h"
#include "linalg/symmetric.h"

/* Of the mean square of a column: what a dimension that rounding has swallowed counts as. The Gram matrix is summed
 * in single precision, so that smaller differences are noise. */
#define LEAST 1e-5

int npi_basis_new(npi_basis *out, int32_t rows, int width, uint32_t stream, const npgnn_env *env, npgnn_error *err)
{
    npi_basis b = {.rows = npi_partition_tall(rows, env->comm), .width = width};
    size_t w = (size_t)width, start = (size_t)b.rows.from * w, cells = (size_t)(b.rows.to - b.rows.from) * w;
    b.at = npi_alloc(env, cells, sizeof *b.at, err);
    b.next = npi_alloc(env, cells, sizeof *b.next, err);
    b.small = npi_alloc(env, w * w, sizeof *b.small, err);
    b.scratch = npi_alloc(env, npi_gemm_parts_scratch(&b.rows, width, width), sizeof *b.scratch, err);
    b.square = npi_alloc(env, 3 * w * w, sizeof *b.square, err);
    if (!b.at || !b.next || !b.small || !b.scratch || !b.square) {
        npi_basis_free(env, &b);
        return NPGNN_E_MEMORY;
    }
    npi_rng rng = npi_rng_make(0, NPI_RNG_SPECTRAL, stream);
    for (size_t i = 0; i < cells; i++)
        b.at[i] = npi_rng_uniform_at(&rng, start + i) < 0.5 ? -1 : 1;
    *out = b;
    return 0;
}

void npi_basis_free(const npgnn_env *env, npi_basis *b)
{
    npi_free(env, b->at);
    npi_free(env, b->next);
    npi_free(env, b->small);
    npi_free(env, b->scratch);
    npi_free(env, b->square);
    memset(b, 0, sizeof *b);
}

void npi_basis_swap(npi_basis *b)
{
    real *other = b->at;
    b->at = b->next;
    b->next = other;
}

/* small = atᵀ other */
static void product(npi_basis *b, const real *other, int threads)
{
    int w = b->width;
    memset(b->small, 0, (size_t)w * (size_t)w * sizeof *b->small);
    npi_gemm_parts(b->small, b->at, w, other, w, &b->rows, w, w, b->scratch, threads);
}

/* at <- at small */
static void apply(npi_basis *b, int threads)
{
    int w = b->width;
    npi_gemm_rows(b->next, w, b->at, w, b->small, w, 0, b->rows.to - b->rows.from, w, w, 0, threads);
    npi_basis_swap(b);
}

void npi_basis_orthonormalize(npi_basis *b, int threads)
{
    int w = b->width;
    double *l = b->square, *inverse = b->square + w * w;
    for (int pass = 0; pass < 2; pass++) {
        double trace = 0;
        product(b, b->at, threads); /* Yᵀ Y */
        for (int i = 0; i < w; i++)
            trace += (double)b->small[i * w + i];
        for (int i = 0; i < w * w; i++)
            l[i] = (double)b->small[i];
        for (int i = 0; i < w; i++)
            l[i * w + i] += LEAST * trace / w + 1e-30;
        npi_cholesky(l, w, LEAST * trace / w + 1e-30);
        /* L X = I, column by column of the lower triangle; then small = Xᵀ = L⁻ᵀ */
        for (int j = 0; j < w; j++)
            for (int i = 0; i < w; i++) {
                double sum = i == j;
                for (int c = j; c < i; c++)
                    sum -= l[i * w + c] * inverse[c * w + j];
                inverse[i * w + j] = i < j ? 0 : sum / l[i * w + i];
            }
        for (int i = 0; i < w; i++)
            for (int j = 0; j < w; j++)
                b->small[i * w + j] = (real)inverse[j * w + i];
        apply(b, threads);
    }
}

void npi_basis_rotate(double *values, npi_basis *b, int threads)
{
    int w = b->width;
    double *a = b->square, *vectors = b->square + w * w;
    product(b, b->next, threads); /* Qᵀ S Q, symmetric but for rounding */
    for (int i = 0; i < w; i++)
        for (int j = 0; j < w; j++)
            a[i * w + j] = ((double)b->small[i * w + j] + (double)b->small[j * w + i]) / 2;
    npi_symmetric_eigen(values, vectors, a, w);
    for (int i = 0; i < w * w; i++)
        b->small[i] = (real)vectors[i];
    apply(b, threads);
}
