/* Spectral embedding: eigenvectors of the normalised Laplacian as coordinates of the nodes (Tang & Liu 2011,
 * doi:10.1007/s10618-010-0210-x; docs/results/baselines.md). */
#ifndef NPI_BASELINES_SPECTRAL_H
#define NPI_BASELINES_SPECTRAL_H

#include "baselines/method.h"

/* The score is the inner product of the nodes' rows in two sets of eigenvectors. The first is the k
 * eigenvectors with the smallest eigenvalues above 0. The second spans those with the eigenvalue 0, one per component
 * of the graph, less the trivial one, √degree over all nodes. Nodes without an edge score 0. 0 < k < n. The seed of the
 * task is where the eigensolver starts; it matters where eigenvalues coincide. */
int npi_spectral_learn_some(npi_heuristic *out, int k, const npi_task *task, npgnn_error *err);

npi_learn_fn npi_spectral_learn; /* k by the number of nodes */

#endif
