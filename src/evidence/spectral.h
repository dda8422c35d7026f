/* Where a node lies in the large structure of the graph: the leading eigenvectors of the degree-padded normalised
 * adjacency
 *
 *     M = S (A + I) S,    S = diag(1 / √(d_i + d̄)),    d̄ = mean degree of the nodes with links.
 *
 * The padding keeps small components from taking the leading eigenvectors. A node without links lies nowhere: zeros. */
#ifndef NPI_EVIDENCE_SPECTRAL_H
#define NPI_EVIDENCE_SPECTRAL_H

#include "linalg/sparse.h"

enum { NPI_SPECTRAL_WIDTH = 64 };

typedef struct npi_spectral {
    int width;      /* eigenpairs: 64, or a quarter of the nodes with links if that is less */
    double *values; /* (width), the largest magnitude first */
    real *vectors;  /* (r, width) orthonormal columns; the r nodes of this process */
    real *scale;    /* (r) the diagonal of S */
} npi_spectral;

/* By subspace iteration. O(links + n) with a constant of thousands; every link counts the same. The processes of
 * env->comm, all of which have all links, divide the nodes (npi_partition_tall). E_CANCELLED. */
int npi_spectral_new(npi_spectral *out, const npi_csr *a, const npgnn_env *env, npgnn_error *err);
void npi_spectral_free(const npgnn_env *env, npi_spectral *spectral);

#endif
