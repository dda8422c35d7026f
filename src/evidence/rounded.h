/* Rows of 16-bit integers: see rounded.c. */
#ifndef NPI_EVIDENCE_ROUNDED_H
#define NPI_EVIDENCE_ROUNDED_H

#include "evidence/columns.h"

/* rounded (NPI_SHORT_WIDTH), the numbers after the first `width` 0, and its unit. width <= NPI_SHORT_WIDTH. */
void npi_short_round(int16_t *rounded, float *unit, const real *row, int width);

/* Memory for the rounded rows of `capacity` nodes. */
int npi_columns_reserve_rounded(npi_columns *columns, int32_t capacity, npgnn_error *err);

#endif
