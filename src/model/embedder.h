/* The decoder alone: embeddings of the nodes of a graph, for validation and prediction. */
#ifndef NPI_MODEL_EMBEDDER_H
#define NPI_MODEL_EMBEDDER_H

#include "features/features.h"
#include "model/params.h"
#include "model/refine.h"

/* Workspace for the n nodes of a graph, and the embeddings computed in it. */
typedef struct npi_embedder {
    int32_t n;
    real *xw;                  /* (n, g) X W2x */
    real *hidden;              /* (n, g) */
    real *u;                   /* (n, k) the result */
    real *other;               /* (n, k), with propagate */
    real *length;              /* (n), with radius */
    npi_neighbours neighbours; /* with propagate */
} npi_embedder;

/* For n nodes. `graph`, which must outlive it, has the links of all of them; it is used with propagate alone. */
int npi_embedder_new(npi_embedder *out, const npgnn_options *options, npi_sizes size, int32_t n, const npi_csr *graph,
                     const npgnn_env *env, npgnn_error *err);
void npi_embedder_free(const npgnn_env *env, npi_embedder *embedder);

/* Q = X W2x, which does not depend on z. */
void npi_embedder_features(npi_embedder *embedder, const npi_params *params, const npi_features *x, int threads);

/* u for a given z (d), or without latent, NULL. Eq. (6), (13), (14). */
void npi_embedder_run(npi_embedder *embedder, const npi_params *params, const real *z, const npgnn_options *options,
                      int threads);

#endif
