/* Sums in double whose bits are the same on every processor: the terms of each sum in their order, without fused
 * operations. What runs side by side are different sums. As kernels.h, compiled once per instruction set and chosen at
 * run time. */
#ifndef NPI_LINALG_EXACT_H
#define NPI_LINALG_EXACT_H

#include <stdint.h>

#include "linalg/real.h"

typedef struct npi_exact {
    /* y (width) += x (inputs) W (inputs, width), in the order of the inputs. Inputs that are not positive are left out
     * if `positive`. */
    void (*layer)(double *y, const double *x, const real *w, int inputs, int width, int positive);
} npi_exact;

/* The table that goes with npi_kernels_best. */
const npi_exact *npi_exact_best(void);

/* The index-th table that this processor can run, NULL past the last: for the tests. */
const npi_exact *npi_exact_at(int index);

#endif
