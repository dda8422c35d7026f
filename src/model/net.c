#include "model/net.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "linalg/dense.h"
#include "linalg/elementwise.h"
#include "model/gcn.h"
#include "model/latent.h"
#include "model/mlp.h"

/* One pass of the encoder over one graph: kept from forward to backward. */
typedef struct encoding {
    const npi_adj *adj;
    const int32_t *nodes; /* rows of X, or NULL: all */
    real *p;              /* (n, h) rows of X W1 when `nodes` picks some */
    real *hidden;         /* (n, h) */
    real *colsum;         /* (n) of Â */
    real *pooled;         /* (h) */
    real *r;              /* (n, 2 d) heads, where the shortcut does not hold */
    real *q;              /* (2, d) the distribution of z */
    real *dq;
} encoding;

struct npi_net {
    npgnn_env env;
    npgnn_options options;
    npi_sizes size;
    int32_t n;
    int shortcut;            /* the second layer is linear and only its mean is needed */
    encoding whole, context; /* q(z | G), q(z | C) */
    encoding *source;        /* the one that z comes from */
    int samples;             /* of z an iteration */
    double start;            /* of log sigma */
    real *xw, *dxw;          /* (n, h + g) X [W1 | W2x] */
    real *mlp_hidden;        /* (n, g) */
    real *u, *du;            /* (n, k) the decoder's output, and the gradient on its way back */
    real *v, *length;        /* (n, k), (n) with radius: rescaled u */
    real *w[2];              /* (n, k) with propagate: in turn */
    real *u_sum;             /* (n, k) for averaged embeddings */
    real *dhidden;           /* (n, h) */
    real *m, *dr;            /* (n, 2 d) scratch of the heads */
    real *mean, *dmean;      /* (2 d) */
    real *dpooled;           /* (h) */
    real *z, *dz;            /* (d) */
    real *scratch;           /* sums over many rows */
    real *mlp_scratch;
    npi_pairs *pairs;
};

/* ---- making room ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* An array of reals for the net; remembers in *failed that one was not to be had. */
static real *room(const npi_net *net, size_t rows, int columns, int *failed, npgnn_error *err)
{
    real *block = npi_alloc(&net->env, rows, (size_t)columns * sizeof(real) + !columns, err);
    *failed = *failed || !block;
    return block;
}

static void encoding_room(encoding *e, const npi_net *net, int *failed, npgnn_error *err)
{
    size_t n = (size_t)net->n;
    int h = net->size.h, d = net->size.d;
    e->p = room(net, n, h, failed, err);
    e->hidden = room(net, n, h, failed, err);
    e->colsum = room(net, n, 1, failed, err);
    e->pooled = room(net, 1, h, failed, err);
    e->r = net->shortcut ? NULL : room(net, n, 2 * d, failed, err);
    e->q = room(net, 2, d, failed, err);
    e->dq = room(net, 2, d, failed, err);
}

static void encoding_free(const npgnn_env *env, encoding *e)
{
    npi_free(env, e->p);
    npi_free(env, e->hidden);
    npi_free(env, e->colsum);
    npi_free(env, e->pooled);
    npi_free(env, e->r);
    npi_free(env, e->q);
    npi_free(env, e->dq);
}

static void latent_room(npi_net *net, int *failed, npgnn_error *err)
{
    size_t n = (size_t)net->n;
    int h = net->size.h, d = net->size.d;
    encoding_room(&net->whole, net, failed, err);
    encoding_room(&net->context, net, failed, err);
    net->dhidden = room(net, n, h, failed, err);
    if (!net->shortcut) {
        net->m = room(net, n, 2 * d, failed, err);
        net->dr = room(net, n, 2 * d, failed, err);
    }
    net->mean = room(net, 2, d, failed, err);
    net->dmean = room(net, 2, d, failed, err);
    net->dpooled = room(net, 1, h, failed, err);
    net->z = room(net, 1, d, failed, err);
    net->dz = room(net, 1, d, failed, err);
}

