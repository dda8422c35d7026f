/* One pass of GraphSAGE, forward and backward; sage_net.h has its equations (S1)-(S3). */
#include "baselines/sage_net.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "linalg/dense.h"
#include "linalg/elementwise.h"
#include "linalg/kernels.h"

#define CHUNK 256 /* rows that a thread takes at a time: degrees differ */

struct npi_sage {
    npgnn_env env;
    npi_sizes size;
    int32_t n;
    int partners;
    const npi_kernels *kernels;
    real *inverse;       /* (n) 1 / degree */
    real *xw, *hidden;   /* (n, h) */
    real *m, *y, *z;     /* (n, 2 d) */
    real *length;        /* (n) of the rows of y */
    real *dz, *dm;       /* (n, 2 d) */
    real *dhidden, *dxw; /* (n, h) */
    real *scratch;       /* of npi_gemm_tall */
    real *slope;         /* (n, partners) of the loss by z_i · z_partner */
    double *loss;        /* (n) of each node's pairs */
    /* the pairs by their second node: */
    int64_t *start;    /* (n + 1) */
    int32_t *first;    /* (n partners) first node */
    real *first_slope; /* (n partners) */
};

typedef struct normalize_loop {
    real *v, *length;
    const real *u;
    int k;
} normalize_loop;

static void normalize_range(const void *arg, int64_t first, int64_t last)
{
    const normalize_loop *l = arg;
    for (int64_t i = first; i < last; i++) {
        const real *u = l->u + i * l->k;
        real *v = l->v + i * l->k;
        double square = 0;
        for (int c = 0; c < l->k; c++)
            square += (double)u[c] * (double)u[c];
        l->length[i] = (real)sqrt(square);
        real factor = l->length[i] > 0 ? 1 / l->length[i] : 0;
        for (int c = 0; c < l->k; c++)
            v[c] = factor * u[c];
    }
}

/* v_i = u_i / |u_i|, and |u_i| in length (n). Rows of zeros stay zero. */
static void normalize_rows(real *v, real *length, const real *u, int64_t n, int k, int threads)
{
    normalize_loop loop = {v, length, u, k};
    npi_parallel(threads, n, 0, normalize_range, &loop);
}

typedef struct normalize_back_loop {
    real *du;
    const real *dv, *v, *length;
    int k;
} normalize_back_loop;

static void normalize_back_range(const void *arg, int64_t first, int64_t last)
{
    const normalize_back_loop *l = arg;
    for (int64_t i = first; i < last; i++) {
        const real *dv = l->dv + i * l->k, *v = l->v + i * l->k;
        real *du = l->du + i * l->k;
        double along = 0; /* v_i · dv_i: moving u_i along itself does not change v_i */
        for (int c = 0; c < l->k; c++)
            along += (double)v[c] * (double)dv[c];
        real inverse = l->length[i] > 0 ? 1 / l->length[i] : 0;
        real pull = (real)along;
        for (int c = 0; c < l->k; c++)
            du[c] = inverse * (dv[c] - pull * v[c]);
    }
}

/* du_i = (dv_i - v_i (v_i · dv_i)) / |u_i|; du may be dv. */
static void normalize_rows_backward(real *du, const real *dv, const real *v, const real *length, int64_t n, int k,
                                    int threads)
{
    normalize_back_loop loop = {du, dv, v, length, k};
    npi_parallel(threads, n, 0, normalize_back_range, &loop);
}

npi_sizes npi_sage_sizes(int32_t f)
{
    return (npi_sizes){.f = f, .h = 256, .d = 128};
}

/* ---- creating and freeing ---- */

int npi_sage_new(npi_sage **out, npi_sizes size, int32_t n, int partners, const npgnn_env *env, npgnn_error *err)
{
    int code = npi_blas_open(env, err);
    if (code)
        return code;
    npi_sage *net = npi_alloc(env, 1, sizeof *net, err);
    if (!net)
        return NPGNN_E_MEMORY;
    size_t rows = (size_t)n, h = (size_t)size.h, w = 2 * (size_t)size.d, others = (size_t)partners;
    struct {
        real **at;
        size_t count;
    } list[] = {{&net->inverse, rows},
                {&net->xw, rows * h},
                {&net->hidden, rows * h},
                {&net->m, rows * w},
                {&net->y, rows * w},
                {&net->z, rows * w},
                {&net->length, rows},
                {&net->dz, rows * w},
                {&net->dm, rows * w},
                {&net->dhidden, rows * h},
                {&net->dxw, rows * h},
                {&net->slope, rows * others},
                {&net->first_slope, rows * others},
                {&net->scratch, npi_gemm_tall_scratch(n, size.h, 2 * size.d)}};
    net->env = *env;
    net->size = size;
    net->n = n;
    net->partners = partners;
    net->kernels = npi_kernels_best();
    net->loss = npi_alloc(env, rows, sizeof *net->loss, err);
    net->start = npi_alloc(env, rows + 1, sizeof *net->start, err);
    net->first = npi_alloc(env, rows * others, sizeof *net->first, err);
    code = net->loss && net->start && net->first ? 0 : NPGNN_E_MEMORY;
    for (size_t i = 0; !code && i < sizeof list / sizeof list[0]; i++)
        code = (*list[i].at = npi_alloc(env, list[i].count, sizeof(real), err)) ? 0 : NPGNN_E_MEMORY;
    if (code)
        npi_sage_free(net);
    else
        *out = net;
    return code;
}

