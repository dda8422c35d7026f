#include "examples/project.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "graph/pair.h"
#include "linalg/adam.h"
#include "linalg/blas.h"
#include "process/layers.h"

enum {
    WIDTH = 64,
    STEPS = 100,        /* for W, */
    AROUND_STEPS = 150, /* and for Q */
    PAIRS_PER_LINK = 3,
    MOST_WEIGHTS = 1 << 24, /* of W: above so many it is narrower */
    MOST_NODES = 1 << 16,   /* of a sample of a large graph, */
    MOST_LINKS = 1 << 16,
    PARTS = 3 /* of the links, at least, of which each step has one */
};
#define RATE 0.03
#define LAST_RATE 0.01   /* share of the rate that is left at the end */
#define DECAY 4.0        /* λ is DECAY / links, */
#define MOST_DECAY 1e-3  /* and at most this */
#define AROUND_SHARE 0.5 /* of it, for Q */

/* Learns W or, `around`, Q. */
typedef struct learner {
    npgnn_env env;
    int around, steps;
    uint32_t stream;         /* of random numbers: initial weights, parts; then one per step */
    npi_features *x;         /* (n, f) */
    npi_csr own;             /* the links of a sample, */
    unsigned char *own_side; /* and the sides of its nodes */
    npi_project_pairs pairs;
    int32_t n;
    int width;
    double decay;                   /* λ */
    size_t count;                   /* of all weights: W or Q, then b */
    real *block, *m, *v, *gradient; /* (count) */
    real *inverse, *u, *du;         /* (n), (n, width), (n, width) */
    double *shift;                  /* (n) each node's part of dloss / db */
    int32_t *offset;                /* (pairs.offsets) of the current step */
    const npi_csr *all;             /* the links, */
    int parts;                      /* in so many parts; */
    npi_csr hidden;                 /* the part of the current step, */
    npi_adj known;                  /* around: and the others, Â, */
    real *smooth;                   /* (n, width) and Â q */
} learner;

static void learner_free(learner *l)
{
    const npgnn_env *env = &l->env;
    npi_features_free(l->x);
    npi_csr_free(env, &l->own);
    npi_free(env, l->own_side);
    npi_free(env, l->block);
    npi_free(env, l->m);
    npi_free(env, l->v);
    npi_free(env, l->gradient);
    npi_free(env, l->inverse);
    npi_free(env, l->u);
    npi_free(env, l->du);
    npi_free(env, l->shift);
    npi_free(env, l->offset);
    npi_csr_free(env, &l->hidden);
    npi_csr_free(env, &l->known.a);
    npi_free(env, l->known.scale);
    npi_free(env, l->smooth);
}

/* ---- a sample of a large graph ---- */

/* MOST_NODES random nodes, then the ends of MOST_LINKS random links that are not among them; the links join these. */
static int take_sample(learner *l, const npgnn_graph *graph, uint64_t seed, npgnn_error *err)
{
    const npgnn_env *env = &l->env;
    npi_rng rng = npi_rng_make(seed, NPI_RNG_PROJECT, 0);
    int64_t links = graph->m < MOST_LINKS ? graph->m : MOST_LINKS;
    int32_t *place = npi_alloc(env, (size_t)graph->n, sizeof *place, err); /* 1 + where a node is in the sample */
    int64_t *order = npi_alloc(env, (size_t)graph->n, sizeof *order, err);
    int32_t *node = npi_alloc(env, MOST_NODES + 2 * (size_t)links, sizeof *node, err);
    npgnn_pair *edges = npi_alloc(env, (size_t)graph->m, sizeof *edges, err);
    int code = place && order && node && edges ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        npi_rng_permutation(order, graph->n, &rng);
        l->pairs.uniform = l->n = graph->n < MOST_NODES ? graph->n : MOST_NODES;
        for (int32_t i = 0; i < l->n; i++) {
            node[i] = (int32_t)order[i];
            place[node[i]] = i + 1;
        }
        npi_graph_list_edges(edges, graph);
        npi_pairs_shuffle(edges, graph->m, &rng);
        for (int64_t i = 0; i < links; i++) {
            int32_t *ends[2] = {&edges[i].u, &edges[i].v};
            for (int end = 0; end < 2; end++) {
                if (place[*ends[end]] == 0) {
                    node[l->n] = *ends[end];
                    place[*ends[end]] = ++l->n;
                }
                *ends[end] = place[*ends[end]] - 1;
            }
        }
        code = npi_features_select_rows(&l->x, graph->x, node, l->n, err);
    }
    if (!code)
        code = npi_csr_new(&l->own, l->n, l->n, 2 * links, 0, env, err);
    if (!code && graph->side && !(l->own_side = npi_alloc(env, (size_t)l->n, 1, err)))
        code = NPGNN_E_MEMORY;
    for (int32_t i = 0; !code && graph->side && i < l->n; i++)
        l->own_side[i] = graph->side[node[i]];
    if (!code) { /* the rows of the links: count, add up, fill */
        int64_t *ptr = l->own.ptr;
        for (int64_t i = 0; i < links; i++) {
            ptr[edges[i].u + 1]++;
            ptr[edges[i].v + 1]++;
        }
        for (int32_t i = 0; i < l->n; i++)
            ptr[i + 1] += ptr[i];
        for (int64_t i = 0; i < links; i++) {
            l->own.col[ptr[edges[i].u]++] = edges[i].v;
            l->own.col[ptr[edges[i].v]++] = edges[i].u;
        }
        memmove(ptr + 1, ptr, (size_t)l->n * sizeof *ptr);
        ptr[0] = 0;
        l->all = &l->own;
        l->pairs.side = l->own_side;
    }
    npi_free(env, place);
    npi_free(env, order);
    npi_free(env, node);
    npi_free(env, edges);
    return code;
}

