/* The decoder alone, for validation and prediction (docs/understand/math.md, (6), (13), (14)):
 *
 *     Q = X W2x                                      (n, g)   once per graph
 *     U = act(sigmoid(Q + z Wz + b1) W3 + b2)        (n, k)   per z, then rescaled and averaged over known links */
#include "model/embedder.h"

#include <string.h>

#include "linalg/dense.h"
#include "model/mlp.h"

int npi_embedder_new(npi_embedder *out, const npgnn_options *options, npi_sizes size, int32_t nodes,
                     const npi_csr *graph, const npgnn_env *env, npgnn_error *err)
{
    npi_embedder e = {0};
    int code = npi_blas_open(env, err);
    if (code)
        return code;
    size_t n = (size_t)nodes, g = (size_t)size.g, k = (size_t)size.k;
    e.xw = npi_alloc(env, n * g, sizeof *e.xw, err);
    e.hidden = npi_alloc(env, n * g, sizeof *e.hidden, err);
    e.u = npi_alloc(env, n * k, sizeof *e.u, err);
    int failed = !e.xw || !e.hidden || !e.u;
    if (options->radius > 0)
        failed |= !(e.length = npi_alloc(env, n, sizeof *e.length, err));
    if (options->propagate > 0) {
        failed |= !(e.other = npi_alloc(env, n * k, sizeof *e.other, err));
        failed |= npi_neighbours_new(&e.neighbours, graph, env, err) != 0;
    }
    if (failed) {
        npi_embedder_free(env, &e);
        return NPGNN_E_MEMORY;
    }
    if (options->propagate > 0)
        npi_neighbours_draw(&e.neighbours, 0, 0, 0, env->threads); /* a share of 0: no node is cold */
    *out = e;
    return 0;
}

void npi_embedder_free(const npgnn_env *env, npi_embedder *e)
{
    npi_free(env, e->xw);
    npi_free(env, e->hidden);
    npi_free(env, e->u);
    npi_free(env, e->other);
    npi_free(env, e->length);
    npi_neighbours_free(env, &e->neighbours);
    memset(e, 0, sizeof *e);
}

void npi_embedder_features(npi_embedder *e, const npi_params *params, const npi_features *x, int threads)
{
    npi_sizes s = params->size;
    /* Q (n, g) = X (n, f) W2x (f, g), where W2x is the last g columns of wx */
    npi_features_mul(e->xw, x, params->wx + s.h, s.h + s.g, s.g, threads);
    e->n = x->n;
}

void npi_embedder_run(npi_embedder *e, const npi_params *params, const real *z, const npgnn_options *options,
                      int threads)
{
    int g = params->size.g, k = params->size.k;
    /* U = act(sigmoid(Q + z Wz + b1) W3 + b2): (6) */
    npi_mlp_forward(e->u, e->hidden, params, e->xw, g, z, e->n, options->decoder_output, threads);
    /* u_i <- radius u_i / |u_i|: (13) */
    if (options->radius > 0)
        npi_rescale_forward(e->u, e->length, e->u, e->n, k, options->radius, threads);
    /* U <- Â_k U: (14) */
    for (int i = 0; i < options->propagate; i++) {
        npi_neighbours_mul(e->other, &e->neighbours, e->u, k, threads);
        real *swap = e->u;
        e->u = e->other;
        e->other = swap;
    }
}
