/* The rows of a node in all banks, side by side: p of vectors.h. */
#ifndef NPI_SEARCH_BANK_ROWS_H
#define NPI_SEARCH_BANK_ROWS_H

#include "predict/predictor.h"

enum {
    NPI_MOST_NUMBERS = 6,                                                           /* of a node */
    NPI_MOST_BANK_WIDTH = 2 * NPI_BANKS * NPI_SPECTRAL_WIDTH + NPI_MOST_NUMBERS + 1 /* of p */
};

/* Rows of a bank, each of length 1: as they are, or minus their mean. */
typedef struct npi_bank_block {
    npi_bank_id bank;
    int is_centred;
    int first; /* dimension of p */
} npi_bank_block;

/* A column that is a product of two blocks. */
typedef struct npi_bank_term {
    int left, right; /* blocks */
    npi_weighting weighting;
} npi_bank_term;

/* What p is made of. */
typedef struct npi_bank_layout {
    npi_bank_block blocks[2 * NPI_BANKS];
    npi_bank_term terms[NPI_ALL_COLUMNS];
    npi_bank_id length[NPI_MOST_NUMBERS]; /* banks whose rows' lengths are numbers of a node */
    int block_count, term_count, length_count;
    int numbers; /* the first dimension of the numbers: log(1 + d) and the lengths; then comes the 1 */
    int width;   /* D, of p */
} npi_bank_layout;

/* From p to a vector. */
typedef struct npi_vector_map {
    npi_bank_layout layout;
    double offset[NPI_MOST_NUMBERS], scale[NPI_MOST_NUMBERS]; /* that make the numbers standard */
    real *weight;                                             /* (vector width, D) |Λ|^½ Gᵀ L⁻¹ */
} npi_vector_map;

/* Which columns of the evidence are products, and where the rows of their banks are in p. */
void npi_bank_layout_make(npi_bank_layout *out, const npi_columns *columns);

/* p (D) of a node, whose numbers are standard if a map says how. */
void npi_bank_rows_fill(real *p, const npi_columns *columns, const npi_bank_layout *layout, const npi_vector_map *map,
                        int32_t node);

/* row (count, width) = the vectors of the nodes in `node` (count; NULL: 0, 1, ...), on all threads of the predictor. */
int npi_bank_rows_project(real *row, int width, const int32_t *node, int64_t count, const npi_vector_map *map,
                          const npgnn_predictor *predictor, npgnn_error *err);

#endif
