/* The network in one iteration: forward pass, loss and backward pass, and the encoder alone for prediction. Numbers in
 * brackets are equations of docs/understand/math.md; gcn.c, latent.c, mlp.c and pairs.c compute the steps.
 *
 * Forward, with X (n, f), the graph Â (n, n) and the context Â_C (m, m), S samples of z:
 *
 *     [P | Q] = X [W1 | W2x]                       (n, h + g)   one product with X for encoder and decoder
 *     q(z | G), q(z | C) = encode(Â, P)            (2, d) each  mean and log sigma               (2)-(4)
 *     z = mu + sigma epsilon                       (d)          per sample                       (5)
 *     U = act(sigmoid(Q + z Wz + b1) W3 + b2)      (n, k)       per sample                       (6)
 *     loss = mean over samples of -log p(A | U) + kl_weight KL[q(z | G) || q(z | C)]             (8)-(11)
 *
 * Where the nodes are divided among processes, n are those of this process; sums over nodes are over all of them, in an
 * order that does not depend on how they are divided (base/partition.h), and every process has the parameters and their
 * gradient.
 *
 * The backward pass takes the same steps in reverse. The gradient of P and Q is collected in one matrix, dxw (n, h +
 * g), so that [dW1 | dW2x] += Xᵀ dxw is one product as well. */
#include "model/net.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "linalg/dense.h"
#include "linalg/elementwise.h"
#include "model/gcn.h"
#include "model/latent.h"
#include "model/mlp.h"

/* One pass of the encoder over one graph, kept from the forward to the backward pass. */
typedef struct encoding {
    const npi_adj *adj;   /* Â of the graph, n nodes */
    const int32_t *nodes; /* (n) rows of X, or NULL: all of them in order */
    npi_partition rows;   /* how its nodes are divided among processes */
    real *p;              /* (n, h) these rows of X W1, where `nodes` is not NULL; in the memory of mlp_hidden */
    real *hidden;         /* (n, h) H */
    real *colsum;         /* (n) column sums of Â */
    real *pooled;         /* (h) mean row of Â H, with the shortcut */
    real *r;              /* (n, 2 d) heads, without the shortcut */
    real *q, *dq;         /* (2, d) mean and log sigma of z, and their gradient */
} encoding;

struct npi_net {
    npgnn_env env;
    npgnn_options options;
    npi_sizes size;
    npi_partition rows; /* how the nodes are divided among processes; n below are those of this process */
    int32_t n;
    int encoder_only;        /* made by npi_net_new_encoder */
    int shortcut;            /* the second encoder layer is linear and only its mean is needed: (3') */
    encoding whole, context; /* q(z | G), q(z | C) */
    encoding *source;        /* the one of the two that z is drawn from */
    int samples;             /* of z per iteration */
    double start;            /* initial log sigma */
    real *xw, *dxw;          /* (n, h + g) [P | Q]; one array where one sample is drawn: no backward step reads xw */
    real *mlp_hidden;        /* (n, g) hidden layer of the decoder */
    real *u, *du; /* (n, k) output of the decoder; the gradient of the embeddings, then of that output. Where nodes are
                                divided among processes, both in the array of mlp_hidden, behind it */
    real *halo;   /* (halo, width) rows of neighbours in other processes; NULL where they fit in arrays above */
    real *encoder_halo, *pairs_halo; /* where these rows are: for the encoder, and for the loss */
    real *u_sum;                     /* (n, k) mean of the samples' embeddings, for (9b) */
    real *dhidden;      /* (n, h) dH, in the memory of mlp_hidden, which the decoder then no longer needs */
    real *m, *dr;       /* (n, 2 d) each: H Wr, and the gradient of the heads */
    real *mean, *dmean; /* (2 d) mean of the heads */
    real *dpooled;      /* (h) */
    real *z, *dz;       /* (d) */
    real *scratch;      /* for sums over many rows */
    real *mlp_scratch;
    real *x_scratch; /* for the backward product with dense features */
    size_t x_reals;
    npi_pairs *pairs; /* workspace of the loss */
};

/* ---- workspace ---- */

typedef struct array {
    real **at;
    size_t rows;
    int columns;
    int wanted; /* 0: the options do not need it, and it stays NULL */
} array;

