/* The all-pairs loss: the workspace, the exact sum over tiles, and the corrections on edges and diagonal. Numbers in
 * brackets are equations of docs/understand/pairs.md. */
#include "model/pairs.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "linalg/dense.h"
#include "model/pairs_tiles.h"

/* Side of a tile of a sample. By measurement: from 112 to 160 all the same, below and above slower; NPI_BLOCK, the
 * side of a tile of the exact loss, is one of them. */
#define TILE 128
#define LEAST_TILE 16

typedef struct weights_sum {
    double *sum;
    const npi_csr *edges;
} weights_sum;

static void add_weights(void *arg, int64_t first, int64_t last)
{
    const weights_sum *s = arg;
    (void)first;
    (void)last;
    for (int64_t p = 0; p < s->edges->ptr[s->edges->rows]; p++)
        *s->sum += (double)s->edges->val[p];
}

/* The loss of a graph with `positives` edge entries and, with sides, `targets` nodes on the second side; negative: without sides. */
static npi_pairs_loss make_loss(npgnn_likelihood likelihood, const npi_csr *edges, double positives, double targets,
                                const npi_partition *rows)
{
    double n = rows->n, pairs = n * n, mean = 0;
    weights_sum weights = {&mean, edges};
    if (edges->val)
        npi_comm_chain(rows->comm, &mean, 1, sizeof mean, 1, add_weights, &weights);
    mean = edges->val && positives > 0 ? mean / positives : 1;
    if (targets >= 0)
        pairs = 2 * (n - targets) * targets;
    double negatives = pairs > positives ? pairs - positives : 1; /* where all pairs are edges, any number will do */
    if (likelihood == NPGNN_PLAIN)
        return (npi_pairs_loss){1, 1, 0, mean};
    /* without edges there is nothing to balance */
    return (npi_pairs_loss){1 / (2 * negatives), positives > 0 ? negatives / positives : 1, targets < 0, mean};
}

npi_pairs_loss npi_pairs_loss_make(npgnn_likelihood likelihood, const npi_csr *edges, const unsigned char *side)
{
    npi_partition rows = npi_partition_whole(edges->rows);
    double targets = side ? 0 : -1;
    for (int32_t i = 0; side && i < edges->rows; i++)
        targets += side[i];
    return make_loss(likelihood, edges, (double)edges->ptr[edges->rows], targets, &rows);
}

npi_pairs_loss npi_pairs_loss_among(npgnn_likelihood likelihood, const npi_csr *edges, int64_t entries,
                                    const npi_partition *rows)
{
    return make_loss(likelihood, edges, (double)entries, -1, rows);
}

#define AFFORDABLE_NODES 10000 /* all their pairs take less than a tenth of a second on two cores */

int npi_pairs_sampled(const npgnn_options *options, int32_t n)
{
    int sampled = options->loss == NPGNN_LOSS_SAMPLED;
    if (options->loss == NPGNN_LOSS_AUTO)
        sampled = n > AFFORDABLE_NODES;
    return sampled ? options->pairs_per_node : 0;
}

/* ---- workspace ---- */

/* What is needed to sum over the pairs within each side. */
static int sides_new(npi_pairs *pairs, const unsigned char *side, int pairs_per_node, npgnn_error *err)
{
    const npgnn_env *env = &pairs->env;
    int32_t n = pairs->rows.n;
    int code = 0;
    for (int which = 0; !code && which < 2; which++) {
        struct npi_side_pairs *s = &pairs->inside[which];
        for (int32_t i = 0; i < n; i++)
            s->count += side[i] == which;
        if (s->count == 0)
            continue;
        size_t cells = (size_t)s->count * (size_t)pairs->k;
        s->node = npi_alloc(env, (size_t)s->count, sizeof *s->node, err);
        s->u = npi_alloc(env, cells, sizeof *s->u, err);
        s->du = npi_alloc(env, cells, sizeof *s->du, err);
        npi_partition whole = npi_partition_whole(s->count);
        code =
            s->node && s->u && s->du ? npi_csr_new(&s->no_edges.a, s->count, s->count, 0, 0, env, err) : NPGNN_E_MEMORY;
        if (!code)
            code = npi_pairs_new(&s->pairs, &whole, pairs->k, pairs_per_node, NULL, env, err);
        for (int32_t i = 0, at = 0; !code && i < n; i++)
            if (side[i] == which)
                s->node[at++] = i;
    }
    return code;
}

