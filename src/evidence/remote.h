/* Rows of nodes of other processes, beside those of this one: where nodes are divided among processes, a search
 * compares nodes of all of them with the nodes of each. The rows of such visitors follow those of this process in every
 * bank, so that products, cosines and pairs read both kinds alike: node i of this process is at place i - rows.from,
 * visitor j at place rows.to - rows.from + j. */
#ifndef NPI_EVIDENCE_REMOTE_H
#define NPI_EVIDENCE_REMOTE_H

#include "evidence/columns.h"
#include "linalg/fetch.h"

typedef struct npi_remote {
    npi_columns *columns;
    npi_fetch fetch;
    int32_t most; /* at a time */
} npi_remote;

/* Memory for `most` visitors. The columns are kept, and borrow the rows of reduced and projection. Not collective; what
 * follows is. E_MEMORY. */
int npi_remote_new(npi_remote *out, npi_columns *columns, npi_reduced *reduced, npi_reduced *projection, int32_t most,
                   npgnn_error *err);
void npi_remote_free(npi_remote *visitors);

/* Fetches the rows of these nodes, each process those that it wants, in place of all earlier ones. All return the same
 * code. */
int npi_remote_fetch(npi_remote *visitors, const int32_t *nodes, int32_t count, npgnn_error *err);

/* to (count) = a number of each of the visitors, of which each process has those of its nodes, own (to - from). */
void npi_remote_fetch_numbers(real *to, npi_remote *visitors, const real *own);

#endif
