#include "eval/hard.h"

#include "base/hash.h"
#include "base/parallel.h"
#include "base/shortlist.h"
#include "eval/pagerank.h"
#include "evidence/cosine.h"
#include "evidence/paths.h"

#define STOP 0.15      /* of the walks of PageRank */
#define TOLERANCE 1e-5 /* of their ranks, times the degree: nodes further away than that are no candidates by rank */

/* What makes a pair look like a link, in the order that decides between equal places. OTHERS has the nodes that none of the
 * three has anything to say of, in an order without meaning. */
enum { BY_NEIGHBORS, BY_RANK, BY_FEATURES, OTHERS, LISTS };

/* What is the same for all ends. */
typedef struct job {
    const npgnn_graph *complete, *known;
    double *norm;  /* (n) of the feature rows */
    double *share; /* (n) 1 / degree in the known graph */
    int per_end;
} job;

/* What a thread needs for one end after another. */
typedef struct desk {
    npi_pagerank pagerank;
    double *score;         /* (n) zero between two heuristics */
    unsigned char *barred; /* (n) the end, its neighbours in the complete graph, and what is taken already */
    npi_candidate *items;  /* (LISTS, per_end) */
    npi_shortlist list[LISTS];
} desk;

static void desk_free(const npgnn_env *env, desk *d)
{
    npi_pagerank_free(env, &d->pagerank);
    npi_free(env, d->score);
    npi_free(env, d->barred);
    npi_free(env, d->items);
}

static int desk_new(desk *d, const job *j, const npgnn_env *env, npgnn_error *err)
{
    size_t n = (size_t)j->complete->n;
    d->score = npi_alloc(env, n, sizeof *d->score, err);
    d->barred = npi_alloc(env, n, 1, err);
    d->items = npi_alloc(env, (size_t)j->per_end, LISTS * sizeof *d->items, err);
    if (!d->score || !d->barred || !d->items)
        return NPGNN_E_MEMORY;
    for (int i = 0; i < LISTS; i++)
        d->list[i] = (npi_shortlist){.items = d->items + i * j->per_end, .capacity = j->per_end};
    return npi_pagerank_new(&d->pagerank, j->complete->n, env, err);
}

/* ---- the heuristics ---- */

/* Equal scores are common, and node numbers often mean something: a hash decides. */
static void offer(desk *d, int list, int32_t end, int32_t node, double score)
{
    if (d->barred[node])
        return;
    uint64_t hash = npi_hash_mix((uint64_t)(uint32_t)end << 32 | (uint32_t)node);
    npi_shortlist_offer(&d->list[list], (npi_candidate){score, (uint32_t)hash, node});
}

/* Resource allocation: Σ of 1 / degree over the neighbours that two nodes share. */
static void by_neighbors(desk *d, const job *j, int32_t end)
{
    const npi_csr *a = &j->known->a;
    npi_paths_two_row(d->score, a, j->share, end);
    /* the same walks again: offer every node that they reach once, and zero its score */
    for (int64_t p = a->ptr[end]; p < a->ptr[end + 1]; p++)
        for (int64_t q = a->ptr[a->col[p]]; q < a->ptr[a->col[p] + 1]; q++) {
            int32_t node = a->col[q];
            if (d->score[node] > 0)
                offer(d, BY_NEIGHBORS, end, node, d->score[node]);
            d->score[node] = 0;
        }
}

static void by_rank(desk *d, const job *j, int32_t end)
{
    npi_pagerank *p = &d->pagerank;
    npi_pagerank_from(p, &j->known->a, end, STOP, TOLERANCE);
    for (int32_t i = 0; i < p->touched_count; i++)
        if (p->rank[p->touched[i]] > 0)
            offer(d, BY_RANK, end, p->touched[i], p->rank[p->touched[i]]);
    npi_pagerank_clear(p);
}

static void by_features(desk *d, const job *j, int32_t end)
{
    const npi_features *x = j->known->x;
    npi_cosine_row(d->score, x, j->norm, end);
    for (int32_t i = 0; i < x->n; i++) {
        if (d->score[i] > 0)
            offer(d, BY_FEATURES, end, i, d->score[i]);
        d->score[i] = 0;
    }
}

/* ---- one end ---- */

static void bar_linked(desk *d, const npgnn_graph *complete, int32_t end, unsigned char barred)
{
    d->barred[end] = barred;
    for (int64_t p = complete->a.ptr[end]; p < complete->a.ptr[end + 1]; p++)
        d->barred[complete->a.col[p]] = barred;
}

/* Takes the first of each list, then the second of each...: the order of the best places. Returns how many were taken. */
static int64_t merge(npgnn_pair *out, desk *d, int32_t end, int64_t wanted)
{
    int64_t taken = 0;
    for (int i = 0; i <= BY_FEATURES; i++)
        npi_shortlist_sort(&d->list[i]);
    for (int place = 0; taken < wanted && place < d->list[0].capacity; place++) {
        for (int i = 0; taken < wanted && i <= BY_FEATURES; i++) {
            const npi_shortlist *list = &d->list[i];
            if (place >= list->count || d->barred[list->items[place].id])
                continue;
            d->barred[list->items[place].id] = 1;
            out[taken++] = (npgnn_pair){end, (int32_t)list->items[place].id};
        }
    }
    return taken;
}

