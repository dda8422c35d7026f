/* Drawing the context of an iteration.
 *
 * EDGES: a uniformly random subset of the edges; the context has all n nodes. NODES: a uniformly random subset of
 * the nodes and the edges among them.
 *
 * Both visit the items in order and select them by sequential sampling, so that the rows of the drawn adjacency come
 * out sorted and nothing is allocated. */
#include "graph/context.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

struct npi_context {
    npgnn_env env;
    const npgnn_graph *graph;
    npgnn_context kind;
    int64_t size; /* number of edges or nodes to draw */
    npi_adj adj;
    npgnn_pair *edges;   /* EDGES: (size) drawn edges, u < v, ordered */
    float *weights;      /* EDGES: (size) their weights, NULL where the graph has none */
    int64_t *place;      /* EDGES: (n) where the next neighbour of a row is written */
    int32_t *nodes;      /* NODES: (size) drawn nodes, ascending */
    int32_t *position;   /* NODES: (n) position in `nodes`, -1 where not drawn */
    struct among *among; /* EDGES, where nodes are divided among processes; otherwise NULL */
};

/* A drawn edge whose larger end is another process's. */
typedef struct crossing {
    int32_t u, v; /* u < v */
    float weight;
} crossing;

/* What a draw needs where nodes are divided among processes. */
struct among {
    const npi_adj *own;
    npi_partition rows;
    npi_halo halo;                       /* of the latest draw: a part of that of `own` */
    crossing *sent, *received;           /* by process */
    int64_t *send_count, *receive_count; /* (ranks) */
    npi_message *sends, *receives;       /* (ranks) */
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

/* The sampler before item `index`, when `wanted` of the items from there on are still to be taken. */
static void sampler_skip(sampler *s, int64_t index, int64_t wanted)
{
    s->left -= index;
    s->wanted = wanted;
    s->rng.next = (uint64_t)index / 4;
    if (index % 4) {
        npi_rng_block(s->bits, &s->rng, s->rng.next++);
        s->used = (int)(index % 4);
    }
}

static int owner_of(const npi_partition *rows, int32_t node)
{
    int rank = npi_comm_rank(rows->comm);
    while (npi_rank_start(rows, rank + 1) <= node)
        rank++;
    return rank;
}

/* Exchanges the drawn edges between processes: those that end in a later process go there. Returns how many came. */
static int64_t exchange_crossings(struct among *among)
{
    npgnn_comm *comm = among->rows.comm;
    int rank = npi_comm_rank(comm), ranks = npi_comm_ranks(comm);
    int64_t at = 0;
    for (int r = rank + 1; r < ranks; r++)
        among->sends[r - rank - 1] = (npi_message){&among->send_count[r], sizeof *among->send_count, r};
    for (int r = 0; r < rank; r++)
        among->receives[r] = (npi_message){&among->receive_count[r], sizeof *among->receive_count, r};
    npi_comm_exchange(comm, among->sends, ranks - 1 - rank, among->receives, rank);
    for (int r = rank + 1; r < ranks; at += among->send_count[r], r++)
        among->sends[r - rank - 1] =
            (npi_message){among->sent + at, (size_t)among->send_count[r] * sizeof(crossing), r};
    at = 0;
    for (int r = 0; r < rank; at += among->receive_count[r], r++)
        among->receives[r] = (npi_message){among->received + at, (size_t)among->receive_count[r] * sizeof(crossing), r};
    npi_comm_exchange(comm, among->sends, ranks - 1 - rank, among->receives, rank);
    return at;
}

/* Draws from the edges (u, v) with u < v whose smaller end this process has, after the process before it, which says how
 * many are still wanted: c->edges (returned number) are the row of each edge and the place of its entry in that row.
 * *crossings of them end in another process. */
static int64_t choose_own(int64_t *crossings, npi_context *c, sampler *s)
{
    const npi_partition *rows = &c->among->rows;
    const npi_adj *own = c->among->own;
    const npi_csr *from = &own->a;
    int rank = npi_comm_rank(rows->comm), ranks = npi_comm_ranks(rows->comm);
    /* edges that the processes before this one have drawn from, and how many are still wanted */
    int64_t state[2] = {0, s->wanted}, total = s->left, count = 0, begin, end;
    npi_message before = {state, sizeof state, rank - 1}, after = {state, sizeof state, rank + 1};
    if (rank > 0)
        npi_comm_exchange(rows->comm, NULL, 0, &before, 1);
    sampler_skip(s, state[0], state[1]);
    *crossings = 0;
    for (int32_t u = 0; u < from->rows; u++) {
        npi_adj_own(&begin, &end, own, u);
        for (int64_t p = begin; p < from->ptr[u + 1]; p++)
            if ((p >= end || from->col[p] > u) && sampler_takes(s)) {
                c->edges[count++] = (npgnn_pair){u, (int32_t)(p - from->ptr[u])};
                *crossings += p >= end;
            }
    }
    state[0] = total - s->left;
    state[1] = s->wanted;
    if (rank < ranks - 1)
        npi_comm_exchange(rows->comm, &after, 1, NULL, 0);
    return count;
}

/* Lists the chosen edges that end in another process, by process, and for each in the order of the edges. */
static void list_crossings(struct among *among, const npgnn_pair *edges, int64_t count)
{
    const npi_partition *rows = &among->rows;
    const npi_adj *own = among->own;
    const npi_csr *from = &own->a;
    int rank = npi_comm_rank(rows->comm), ranks = npi_comm_ranks(rows->comm);
    int64_t place[NPI_MOST_PARTS] = {0}, begin, end; /* there are no more processes than parts */
    for (int pass = 0; pass < 2; pass++) {           /* first how many, then which */
        for (int r = rank + 1; pass == 1 && r < ranks; r++)
            place[r] = r == rank + 1 ? 0 : place[r - 1] + among->send_count[r - 1];
        for (int64_t i = 0; i < count; i++) {
            int32_t u = edges[i].u;
            int64_t p = from->ptr[u] + edges[i].v;
            npi_adj_own(&begin, &end, own, u);
            if (p < end)
                continue;
            int32_t v = own->halo->node[from->col[p]];
            int owner = owner_of(rows, v);
            if (pass == 0)
                among->send_count[owner]++;
            else
                among->sent[place[owner]++] = (crossing){rows->from + u, v, from->val ? from->val[p] : 1};
        }
    }
}

/* The degrees of own nodes in the draw, and from them the row offsets. */
static void count_rows(npi_context *c, int64_t count, int64_t received)
{
    const struct among *among = c->among;
    const npi_csr *from = &among->own->a;
    npi_csr *a = &c->adj.a;
    int64_t begin, end;
    memset(a->ptr, 0, ((size_t)a->rows + 1) * sizeof *a->ptr);
    memset(c->adj.before, 0, (size_t)a->rows * sizeof *c->adj.before);
    memset(c->adj.after, 0, (size_t)a->rows * sizeof *c->adj.after);
    for (int64_t i = 0; i < received; i++) {
        int32_t v = among->received[i].v - (int32_t)among->rows.from;
        a->ptr[v + 1]++;
        c->adj.before[v]++;
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t u = c->edges[i].u;
        int64_t p = from->ptr[u] + c->edges[i].v;
        npi_adj_own(&begin, &end, among->own, u);
        a->ptr[u + 1]++;
        if (p < end)
            a->ptr[from->col[p] + 1]++;
        else
            c->adj.after[u]++;
    }
    for (int32_t u = 0; u < a->rows; u++) {
        a->ptr[u + 1] += a->ptr[u];
        c->place[u] = a->ptr[u];
    }
}

/* The entries. A row receives its smaller neighbours first, in ascending order: those of other processes, then own ones;
 * then its larger ones. */
static void write_rows(npi_context *c, int64_t count, int64_t received)
{
    const struct among *among = c->among;
    const npi_csr *from = &among->own->a;
    npi_csr *a = &c->adj.a;
    int64_t begin, end;
    for (int64_t i = 0; i < received; i++) {
        int64_t at = c->place[among->received[i].v - among->rows.from]++;
        a->col[at] = npi_halo_find(among->own->halo, among->received[i].u);
        if (a->val)
            a->val[at] = among->received[i].weight;
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t u = c->edges[i].u;
        int64_t p = from->ptr[u] + c->edges[i].v, there = c->place[u]++;
        npi_adj_own(&begin, &end, among->own, u);
        a->col[there] = from->col[p];
        if (a->val)
            a->val[there] = from->val[p];
        if (p >= end)
            continue;
        int64_t back = c->place[from->col[p]]++;
        a->col[back] = u;
        if (a->val)
            a->val[back] = from->val[p];
    }
}

/* EDGES: as draw_edges, where nodes are divided among processes. */
static void draw_among(npi_context *c, sampler *s)
{
    struct among *among = c->among;
    int64_t crossings, count = choose_own(&crossings, c, s);
    memset(among->send_count, 0, (size_t)npi_comm_ranks(among->rows.comm) * sizeof *among->send_count);
    if (crossings > 0)
        list_crossings(among, c->edges, count);
    int64_t received = exchange_crossings(among);
    count_rows(c, count, received);
    write_rows(c, count, received);
}

/* Of the nodes of other processes, only those that a draw links to own ones are fetched for its products. The entries
 * of the drawn rows become indices into that list. */
static void list_halo(npi_context *c)
{
    struct among *among = c->among;
    const npi_halo *all = among->own->halo;
    npi_halo *halo = &among->halo;
    npi_csr *a = &c->adj.a;
    size_t words = (size_t)all->count / 64 + 1;
    int64_t begin, end;
    memset(halo->bits, 0, words * sizeof *halo->bits);
    for (int32_t u = 0; u < a->rows; u++) {
        npi_adj_own(&begin, &end, &c->adj, u);
        for (int64_t p = a->ptr[u]; p < a->ptr[u + 1]; p++)
            if (p < begin || p >= end)
                halo->bits[a->col[p] / 64] |= UINT64_C(1) << a->col[p] % 64;
    }
    halo->count = 0;
    for (size_t word = 0; word < words; word++) {
        halo->below[word] = halo->count;
        for (uint64_t left = halo->bits[word]; left; left &= left - 1)
            halo->node[halo->count++] = all->node[word * 64 + (size_t)__builtin_ctzll(left)];
    }
    for (int32_t u = 0; u < a->rows; u++) {
        npi_adj_own(&begin, &end, &c->adj, u);
        for (int64_t p = a->ptr[u]; p < a->ptr[u + 1]; p++)
            if (p < begin || p >= end)
                a->col[p] = npi_halo_find(halo, a->col[p]);
    }
    npi_fetch_plan(&halo->fetch, halo->node, halo->count, NULL);
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
        if (context->among) {
            draw_among(context, &s);
            list_halo(context);
        } else {
            draw_edges(context, &s);
        }
    } else {
        s.left = graph->n;
        draw_nodes(context, &s);
    }
    npi_adj_normalize(&context->adj, context->env.threads);
}

