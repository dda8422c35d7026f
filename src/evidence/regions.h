/* In which region of a graph a node lies: the large structure, beyond what short paths see. */
#ifndef NPI_EVIDENCE_REGIONS_H
#define NPI_EVIDENCE_REGIONS_H

#include "linalg/sparse.h"

/* A row of length 1 for each node: the inner product of two says how far they lie in the same region. A node without links
 * has a row of zeros. */
typedef struct npi_regions {
    real *row; /* (n, width) */
    int width;
} npi_regions;

/* Of the links `a`, each counting the same. O(links + n) with a large constant; the same bits for any number of threads. */
int npi_regions_new(npi_regions *out, const npi_csr *a, const npgnn_env *env, npgnn_error *err);
void npi_regions_free(const npgnn_env *env, npi_regions *regions);

double npi_regions_pair(const npi_regions *regions, npgnn_pair pair);

/* value (count, n): nodes[0 .. count) with all n nodes, on the calling thread, inside npi_blas_begin. `picked` has room for
 * (count, width). */
void npi_regions_rows(real *value, const npi_regions *regions, const int32_t *nodes, int count, int32_t n,
                      real *picked);

#endif