int npi_pairs_new(npi_pairs **out, const npi_partition *rows, int k, int pairs_per_node, const unsigned char *side,
                  const npgnn_env *env, npgnn_error *err)
{
    assert(rows->n > 0 && k > 0);
    int code = npi_blas_open(env, err);
    if (code)
        return code;
    npi_pairs *pairs = npi_alloc(env, 1, sizeof *pairs, err);
    if (!pairs)
        return NPGNN_E_MEMORY;
    pairs->env = *env;
    pairs->kernels = npi_kernels_best();
    pairs->k = k;
    pairs->rows = *rows;
    pairs->own_blocks = (rows->to - rows->from + NPI_BLOCK - 1) / NPI_BLOCK;

    /* a sample: as many rounds of as large tiles that a node meets about pairs_per_node others; exact when that is most
     * of them */
    int tile = 0;
    if (pairs_per_node > 0) {
        int rounds = (pairs_per_node + TILE - 1) / TILE;
        tile = pairs_per_node / rounds < LEAST_TILE ? LEAST_TILE : pairs_per_node / rounds;
        pairs->rounds = 2 * (int64_t)rounds * tile < rows->n ? rounds : 0;
    }
    code = pairs->rounds ? npi_sample_new(pairs, tile, err) : npi_ring_new(pairs, err);

    /* the largest tile and, in a sample, the rows of its two sides gathered with their gradients */
    size_t size = (size_t)pairs->size, sides = 4 * size * (size_t)k;
    pairs->tile_reals = size > NPI_BLOCK ? size * size : NPI_BLOCK * NPI_BLOCK;
    pairs->thread_reals = (pairs->tile_reals + sides + 15) / 16 * 16; /* whole cache lines */
    pairs->scratch = npi_alloc(env, (size_t)env->threads * pairs->thread_reals, sizeof *pairs->scratch, err);
    pairs->part = npi_alloc(env, (size_t)pairs->own_blocks, sizeof *pairs->part, err);
    if (!pairs->scratch || !pairs->part)
        code = NPGNN_E_MEMORY;
    if (!code && side)
        code = sides_new(pairs, side, pairs_per_node, err);
    if (code)
        npi_pairs_free(pairs);
    else
        *out = pairs;
    return code;
}

void npi_pairs_free(npi_pairs *pairs)
{
    if (!pairs)
        return;
    npgnn_env env = pairs->env;
    npi_sample_free(pairs);
    npi_ring_free(pairs);
    for (int which = 0; which < 2; which++) {
        struct npi_side_pairs *s = &pairs->inside[which];
        npi_pairs_free(s->pairs);
        npi_free(&env, s->node);
        npi_free(&env, s->u);
        npi_free(&env, s->du);
        npi_csr_free(&env, &s->no_edges.a);
    }
    npi_free(&env, pairs->scratch);
    npi_free(&env, pairs->part);
    npi_free(&env, pairs);
}

/* ---- corrections on known pairs ---- */

/* s <- step f'(s) for f(s) = a softplus(s) - (c1 s + c2 s² / 2); returns Σ f(s). s and g (count); g
 * becomes sigmoid(s). */
static double apply(real *s, real *g, int64_t count, npi_term f, double step, const npi_kernels *kernels)
{
    double polynomial = 0;
    memcpy(g, s, (size_t)count * sizeof *g);
    double softplus = kernels->pair_tile(g, count, 0, 0);
    for (int64_t p = 0; p < count; p++) {
        double x = (double)s[p];
        polynomial += x * (f.c1 + 0.5 * f.c2 * x);
        s[p] = (real)(step * (f.a * (double)g[p] - f.c1 - f.c2 * x));
    }
    return f.a * softplus - polynomial;
}

/* The same for edges that have weights: r times as many positives of weight c1 as f has, r = weight / mean, so that
 * f(s) = (r c1 - 1) softplus(s) - r c1 s. */
static double apply_weighted(real *s, real *g, int64_t count, const float *weights, const npi_pairs_job *job,
                             const npi_kernels *kernels)
{
    double loss = 0;
    memcpy(g, s, (size_t)count * sizeof *g);
    kernels->pair_tile(g, count, 0, 0);
    for (int64_t p = 0; p < count; p++) {
        double positive = job->edge.c1 * (double)weights[p] / job->mean_weight, x = (double)s[p];
        loss += (positive - 1) * (fmax(x, 0) + log1p(exp(-fabs(x)))) - positive * x;
        s[p] = (real)(job->step * ((positive - 1) * (double)g[p] - positive));
    }
    return loss;
}