/* Nodes that nothing speaks for, so that every end has its number. */
static void fill_up(npgnn_pair *out, desk *d, int32_t n, int32_t end, int64_t wanted)
{
    npi_shortlist *others = &d->list[OTHERS];
    for (int32_t i = 0; i < n; i++)
        offer(d, OTHERS, end, i, 0);
    npi_shortlist_sort(others);
    for (int64_t i = 0; i < wanted; i++)
        out[i] = (npgnn_pair){end, (int32_t)others->items[i].id};
}

static void find_hard(npgnn_pair *out, desk *d, const job *j, int32_t end, int64_t wanted)
{
    for (int i = 0; i < LISTS; i++)
        d->list[i].count = 0;
    bar_linked(d, j->complete, end, 1);
    by_neighbors(d, j, end);
    by_rank(d, j, end);
    by_features(d, j, end);
    int64_t taken = merge(out, d, end, wanted);
    if (taken < wanted)
        fill_up(out + taken, d, j->complete->n, end, wanted - taken);
    bar_linked(d, j->complete, end, 0);
    for (int64_t i = 0; i < taken; i++)
        d->barred[out[i].v] = 0;
}

/* ---- all ends ---- */

/* What the heuristics need of every node. */
static int prepare_job(job *j, const npgnn_env *env, npgnn_error *err)
{
    const npi_csr *a = &j->known->a;
    npi_features *x = j->known->x;
    j->norm = npi_alloc(env, (size_t)x->n, sizeof *j->norm, err);
    j->share = npi_alloc(env, (size_t)a->rows, sizeof *j->share, err);
    if (!j->norm || !j->share)
        return NPGNN_E_MEMORY;
    npi_cosine_norms(j->norm, x, env->threads);
    for (int32_t i = 0; i < a->rows; i++)
        if (a->ptr[i + 1] > a->ptr[i])
            j->share[i] = 1 / (double)(a->ptr[i + 1] - a->ptr[i]);
    return x->dense ? 0 : npi_features_transpose(x, err);
}

/* Numbers the ends in the order they occur, and finds where their lists start. */
static int number_ends(npi_hard *out, const npgnn_graph *complete, const npgnn_pair *positives, size_t count,
                       int per_end, const npgnn_env *env, npgnn_error *err)
{
    int32_t n = complete->n;
    out->place = npi_alloc(env, (size_t)n, sizeof *out->place, err);
    out->start = npi_alloc(env, (size_t)n + 1, sizeof *out->start, err);
    if (!out->place || !out->start)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < n; i++)
        out->place[i] = -1;
    for (size_t i = 0; i < 2 * count; i++) {
        int32_t end = i % 2 ? positives[i / 2].v : positives[i / 2].u;
        if (out->place[end] >= 0)
            continue;
        int64_t free_nodes = n - 1 - (complete->a.ptr[end + 1] - complete->a.ptr[end]);
        out->place[end] = out->ends++;
        out->start[out->ends] = out->start[out->ends - 1] + (free_nodes < per_end ? free_nodes : per_end);
    }
    out->pairs = npi_alloc(env, (size_t)out->start[out->ends], sizeof *out->pairs, err);
    return out->pairs ? 0 : NPGNN_E_MEMORY;
}

typedef struct nodes_loop {
    const npi_hard *out;
    const job *j;
    desk *desks; /* (threads) */
} nodes_loop;

static void find_nodes(const void *arg, int64_t first, int64_t last)
{
    const nodes_loop *l = arg;
    const int64_t *start = l->out->start;
    for (int32_t node = (int32_t)first; node < last; node++) {
        int32_t place = l->out->place[node];
        if (place >= 0)
            find_hard(l->out->pairs + start[place], &l->desks[npi_worker()], l->j, node,
                      start[place + 1] - start[place]);
    }
}

static int find_all(npi_hard *out, const job *j, const npgnn_env *env, npgnn_error *err)
{
    desk *desks = npi_alloc(env, (size_t)env->threads, sizeof *desks, err);
    int code = desks ? 0 : NPGNN_E_MEMORY;
    for (int t = 0; !code && t < env->threads; t++)
        code = desk_new(&desks[t], j, env, err);
    nodes_loop loop = {out, j, desks};
    if (!code)
        npi_parallel(env->threads, j->complete->n, 16, find_nodes, &loop);
    for (int t = 0; desks && t < env->threads; t++)
        desk_free(env, &desks[t]);
    npi_free(env, desks);
    return code;
}

int npi_hard_new(npi_hard *out, const npgnn_graph *complete, const npgnn_graph *known, const npgnn_pair *positives,
                 size_t count, int per_end, const npgnn_env *env, npgnn_error *err)
{
    job j = {.complete = complete, .known = known, .per_end = per_end};
    npi_hard hard = {0};
    int code = number_ends(&hard, complete, positives, count, per_end, env, err);
    if (!code)
        code = prepare_job(&j, env, err);
    if (!code)
        code = find_all(&hard, &j, env, err);
    npi_free(env, j.norm);
    npi_free(env, j.share);
    if (code)
        npi_hard_free(env, &hard);
    else
        *out = hard;
    return code;
}

void npi_hard_free(const npgnn_env *env, npi_hard *hard)
{
    npi_free(env, hard->place);
    npi_free(env, hard->start);
    npi_free(env, hard->pairs);
    *hard = (npi_hard){0};
}
