/* The decoder alone, for validation and prediction (docs/understand/math.md, (6)):
 *
 *     Q = X W2x                                      (n, g)   once per graph
 *     U = act(sigmoid(Q + z Wz + b1) W3 + b2)        (n, k)   per z */
#include "model/embedder.h"

#include <assert.h>
#include <string.h>

#include "linalg/dense.h"
#include "model/mlp.h"

/* shared: X W2x of another embedder; NULL: the new one has its own. */
static int make(npi_embedder *out, npi_sizes size, real *shared, int32_t nodes, const npgnn_env *env, npgnn_error *err)
{
    npi_embedder e = {.n = nodes, .xw = shared, .is_sharing = shared != NULL};
    int code = npi_blas_open(env, err);
    if (code)
        return code;
    size_t n = (size_t)nodes, g = (size_t)size.g, k = (size_t)size.k;
    if (!shared)
        e.xw = npi_alloc(env, n * g, sizeof *e.xw, err);
    e.hidden = npi_alloc(env, n * g, sizeof *e.hidden, err);
    e.u = npi_alloc(env, n * k, sizeof *e.u, err);
    if (!e.xw || !e.hidden || !e.u) {
        npi_embedder_free(env, &e);
        return NPGNN_E_MEMORY;
    }
    *out = e;
    return 0;
}

int npi_embedder_new(npi_embedder *out, npi_sizes size, int32_t n, const npgnn_env *env, npgnn_error *err)
{
    return make(out, size, NULL, n, env, err);
}

int npi_embedder_share(npi_embedder *out, npi_sizes size, const npi_embedder *from, const npgnn_env *env,
                       npgnn_error *err)
{
    assert(from->xw);
    return make(out, size, from->xw, from->n, env, err);
}

void npi_embedder_shrink(const npgnn_env *env, npi_embedder *e)
{
    npi_free(env, e->hidden);
    npi_free(env, e->u);
    e->hidden = e->u = NULL;
}

void npi_embedder_free(const npgnn_env *env, npi_embedder *e)
{
    npi_embedder_shrink(env, e);
    if (!e->is_sharing)
        npi_free(env, e->xw);
    memset(e, 0, sizeof *e);
}

void npi_embedder_features(npi_embedder *e, const npi_params *params, const npi_features *x, int threads)
{
    npi_sizes s = params->size;
    assert(x->n == e->n && x->f == s.f && !e->is_sharing);
    /* Q (n, g) = X (n, f) W2x (f, g), where W2x is the last g columns of wx */
    npi_features_mul(e->xw, x, params->wx + s.h, s.h + s.g, s.g, threads);
}

void npi_embedder_run(npi_embedder *e, const npi_params *params, const real *z, npgnn_activation output, int threads)
{
    /* U = act(sigmoid(Q + z Wz + b1) W3 + b2): (6) */
    npi_mlp_forward(e->u, e->hidden, params, e->xw, params->size.g, z, e->n, output, threads);
}