static void decoder_room(npi_net *net, int *failed, npgnn_error *err)
{
    size_t n = (size_t)net->n;
    npi_sizes s = net->size;
    size_t sums = larger(npi_gemm_tall_scratch(net->n, s.h, 2 * s.d), npi_gcn_pool_scratch(s.h));
    net->xw = room(net, n, s.h + s.g, failed, err);
    net->dxw = room(net, n, s.h + s.g, failed, err);
    net->mlp_hidden = room(net, n, s.g, failed, err);
    net->u = room(net, n, s.k, failed, err);
    net->du = room(net, n, s.k, failed, err);
    if (net->options.monte_carlo == NPGNN_MC_EMBEDDING && net->samples > 1)
        net->u_sum = room(net, n, s.k, failed, err);
    if (net->options.radius > 0) {
        net->v = room(net, n, s.k, failed, err);
        net->length = room(net, n, 1, failed, err);
    }
    for (int i = 0; i < 2 && net->options.propagate > 0; i++)
        net->w[i] = room(net, n, s.k, failed, err);
    net->scratch = room(net, sums, 1, failed, err);
    net->mlp_scratch = room(net, npi_mlp_scratch(s), 1, failed, err);
}

/* A net without its room; NULL when memory is out. */
static npi_net *bare_net(const npgnn_options *options, int32_t n, int32_t f, const npgnn_env *env, npgnn_error *err)
{
    npi_net *net = npi_alloc(env, 1, sizeof *net, err);
    if (!net)
        return NULL;
    net->env = *env;
    net->options = *options;
    net->size = npi_sizes_of(options, f);
    net->n = n;
    net->shortcut = options->encoder_output == NPGNN_LINEAR && options->sigma_mean == NPGNN_MEAN_LOG;
    net->source = options->sample_latent ? &net->whole : &net->context;
    net->start = log(options->sigma_start);
    net->samples = options->latent && options->sample_latent ? options->samples : 1;
    return net;
}

int npi_net_new(npi_net **out, const npgnn_options *options, int32_t n, int32_t f, const npgnn_env *env,
                npgnn_error *err)
{
    int failed = 0;
    npi_net *net = bare_net(options, n, f, env, err);
    if (!net)
        return NPGNN_E_MEMORY;
    if (options->latent)
        latent_room(net, &failed, err);
    decoder_room(net, &failed, err);
    int code = failed ? NPGNN_E_MEMORY
                      : npi_pairs_new(&net->pairs, n, options->output_size, npi_pairs_sampled(options, n), env, err);
    if (code)
        npi_net_free(net);
    else
        *out = net;
    return code;
}

int npi_net_new_encoder(npi_net **out, const npgnn_options *options, int32_t n, int32_t f, const npgnn_env *env,
                        npgnn_error *err)
{
    int failed = 0, code = npi_blas_open(env, err);
    if (code)
        return code;
    npi_net *net = bare_net(options, n, f, env, err);
    if (!net)
        return NPGNN_E_MEMORY;
    encoding_room(&net->whole, net, &failed, err);
    net->xw = room(net, (size_t)n, net->size.h, &failed, err);
    net->mean = room(net, 2, net->size.d, &failed, err);
    net->scratch = room(net, npi_gcn_pool_scratch(net->size.h), 1, &failed, err);
    if (!net->shortcut)
        net->m = room(net, (size_t)n, 2 * net->size.d, &failed, err);
    if (failed) {
        npi_net_free(net);
        return NPGNN_E_MEMORY;
    }
    *out = net;
    return 0;
}

void npi_net_free(npi_net *net)
{
    if (!net)
        return;
    npgnn_env env = net->env;
    real *blocks[] = {net->xw,          net->dxw,     net->mlp_hidden, net->u,    net->du,
                      net->u_sum,       net->dhidden, net->m,          net->dr,   net->mean,
                      net->dmean,       net->dpooled, net->z,          net->dz,   net->scratch,
                      net->mlp_scratch, net->v,       net->length,     net->w[0], net->w[1]};
    encoding_free(&env, &net->whole);
    encoding_free(&env, &net->context);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        npi_free(&env, blocks[i]);
    npi_pairs_free(net->pairs);
    npi_free(&env, net);
}

/* ---- encoder ---- */

