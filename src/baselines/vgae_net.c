/* One pass of the variational graph auto-encoder; vgae_net.h has its equations (V1)-(V3), docs/understand/math.md the
 * others. */
#include "baselines/vgae_net.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "linalg/dense.h"
#include "model/gcn.h"

/* Activations have n rows. [mu | log sigma] lie side by side in `heads`, as their weights do. */
struct npi_vgae {
    npgnn_env env;
    npi_sizes size;
    int32_t n;
    npi_partition rows; /* all of them */
    npi_pairs *pairs;
    real *xw, *hidden;   /* (n, h) */
    real *heads, *m;     /* (n, 2 d); m is scratch of the graph products */
    real *z, *dz;        /* (n, d) */
    real *dheads;        /* (n, 2 d) */
    real *dhidden, *dxw; /* (n, h) */
    real *scratch;       /* of npi_gemm_parts */
    double *kl;          /* (n) n² KL of each node */
};

npi_sizes npi_vgae_sizes(int32_t f)
{
    return (npi_sizes){.f = f, .h = 32, .d = 16};
}

static real *new_matrix(const npgnn_env *env, int32_t n, int width, npgnn_error *err)
{
    return npi_alloc(env, (size_t)n * (size_t)width, sizeof(real), err);
}

int npi_vgae_new(npi_vgae **out, npi_sizes size, int32_t n, int pairs_per_node, const npgnn_env *env, npgnn_error *err)
{
    npi_vgae *net = npi_alloc(env, 1, sizeof *net, err);
    if (!net)
        return NPGNN_E_MEMORY;
    int h = size.h, d = size.d, code = 0;
    struct {
        real **at;
        int width;
    } list[] = {{&net->xw, h}, {&net->hidden, h}, {&net->heads, 2 * d},  {&net->m, 2 * d},  {&net->z, d},
                {&net->dz, d}, {&net->dxw, h},    {&net->dheads, 2 * d}, {&net->dhidden, h}};
    net->env = *env;
    net->size = size;
    net->n = n;
    net->rows = npi_partition_whole(n);
    for (size_t i = 0; !code && i < sizeof list / sizeof list[0]; i++)
        code = (*list[i].at = new_matrix(env, n, list[i].width, err)) ? 0 : NPGNN_E_MEMORY;
    if (!code &&
        !(net->scratch = npi_alloc(env, npi_gemm_parts_scratch(&net->rows, h, 2 * d), sizeof *net->scratch, err)))
        code = NPGNN_E_MEMORY;
    if (!code && !(net->kl = npi_alloc(env, (size_t)n, sizeof *net->kl, err)))
        code = NPGNN_E_MEMORY;
    if (!code)
        code = npi_pairs_new(&net->pairs, &net->rows, size.d, pairs_per_node, NULL, env, err);
    if (code)
        npi_vgae_free(net);
    else
        *out = net;
    return code;
}

void npi_vgae_free(npi_vgae *net)
{
    if (!net)
        return;
    npgnn_env env = net->env;
    real *blocks[] = {net->xw, net->hidden, net->heads,   net->m,   net->z,
                      net->dz, net->dheads, net->dhidden, net->dxw, net->scratch};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        npi_free(&env, blocks[i]);
    npi_free(&env, net->kl);
    npi_pairs_free(net->pairs);
    npi_free(&env, net);
}

/* ---- forward ---- */

/* heads (n, 2 d) = [M | Λ]: (V1) */
static void encode_forward(real *heads, real *xw, real *hidden, real *m, const npi_params *params,
                           const npi_features *x, const npi_adj *graph, int threads)
{
    int h = params->size.h, d = params->size.d;
    /* P (n, h) = X (n, f) W1 (f, h) */
    npi_features_mul(xw, x, params->wx, h, h, threads);
    /* H (n, h) = relu(Â P) */
    npi_gcn_hidden_forward(hidden, graph, xw, h, h, threads);
    /* [M | Λ] (n, 2 d) = Â (H [Wμ | Wσ]) */
    npi_gcn_heads_forward(heads, m, graph, hidden, params->wr, h, 2 * d, NPGNN_LINEAR, threads);
}

typedef struct sample_loop {
    const npi_vgae *net;
    const real *epsilon; /* (n, d) or NULL */
} sample_loop;

static void forward_rows(const void *arg, int64_t first, int64_t last)
{
    const sample_loop *l = arg;
    const npi_vgae *net = l->net;
    const real *epsilon = l->epsilon;
    int d = net->size.d;
    for (int64_t i = first; i < last; i++) {
        const real *mu = net->heads + (size_t)i * (size_t)(2 * d), *lambda = mu + d;
        size_t row = (size_t)i * (size_t)d;
        double kl = 0;
        for (int j = 0; j < d; j++) {
            double sigma = epsilon ? exp((double)lambda[j]) : 0, mean = (double)mu[j];
            net->z[row + (size_t)j] = mu[j] + (real)(epsilon ? sigma * (double)epsilon[row + (size_t)j] : 0);
            /* (μ² + σ² - 1) / 2 - λ */
            kl += 0.5 * (mean * mean + sigma * sigma - 1) - (double)lambda[j];
        }
        net->kl[i] = kl;
    }
}