enum { ARRAYS = 28 };

/* Columns of mlp_hidden itself: dH of the encoder is there, too. */
static int hidden_columns(const npi_net *net)
{
    return net->options.latent && net->size.h > net->size.g ? net->size.h : net->size.g;
}

/* Every array of the workspace, its shape, and whether it is wanted. */
static void list_arrays(array list[ARRAYS], npi_net *net)
{
    const npgnn_options *o = &net->options;
    size_t n = (size_t)net->n;
    int h = net->size.h, d = net->size.d, g = net->size.g, k = net->size.k;

    /* what the encoder needs; of it, what the shortcut (3') does without; what only training needs, and of that the
     * latent's */
    int latent = o->latent, heads = latent && !net->shortcut, train = !net->encoder_only, both = latent && train;
    int joined = net->rows.comm != NULL;
    int u_sum = train && o->monte_carlo == NPGNN_MC_EMBEDDING && net->samples > 1;

    int xw_columns = train ? h + g : h; /* the encoder alone needs no Q */
    size_t scratch = npi_gcn_pool_scratch(&net->rows, h), tall = npi_gemm_parts_scratch(&net->rows, h, 2 * d);
    if (train && tall > scratch)
        scratch = tall;
    if (train && npi_gemm_tall_scratch(1, h, 2 * d) > scratch)
        scratch = npi_gemm_tall_scratch(1, h, 2 * d);

    encoding *w = &net->whole, *c = &net->context;
    const array all[] = {
        {&w->hidden, n, h, latent},
        {&w->colsum, n, 1, latent},
        {&w->pooled, 1, h, latent},
        {&w->r, n, 2 * d, heads},
        {&w->q, 2, d, latent},
        {&w->dq, 2, d, latent},
        {&c->hidden, n, h, both},
        {&c->colsum, n, 1, both},
        {&c->pooled, 1, h, both},
        {&c->r, n, 2 * d, heads && train},
        {&c->q, 2, d, both},
        {&c->dq, 2, d, both},
        {&net->mean, 2, d, latent},
        {&net->m, n, 2 * d, heads},
        {&net->dr, n, 2 * d, heads && train},
        {&net->dmean, 2, d, both},
        {&net->dpooled, 1, h, both},
        {&net->z, 1, d, both},
        {&net->dz, 1, d, both},
        {&net->xw, n, xw_columns, 1},
        {&net->dxw, n, xw_columns, train && net->samples > 1},
        {&net->mlp_hidden, n, hidden_columns(net) + (joined ? 2 * k : 0), train},
        {&net->u, n, k, train && !joined},
        {&net->du, n, k, train && !joined},
        {&net->u_sum, n, k, u_sum},
        {&net->scratch, scratch, 1, 1},
        {&net->mlp_scratch, npi_mlp_scratch(&net->rows, net->size), 1, train},
        {&net->x_scratch, net->x_reals, 1, train},
    };
    _Static_assert(sizeof all == ARRAYS * sizeof *all, "ARRAYS is their number");
    memcpy(list, all, sizeof all);
}

/* Whether the second encoder layer is linear and only its mean is needed: (3'). */
static int takes_shortcut(const npgnn_options *options)
{
    return options->encoder_output == NPGNN_LINEAR && options->sigma_mean == NPGNN_MEAN_LOG;
}

int npi_net_halo_width(const npgnn_options *options, npi_sizes size)
{
    int heads = takes_shortcut(options) ? 0 : 2 * size.d, encoder = size.h > heads ? size.h : heads;
    return encoder > size.k ? encoder : size.k;
}

