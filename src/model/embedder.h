/* The decoder alone: embeddings of the nodes of a graph, for validation and prediction. */
#ifndef NPI_MODEL_EMBEDDER_H
#define NPI_MODEL_EMBEDDER_H

#include "features/features.h"
#include "model/params.h"

/* Workspace for the n nodes of a graph, and the embeddings computed in it. */
typedef struct npi_embedder {
    int32_t n;
    real *xw;     /* (n, g) X W2x; borrowed where is_sharing */
    real *hidden; /* (n, g) */
    real *u;      /* (n, k) the result */
    int is_sharing;
} npi_embedder;

/* Allocates the workspace for n nodes. */
int npi_embedder_new(npi_embedder *out, npi_sizes size, int32_t n, const npgnn_env *env, npgnn_error *err);

/* An embedder for another z, with the X W2x of `from`, which must outlive it. */
int npi_embedder_share(npi_embedder *out, npi_sizes size, const npi_embedder *from, const npgnn_env *env,
                       npgnn_error *err);

/* Frees all but X W2x, for embedders that share it. */
void npi_embedder_shrink(const npgnn_env *env, npi_embedder *embedder);
void npi_embedder_free(const npgnn_env *env, npi_embedder *embedder);

/* Q = X W2x, which does not depend on z. */
void npi_embedder_features(npi_embedder *embedder, const npi_params *params, const npi_features *x, int threads);

/* Computes u for a given z (d); NULL: without latent. output: the activation of the decoder's output. Eq. (6). */
void npi_embedder_run(npi_embedder *embedder, const npi_params *params, const real *z, npgnn_activation output,
                      int threads);

#endif