/* Entries [first, last) of a row whose other ends have their rows of U in one array. */
typedef struct segment {
    int64_t first, last;
    const real *u;
} segment;

/* The entries of row i that lie in [begin, end): those of nodes of processes before this one, of own nodes, and of
 * nodes of processes after it. */
static void clip(segment out[3], const npi_pairs_job *job, int32_t i, int64_t begin, int64_t end)
{
    const npi_adj *edges = job->edges;
    int64_t own, after;
    npi_adj_own(&own, &after, edges, i);
    const real *halo = edges->halo ? edges->halo->rows : NULL;
    out[0] = (segment){edges->a.ptr[i], own, halo};
    out[1] = (segment){own, after, job->u};
    out[2] = (segment){after, edges->a.ptr[i + 1], halo};
    for (int part = 0; part < 3; part++) {
        out[part].first = out[part].first > begin ? out[part].first : begin;
        out[part].last = out[part].last < end ? out[part].last : end;
    }
}

/* The entries [begin, end), which belong to rows [row, row_end): their scores, their loss all at once, and the
 * rows' gradients. */
static double edge_slice(const npi_pairs *pairs, const npi_pairs_job *job, int64_t begin, int64_t end, int32_t row,
                         int32_t row_end)
{
    const npi_kernels *kernels = pairs->kernels;
    const npi_csr *edges = &job->edges->a;
    real *s = npi_pairs_scratch(pairs), *g = s + (end - begin);
    int k = pairs->k;
    segment part[3];
    /* s_p = u_i · u_j for the entries p = (i, j) */
    for (int32_t i = row; i < row_end; i++) {
        clip(part, job, i, begin, end);
        for (segment *at = part; at < part + 3; at++)
            if (at->last > at->first)
                kernels->dots(s + (at->first - begin), job->u + (size_t)i * (size_t)k, edges->col + at->first,
                              at->last - at->first, at->u, k, k);
    }
    double loss = edges->val ? apply_weighted(s, g, end - begin, edges->val + begin, job, kernels)
                             : apply(s, g, end - begin, job->edge, job->step, kernels);
    /* du_i += Σ_j step f'(s_ij) u_j */
    for (int32_t i = row; job->du && i < row_end; i++) {
        clip(part, job, i, begin, end);
        for (segment *at = part; at < part + 3; at++)
            if (at->last > at->first)
                kernels->combine(job->du + (size_t)i * (size_t)k, edges->col + at->first, s + (at->first - begin),
                                 at->last - at->first, at->u, k, k);
    }
    return loss;
}

/* The pairs (i, i) of a block's rows. */
static double diagonal_slice(const npi_pairs *pairs, const npi_pairs_job *job, int32_t row, int32_t row_end)
{
    real *s = npi_pairs_scratch(pairs), *g = s + (row_end - row);
    int k = pairs->k;
    for (int32_t i = row; i < row_end; i++)
        pairs->kernels->dots(s + (i - row), job->u + (size_t)i * (size_t)k, &i, 1, job->u, k, k);
    double loss = apply(s, g, row_end - row, job->self, job->step, pairs->kernels);
    for (int32_t i = row; job->du && i < row_end; i++)
        pairs->kernels->combine(job->du + (size_t)i * (size_t)k, &i, s + (i - row), 1, job->u, k, k);
    return loss;
}

/* The edges and the diagonal of one block of rows (P3). The pattern being symmetric, both orders of an edge give
 * row i the same: it takes twice its own entries, and no other row is written. */
static double known_pairs(const npi_pairs *pairs, const npi_pairs_job *job, int32_t block)
{
    const npi_csr *edges = &job->edges->a;
    int32_t row = block * NPI_BLOCK, row_end = row + npi_block_side(pairs, job, block).rows;
    int64_t slice = (int64_t)pairs->tile_reals / 2; /* the scratch holds s and g */
    double loss = 0;
    for (int64_t begin = edges->ptr[row]; begin < edges->ptr[row_end]; begin += slice) {
        int64_t left = edges->ptr[row_end] - begin;
        loss += edge_slice(pairs, job, begin, begin + (left < slice ? left : slice), row, row_end);
    }
    if (job->self.a != 0 || job->self.c1 != 0 || job->self.c2 != 0)
        loss += diagonal_slice(pairs, job, row, row_end);
    return loss;
}