/* The first w columns of x (rows, ld) become 0. */
static void zero_columns(real *x, int ld, int64_t rows, int w)
{
    for (int64_t i = 0; i < rows; i++)
        memset(x + i * ld, 0, (size_t)w * sizeof *x);
}

typedef struct copy_loop {
    real *out;
    const real *x;
    const int32_t *rows;
    int ldx, w;
} copy_loop;

static void copy_rows(const void *arg, int64_t first, int64_t last)
{
    const copy_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        memcpy(l->out + i * l->w, l->x + (int64_t)l->rows[i] * l->ldx, (size_t)l->w * sizeof *l->out);
}

/* out (count, w) = the rows of x (stride ldx) that `rows` names */
static void pick_rows(real *out, const real *x, int ldx, const int32_t *rows, int32_t count, int w, int threads)
{
    copy_loop loop = {out, x, rows, ldx, w};
    npi_parallel(threads, count, 0, copy_rows, &loop);
}

static void encode_forward(npi_net *net, encoding *e, const npi_params *params, const real *xw, int ldxw)
{
    int h = net->size.h, d = net->size.d, threads = net->env.threads;
    int32_t n = e->adj->a.rows;
    const npgnn_options *o = &net->options;
    if (e->nodes) {
        pick_rows(e->p, xw, ldxw, e->nodes, n, h, threads);
        xw = e->p;
        ldxw = h;
    }
    if (net->shortcut) {
        npi_gcn_pool_forward(e->pooled, e->hidden, e->colsum, e->adj, xw, ldxw, h, net->scratch, threads);
        npi_gemm_rows(net->mean, 2 * d, e->pooled, h, params->wr, 2 * d, 0, 1, 2 * d, h, 0, threads);
        npi_latent_mean_forward(e->q, net->mean, d, o->aggregate, net->start);
    } else {
        npi_gcn_hidden_forward(e->hidden, e->adj, xw, ldxw, h, threads);
        npi_gcn_heads_forward(e->r, net->m, e->adj, e->hidden, params->wr, h, 2 * d, o->encoder_output, threads);
        npi_latent_aggregate_forward(e->q, e->r, n, d, o->aggregate, o->sigma_mean, net->start);
    }
}

/* Adds the encoder's share into the gradient of Wr; that of the rows of X W1 goes to its columns of dxw. */
static void encode_backward(npi_net *net, npi_params *gradient, encoding *e, int add, const npi_params *params)
{
    npi_gcn_target to = {net->dxw, net->size.h + net->size.g, e->nodes, add};
    int h = net->size.h, d = net->size.d, threads = net->env.threads;
    int32_t n = e->adj->a.rows;
    const npgnn_options *o = &net->options;
    if (net->shortcut) {
        npi_latent_mean_backward(net->dmean, e->dq, d, o->aggregate);
        npi_gemm_tall(gradient->wr, 2 * d, e->pooled, h, net->dmean, 2 * d, 1, h, 2 * d, net->scratch, threads);
        npi_gemm_rows(net->dpooled, h, net->dmean, 2 * d, params->wr, 2 * d, 1, 1, h, 2 * d, 0, threads);
        npi_gcn_pool_backward(to, net->dhidden, net->dpooled, e->colsum, e->adj, e->hidden, h, threads);
    } else {
        npi_latent_aggregate_backward(net->dr, e->dq, e->q, e->r, n, d, o->aggregate, o->sigma_mean, net->start);
        npi_gcn_heads_backward(net->dhidden, gradient->wr, net->dr, net->m, e->adj, e->r, e->hidden, params->wr, h,
                               2 * d, o->encoder_output, net->scratch, threads);
        npi_gcn_hidden_backward(to, net->dhidden, e->adj, e->hidden, h, threads);
    }
}

/* ---- decoder and loss ---- */

/* The noise of a sample; NULL where z is not sampled. */
static const real *epsilon_of(const npi_net *net, const npi_input *input, int index)
{
    return net->options.sample_latent ? input->epsilon + (size_t)index * (size_t)net->size.d : NULL;
}

static const real *sample(npi_net *net, const npi_input *input, int index)
{
    int d = net->size.d;
    if (d == 0)
        return NULL;
    npi_latent_sample_forward(net->z, net->source->q, epsilon_of(net, input, index), d);
    return net->z;
}