/* x is NULL for an encoder alone. */
static int new_net(npi_net **out, const npgnn_options *options, const npi_partition *rows, int32_t f,
                   const npi_features *x, const unsigned char *side, const npgnn_env *env, npgnn_error *err)
{
    int code = npi_blas_open(env, err);
    if (code)
        return code;
    npi_net *net = npi_alloc(env, 1, sizeof *net, err);
    if (!net)
        return NPGNN_E_MEMORY;
    net->env = *env;
    net->options = *options;
    net->size = npi_sizes_of(options, f);
    net->rows = *rows;
    net->n = rows->to - rows->from;
    net->encoder_only = !x;
    net->x_reals = x ? npi_features_mul_t_scratch(x, net->size.h + net->size.g, rows) : 0;
    net->shortcut = takes_shortcut(options);
    net->source = options->sample_latent ? &net->whole : &net->context;
    net->start = log(options->sigma_start);
    net->samples = options->latent && options->sample_latent ? options->samples : 1;

    array list[ARRAYS];
    list_arrays(list, net);
    for (const array *a = list; !code && a < list + ARRAYS; a++)
        if (a->wanted && !(*a->at = npi_alloc(env, a->rows, (size_t)a->columns * sizeof(real), err)))
            code = NPGNN_E_MEMORY;
    if (net->samples == 1)
        net->dxw = net->xw;
    net->dhidden = net->context.p = net->mlp_hidden;
    if (!code && net->rows.comm) {
        net->u = net->mlp_hidden + (size_t)net->n * (size_t)hidden_columns(net);
        net->du = net->u + (size_t)net->n * (size_t)net->size.k;
    }
    if (!code && x)
        code =
            npi_pairs_new(&net->pairs, rows, options->output_size, npi_pairs_sampled(options, rows->n), side, env, err);
    if (code)
        npi_net_free(net);
    else
        *out = net;
    return code;
}

int npi_net_new(npi_net **out, const npgnn_options *options, const npi_partition *rows, const npi_features *x,
                const unsigned char *side, const npgnn_env *env, npgnn_error *err)
{
    return new_net(out, options, rows, x->f, x, side, env, err);
}

int npi_net_new_encoder(npi_net **out, const npgnn_options *options, int32_t n, int32_t f, const npgnn_env *env,
                        npgnn_error *err)
{
    npi_partition whole = npi_partition_whole(n);
    return new_net(out, options, &whole, f, NULL, NULL, env, err);
}

void npi_net_free(npi_net *net)
{
    if (!net)
        return;
    npgnn_env env = net->env;
    array list[ARRAYS];
    list_arrays(list, net);
    if (net->dxw == net->xw)
        net->dxw = NULL;
    if (net->rows.comm)
        net->u = net->du = NULL;
    npi_free(&env, net->halo);
    for (int i = 0; i < ARRAYS; i++)
        npi_free(&env, *list[i].at);
    npi_pairs_free(net->pairs);
    npi_free(&env, net);
}

int npi_net_take_halo(npi_net *net, int32_t count, npgnn_error *err)
{
    npi_sizes s = net->size;
    size_t n = (size_t)net->n, h = (size_t)s.h, k = (size_t)s.k, rows = (size_t)count;
    size_t width = (size_t)npi_net_halo_width(&net->options, s);
    /* while the encoder multiplies, forward or backward, the decoder's arrays are not in use but for dH; while the loss
     * does, xw is not, unless another sample needs it */
    size_t beside = n * ((size_t)hidden_columns(net) + 2 * k - (s.d > 0 ? h : 0));
    int encoder_fits = s.d == 0 || rows * (net->shortcut ? h : width) <= beside;
    int pairs_fit = net->samples == 1 && rows * k <= n * (h + (size_t)s.g);
    if (!encoder_fits || !pairs_fit) {
        net->halo = npi_resize(&net->env, NULL, rows * (encoder_fits ? k : width), sizeof *net->halo, err);
        if (!net->halo)
            return NPGNN_E_MEMORY;
    }
    net->encoder_halo = encoder_fits ? net->mlp_hidden + n * h : net->halo;
    net->pairs_halo = pairs_fit ? net->xw : net->halo;
    return 0;
}

/* ---- encoder ---- */

typedef struct copy_loop {
    real *out;
    const real *x;
    const int32_t *rows;
    int ldx, w;
} copy_loop;

/* out (., w) = the rows of x (stride ldx) that `rows` names */
static void copy_rows(const void *arg, int64_t first, int64_t last)
{
    const copy_loop *l = arg;
    for (int64_t i = first; i < last; i++)
        memcpy(l->out + i * l->w, l->x + (int64_t)l->rows[i] * l->ldx, (size_t)l->w * sizeof *l->out);
}