/* ---- the exact sum ---- */

/* A block with itself: S is symmetric and holds both orders of each pair, so dU_a = step G U_a is all of the gradient.
 * And its known pairs. */
static double block_alone(const npi_pairs *pairs, const npi_pairs_job *job, int32_t block)
{
    npi_side rows = npi_block_side(pairs, job, block), columns = rows;
    columns.du = NULL;
    double inside = npi_tile(npi_pairs_scratch(pairs), rows, columns, pairs->k, 0, 0, job->step, 1, pairs->kernels);
    return inside + known_pairs(pairs, job, block);
}

/* ---- the sampled sum ---- */

typedef struct rows_loop {
    const npi_pairs *pairs;
    const npi_pairs_job *job;
} rows_loop;

static void rows_blocks(const void *arg, int64_t first, int64_t last)
{
    const rows_loop *l = arg;
    for (int32_t block = (int32_t)first; block < last; block++) {
        if (l->job->du)
            npi_sample_gradient(l->pairs, l->job, npi_block_side(l->pairs, l->job, block));
        l->pairs->part[block] = known_pairs(l->pairs, l->job, block);
    }
}

/* Σ softplus = Σ q + Σ (softplus - q): the first sum exactly, the second from a sample (P6). */
static double sampled_run(npi_pairs *pairs, npi_pairs_job *job, uint64_t seed, uint32_t draw)
{
    int threads = pairs->env.threads;
    rows_loop loop = {pairs, job};
    npi_sample_fit(pairs, job, seed, draw);
    /* the diagonal is not sampled: its softplus - q is computed with the known pairs */
    job->self.a += 1;
    job->self.c1 += job->c1;
    job->self.c2 += job->c2;
    double loss = npi_sample_quadratic(pairs, job);
    /* the gradient of Σ q, and the edges and the diagonal: each row of dU is written by one thread */
    npi_blas_begin(threads);
    npi_parallel(threads, pairs->own_blocks, 1, rows_blocks, &loop);
    npi_blas_end(threads);
    loss += npi_pairs_sum(pairs, pairs->part, pairs->own_blocks);
    return loss + npi_sample_rest(pairs, job, seed, draw);
}

/* Σ softplus(s_ij) over the ordered pairs within a side, including (i, i); adds step / 2 times its gradient to dU. */
static double inside_run(struct npi_side_pairs *s, real *du, const real *u, double step, uint64_t seed, uint32_t draw)
{
    static const npi_pairs_loss softplus = {.scale = 1, .positive_weight = 0, .mean_weight = 1};
    size_t k = (size_t)s->pairs->k;
    for (size_t i = 0; i < (size_t)s->count; i++)
        memcpy(s->u + i * k, u + (size_t)s->node[i] * k, k * sizeof *u);
    memset(s->du, 0, (size_t)s->count * k * sizeof *s->du);
    double sum = npi_pairs_run(s->pairs, du ? s->du : NULL, s->u, &s->no_edges, &softplus, step / 2, seed, draw);
    for (size_t i = 0; du && i < (size_t)s->count; i++)
        for (size_t c = 0; c < k; c++)
            du[(size_t)s->node[i] * k + c] += s->du[i * k + c];
    return sum;
}

double npi_pairs_run(npi_pairs *pairs, real *du, const real *u, const npi_adj *edges, const npi_pairs_loss *loss,
                     double factor, uint64_t seed, uint32_t draw)
{
    /* on top of softplus(s), an edge has (w - 1) softplus(s) - w s: (P2) */
    double w = loss->positive_weight;
    npi_term edge = {w - 1, w, 0}, none = {0, 0, 0};
    npi_pairs_job job = {.du = du,
                         .u = u,
                         .edges = edges,
                         .edge = edge,
                         .mean_weight = loss->mean_weight,
                         .self = loss->diagonal ? edge : none,
                         .step = 2 * loss->scale * factor};
    npi_adj_fetch(edges, u, pairs->k, pairs->k, pairs->env.threads);
    double sum = pairs->rounds ? sampled_run(pairs, &job, seed, draw) : npi_ring_run(pairs, &job, block_alone);
    for (int which = 0; which < 2; which++)
        if (pairs->inside[which].pairs)
            sum -= inside_run(&pairs->inside[which], du, u, -job.step, seed, draw);
    return loss->scale * sum;
}
