#include "linalg/symmetric.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* One rotation in the plane of p and q that makes A_pq zero: A <- Rᵀ A R, V <- V R. */
static void rotate(double *a, double *v, int k, int p, int q)
{
    double apq = a[p * k + q];
    double theta = (a[q * k + q] - a[p * k + p]) / (2 * apq);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int i = 0; i < k; i++) { /* columns p and q of A */
        double x = a[i * k + p], y = a[i * k + q];
        a[i * k + p] = c * x - s * y;
        a[i * k + q] = s * x + c * y;
    }
    for (int i = 0; i < k; i++) { /* rows p and q of A */
        double x = a[p * k + i], y = a[q * k + i];
        a[p * k + i] = c * x - s * y;
        a[q * k + i] = s * x + c * y;
    }
    for (int i = 0; i < k; i++) {
        double x = v[i * k + p], y = v[i * k + q];
        v[i * k + p] = c * x - s * y;
        v[i * k + q] = s * x + c * y;
    }
}

void npi_symmetric_eigen(double *values, double *v, double *a, int k)
{
    enum { SWEEPS = 60 };
    memset(v, 0, (size_t)k * (size_t)k * sizeof *v);
    for (int i = 0; i < k; i++)
        v[i * k + i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = 0, all = 0;
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++) {
                all += a[i * k + j] * a[i * k + j];
                off += i == j ? 0 : a[i * k + j] * a[i * k + j];
            }
        if (!(off > 1e-22 * all)) /* also ends when everything is zero, or not a number */
            break;
        for (int p = 0; p < k; p++)
            for (int q = p + 1; q < k; q++)
                if (fabs(a[p * k + q]) > 1e-300)
                    rotate(a, v, k, p, q);
    }
    for (int i = 0; i < k; i++)
        values[i] = a[i * k + i];

    for (int i = 0; i < k; i++) { /* selection sort by magnitude, columns of V along */
        int best = i;
        for (int j = i + 1; j < k; j++)
            if (fabs(values[j]) > fabs(values[best]))
                best = j;
        double value = values[i];
        values[i] = values[best];
        values[best] = value;
        for (int r = 0; r < k && best != i; r++) {
            double x = v[r * k + i];
            v[r * k + i] = v[r * k + best];
            v[r * k + best] = x;
        }
    }
}

void npi_cholesky(double *a, int k, double least)
{
    const double lost = sqrt(least);
    for (int i = 0; i < k; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i * k + j];
            for (int c = 0; c < j; c++)
                sum -= a[i * k + c] * a[j * k + c];
            if (i == j)
                a[i * k + j] = sum > least ? sqrt(sum) : lost;
            else /* what is left of a lost dimension is rounding: divided by its small pivot it would only grow */
                a[i * k + j] = a[j * k + j] > lost ? sum / a[j * k + j] : 0;
        }
}

void npi_cholesky_solve(double *b, const double *l, int k, int columns)
{
    for (int i = 0; i < k; i++) /* L Y = B */
        for (int c = 0; c < columns; c++) {
            double sum = b[i * columns + c];
            for (int j = 0; j < i; j++)
                sum -= l[i * k + j] * b[j * columns + c];
            b[i * columns + c] = sum / l[i * k + i];
        }
    for (int i = k - 1; i >= 0; i--) /* Lᵀ X = Y */
        for (int c = 0; c < columns; c++) {
            double sum = b[i * columns + c];
            for (int j = i + 1; j < k; j++)
                sum -= l[j * k + i] * b[j * columns + c];
            b[i * columns + c] = sum / l[i * k + i];
        }
}

/* ---- leading eigenvectors ---- */

/* out (rows, columns) = A (rows, rows) Q (rows, columns) */
static void multiply(double *out, const double *a, const double *q, int rows, int columns)
{
    size_t n = (size_t)rows, w = (size_t)columns;
    memset(out, 0, n * w * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double value = a[i * n + k];
            for (size_t j = 0; value != 0 && j < w; j++)
                out[i * w + j] += value * q[k * w + j];
        }
}

/* small (columns, columns) = Aᵀ B of (rows, columns) each. */
static void multiply_across(double *small, const double *a, const double *b, int rows, int columns)
{
    size_t w = (size_t)columns;
    memset(small, 0, w * w * sizeof *small);
    for (size_t i = 0; i < (size_t)rows; i++)
        for (size_t c = 0; c < w; c++)
            for (size_t d = 0; d < w; d++)
                small[c * w + d] += a[i * w + c] * b[i * w + d];
}

/* Q (rows, columns) becomes Q V diag(scale), by rows; V (columns, columns). */
static void turn(double *q, const double *v, const double *scale, int rows, int columns)
{
    double row[NPI_MOST_LEADING];
    size_t w = (size_t)columns;
    for (size_t i = 0; i < (size_t)rows; i++) {
        for (size_t c = 0; c < w; c++) {
            row[c] = 0;
            for (size_t d = 0; d < w; d++)
                row[c] += q[i * w + d] * v[d * w + c];
            row[c] *= scale[c];
        }
        memcpy(q + i * w, row, w * sizeof *row);
    }
}

/* Columns of Q that span the same space become orthonormal: QᵀQ = V diag(λ) Vᵀ, Q V diag(λ)^-½. What is nearly dependent
 * becomes 0. */
static void orthonormalize(double *q, double *gram, double *v, int rows, int columns)
{
    double value[NPI_MOST_LEADING], scale[NPI_MOST_LEADING];
    multiply_across(gram, q, q, rows, columns);
    npi_symmetric_eigen(value, v, gram, columns);
    for (int c = 0; c < columns; c++)
        scale[c] = value[c] > 1e-12 * value[0] ? 1 / sqrt(value[c]) : 0;
    turn(q, v, scale, rows, columns);
}

size_t npi_symmetric_leading_scratch(int rows, int columns)
{
    return (size_t)rows * (size_t)columns + 2 * (size_t)columns * (size_t)columns;
}

void npi_symmetric_leading(double *values, double *q, const double *a, int rows, int columns, double *scratch,
                           npi_rng *rng)
{
    enum { ROUNDS = 8 };
    size_t cells = (size_t)rows * (size_t)columns;
    double *product = scratch, *small = product + cells, *v = small + (size_t)columns * (size_t)columns;
    double ones[NPI_MOST_LEADING];
    assert(columns > 0 && columns <= rows && columns <= NPI_MOST_LEADING);
    for (size_t i = 0; i < cells; i++)
        q[i] = npi_rng_normal_at(rng, i);
    for (int round = 0; round < ROUNDS; round++) {
        orthonormalize(q, small, v, rows, columns);
        multiply(product, a, q, rows, columns);
        memcpy(q, product, cells * sizeof *q);
    }
    orthonormalize(q, small, v, rows, columns);
    multiply(product, a, q, rows, columns); /* Qᵀ A Q = V diag(values) Vᵀ */
    multiply_across(small, q, product, rows, columns);
    for (int c = 0; c < columns; c++)
        ones[c] = 1;
    npi_symmetric_eigen(values, v, small, columns);
    turn(q, v, ones, rows, columns);
}