void npi_sage_free(npi_sage *net)
{
    if (!net)
        return;
    npgnn_env env = net->env;
    void *blocks[] = {net->inverse, net->xw,   net->hidden, net->m,       net->y,          net->z,
                      net->length,  net->dz,   net->dm,     net->dhidden, net->dxw,        net->scratch,
                      net->slope,   net->loss, net->start,  net->first,   net->first_slope};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        npi_free(&env, blocks[i]);
    npi_free(&env, net);
}

/* ---- the aggregator: [F | G] to [F | Ā G] ---- */

typedef struct aggregate_loop {
    real *out;
    const npi_sage *net;
    const real *in;
    int w;
    const npi_csr *graph;
} aggregate_loop;

static void forward_rows(const void *arg, int64_t first, int64_t last)
{
    const aggregate_loop *l = arg;
    int half = l->w / 2;
    for (int64_t i = first; i < last; i++) {
        real *row = l->out + i * l->w, *mean = row + half;
        memcpy(row, l->in + i * l->w, (size_t)half * sizeof *row);
        memset(mean, 0, (size_t)half * sizeof *mean);
        l->net->kernels->gather(mean, l->graph->col, NULL, l->graph->ptr[i], l->graph->ptr[i + 1], l->in + half, half,
                                l->w);
        for (int c = 0; c < half; c++)
            mean[c] *= l->net->inverse[i];
    }
}

/* out and in are (n, w), w even. */
static void aggregate_forward(real *out, const npi_sage *net, const real *in, int w, const npi_csr *graph)
{
    aggregate_loop loop = {out, net, in, w, graph};
    npi_parallel(net->env.threads, net->n, CHUNK, forward_rows, &loop);
}

static void backward_rows(const void *arg, int64_t first, int64_t last)
{
    const aggregate_loop *l = arg;
    int half = l->w / 2;
    for (int64_t i = first; i < last; i++) {
        real *row = l->out + i * l->w, *shares = row + half;
        memcpy(row, l->in + i * l->w, (size_t)half * sizeof *row);
        memset(shares, 0, (size_t)half * sizeof *shares);
        l->net->kernels->gather_scaled(shares, l->graph->col, NULL, l->graph->ptr[i], l->graph->ptr[i + 1],
                                       l->net->inverse, l->in + half, half, l->w);
    }
}

/* dG = Āᵀ d(Ā G): A is symmetric, so dg_i = Σ_j A_ij d(Ā G)_j / degree_j. */
static void aggregate_backward(real *din, const npi_sage *net, const real *dout, int w, const npi_csr *graph)
{
    aggregate_loop loop = {din, net, dout, w, graph};
    npi_parallel(net->env.threads, net->n, CHUNK, backward_rows, &loop);
}

/* ---- embedding ---- */

const real *npi_sage_embed(npi_sage *net, const npi_params *params, const npi_features *x, const npi_csr *graph)
{
    int h = net->size.h, w = 2 * net->size.d, threads = net->env.threads;
    /* the diagonal of D^-1 */
    for (int32_t i = 0; i < graph->rows; i++) {
        int64_t degree = graph->ptr[i + 1] - graph->ptr[i];
        net->inverse[i] = degree > 0 ? 1 / (real)degree : 0;
    }
    /* [F | G] (n, h) = X (n, f) W1 (f, h) */
    npi_features_mul(net->xw, x, params->wx, h, h, threads);
    /* H (n, h) = relu([F | Ā G]) */
    aggregate_forward(net->hidden, net, net->xw, h, graph);
    npi_activate(net->hidden, (int64_t)net->n * h, NPGNN_RELU, threads);
    /* [F' | G'] (n, w) = H (n, h) W2 (h, w) */
    npi_gemm_rows(net->m, w, net->hidden, h, params->wr, w, 0, net->n, w, h, 0, threads);
    /* Y (n, w) = [F' | Ā G'] */
    aggregate_forward(net->y, net, net->m, w, graph);
    /* z_i = Y_i / |Y_i| */
    normalize_rows(net->z, net->length, net->y, net->n, w, threads);
    return net->z;
}

