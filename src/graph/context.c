/* Drawing the context of an iteration.
 *
 * EDGES: a uniformly random subset of the edges; the context has all n nodes. NODES: a uniformly random subset of
 * the nodes and the edges among them.
 *
 * Both visit the items in order and select them by sequential sampling, so that the rows of the drawn adjacency come
 * out sorted and nothing is allocated. */
#include "graph/context.h"

#include <math.h>

#include "base/rng.h"

struct npi_context {
    npgnn_env env;
    const npgnn_graph *graph;
    npgnn_context kind;
    int64_t size; /* number of edges or nodes to draw */
    npi_adj adj;
    npgnn_pair *edges; /* EDGES: (size) drawn edges, u < v, ordered */
    float *weights;    /* EDGES: (size) their weights, NULL where the graph has none */
    int64_t *place;    /* EDGES: (n) where the next neighbour of a row is written */
    int32_t *nodes;    /* NODES: (size) drawn nodes, ascending */
    int32_t *position; /* NODES: (n) position in `nodes`, -1 where not drawn */
};

/* Selection sampling (Knuth, The Art of Computer Programming, vol. 2, section 3.4.2, algorithm S): visits the items
 * in order and takes exactly `wanted` of them; every subset is equally likely. */
typedef struct sampler {
    npi_rng rng;
    int64_t wanted, left;
    uint32_t bits[4]; /* one block of random bits serves four items; 32 bits give each probability to 2^-32 */
    int used;         /* words of the block */
} sampler;

/* Takes the next item with probability wanted / left. */
static int sampler_takes(sampler *s)
{
    if (s->used == 4) {
        npi_rng_block(s->bits, &s->rng, s->rng.next++);
        s->used = 0;
    }
    int take = (double)s->bits[s->used++] * (double)s->left < 0x1p32 * (double)s->wanted;
    s->left--;
    s->wanted -= take;
    return take;
}

/* ---- drawing ---- */

/* EDGES: draws c->size of the m edges, and writes both directions of them into the rows of the adjacency. */
static void draw_edges(npi_context *c, sampler *s)
{
    const npi_csr *from = &c->graph->a;
    npi_csr *a = &c->adj.a;
    int64_t count = 0;
    /* 1. choose among the entries with u < v, and count degrees: that of node u in ptr[u + 1] */
    for (int32_t u = 0; u <= a->rows; u++)
        a->ptr[u] = 0;
    for (int32_t u = 0; u < from->rows; u++) {
        for (int64_t p = from->ptr[u]; p < from->ptr[u + 1]; p++) {
            int32_t v = from->col[p];
            if (v < u || !sampler_takes(s))
                continue;
            if (from->val)
                c->weights[count] = from->val[p];
            c->edges[count++] = (npgnn_pair){u, v};
            a->ptr[u + 1]++;
            a->ptr[v + 1]++;
        }
    }
    /* 2. degrees become row offsets */
    for (int32_t u = 0; u < a->rows; u++) {
        a->ptr[u + 1] += a->ptr[u];
        c->place[u] = a->ptr[u];
    }
    /* 3. write the entries. The edges are ordered by (u, v): a row receives its smaller neighbours first, in ascending
     * order, then its larger ones. No sorting is needed. */
    for (int64_t i = 0; i < c->size; i++) {
        npgnn_pair edge = c->edges[i];
        int64_t there = c->place[edge.u]++, back = c->place[edge.v]++;
        a->col[there] = edge.v;
        a->col[back] = edge.u;
        if (a->val)
            a->val[there] = a->val[back] = c->weights[i];
    }
}

/* NODES: draws c->size of the n nodes, and writes the edges among them into the rows of the adjacency. */
static void draw_nodes(npi_context *c, sampler *s)
{
    const npi_csr *from = &c->graph->a;
    npi_csr *a = &c->adj.a;
    int32_t drawn = 0;
    int64_t entries = 0;
    for (int32_t u = 0; u < c->graph->n; u++) {
        c->position[u] = -1;
        if (!sampler_takes(s))
            continue;
        c->position[u] = drawn;
        c->nodes[drawn++] = u;
    }
    /* positions ascend with the nodes, so that the rows stay sorted */
    for (int32_t i = 0; i < a->rows; i++) {
        int32_t u = c->nodes[i];
        a->ptr[i] = entries;
        for (int64_t p = from->ptr[u]; p < from->ptr[u + 1]; p++)
            if (c->position[from->col[p]] >= 0) {
                if (a->val)
                    a->val[entries] = from->val[p];
                a->col[entries++] = c->position[from->col[p]];
            }
    }
    a->ptr[a->rows] = entries;
}