static int learner_new(learner *l, const npgnn_graph *graph, uint64_t seed, npgnn_error *err)
{
    const npgnn_env *env = &l->env;
    int code = 0;
    if (!l->around && (graph->n > MOST_NODES || graph->m > MOST_LINKS)) {
        code = take_sample(l, graph, seed, err);
    } else {
        l->x = npi_features_share(graph->x);
        l->all = &graph->a;
        l->pairs.side = graph->side;
        l->n = l->pairs.uniform = graph->n;
    }
    if (!code)
        code = npi_features_transpose(l->x, err);
    if (code)
        return code;
    int64_t entries = l->all->ptr[l->n], links = entries / 2, uniform = l->pairs.uniform;
    size_t cells = (size_t)l->n * (size_t)l->width;
    l->count = (size_t)l->x->f * (size_t)l->width + 1;
    l->decay = DECAY / (double)links < MOST_DECAY ? DECAY / (double)links : MOST_DECAY;
    if (l->around) {
        l->decay *= AROUND_SHARE;
        code = npi_csr_new(&l->known.a, l->n, l->n, entries, 0, env, err);
        l->known.scale = npi_alloc(env, (size_t)l->n, sizeof *l->known.scale, err);
        l->smooth = npi_alloc(env, cells, sizeof *l->smooth, err);
    }
    if (code || (l->around && (!l->known.scale || !l->smooth)))
        return NPGNN_E_MEMORY;
    code = npi_csr_new(&l->hidden, l->n, l->n, entries, 0, env, err);
    l->pairs.links = &l->hidden;
    l->parts = (int)(links / (MOST_LINKS / PARTS)) + 1;
    l->parts = l->parts > PARTS ? l->parts : PARTS;
    l->pairs.offsets = (int)((PAIRS_PER_LINK * links / l->parts + uniform - 1) / uniform);
    l->block = npi_alloc(env, l->count, sizeof *l->block, err);
    l->m = npi_alloc(env, l->count, sizeof *l->m, err);
    l->v = npi_alloc(env, l->count, sizeof *l->v, err);
    l->gradient = npi_alloc(env, l->count, sizeof *l->gradient, err);
    l->inverse = npi_alloc(env, (size_t)l->n, sizeof *l->inverse, err);
    l->u = npi_alloc(env, cells, sizeof *l->u, err);
    l->du = npi_alloc(env, cells, sizeof *l->du, err);
    l->shift = npi_alloc(env, (size_t)l->n, sizeof *l->shift, err);
    l->pairs.offset = l->offset = npi_alloc(env, (size_t)l->pairs.offsets, sizeof *l->offset, err);
    if (code || !l->block || !l->m || !l->v || !l->gradient || !l->inverse || !l->u || !l->du || !l->shift ||
        !l->offset)
        return NPGNN_E_MEMORY;
    npi_features_inverse_lengths(l->inverse, l->x);
    npi_rng rng = npi_rng_make(seed, NPI_RNG_PROJECT, l->stream);
    for (size_t i = 0; i + 1 < l->count; i++)
        l->block[i] = (real)(npi_rng_normal_at(&rng, i) / sqrt(l->width));
    l->block[l->count - 1] = -1; /* links are few */
    return 0;
}

