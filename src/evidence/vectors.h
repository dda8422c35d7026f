/* Short vectors of nodes: lengths and inner products, summed in double. */
#ifndef NPI_EVIDENCE_VECTORS_H
#define NPI_EVIDENCE_VECTORS_H

#include <math.h>
#include <stdint.h>

#include "linalg/real.h"

static inline double npi_dot(const real *a, const real *b, int width)
{
    double sum = 0;
    for (int c = 0; c < width; c++)
        sum += (double)a[c] * (double)b[c];
    return sum;
}

/* Scales every row of a (n, width) matrix to length 1; zeros stay zeros. */
static inline void npi_unit_rows(real *rows, int32_t n, int width)
{
    for (int32_t i = 0; i < n; i++) {
        real *row = rows + (size_t)i * (size_t)width;
        double length = sqrt(npi_dot(row, row, width));
        for (int c = 0; c < width; c++)
            row[c] = length > 1e-12 ? (real)((double)row[c] / length) : 0;
    }
}

#endif