/* ---- backward ---- */

static void backward_rows(const void *arg, int64_t first, int64_t last)
{
    const sample_loop *l = arg;
    const npi_vgae *net = l->net;
    const real *epsilon = l->epsilon;
    int d = net->size.d;
    double share = 1 / ((double)net->n * net->n);
    for (int64_t i = first; i < last; i++) {
        const real *mu = net->heads + (size_t)i * (size_t)(2 * d), *lambda = mu + d;
        real *dmu = net->dheads + (size_t)i * (size_t)(2 * d), *dlambda = dmu + d;
        size_t row = (size_t)i * (size_t)d;
        for (int j = 0; j < d; j++) {
            double dz = (double)net->dz[row + (size_t)j];
            dmu[j] = (real)dz;
            dlambda[j] = 0;
            if (!epsilon)
                continue;
            double sigma = exp((double)lambda[j]);
            dmu[j] = (real)(dz + share * (double)mu[j]);
            dlambda[j] = (real)(dz * sigma * (double)epsilon[row + (size_t)j] + share * (sigma * sigma - 1));
        }
    }
}

/* ---- one iteration ---- */

npi_objective npi_vgae_run(npi_vgae *net, npi_params *gradient, const npi_params *params, const npi_input *input)
{
    npi_objective objective = {0, 0};
    sample_loop loop = {net, input->epsilon};
    int h = net->size.h, d = net->size.d, threads = net->env.threads;

    /* [M | Λ] = Â H [Wμ | Wσ]: (V1) */
    encode_forward(net->heads, net->xw, net->hidden, net->m, params, input->x, input->graph, threads);
    /* Z = M + exp(Λ) ⊙ ε, and n² KL of each node: (V2), (V3) */
    npi_parallel(threads, net->n, 0, forward_rows, &loop);
    for (int32_t i = 0; input->epsilon && i < net->n; i++)
        objective.kl += net->kl[i];
    objective.kl /= (double)net->n * net->n;
    /* R(Z), and dZ: (8), (B7) */
    memset(net->dz, 0, (size_t)net->n * (size_t)d * sizeof *net->dz);
    objective.reconstruction = npi_pairs_run(net->pairs, gradient ? net->dz : NULL, net->z, input->graph, &input->loss,
                                             1, input->seed, input->draw);
    if (!gradient)
        return objective;

    /* dM = dZ + M / n², dΛ = dZ ⊙ σ ⊙ ε + (σ² - 1) / n² */
    npi_parallel(threads, net->n, 0, backward_rows, &loop);
    /* d[Wμ | Wσ] += Hᵀ Â d[M | Λ], dH = Â d[M | Λ] [Wμ | Wσ]ᵀ: (B3) */
    npi_gcn_heads_backward(net->dhidden, gradient->wr, net->dheads, net->m, input->graph, net->heads, net->hidden,
                           params->wr, h, 2 * d, NPGNN_LINEAR, &net->rows, net->scratch, threads);
    /* dP = Â (dH ⊙ [H > 0]): (B2) */
    npi_gcn_hidden_backward((npi_gcn_target){net->dxw, h, NULL, 0}, net->dhidden, input->graph, net->hidden, h,
                            threads);
    /* dW1 (f, h) += Xᵀ (f, n) dP (n, h) */
    npi_features_mul_t(gradient->wx, input->x, net->dxw, h, threads);
    return objective;
}

int npi_vgae_embed(real *mu, const npi_params *params, const npi_features *x, const npi_adj *graph,
                   const npgnn_env *env, npgnn_error *err)
{
    int h = params->size.h, d = params->size.d;
    real *xw = new_matrix(env, x->n, h, err), *hidden = new_matrix(env, x->n, h, err);
    real *heads = new_matrix(env, x->n, 2 * d, err), *m = new_matrix(env, x->n, 2 * d, err);
    int code = xw && hidden && heads && m ? 0 : NPGNN_E_MEMORY;
    if (!code)
        encode_forward(heads, xw, hidden, m, params, x, graph, env->threads);
    for (int32_t i = 0; !code && i < x->n; i++)
        memcpy(mu + (size_t)i * (size_t)d, heads + (size_t)i * (size_t)(2 * d), (size_t)d * sizeof *mu);
    npi_free(env, xw);
    npi_free(env, hidden);
    npi_free(env, heads);
    npi_free(env, m);
    return code;
}