void npi_context_draw(npi_context *context, uint64_t seed, uint32_t iteration)
{
    const npgnn_graph *graph = context->graph;
    sampler s = {.rng = npi_rng_make(seed, NPI_RNG_CONTEXT, iteration), .wanted = context->size, .used = 4};
    if (context->kind == NPGNN_CONTEXT_EDGES) {
        s.left = graph->m;
        draw_edges(context, &s);
    } else {
        s.left = graph->n;
        draw_nodes(context, &s);
    }
    npi_adj_normalize(&context->adj, context->env.threads);
}

/* ---- allocating ---- */

int npi_context_new(npi_context **out, const npgnn_graph *graph, npgnn_context kind, double fraction,
                    const npgnn_env *env, npgnn_error *err)
{
    const npgnn_env resolved = npi_env_resolve(env);
    if (!(fraction > 0 && fraction <= 1))
        return npi_fail(err, NPGNN_E_ARGUMENT, "the context fraction must be above 0 and at most 1, got %g", fraction);
    if (kind != NPGNN_CONTEXT_EDGES && kind != NPGNN_CONTEXT_NODES)
        return npi_fail(err, NPGNN_E_ARGUMENT, "a context is drawn from edges or from nodes, got kind %d", (int)kind);
    npi_context *c = npi_alloc(&resolved, 1, sizeof *c, err);
    if (!c)
        return NPGNN_E_MEMORY;
    c->env = resolved;
    c->graph = graph;
    c->kind = kind;

    /* fraction * total, rounded, at least 1 and at most `total` */
    int64_t total = kind == NPGNN_CONTEXT_EDGES ? graph->m : graph->n;
    c->size = llround(fraction * (double)total);
    if (c->size < 1)
        c->size = 1;
    if (c->size > total)
        c->size = total;

    size_t n = (size_t)graph->n, size = (size_t)c->size;
    int weighted = graph->a.val != NULL, failed;
    int64_t rows, entries;
    if (kind == NPGNN_CONTEXT_EDGES) {
        rows = graph->n;
        entries = 2 * c->size;
        failed = !(c->edges = npi_alloc(&resolved, size, sizeof *c->edges, err)) ||
                 !(c->place = npi_alloc(&resolved, n, sizeof *c->place, err)) ||
                 (weighted && !(c->weights = npi_alloc(&resolved, size, sizeof *c->weights, err)));
    } else {
        /* a draw has at most the entries of the graph, and at most those of a complete graph on the drawn nodes */
        rows = c->size;
        entries = c->size * (c->size - 1) < 2 * graph->m ? c->size * (c->size - 1) : 2 * graph->m;
        failed = !(c->nodes = npi_alloc(&resolved, size, sizeof *c->nodes, err)) ||
                 !(c->position = npi_alloc(&resolved, n, sizeof *c->position, err));
    }
    npi_csr *a = &c->adj.a;
    a->rows = a->cols = (int32_t)rows;
    failed = failed || !(a->ptr = npi_alloc(&resolved, (size_t)rows + 1, sizeof *a->ptr, err)) ||
             !(a->col = npi_alloc(&resolved, (size_t)entries, sizeof *a->col, err)) ||
             !(c->adj.scale = npi_alloc(&resolved, (size_t)rows, sizeof *c->adj.scale, err)) ||
             (weighted && !(a->val = npi_alloc(&resolved, (size_t)entries, sizeof *a->val, err)));
    if (failed) {
        npi_context_free(c);
        return NPGNN_E_MEMORY;
    }
    *out = c;
    return 0;
}

const npi_adj *npi_context_get(const int32_t **nodes, const npi_context *context)
{
    *nodes = context->nodes;
    return &context->adj;
}

void npi_context_free(npi_context *context)
{
    if (!context)
        return;
    const npgnn_env env = context->env;
    npi_csr_free(&env, &context->adj.a);
    npi_free(&env, context->adj.scale);
    npi_free(&env, context->edges);
    npi_free(&env, context->weights);
    npi_free(&env, context->place);
    npi_free(&env, context->nodes);
    npi_free(&env, context->position);
    npi_free(&env, context);
}
