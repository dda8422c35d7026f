#include "process/layers.h"

#include <string.h>

#include "linalg/dense.h"

void npi_layer_forward(real *y, const real *x, const real *w, const real *b, int rows, int in, int out)
{
    for (int i = 0; i < rows; i++)
        memcpy(y + (size_t)i * (size_t)out, b, (size_t)out * sizeof *y);
    if (rows > 0)
        npi_gemm(y, out, x, in, 0, w, out, 0, rows, out, in, 1, 1); /* Y = X W + Y */
}

void npi_layer_backward(real *dx, real *dw, real *db, const real *dy, const real *x, const real *w, int rows, int in,
                        int out)
{
    if (rows == 0)
        return;
    npi_gemm(dw, out, x, in, 1, dy, out, 0, in, out, rows, 1, 1); /* dW += Xᵀ dY */
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < out; j++)
            db[j] += dy[(size_t)i * (size_t)out + (size_t)j];
    if (dx)
        npi_gemm(dx, in, dy, out, 0, w, out, 1, rows, in, out, 1, 0); /* dX = dY Wᵀ */
}