/* q(z | graph of e) from P = X W1, given as the first h columns of xw. */
static void encode_forward(npi_net *net, encoding *e, const npi_params *params, const real *xw, int ldxw)
{
    int h = net->size.h, d = net->size.d, threads = net->env.threads;
    int32_t n = e->adj->a.rows;
    const npgnn_options *o = &net->options;
    if (e->adj->halo)
        e->adj->halo->rows = net->encoder_halo;
    if (e->nodes) { /* P (n, h): the rows of the context's nodes */
        copy_loop loop = {e->p, xw, e->nodes, ldxw, h};
        npi_parallel(threads, n, 0, copy_rows, &loop);
        xw = e->p;
        ldxw = h;
    }
    if (net->shortcut) {
        /* H = relu(Â P), pooled = aᵀ H / n with a the column sums of Â: (2), (3') */
        npi_gcn_pool_forward(e->pooled, e->hidden, e->colsum, e->adj, xw, ldxw, h, &e->rows, net->scratch, threads);
        /* mean (1, 2 d) = pooled (1, h) Wr (h, 2 d): (3') */
        npi_gemm_rows(net->mean, 2 * d, e->pooled, h, params->wr, 2 * d, 0, 1, 2 * d, h, 0, threads);
        /* q = mean, log sigma shifted to its initial value: (4) */
        npi_latent_mean_forward(e->q, net->mean, d, o->aggregate, net->start);
    } else {
        /* H = relu(Â P): (2) */
        npi_gcn_hidden_forward(e->hidden, e->adj, xw, ldxw, h, threads);
        /* R = act(Â (H Wr)): (3) */
        npi_gcn_heads_forward(e->r, net->m, e->adj, e->hidden, params->wr, h, 2 * d, o->encoder_output, threads);
        /* q = mean of R over the nodes: (4) */
        npi_latent_aggregate_forward(e->q, e->r, &e->rows, d, o->aggregate, o->sigma_mean, net->start);
    }
}

/* From dq to dWr, which is added to the gradient, and to dP, which goes to the first h columns of dxw: `add` says
 * whether it is added there or replaces what is there. */
static void encode_backward(npi_net *net, npi_params *gradient, encoding *e, int add, const npi_params *params)
{
    npi_gcn_target to = {net->dxw, net->size.h + net->size.g, e->nodes, add};
    int h = net->size.h, d = net->size.d, threads = net->env.threads;
    const npgnn_options *o = &net->options;
    if (e->adj->halo)
        e->adj->halo->rows = net->encoder_halo;
    if (net->shortcut) {
        /* dmean from dq: (B4) */
        npi_latent_mean_backward(net->dmean, e->dq, d, o->aggregate);
        /* dWr (h, 2 d) += pooledᵀ (h, 1) dmean (1, 2 d): (B3') */
        npi_gemm_tall(gradient->wr, e->pooled, h, net->dmean, 2 * d, 1, h, 2 * d, net->scratch, threads);
        /* dpooled (1, h) = dmean (1, 2 d) Wrᵀ (2 d, h): (B3') */
        npi_gemm_rows(net->dpooled, h, net->dmean, 2 * d, params->wr, 2 * d, 1, 1, h, 2 * d, 0, threads);
        /* dH_i = a_i dpooled / n, dP = Â (dH ⊙ [H > 0]): (B3'), (B2) */
        npi_gcn_pool_backward(to, net->dhidden, net->dpooled, e->colsum, e->adj, e->hidden, h, &e->rows, threads);
    } else {
        /* dR from dq: (B4) */
        npi_latent_aggregate_backward(net->dr, e->dq, e->q, e->r, &e->rows, d, o->aggregate, o->sigma_mean, net->start);
        /* dWr += Hᵀ Â dR', dH = Â dR' Wrᵀ: (B3) */
        npi_gcn_heads_backward(net->dhidden, gradient->wr, net->dr, net->m, e->adj, e->r, e->hidden, params->wr, h,
                               2 * d, o->encoder_output, &e->rows, net->scratch, threads);
        /* dP = Â (dH ⊙ [H > 0]): (B2) */
        npi_gcn_hidden_backward(to, net->dhidden, e->adj, e->hidden, h, threads);
    }
}

/* ---- decoder and loss ---- */

/* The noise of sample l; NULL where z is not sampled. */
static const real *epsilon_of(const npi_net *net, const npi_input *input, int l)
{
    return net->options.sample_latent ? input->epsilon + (size_t)l * (size_t)net->size.d : NULL;
}