static void decode_forward(npi_net *net, const npi_params *params, const real *z)
{
    npi_mlp_forward(net->u, net->mlp_hidden, params, net->xw + net->size.h, net->size.h + net->size.g, z, net->n,
                    net->options.decoder_output, net->env.threads);
}

/* What follows the decoder: returns where the embeddings are. */
static real *refine_forward(npi_net *net, const npi_input *input)
{
    const npgnn_options *o = &net->options;
    int k = net->size.k, threads = net->env.threads;
    real *at = net->u;
    if (o->radius > 0) {
        npi_rescale_forward(net->v, net->length, at, net->n, k, o->radius, threads);
        at = net->v;
    }
    for (int i = 0; i < o->propagate; i++) {
        npi_neighbours_mul(net->w[i % 2], input->neighbours, at, k, threads);
        at = net->w[i % 2];
    }
    return at;
}

/* du, of the embeddings, becomes that of the decoder's output. The embeddings in w are no longer needed. */
static void refine_backward(npi_net *net, const npi_input *input)
{
    const npgnn_options *o = &net->options;
    int k = net->size.k, threads = net->env.threads;
    for (int i = 0; i < o->propagate; i++) {
        npi_neighbours_mul(net->w[0], input->neighbours, net->du, k, threads);
        real *swap = net->du;
        net->du = net->w[0];
        net->w[0] = swap;
    }
    if (o->radius > 0)
        npi_rescale_backward(net->du, net->du, net->v, net->length, net->n, k, o->radius, threads);
}

static void decode_backward(npi_net *net, npi_params *gradient, const npi_params *params, const npi_input *input,
                            const real *z, int index)
{
    npi_sizes s = net->size;
    refine_backward(net, input);
    npi_mlp_backward(net->dxw + s.h, s.h + s.g, index > 0, net->dz, gradient, net->du, params, net->u, net->mlp_hidden,
                     z, net->n, net->options.decoder_output, net->mlp_scratch, net->env.threads);
    if (z)
        npi_latent_sample_backward(net->source->dq, net->dz, net->source->q, epsilon_of(net, input, index), s.d);
}

static int64_t u_count(const npi_net *net)
{
    return (int64_t)net->n * net->size.k;
}

static double pairs(npi_net *net, real *du, const real *u, const npi_input *input, double factor, int index)
{
    uint32_t draw = input->draw * (uint32_t)net->samples + (uint32_t)index;
    return npi_pairs_run(net->pairs, du, u, &input->graph->a, &input->loss, factor, input->seed, draw);
}

/* (1 / L) Σ_l -log p(A | X, z_l). Eq. (9a). */
static double mean_likelihood(npi_net *net, npi_params *gradient, const npi_params *params, const npi_input *input)
{
    int samples = net->samples;
    double sum = 0;
    for (int l = 0; l < samples; l++) {
        const real *z = sample(net, input, l);
        decode_forward(net, params, z);
        const real *u = refine_forward(net, input);
        npi_profile_end(input->profile, NPGNN_STEP_DECODER);
        npi_zero(net->du, u_count(net), net->env.threads);
        sum += pairs(net, gradient ? net->du : NULL, u, input, 1.0 / samples, l);
        npi_profile_end(input->profile, NPGNN_STEP_PAIRS);
        if (gradient)
            decode_backward(net, gradient, params, input, z, l);
        npi_profile_end(input->profile, NPGNN_STEP_DECODER_BACK);
    }
    return sum / samples;
}

