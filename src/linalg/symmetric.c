#include "linalg/symmetric.h"

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
