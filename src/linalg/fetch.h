/* Rows of a matrix that is divided among processes by its nodes: fetching those of other processes, and returning what
 * was computed for them. */
#ifndef NPI_LINALG_FETCH_H
#define NPI_LINALG_FETCH_H

#include "base/partition.h"
#include "linalg/real.h"

/* Which rows this process fetches, and which of its own it gives. */
typedef struct npi_fetch {
    npgnn_env env;
    npi_partition rows;
    int ranks, width;  /* width: most columns of a row */
    int32_t *start;    /* (ranks + 1) first row of each process */
    int64_t *want;     /* (ranks + 1) where the rows of each process begin among those that are fetched, by process; */
    int64_t *give;     /* (ranks + 1) the same for the rows that are given */
    int32_t *node;     /* (want) the rows, by process */
    int32_t *place;    /* (want) where the caller has them in its list; NULL: in this order */
    int ordered;       /* 1: the caller's list is in this order */
    int32_t *row;      /* (give) own rows, counted from the first */
    real *in, *out;    /* (a piece of those of each process, width) received and packed rows */
    int borrowed;      /* 1: they belong to another fetch */
    int64_t most_give; /* rows that there is memory for */
    int bounded;       /* 1: no plan gives more */
    npi_message *sends, *receives; /* (ranks) */
} npi_fetch;

/* Memory for lists of at most most_want rows. most_give: how many rows this process can be asked for, 0 where that is
 * not known. Not collective. */
int npi_fetch_new(npi_fetch *out, const npi_partition *rows, int64_t most_want, int64_t most_give, int width,
                  const npgnn_env *env, npgnn_error *err);
void npi_fetch_free(npi_fetch *fetch);

/* The same with the buffers of another one, which has planned, must outlive it, and never exchanges rows at the same
 * time; for lists of at most its rows, and processes that want at most what they want there. */
int npi_fetch_new_beside(npi_fetch *out, const npi_fetch *other, npgnn_error *err);

/* Plans to fetch the rows node[0 .. count), in any order. Allocates, and can fail, only where most_give was not known:
 * all processes then return the same code. */
int npi_fetch_plan(npi_fetch *fetch, const int32_t *node, int64_t count, npgnn_error *err);

/* Frees what only another plan would need. */
void npi_fetch_keep(npi_fetch *fetch);

/* to[i] = row node[i] of the matrix whose rows of this process are x (to - from, w), stride ldx; to (count, w)
 * contiguous. */
void npi_fetch_rows(npi_fetch *fetch, real *to, const real *x, int ldx, int w, int threads);

/* Row node[i] of the matrix += from[i], for rows that are all different; x as above. */
void npi_fetch_return(npi_fetch *fetch, real *x, int ldx, const real *from, int w, int threads);

#endif
