/* Which of many vectors have a large inner product with a given one, without looking at all of them: vectors that are near each
 * other share a cluster (k-means), and only clusters whose centres promise much are looked through. */
#ifndef NPI_SEARCH_CLUSTERS_H
#define NPI_SEARCH_CLUSTERS_H

#include "base/env.h"
#include "linalg/real.h"

typedef struct npi_clusters {
    int width, count;
    real *centre;  /* (count, width) */
    int32_t *ptr;  /* (count + 1) where each cluster begins in: */
    int32_t *node; /* (n) the nodes of each cluster, the longest vectors first */
    real *row;     /* (n, width) and their vectors */
} npi_clusters;

/* Divides the `count` nodes in `nodes` (NULL: 0 to count - 1), whose vectors are row (.., width) by node. A function of these
 * and the seed, for any number of threads. E_MEMORY. */
int npi_clusters_new(npi_clusters *out, const real *row, int width, const int32_t *nodes, int32_t count, uint64_t seed,
                     const npgnn_env *env, npgnn_error *err);
void npi_clusters_free(const npgnn_env *env, npi_clusters *clusters);

/* Memory of one thread. */
typedef struct npi_probe {
    real *promise;  /* (clusters) */
    int32_t *order; /* (clusters) */
    int32_t *node;  /* (most) nodes that were looked at */
    real *product;  /* (most) and their inner products */
    int32_t most;
} npi_probe;

/* For up to `most` nodes. */
int npi_probe_new(npi_probe *out, const npi_clusters *clusters, int32_t most, const npgnn_env *env, npgnn_error *err);
void npi_probe_free(const npgnn_env *env, npi_probe *probe);

/* Fills probe->node and product with the nodes of the most promising clusters. Returns how many. */
int32_t npi_clusters_probe(npi_probe *probe, const npi_clusters *clusters, const real *query);

#endif