/* Backward of npi_sage_embed, from dZ. */
static void embed_backward(npi_sage *net, npi_params *gradient, const npi_params *params, const npi_features *x,
                           const npi_csr *graph)
{
    int h = net->size.h, w = 2 * net->size.d, threads = net->env.threads;
    /* dY from dZ, in place */
    normalize_rows_backward(net->dz, net->dz, net->z, net->length, net->n, w, threads);
    /* d[F' | G'] = [dY_F | Āᵀ dY_G] */
    aggregate_backward(net->dm, net, net->dz, w, graph);
    /* dW2 (h, w) += Hᵀ (h, n) d[F' | G'] (n, w) */
    npi_gemm_tall(gradient->wr, net->hidden, h, net->dm, w, net->n, h, w, net->scratch, threads);
    /* dH (n, h) = d[F' | G'] (n, w) W2ᵀ (w, h), then dH <- dH ⊙ [H > 0] */
    npi_gemm_rows(net->dhidden, h, net->dm, w, params->wr, w, 1, net->n, h, w, 0, threads);
    npi_activate_backward(net->dhidden, net->hidden, (int64_t)net->n * h, NPGNN_RELU, threads);
    /* d[F | G] = [dH_F | Āᵀ dH_G] */
    aggregate_backward(net->dxw, net, net->dhidden, h, graph);
    /* dW1 (f, h) += Xᵀ (f, n) d[F | G] (n, h) */
    npi_features_mul_t(gradient->wx, x, net->dxw, h, threads);
}

/* ---- the loss ---- */

static double softplus(double s)
{
    return s > 0 ? s + log1p(exp(-s)) : log1p(exp(s));
}

static int has_partners(const npi_sage *net, const int32_t *partner, int32_t i)
{
    return partner[(size_t)i * (size_t)net->partners] >= 0;
}

/* The loss of node i's pairs, and its slope by each score. -log sig(s) = softplus(-s), with the slope -sig(-s). */
static double compare(real *slope, const npi_sage *net, const int32_t *partner, int32_t i)
{
    int w = 2 * net->size.d;
    double sum = 0;
    net->kernels->dots(slope, net->z + (size_t)i * (size_t)w, partner, net->partners, net->z, w, w);
    for (int p = 0; p < net->partners; p++) {
        double sign = p == 0 ? -1 : 1, score = sign * (double)slope[p];
        sum += softplus(score);
        slope[p] = (real)(sign / (1 + exp(-score)) / net->n);
    }
    return sum / net->n;
}

typedef struct compare_loop {
    const npi_sage *net;
    const int32_t *partner;
} compare_loop;

static void compare_rows(const void *arg, int64_t first, int64_t last)
{
    const compare_loop *l = arg;
    const npi_sage *net = l->net;
    for (int32_t i = (int32_t)first; i < last; i++) {
        size_t row = (size_t)i * (size_t)net->partners;
        net->loss[i] = has_partners(net, l->partner, i) ? compare(net->slope + row, net, l->partner + row, i) : 0;
    }
}

/* Lists the pairs by their second node, in the order of the first, so that each row of dZ is written by one thread. */
static void turn_pairs(npi_sage *net, const int32_t *partner)
{
    size_t n = (size_t)net->n, partners = (size_t)net->partners;
    int64_t *start = net->start, total = 0;
    memset(start, 0, (n + 1) * sizeof *start);
    for (size_t p = 0; p < n * partners; p++)
        if (has_partners(net, partner, (int32_t)(p / partners)))
            start[partner[p]]++;
    for (size_t i = 0; i <= n; i++)
        start[i] = total += start[i];
    /* now the end of each; filling from there backwards makes it the start */
    for (size_t p = n * partners; p-- > 0;)
        if (has_partners(net, partner, (int32_t)(p / partners))) {
            int64_t at = --start[partner[p]];
            net->first[at] = (int32_t)(p / partners);
            net->first_slope[at] = net->slope[p];
        }
}

static void combine_rows(const void *arg, int64_t first, int64_t last)
{
    const compare_loop *l = arg;
    const npi_sage *net = l->net;
    int w = 2 * net->size.d;
    for (int32_t i = (int32_t)first; i < last; i++) {
        real *row = net->dz + (size_t)i * (size_t)w;
        size_t own = (size_t)i * (size_t)net->partners;
        int64_t begin = net->start[i], count = net->start[i + 1] - begin;
        memset(row, 0, (size_t)w * sizeof *row);
        if (has_partners(net, l->partner, i))
            net->kernels->combine(row, l->partner + own, net->slope + own, net->partners, net->z, w, w);
        net->kernels->combine(row, net->first + begin, net->first_slope + begin, count, net->z, w, w);
    }
}

double npi_sage_run(npi_sage *net, npi_params *gradient, const npi_params *params, const npi_features *x,
                    const npi_csr *graph, const int32_t *partner)
{
    compare_loop loop = {net, partner};
    double loss = 0;
    /* Z: (S1), (S2) */
    npi_sage_embed(net, params, x, graph);
    /* the loss of each node, and its slopes by the scores of its pairs: (S3) */
    npi_parallel(net->env.threads, net->n, 0, compare_rows, &loop);
    for (int32_t i = 0; i < net->n; i++)
        loss += net->loss[i];
    if (!gradient)
        return loss;
    /* dz_i = Σ_p slope_ip z_p over the pairs (i, p), plus Σ_q slope_qi z_q over the pairs (q, i) */
    turn_pairs(net, partner);
    npi_parallel(net->env.threads, net->n, CHUNK, combine_rows, &loop);
    embed_backward(net, gradient, params, x, graph);
    return loss;
}
