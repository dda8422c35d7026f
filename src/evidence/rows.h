/* One node, or a block of them, against many: what rows.c and rounding.c share. A product of a block with a range of
 * nodes is a plane (nodes of the block, nodes of the range); the columns are made from planes in place. */
#ifndef NPI_EVIDENCE_ROWS_H
#define NPI_EVIDENCE_ROWS_H

#include "evidence/columns.h"

/* plane[p] (block, range): where the product of plan.product[p].plane goes; those of columns in `value`. */
void npi_rows_place(real *plane[NPI_PLANES], real *value, const npi_columns_workspace *workspace, size_t cells);

/* How many products from number `first` on have the same right bank, and are computed together. */
int npi_rows_together(const npi_plan *plan, int first);

/* vector (width of the right bank) = the left vector of a product for the node in this row of the bank, with the
 * weights of the product. */
void npi_rows_left(real *vector, const npi_columns *columns, const npi_product *product, int32_t place);

/* The planes of `count` products with the same right bank, for rows first to last - 1. */
void npi_rows_multiply(real *const *plane, npi_columns_workspace *workspace, const npi_columns *columns,
                       const npi_product *products, int count, int32_t first, int32_t last);

/* All columns of rows first to last - 1, once the products are in their planes. */
void npi_rows_finish(real *const *plane, const npi_columns_workspace *workspace, const npi_columns *columns,
                     int32_t first, int32_t last);

#endif