/* -log p(A | mean over l of u(z_l)). Eq. (9b). The samples are decoded again on the way back, to keep O(n) memory. */
static double mean_embedding(npi_net *net, npi_params *gradient, const npi_params *params, const npi_input *input)
{
    int samples = net->samples;
    size_t count = (size_t)u_count(net);
    memset(net->u_sum, 0, count * sizeof *net->u_sum);
    for (int l = 0; l < samples; l++) {
        decode_forward(net, params, sample(net, input, l));
        const real *u = refine_forward(net, input);
        for (size_t i = 0; i < count; i++)
            net->u_sum[i] += u[i] / (real)samples;
    }
    npi_profile_end(input->profile, NPGNN_STEP_DECODER);
    real *du_mean = net->u_sum; /* the mean has served once its loss is known */
    npi_zero(net->du, (int64_t)count, net->env.threads);
    double loss = pairs(net, gradient ? net->du : NULL, net->u_sum, input, 1.0 / samples, 0);
    npi_profile_end(input->profile, NPGNN_STEP_PAIRS);
    if (!gradient)
        return loss;
    memcpy(du_mean, net->du, count * sizeof *du_mean);
    for (int l = 0; l < samples; l++) {
        const real *z = sample(net, input, l);
        decode_forward(net, params, z);
        refine_forward(net, input);
        memcpy(net->du, du_mean, count * sizeof *du_mean);
        decode_backward(net, gradient, params, input, z, l);
    }
    npi_profile_end(input->profile, NPGNN_STEP_DECODER_BACK);
    return loss;
}

/* ---- the order of the steps ---- */

/* Encodes graph and context and returns the KL between them, its gradient in their dq. A conditional neural process has
 * neither KL nor use for the graph: z comes from the context. */
static double encode_both(npi_net *net, int backward, const npi_params *params, const npi_input *input)
{
    int d = net->size.d, width = net->size.h + net->size.g;
    net->context.adj = input->context;
    net->context.nodes = input->context_nodes;
    encode_forward(net, &net->context, params, net->xw, width);
    memset(net->context.dq, 0, (size_t)(2 * d) * sizeof(real));
    if (!net->options.sample_latent)
        return 0;
    net->whole.adj = input->graph;
    net->whole.nodes = NULL;
    encode_forward(net, &net->whole, params, net->xw, width);
    memset(net->whole.dq, 0, (size_t)(2 * d) * sizeof(real));
    return npi_latent_kl(backward ? net->whole.dq : NULL, net->context.dq, net->whole.q, net->context.q, d,
                         net->options.kl_weight);
}

/* Whoever comes first sets the rows of dxw, all of them: the graph, or zeros in its place. */
static void encode_both_backward(npi_net *net, npi_params *gradient, const npi_params *params)
{
    npi_sizes s = net->size;
    if (net->options.sample_latent)
        encode_backward(net, gradient, &net->whole, 0, params);
    else
        zero_columns(net->dxw, s.h + s.g, net->n, s.h);
    encode_backward(net, gradient, &net->context, 1, params);
}

npi_objective npi_net_run(npi_net *net, npi_params *gradient, const npi_params *params, const npi_input *input)
{
    npi_sizes s = net->size;
    int width = s.h + s.g, threads = net->env.threads;
    npi_objective objective = {0, 0};

    npi_features_mul(net->xw, input->x, params->wx, width, width, threads);
    npi_profile_end(input->profile, NPGNN_STEP_FEATURES);
    if (s.d > 0)
        objective.kl = encode_both(net, gradient != NULL, params, input);
    npi_profile_end(input->profile, NPGNN_STEP_ENCODER);
    objective.reconstruction = net->u_sum && s.d > 0 ? mean_embedding(net, gradient, params, input)
                                                     : mean_likelihood(net, gradient, params, input);
    if (gradient) {
        if (s.d > 0)
            encode_both_backward(net, gradient, params);
        npi_profile_end(input->profile, NPGNN_STEP_ENCODER_BACK);
        npi_features_mul_t(gradient->wx, input->x, net->dxw, width, threads);
        npi_profile_end(input->profile, NPGNN_STEP_FEATURES_BACK);
    }
    return objective;
}

void npi_net_encode(npi_net *net, real *mu, real *log_sigma, const npi_params *params, const npi_features *x,
                    const npi_adj *graph)
{
    npi_sizes s = net->size;
    net->whole.adj = graph;
    net->whole.nodes = NULL;
    npi_features_mul(net->xw, x, params->wx, s.h + s.g, s.h, net->env.threads);
    encode_forward(net, &net->whole, params, net->xw, s.h);
    memcpy(mu, net->whole.q, (size_t)s.d * sizeof *mu);
    memcpy(log_sigma, net->whole.q + s.d, (size_t)s.d * sizeof *log_sigma);
}
