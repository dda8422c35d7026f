/* Rows of integers: see rounded.c. */
#ifndef NPI_EVIDENCE_ROUNDING_H
#define NPI_EVIDENCE_ROUNDING_H

#include "evidence/columns.h"

/* Numbers of a rounded row of a bank: its width, rounded up to what the kernel takes. */
static inline int npi_short_width(const npi_bank *bank)
{
    return (bank->width + NPI_SHORT_STEP - 1) / NPI_SHORT_STEP * NPI_SHORT_STEP;
}

/* rounded (width, rounded up as above), the numbers after the first `width` 0, and its unit. width <=
 * NPI_SHORT_WIDTH. */
void npi_short_round(int16_t *rounded, float *unit, const real *row, int width);

/* The same in 8 bits, and how far row / unit is from it. */
void npi_byte_round(int8_t *rounded, float *unit, float *off, const real *row, int width);

/* The workspaces that are kept: none at first. */
int npi_spare_new(struct npi_spare **out, const npgnn_env *env, npgnn_error *err);
void npi_spare_free(const npgnn_env *env, struct npi_spare *spare);

/* Memory for the rounded rows of `capacity` nodes. */
int npi_columns_reserve_rounded(npi_columns *columns, int32_t capacity, npgnn_error *err);

#endif
