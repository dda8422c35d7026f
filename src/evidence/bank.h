/* Banks: for every node, or every node of this process, one vector; and what is known of these vectors. Which banks
 * there are and how they are made is in table.h. */
#ifndef NPI_EVIDENCE_BANK_H
#define NPI_EVIDENCE_BANK_H

#include "base/partition.h"
#include "evidence/spread.h"
#include "evidence/table.h"

/* The r rows of a bank and the numbers that are kept per row; owned unless a member says otherwise. */
typedef struct npi_bank {
    int width;       /* numbers of a row */
    int stride;      /* from one row to the next */
    int is_borrowed; /* 1: another struct owns `row` */
    real *row;       /* (r, stride); NULL: not made */
    /* used only by centred banks; μ is the mean of the rows that are not zero, ν that of the partner's: */
    real *mean;      /* (width) μ */
    double *along;   /* (r) row · μ */
    double *cross;   /* (r) row · ν; NULL without a partner */
    double square;   /* μ · μ */
    double between;  /* μ · ν */
    float *distance; /* (r) |row - μ|, 0 for a row of zeros; of a measured bank |row| */
    double longest;  /* bounds |row|; 1, or in a bank with longer rows the largest that npi_bank_bound has seen */
    /* after npi_columns_round: row_i ≈ unit_i rounded_i (rounding.c) */
    int8_t *rounded; /* (r, npi_short_width), in groups of rows as of npi_kernels.integer_products */
    float *unit;     /* (r) */
    float off;       /* the largest | row_i - unit_i rounded_i | / unit_i */
} npi_bank;

/* Read-only view of a bank: rows of this process, or rows that were fetched for some pairs. It owns nothing. */
typedef struct npi_bank_view {
    const real *row; /* (rows, stride), and so on as above */
    int width, stride;
    const double *along, *cross;
    const float *distance;
    double square, between;
} npi_bank_view;

typedef struct npi_view {
    npi_bank_view bank[NPI_BANKS];
} npi_view;

/* Row `place` of a bank. */
static inline const real *npi_view_row(const npi_view *view, npi_bank_id bank, int32_t place)
{
    const npi_bank_view *b = &view->bank[bank];
    return b->row + (size_t)place * (size_t)b->stride;
}

static inline real *npi_bank_row(const npi_bank *bank, int32_t place)
{
    return bank->row + (size_t)place * (size_t)bank->stride;
}

/* Inputs that the rows of banks are made from. */
typedef struct npi_bank_source {
    const npgnn_env *env;
    const npi_partition *rows; /* the nodes of this process */
    npi_spread *links;
    const real *to_region; /* (k, d) B */
    const real *kernel;    /* (k, k) K */
    int measured;          /* 1: along, cross and distance are wanted of all rows */
} npi_bank_source;

/* A bank without rows. */
npi_bank npi_bank_empty(npi_bank_id id, int width);

/* Allocates rows. E_MEMORY. */
int npi_bank_allocate(npi_bank *bank, size_t rows, const npgnn_env *env, npgnn_error *err);

/* Makes all banks of a group, from those that are given. Collective: all processes return the same code. */
int npi_banks_make(npi_bank banks[NPI_BANKS], npi_group group, const npi_bank_source *from, npgnn_error *err);

/* Frees what the banks of a group own, and all banks. */
void npi_banks_release(npi_bank banks[NPI_BANKS], npi_group group, const npgnn_env *env);
void npi_banks_free(npi_bank banks[NPI_BANKS], const npgnn_env *env);

/* along, cross and distance of the rows first to last - 1 of a group, which have just been written. */
void npi_banks_measure(npi_bank banks[NPI_BANKS], npi_group group, int32_t first, int32_t last);

/* Makes the longest of the bank, and *least_distance, take the rows first to last - 1 into account. */
void npi_bank_bound(npi_bank *bank, double *least_distance, int flags, int32_t first, int32_t last);

/* Changes the memory of everything that a bank has for each row. E_MEMORY: it has what it had. */
int npi_bank_resize(npi_bank *bank, int32_t capacity, const npgnn_env *env, npgnn_error *err);

/* Changes the memory of an array for `capacity` items of `size` bytes. E_MEMORY: it is what it was. */
int npi_array_resize(void *array_pointer, int32_t capacity, size_t size, const npgnn_env *env, npgnn_error *err);

/* The view of rows that are all there. */
void npi_banks_view(npi_view *view, const npi_bank banks[NPI_BANKS]);

#endif
