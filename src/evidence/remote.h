/* Rows of nodes of other processes, beside those of this one: where nodes are divided among processes, a search
 * compares nodes of all of them with the nodes of each. Remote rows follow those of this process in every bank, so that
 * products, cosines and pairs read both kinds alike: node i of this process is at place i - rows.from, remote node j at
 * place rows.to - rows.from + j. */
#ifndef NPI_EVIDENCE_REMOTE_H
#define NPI_EVIDENCE_REMOTE_H

#include "evidence/columns.h"
#include "linalg/fetch.h"

typedef struct npi_remote {
    npi_columns *columns;
    npi_fetch fetch;
    int32_t most; /* at a time */
} npi_remote;

/* Memory for `most` remote nodes. The columns are kept. Not collective; what follows is. E_MEMORY. */
int npi_remote_new(npi_remote *out, npi_columns *columns, int32_t most, npgnn_error *err);
void npi_remote_free(npi_remote *remote);

/* Fetches the rows of `nodes`, replacing the previous ones; each process passes the nodes that it needs. Collective:
 * all return the same code. */
int npi_remote_fetch(npi_remote *remote, const int32_t *nodes, int32_t count, npgnn_error *err);

/* to (count) = one number per remote node, own (to - from) those of the nodes of this process. Collective. */
void npi_remote_fetch_numbers(real *to, npi_remote *remote, const real *own);

#endif