/* ---- allocating ---- */

/* fraction * total, rounded, at least 1 and at most `total` */
static int64_t wanted_size(double fraction, int64_t total)
{
    int64_t size = llround(fraction * (double)total);
    return size < 1 ? 1 : size > total ? total : size;
}

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

    c->size = wanted_size(fraction, kind == NPGNN_CONTEXT_EDGES ? graph->m : graph->n);

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

int npi_context_new_among(npi_context **out, const npgnn_graph *graph, const npi_adj *own, const npi_partition *rows,
                          double fraction, const npgnn_env *env, npgnn_error *err)
{
    npi_context *c = npi_alloc(env, 1, sizeof *c, err);
    struct among *among = npi_alloc(env, 1, sizeof *among, err);
    if (!c || !among) {
        npi_free(env, c);
        npi_free(env, among);
        return NPGNN_E_MEMORY;
    }
    *among = (struct among){.own = own, .rows = *rows};
    c->env = *env;
    c->graph = graph;
    c->kind = NPGNN_CONTEXT_EDGES;
    c->among = among;
    c->size = wanted_size(fraction, graph->m);

    size_t n = (size_t)own->a.rows, ranks = (size_t)npi_comm_ranks(rows->comm),
           entries = (size_t)own->a.ptr[own->a.rows];
    size_t before = 0, after = 0;
    for (size_t i = 0; i < n; i++) {
        before += (size_t)own->before[i];
        after += (size_t)own->after[i];
    }
    size_t upper = (entries - before - after) / 2 + after; /* edges whose smaller end is here */
    npi_adj *adj = &c->adj;
    npi_halo *halo = adj->halo = &among->halo;
    size_t most = (size_t)own->halo->count, words = most / 64 + 1;
    int planned = npi_fetch_new_beside(&halo->fetch, &own->halo->fetch, err);
    halo->bits = npi_alloc(env, words, sizeof *halo->bits, err);
    halo->below = npi_alloc(env, words, sizeof *halo->below, err);
    adj->a.rows = adj->a.cols = own->a.rows;
    among->send_count = npi_alloc(env, ranks, sizeof *among->send_count, err);
    among->receive_count = npi_alloc(env, ranks, sizeof *among->receive_count, err);
    among->sends = npi_alloc(env, ranks, sizeof *among->sends, err);
    among->receives = npi_alloc(env, ranks, sizeof *among->receives, err);
    c->place = npi_alloc(env, n, sizeof *c->place, err);
    adj->a.ptr = npi_alloc(env, n + 1, sizeof *adj->a.ptr, err);
    adj->scale = npi_alloc(env, n, sizeof *adj->scale, err);
    adj->before = npi_alloc(env, n, sizeof *adj->before, err);
    adj->after = npi_alloc(env, n, sizeof *adj->after, err);
    /* as large as any draw could need, and not zeroed: memory that no draw needs is never touched */
    halo->node = npi_resize(env, NULL, most, sizeof *halo->node, err);
    adj->halo_scale = npi_resize(env, NULL, most, sizeof *adj->halo_scale, err);
    among->sent = npi_resize(env, NULL, after, sizeof *among->sent, err);
    among->received = npi_resize(env, NULL, before, sizeof *among->received, err);
    c->edges = npi_resize(env, NULL, upper, sizeof *c->edges, err);
    adj->a.col = npi_resize(env, NULL, entries, sizeof *adj->a.col, err);
    if (own->a.val)
        adj->a.val = npi_resize(env, NULL, entries, sizeof *adj->a.val, err);
    if (!among->send_count || !among->receive_count || !among->sends || !among->receives || !c->place || !adj->a.ptr ||
        !adj->scale || !adj->halo_scale || !adj->before || !adj->after || !among->sent || !among->received ||
        !c->edges || !adj->a.col || (own->a.val && !adj->a.val) || planned || !halo->bits || !halo->below ||
        !halo->node) {
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
    npi_free(&env, context->adj.halo_scale);
    npi_free(&env, context->adj.before);
    npi_free(&env, context->adj.after);
    if (context->among) {
        npi_fetch_free(&context->among->halo.fetch);
        npi_free(&env, context->among->halo.bits);
        npi_free(&env, context->among->halo.below);
        npi_free(&env, context->among->halo.node);
        npi_free(&env, context->among->sent);
        npi_free(&env, context->among->received);
        npi_free(&env, context->among->send_count);
        npi_free(&env, context->among->receive_count);
        npi_free(&env, context->among->sends);
        npi_free(&env, context->among->receives);
    }
    npi_free(&env, context->among);
    npi_free(&env, context->edges);
    npi_free(&env, context->weights);
    npi_free(&env, context->place);
    npi_free(&env, context->nodes);
    npi_free(&env, context->position);
    npi_free(&env, context);
}
