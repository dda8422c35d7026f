/* Rows of integers: see rounding.c. */
#ifndef NPI_EVIDENCE_ROUNDING_H
#define NPI_EVIDENCE_ROUNDING_H

#include "evidence/columns.h"

/* Numbers of a rounded row of this many: as many, rounded up to what the kernel takes. */
static inline int npi_short_width(int width)
{
    return (width + NPI_SHORT_STEP - 1) / NPI_SHORT_STEP * NPI_SHORT_STEP;
}

/* rounded (width, rounded up as above), the numbers after the first `width` 0, and its unit. width <=
 * NPI_SHORT_WIDTH. */
void npi_short_round(int16_t *rounded, float *unit, const real *row, int width);

/* The same in 8 bits, and how far row / unit is from it. */
void npi_byte_round(int8_t *rounded, float *unit, float *off, const real *row, int width);

#endif