/* The embeddings (n, k) for sample l of z, which stays in net->z. */
static const real *decode_forward(npi_net *net, const npi_params *params, const npi_input *input, int l)
{
    const npgnn_options *o = &net->options;
    npi_sizes s = net->size;
    int threads = net->env.threads;
    /* z = mu + sigma ⊙ epsilon_l: (5) */
    if (s.d > 0)
        npi_latent_sample_forward(net->z, net->source->q, epsilon_of(net, input, l), s.d);
    /* U = act(sigmoid(Q + z Wz + b1) W3 + b2): (6) */
    npi_mlp_forward(net->u, net->mlp_hidden, params, net->xw + s.h, s.h + s.g, s.d > 0 ? net->z : NULL, net->n,
                    o->decoder_output, threads);
    return net->u;
}

/* Backward of the decode_forward before it. net->du, the gradient of the embeddings, is overwritten. */
static void decode_backward(npi_net *net, npi_params *gradient, const npi_params *params, const npi_input *input, int l)
{
    const npgnn_options *o = &net->options;
    npi_sizes s = net->size;
    int threads = net->env.threads;
    /* dW3, db2, db1, dWz, dz, and dQ into the last g columns of dxw, summed over the samples: (B6) */
    npi_mlp_backward(net->dxw + s.h, s.h + s.g, l > 0, net->dz, gradient, net->du, params, net->u, net->mlp_hidden,
                     s.d > 0 ? net->z : NULL, &net->rows, o->decoder_output, net->mlp_scratch, threads);
    /* dmu += dz, dlog_sigma += dz ⊙ sigma ⊙ epsilon_l: (B5) */
    if (s.d > 0)
        npi_latent_sample_backward(net->source->dq, net->dz, net->source->q, epsilon_of(net, input, l), s.d);
}

/* -log p(A | U) (8), and with a gradient du += (1 / samples) times its own: (B7)-(B9). */
static double pairs_loss(npi_net *net, int backward, const real *u, const npi_input *input, int l)
{
    uint32_t draw = input->draw * (uint32_t)net->samples + (uint32_t)l;
    npi_zero(net->du, (int64_t)net->n * net->size.k, net->env.threads);
    if (input->graph->halo)
        input->graph->halo->rows = net->pairs_halo;
    return npi_pairs_run(net->pairs, backward ? net->du : NULL, u, input->graph, &input->loss, 1.0 / net->samples,
                         input->seed, draw);
}

/* (1 / S) Σ_l -log p(A | U(z_l)): (9a). */
static double mean_likelihood(npi_net *net, npi_params *gradient, const npi_params *params, const npi_input *input)
{
    double sum = 0;
    for (int l = 0; l < net->samples; l++) {
        const real *u = decode_forward(net, params, input, l);
        npi_profile_end(input->profile, NPGNN_STEP_DECODER);
        sum += pairs_loss(net, gradient != NULL, u, input, l);
        npi_profile_end(input->profile, NPGNN_STEP_PAIRS);
        if (gradient)
            decode_backward(net, gradient, params, input, l);
        npi_profile_end(input->profile, NPGNN_STEP_DECODER_BACK);
    }
    return sum / net->samples;
}

/* -log p(A | (1 / S) Σ_l U(z_l)): (9b). The backward pass decodes the samples again, so that memory stays O(n). */
static double mean_embedding(npi_net *net, npi_params *gradient, const npi_params *params, const npi_input *input)
{
    int samples = net->samples;
    size_t count = (size_t)net->n * (size_t)net->size.k;
    memset(net->u_sum, 0, count * sizeof *net->u_sum);
    for (int l = 0; l < samples; l++) {
        const real *u = decode_forward(net, params, input, l);
        for (size_t i = 0; i < count; i++)
            net->u_sum[i] += u[i] / (real)samples;
    }
    npi_profile_end(input->profile, NPGNN_STEP_DECODER);
    double loss = pairs_loss(net, gradient != NULL, net->u_sum, input, 0);
    npi_profile_end(input->profile, NPGNN_STEP_PAIRS);
    if (!gradient)
        return loss;
    real *du_mean = net->u_sum; /* the mean itself is no longer needed */
    memcpy(du_mean, net->du, count * sizeof *du_mean);
    for (int l = 0; l < samples; l++) {
        decode_forward(net, params, input, l);
        memcpy(net->du, du_mean, count * sizeof *du_mean);
        decode_backward(net, gradient, params, input, l);
    }
    npi_profile_end(input->profile, NPGNN_STEP_DECODER_BACK);
    return loss;
}

