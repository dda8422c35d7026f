/* Rows of nodes of other processes, beside those of this one: where nodes are divided among processes, a search
 * compares nodes of all of them with the nodes of each. The rows of such visitors follow those of this process in every
 * bank, so that products, cosines and pairs read both kinds alike: node i of this process is at place i - rows.from,
 * visitor j at place rows.to - rows.from + j. */
#ifndef NPI_EVIDENCE_VISITORS_H
#define NPI_EVIDENCE_VISITORS_H

#include "evidence/columns.h"
#include "linalg/fetch.h"

typedef struct npi_visitors {
    npi_columns *columns;
    npi_fetch fetch;
    int32_t most; /* at a time */
} npi_visitors;

/* Memory for `most` visitors. The columns are kept, and borrow the rows of words and projection. Not collective; what
 * follows is. E_MEMORY. */
int npi_visitors_new(npi_visitors *out, npi_columns *columns, npi_words *words, npi_words *projection, int32_t most,
                     npgnn_error *err);
void npi_visitors_free(npi_visitors *visitors);

/* Fetches the rows of these nodes, each process those that it wants, in place of all earlier ones. All return the same
 * code. */
int npi_visitors_fetch(npi_visitors *visitors, const int32_t *nodes, int32_t count, npgnn_error *err);

/* to (count) = a number of each of the visitors, of which each process has those of its nodes, own (to - from). */
void npi_visitors_fetch_numbers(real *to, npi_visitors *visitors, const real *own);

#endif
