#include "heuristics/cosine.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "linalg/dense.h"

static double value_at(const npi_csr *x, int64_t p)
{
    return x->val ? (double)x->val[p] : 1;
}

/* The inner product of two sparse rows: one walk along both, since columns ascend. */
static double dot_sparse(const npi_csr *x, int32_t u, int32_t v)
{
    int64_t p = x->ptr[u], q = x->ptr[v];
    double sum = 0;
    while (p < x->ptr[u + 1] && q < x->ptr[v + 1]) {
        int32_t a = x->col[p], b = x->col[q];
        if (a == b)
            sum += value_at(x, p) * value_at(x, q);
        p += a <= b;
        q += b <= a;
    }
    return sum;
}

static double dot_dense(const real *u, const real *v, int32_t f)
{
    double sum = 0;
    for (int32_t j = 0; j < f; j++)
        sum += (double)u[j] * (double)v[j];
    return sum;
}

static double dot(const npi_features *x, int32_t u, int32_t v)
{
    if (x->dense)
        return dot_dense(x->dense + (size_t)u * (size_t)x->f, x->dense + (size_t)v * (size_t)x->f, x->f);
    return dot_sparse(&x->x, u, v);
}

typedef struct norms_loop {
    double *norm;
    const npi_features *x;
} norms_loop;

static void find_norms(const void *arg, int64_t first, int64_t last)
{
    const norms_loop *l = arg;
    for (int32_t i = (int32_t)first; i < last; i++)
        l->norm[i] = sqrt(dot(l->x, i, i));
}

void npi_cosine_norms(double *norm, const npi_features *x, int threads)
{
    norms_loop loop = {norm, x};
    npi_parallel(threads, x->n, 0, find_norms, &loop);
}

double npi_cosine_pair(const npi_features *x, const double *norm, npgnn_pair pair)
{
    double both = norm[pair.u] * norm[pair.v];
    return both > 0 ? dot(x, pair.u, pair.v) / both : 0;
}

/* score += X x_row: by way of the transpose, only rows that share a column are met. */
static void multiply_sparse(double *score, const npi_features *x, int32_t row)
{
    for (int64_t p = x->x.ptr[row]; p < x->x.ptr[row + 1]; p++) {
        int32_t column = x->x.col[p];
        double value = value_at(&x->x, p);
        for (int64_t q = x->xt->ptr[column]; q < x->xt->ptr[column + 1]; q++)
            score[x->xt->col[q]] += value * value_at(x->xt, q);
    }
}

void npi_cosine_row(double *score, const npi_features *x, const double *norm, int32_t row)
{
    for (int32_t i = 0; i < x->n; i++)
        score[i] = x->dense ? dot(x, row, i) : 0;
    if (!x->dense)
        multiply_sparse(score, x, row);
    for (int32_t i = 0; i < x->n; i++) {
        double both = norm[row] * norm[i];
        score[i] = both > 0 ? score[i] / both : 0;
    }
}

/* One product with BLAS: (count, f) by (f, n). */
static void multiply_dense(real *product, const npi_features *x, const int32_t *rows, int count, real *picked)
{
    size_t f = (size_t)x->f;
    for (int r = 0; r < count; r++)
        memcpy(picked + (size_t)r * f, x->dense + (size_t)rows[r] * f, f * sizeof *picked);
    npi_gemm(product, x->n, picked, x->f, 0, x->dense, x->f, 1, count, x->n, x->f, 1, 0);
}

void npi_cosine_rows(real *cosine, const npi_features *x, const double *norm, const int32_t *rows, int count,
                     real *picked, double *sum)
{
    if (x->dense)
        multiply_dense(cosine, x, rows, count, picked);
    for (int r = 0; r < count; r++) {
        real *row = cosine + (size_t)r * (size_t)x->n;
        if (!x->dense)
            multiply_sparse(sum, x, rows[r]);
        for (int32_t i = 0; i < x->n; i++) {
            double both = norm[rows[r]] * norm[i], product = x->dense ? (double)row[i] : sum[i];
            row[i] = both > 0 ? (real)(product / both) : 0;
        }
        if (!x->dense)
            memset(sum, 0, (size_t)x->n * sizeof *sum);
    }
}