/* ---- a step ---- */

typedef struct loss_loop {
    real *du;
    double *shift, *loss;
    const real *u;
    int width;
    double b;
    const npi_project_pairs *pairs;
    const npi_kernels *kernels;
} loss_loop;

/* Adds what the pairs of node i with others (count) give to it: du_i += Σ g_j u_j with g_j = dloss / d(u_i · u_j). */
static void add_pairs(const loss_loop *l, int32_t i, const int32_t *others, int64_t count, int are_links, double weight)
{
    enum { CHUNK = 256 };
    int w = l->width;
    real g[CHUNK], *du = l->du + (size_t)i * (size_t)w;
    double shift = 0, loss = 0;
    for (int64_t first = 0; first < count; first += CHUNK) {
        int size = count - first < CHUNK ? (int)(count - first) : CHUNK;
        l->kernels->dots(g, l->u + (size_t)i * (size_t)w, others + first, size, l->u, w, w);
        for (int j = 0; j < size; j++) {
            double score = (double)g[j] + l->b, slope = weight * (npi_logistic_of(score) - are_links);
            if (l->loss)
                loss += weight * npi_softplus(are_links ? -score : score);
            shift += slope;
            g[j] = (real)slope;
        }
        l->kernels->combine(du, others + first, g, size, l->u, w, w);
    }
    l->shift[i] += shift / 2; /* the other halves are added with the other nodes */
    if (l->loss)
        l->loss[i] += loss / 2;
}

static void node_gradients(const void *arg, int64_t first, int64_t last)
{
    const loss_loop *l = arg;
    const npi_project_pairs *p = l->pairs;
    const npi_csr *a = p->links;
    double per_link = 2 / (double)a->ptr[a->rows], per_pair = 1 / ((double)p->uniform * p->offsets);
    for (int32_t i = (int32_t)first; i < last; i++) {
        memset(l->du + (size_t)i * (size_t)l->width, 0, (size_t)l->width * sizeof *l->du);
        l->shift[i] = 0;
        if (l->loss)
            l->loss[i] = 0;
        add_pairs(l, i, a->col + a->ptr[i], a->ptr[i + 1] - a->ptr[i], 1, per_link);
        for (int k = 0; i < p->uniform && k < p->offsets; k++) { /* i with i + o, and i - o with i */
            int32_t others[2], count = 0;
            others[0] = (int32_t)(((int64_t)i + p->offset[k]) % p->uniform);
            others[1] = (int32_t)(((int64_t)i - p->offset[k] + p->uniform) % p->uniform);
            for (int end = 0; end < 2; end++)
                if (!p->side || p->side[i] != p->side[others[end]])
                    others[count++] = others[end];
            add_pairs(l, i, others, count, 0, per_pair);
        }
    }
}

void npi_project_loss(real *du, double *shift, double *loss, const real *u, int width, double b,
                      const npi_project_pairs *pairs, int threads)
{
    const loss_loop loop = {du, shift, loss, u, width, b, pairs, npi_kernels_best()};
    npi_parallel(threads, pairs->links->rows, 64, node_gradients, &loop);
}

void npi_project_loss_around(real *dq, double *shift, double *loss, real *smooth, const real *q, int width, double b,
                             const npi_adj *known, const npi_project_pairs *hidden, int threads)
{
    npi_adj_mul(smooth, width, known, q, width, width, threads);
    npi_project_loss(dq, shift, loss, smooth, width, b, hidden, threads);
    memcpy(smooth, dq, (size_t)known->a.rows * (size_t)width * sizeof *dq);
    npi_adj_mul(dq, width, known, smooth, width, width, threads); /* Â is symmetric */
}

void npi_project_hide(npi_csr *hidden, npi_csr *known, const npi_csr *all, int part, int parts, const npi_rng *rng)
{
    int64_t hidden_count = 0, known_count = 0;
    for (int32_t i = 0; i < all->rows; i++) {
        for (int64_t p = all->ptr[i]; p < all->ptr[i + 1]; p++) {
            int32_t j = all->col[p];
            uint64_t link = (uint64_t)(i < j ? i : j) << 32 | (uint32_t)(i < j ? j : i);
            if ((int)(npi_rng_uniform_at(rng, link) * parts) == part)
                hidden->col[hidden_count++] = j;
            else if (known)
                known->col[known_count++] = j;
        }
        hidden->ptr[i + 1] = hidden_count;
        if (known)
            known->ptr[i + 1] = known_count;
    }
}

