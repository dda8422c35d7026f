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

static sampler sampler_make(uint64_t seed, uint32_t iteration, int64_t wanted, int64_t total)
{
    return (sampler){.rng = npi_rng_make(seed, NPI_RNG_CONTEXT, iteration), .wanted = wanted, .left = total, .used = 4};
}

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

/* Draws the edges and counts degrees in ptr[1 .. n]. */
static void draw_edges(npi_context *c, sampler *s)
{
    const npi_csr *a = &c->graph->a;
    int64_t *degree = c->adj.a.ptr + 1;
    int64_t count = 0;
    for (int32_t u = 0; u < a->rows; u++)
        degree[u] = 0;
    for (int32_t u = 0; u < a->rows; u++) {
        for (int64_t p = a->ptr[u]; p < a->ptr[u + 1]; p++) {
            int32_t v = a->col[p];
            if (v < u || !sampler_takes(s))
                continue;
            if (a->val)
                c->weights[count] = a->val[p];
            c->edges[count++] = (npgnn_pair){u, v};
            degree[u]++;
            degree[v]++;
        }
    }
}

/* Writes both directions of the drawn edges into the rows. The edges are ordered by (u, v): a row receives its smaller
 * neighbours first, in ascending order, then its larger ones. No sorting is needed. */
static void edges_to_rows(npi_context *c)
{
    npi_csr *a = &c->adj.a;
    a->ptr[0] = 0;
    for (int32_t u = 0; u < a->rows; u++) {
        a->ptr[u + 1] += a->ptr[u]; /* degrees become row offsets */
        c->place[u] = a->ptr[u];
    }
    for (int64_t i = 0; i < c->size; i++) {
        npgnn_pair edge = c->edges[i];
        int64_t there = c->place[edge.u]++, back = c->place[edge.v]++;
        a->col[there] = edge.v;
        a->col[back] = edge.u;
        if (a->val)
            a->val[there] = a->val[back] = c->weights[i];
    }
}

static void draw_nodes(npi_context *c, sampler *s)
{
    int32_t count = 0;
    for (int32_t u = 0; u < c->graph->n; u++) {
        c->position[u] = -1;
        if (!sampler_takes(s))
            continue;
        c->position[u] = count;
        c->nodes[count++] = u;
    }
}

/* Writes the edges among the drawn nodes. Positions ascend with the nodes, so that the rows stay sorted. */
static void nodes_to_rows(npi_context *c)
{
    const npi_csr *from = &c->graph->a;
    npi_csr *a = &c->adj.a;
    int64_t count = 0;
    for (int32_t i = 0; i < a->rows; i++) {
        int32_t u = c->nodes[i];
        a->ptr[i] = count;
        for (int64_t p = from->ptr[u]; p < from->ptr[u + 1]; p++)
            if (c->position[from->col[p]] >= 0) {
                if (a->val)
                    a->val[count] = from->val[p];
                a->col[count++] = c->position[from->col[p]];
            }
    }
    a->ptr[a->rows] = count;
}

void npi_context_draw(npi_context *context, uint64_t seed, uint32_t iteration)
{
    const npgnn_graph *graph = context->graph;
    int64_t total = context->kind == NPGNN_CONTEXT_EDGES ? graph->m : graph->n;
    sampler s = sampler_make(seed, iteration, context->size, total);
    if (context->kind == NPGNN_CONTEXT_EDGES) {
        draw_edges(context, &s);
        edges_to_rows(context);
    } else {
        draw_nodes(context, &s);
        nodes_to_rows(context);
    }
    npi_adj_normalize(&context->adj, context->env.threads);
}

/* fraction * total, rounded, at least 1 and at most `total`. */
static int64_t draw_size(double fraction, int64_t total)
{
    int64_t size = llround(fraction * (double)total);
    if (size < 1)
        size = 1;
    return size < total ? size : total;
}

static int reserve_adj(npi_context *c, int32_t rows, int64_t entries, npgnn_error *err)
{
    c->adj.a.rows = c->adj.a.cols = rows;
    c->adj.a.ptr = npi_alloc(&c->env, (size_t)rows + 1, sizeof *c->adj.a.ptr, err);
    c->adj.a.col = npi_alloc(&c->env, (size_t)entries, sizeof *c->adj.a.col, err);
    c->adj.scale = npi_alloc(&c->env, (size_t)rows, sizeof *c->adj.scale, err);
    int weighted = c->graph->a.val != NULL;
    if (weighted)
        c->adj.a.val = npi_alloc(&c->env, (size_t)entries, sizeof *c->adj.a.val, err);
    return c->adj.a.ptr && c->adj.a.col && c->adj.scale && (!weighted || c->adj.a.val) ? 0 : NPGNN_E_MEMORY;
}

static int reserve_edges(npi_context *c, npgnn_error *err)
{
    c->edges = npi_alloc(&c->env, (size_t)c->size, sizeof *c->edges, err);
    c->place = npi_alloc(&c->env, (size_t)c->graph->n, sizeof *c->place, err);
    if (c->graph->a.val)
        c->weights = npi_alloc(&c->env, (size_t)c->size, sizeof *c->weights, err);
    if (!c->edges || !c->place || (c->graph->a.val && !c->weights))
        return NPGNN_E_MEMORY;
    return reserve_adj(c, c->graph->n, 2 * c->size, err);
}

static int reserve_nodes(npi_context *c, npgnn_error *err)
{
    /* a draw has at most the entries of the graph, and at most those of a complete graph on the drawn nodes */
    int64_t entries = c->size * (c->size - 1);
    if (entries > 2 * c->graph->m)
        entries = 2 * c->graph->m;
    c->nodes = npi_alloc(&c->env, (size_t)c->size, sizeof *c->nodes, err);
    c->position = npi_alloc(&c->env, (size_t)c->graph->n, sizeof *c->position, err);
    if (!c->nodes || !c->position)
        return NPGNN_E_MEMORY;
    return reserve_adj(c, (int32_t)c->size, entries, err);
}

int npi_context_new(npi_context **out, const npgnn_graph *graph, npgnn_context kind, double fraction,
                    const npgnn_env *env, npgnn_error *err)
{
    const npgnn_env resolved = npi_env_resolve(env);
    npi_context *c;
    int code;
    if (!(fraction > 0 && fraction <= 1))
        return npi_fail(err, NPGNN_E_ARGUMENT, "the context fraction must be above 0 and at most 1, got %g", fraction);
    if (kind != NPGNN_CONTEXT_EDGES && kind != NPGNN_CONTEXT_NODES)
        return npi_fail(err, NPGNN_E_ARGUMENT, "a context is drawn from edges or from nodes, got kind %d", (int)kind);
    c = npi_alloc(&resolved, 1, sizeof *c, err);
    if (!c)
        return NPGNN_E_MEMORY;
    c->env = resolved;
    c->graph = graph;
    c->kind = kind;
    c->size = draw_size(fraction, kind == NPGNN_CONTEXT_EDGES ? graph->m : graph->n);
    code = kind == NPGNN_CONTEXT_EDGES ? reserve_edges(c, err) : reserve_nodes(c, err);
    if (code)
        npi_context_free(c);
    else
        *out = c;
    return code;
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
