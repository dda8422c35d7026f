/* What may follow the decoder, each one step (docs/understand/math.md, eq. (13), (14)): embeddings of one length, and
 * embeddings that also use those of known neighbours. */
#ifndef NPI_MODEL_REFINE_H
#define NPI_MODEL_REFINE_H

#include "linalg/adj.h"

/* v_i = radius u_i / |u_i|, and |u_i| in length (n). Rows of zeros stay zero. Eq. (13). */
void npi_rescale_forward(real *v, real *length, const real *u, int64_t n, int k, double radius, int threads);

/* du_i = (radius dv_i - v_i (v_i · dv_i) / radius) / |u_i|; du may be dv. Eq. (B13). */
void npi_rescale_backward(real *du, const real *dv, const real *v, const real *length, int64_t n, int k, double radius,
                          int threads);

/* The known graph as training sees it in one iteration: the nodes in `cold` are treated as new. Their links are
 * ignored, for them and for their neighbours. */
typedef struct npi_neighbours {
    npi_adj adj;         /* pattern of the whole graph; scale 0 for cold nodes */
    unsigned char *cold; /* (n) */
} npi_neighbours;

/* Allocates neighbours over the pattern of `graph`, which must outlive them. */
int npi_neighbours_new(npi_neighbours *out, const npi_csr *graph, const npgnn_env *env, npgnn_error *err);
void npi_neighbours_free(const npgnn_env *env, npi_neighbours *neighbours);

/* Draws the cold nodes of (seed, draw), each with probability `share`, and normalises what is left. share 0: none. */
void npi_neighbours_draw(npi_neighbours *neighbours, double share, uint64_t seed, uint32_t draw, int threads);

/* y = Â x, with rows of cold nodes copied. Symmetric: the backward pass is the same call. Eq. (14), (B14). */
void npi_neighbours_mul(real *y, const npi_neighbours *neighbours, const real *x, int k, int threads);

#endif