/* ---- one iteration ---- */

npi_objective npi_net_run(npi_net *net, npi_params *gradient, const npi_params *params, const npi_input *input)
{
    npi_sizes s = net->size;
    int width = s.h + s.g, threads = net->env.threads, sampled = net->options.sample_latent;
    encoding *whole = &net->whole, *context = &net->context;
    npi_objective objective = {0, 0};

    /* [P | Q] (n, h + g) = X (n, f) [W1 | W2x] (f, h + g) */
    npi_features_mul(net->xw, input->x, params->wx, width, width, threads);
    npi_profile_end(input->profile, NPGNN_STEP_FEATURES);

    /* q(z | C) and q(z | G). A conditional neural process draws no z: it needs the context alone and has no KL term. */
    if (s.d > 0) {
        context->adj = input->context;
        context->nodes = input->context_nodes;
        context->rows = context->nodes ? npi_partition_whole(context->adj->a.rows) : net->rows;
        encode_forward(net, context, params, net->xw, width);
        memset(context->dq, 0, (size_t)(2 * s.d) * sizeof(real));
    }
    if (s.d > 0 && sampled) {
        whole->adj = input->graph;
        whole->nodes = NULL;
        whole->rows = net->rows;
        encode_forward(net, whole, params, net->xw, width);
        memset(whole->dq, 0, (size_t)(2 * s.d) * sizeof(real));
        /* KL[q(z | G) || q(z | C)], and kl_weight times its gradient into both dq: (10), (B10) */
        objective.kl =
            npi_latent_kl(gradient ? whole->dq : NULL, context->dq, whole->q, context->q, s.d, net->options.kl_weight);
    }
    npi_profile_end(input->profile, NPGNN_STEP_ENCODER);

    /* the decoder forward, the loss, and the decoder backward: dQ is complete after this, and dq of the source of z */
    objective.reconstruction = net->u_sum && s.d > 0 ? mean_embedding(net, gradient, params, input)
                                                     : mean_likelihood(net, gradient, params, input);
    if (!gradient)
        return objective;

    /* dP: the first of the two encodings sets all rows, or zeros do; the context is added to its own rows */
    if (s.d > 0 && sampled)
        encode_backward(net, gradient, whole, 0, params);
    for (int64_t i = 0; s.d > 0 && !sampled && i < net->n; i++)
        memset(net->dxw + i * width, 0, (size_t)s.h * sizeof *net->dxw);
    if (s.d > 0)
        encode_backward(net, gradient, context, 1, params);
    npi_profile_end(input->profile, NPGNN_STEP_ENCODER_BACK);

    if (input->dropout)
        npi_dropout_turn(input->dropout, threads);
    /* [dW1 | dW2x] (f, h + g) += Xᵀ (f, n) [dP | dQ] (n, h + g) */
    npi_features_mul_t_parts(gradient->wx, input->x, net->dxw, width, &net->rows, net->x_scratch, threads);
    npi_profile_end(input->profile, NPGNN_STEP_FEATURES_BACK);
    return objective;
}

void npi_net_encode(npi_net *net, real *mu, real *log_sigma, const npi_params *params, const npi_features *x,
                    const npi_adj *graph)
{
    npi_sizes s = net->size;
    net->whole.adj = graph;
    net->whole.nodes = NULL;
    net->whole.rows = net->rows;
    /* P (n, h) = X (n, f) W1 (f, h), where W1 is the first h columns of wx */
    npi_features_mul(net->xw, x, params->wx, s.h + s.g, s.h, net->env.threads);
    encode_forward(net, &net->whole, params, net->xw, s.h);
    memcpy(mu, net->whole.q, (size_t)s.d * sizeof *mu);
    memcpy(log_sigma, net->whole.q + s.d, (size_t)s.d * sizeof *log_sigma);
}