static void take_step(learner *l, int step, uint64_t seed)
{
    int threads = l->env.threads;
    npi_rng split = npi_rng_make(seed, NPI_RNG_PROJECT, l->stream + 1);
    npi_rng rng = npi_rng_make(seed, NPI_RNG_PROJECT, l->stream + 2 + (uint32_t)step);
    int32_t uniform = l->pairs.uniform;
    double b = (double)l->block[l->count - 1];
    for (int k = 0; k < l->pairs.offsets; k++)
        l->offset[k] = uniform > 1 ? 1 + (int32_t)npi_rng_below(&rng, (uint64_t)uniform - 1) : 0;
    npi_project_hide(&l->hidden, l->around ? &l->known.a : NULL, l->all, step % l->parts, l->parts, &split);
    if (l->hidden.ptr[l->n] == 0) /* of the few links of a small graph none is in this part */
        return;
    npi_projection_rows(l->u, l->block, l->width, l->x, l->inverse, threads);
    if (l->around) {
        npi_adj_normalize(&l->known, threads);
        npi_project_loss_around(l->du, l->shift, NULL, l->smooth, l->u, l->width, b, &l->known, &l->pairs, threads);
    } else {
        npi_project_loss(l->du, l->shift, NULL, l->u, l->width, b, &l->pairs, threads);
    }
    for (int32_t i = 0; i < l->n; i++)
        for (int c = 0; c < l->width; c++)
            l->du[(size_t)i * (size_t)l->width + (size_t)c] *= l->inverse[i];
    memset(l->gradient, 0, l->count * sizeof *l->gradient);
    npi_features_mul_t(l->gradient, l->x, l->du, l->width, threads);
    double shift = 0;
    for (int32_t i = 0; i < l->n; i++)
        shift += l->shift[i];
    l->gradient[l->count - 1] = (real)shift;
    for (size_t i = 0; i + 1 < l->count; i++)
        l->gradient[i] += (real)l->decay * l->block[i];
    npi_adam_rates rates = {npi_rate_along_cosine(RATE, LAST_RATE, step, l->steps), 0.9, 0.999, 1e-8};
    npi_adam_move(l->block, l->m, l->v, l->gradient, (int64_t)l->count, npi_adam_corrected(rates, step + 1));
}

/* ---- both matrices ---- */

/* weight (f, width) = W or Q. */
static int learn(real *weight, int width, const npgnn_graph *graph, int around, uint64_t seed, const npgnn_env *env,
                 npgnn_error *err)
{
    learner l = {.env = *env, .around = around, .width = width, .steps = around ? AROUND_STEPS : STEPS};
    l.stream = around ? 3 + STEPS : 1;
    int code = learner_new(&l, graph, seed, err);
    for (int step = 0; !code && step < l.steps; step++) {
        take_step(&l, step, seed);
        if (npi_env_stopped(env))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled while a projection of the features was learnt");
    }
    if (!code)
        memcpy(weight, l.block, (l.count - 1) * sizeof *weight);
    learner_free(&l);
    return code;
}

int npi_project(npi_projection *out, const npgnn_graph *graph, uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    *out = (npi_projection){0};
    if (graph->x->nonzeros == 0 || graph->m == 0)
        return 0;
    int32_t f = graph->x->f;
    int width = f < WIDTH ? f : MOST_WEIGHTS / f < WIDTH ? MOST_WEIGHTS / f : WIDTH;
    npi_projection p = {0};
    int code = npi_blas_open(env, err);
    if (!code)
        code = npi_projection_new(&p, f, width > 1 ? width : 1, env, err);
    if (!code)
        code = learn(p.weight, p.width, graph, 0, seed, env, err);
    if (!code && graph->n <= MOST_NODES)
        code = learn(p.around, p.width, graph, 1, seed, env, err);
    else if (!code) /* neighbourhoods of a sample would not be those of the graph */
        memcpy(p.around, p.weight, npi_projection_count(&p) / 2 * sizeof *p.weight);
    if (code)
        npi_projection_free(env, &p);
    else
        *out = p;
    return code;
}
