/* The best of every node, where a score is the same in both directions: each pair is scored once, for both ends. */
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "search/search.h"

#define MUTUAL_BYTES (1L << 30) /* that the lists of all nodes may take: otherwise each node is searched by itself */
#define FIRST_ROOM 32           /* pairs that the list of a node has memory for at first */

int npi_mutual_applies(const npi_search *s)
{
    size_t room = (size_t)s->searchers[0].list.capacity * sizeof(npi_candidate);
    size_t per_node = sizeof(npi_contenders) + FIRST_ROOM * sizeof(npi_contender) + room;
    /* Contenders are ordered by bounds of their scores, which say little of a mean over draws. And every node must be
     * searched, with all nodes as partners: otherwise many pairs would be scored for one end only. */
    if (!s->scorer.is_symmetric || s->averaged || s->options.to || s->rows != s->n ||
        (size_t)s->n / (size_t)npi_comm_ranks(s->comm) > MUTUAL_BYTES / per_node)
        return 0;
    for (int32_t row = 0; row < s->rows; row++) /* row i must be node i */
        if (npi_search_node(s, row) != row)
            return 0;
    return 1;
}

void npi_mutual_free(const npi_search *s)
{
    const npgnn_env *env = &s->env;
    npi_mutual *m = s->mutual;
    for (int32_t i = 0; m && m->of && i < m->places; i++)
        npi_free(env, m->of[i].items);
    for (int i = 0; m && i < NPI_LIST_LOCKS; i++)
        pthread_mutex_destroy(&m->lock[i]);
    if (m) {
        npi_free(env, m->of);
        npi_free(env, m->sure);
        npi_free(env, m->least);
    }
    npi_free(env, m);
}

int npi_mutual_new(npi_search *s, npgnn_error *err)
{
    const npgnn_env *env = &s->env;
    /* n places, candidates first; k: what a list keeps, fewer than s->k where the graph is small */
    size_t n = (size_t)s->own + (size_t)s->division.remote.most, k = (size_t)s->searchers[0].list.capacity;
    npi_mutual *m = s->mutual = npi_alloc(env, 1, sizeof *m, err);
    if (!m)
        return NPGNN_E_MEMORY;
    for (int i = 0; i < NPI_LIST_LOCKS; i++)
        pthread_mutex_init(&m->lock[i], NULL);
    m->places = (int32_t)n;
    m->of = npi_alloc(env, n, sizeof *m->of, err);
    m->sure = npi_alloc(env, n * k, sizeof *m->sure, err);
    m->least = npi_alloc(env, n, sizeof *m->least, err);
    if (!m->of || !m->sure || !m->least)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < n; i++) {
        m->of[i].sure = (npi_shortlist){.items = m->sure + i * k, .capacity = (int)k};
        atomic_init(&m->least[i], (double)-INFINITY);
    }
    return 0;
}

static void drop_beaten(npi_contenders *c, double least)
{
    int kept = 0;
    for (int i = 0; i < c->count; i++)
        if (!((double)c->items[i].most < least)) /* a NaN stays */
            c->items[kept++] = c->items[i];
    c->count = kept;
}

void npi_mutual_drop(const npi_search *s, int32_t place)
{
    drop_beaten(&s->mutual->of[place], atomic_load_explicit(&s->mutual->least[place], memory_order_relaxed));
}

/* Drops contenders that cannot win any more, or makes more memory. Returns 1 where there is none. */
static int make_room(npi_contenders *c, double least, const npgnn_env *env)
{
    drop_beaten(c, least);
    /* Unless half of it is free now, the memory doubles: otherwise nearly every new contender would go through all. */
    if (c->count <= c->capacity / 2 && c->capacity > 0)
        return 0;
    int capacity = c->capacity > 0 ? 2 * c->capacity : FIRST_ROOM;
    npi_contender *items = npi_resize(env, c->items, (size_t)capacity, sizeof *items, NULL);
    if (items) {
        c->items = items;
        c->capacity = capacity;
    }
    return !items;
}

void npi_mutual_contend(const npi_search *s, int32_t place, int32_t other, double least, double most)
{
    npi_mutual *m = s->mutual;
    npi_contenders *c = &m->of[place];
    pthread_mutex_t *lock = &m->lock[place % NPI_LIST_LOCKS];
    pthread_mutex_lock(lock); /* one for every NPI_LIST_LOCKS-th place: two threads seldom want the same */
    /* what k other pairs of this node are sure to reach */
    double wanted = atomic_load_explicit(&m->least[place], memory_order_relaxed);
    if (c->count == c->capacity && make_room(c, wanted, &s->env)) {
        atomic_store(&m->failed, 1);
    } else if (!(most < wanted)) { /* rounded outwards: a bound may be loose, but not wrong */
        c->items[c->count++] =
            (npi_contender){other, (real)nextafterf((float)most, INFINITY), (real)nextafterf((float)least, -INFINITY)};
        if (!isnan(least))
            npi_shortlist_offer(&c->sure, (npi_candidate){least, 0, other});
        /* k pairs reach the smallest of `sure`, so that a pair below it is not among the best k. It only rises. */
        if (c->sure.count == c->sure.capacity)
            atomic_store_explicit(&m->least[place], fmax(wanted, c->sure.items[0].score), memory_order_relaxed);
    }
    pthread_mutex_unlock(lock);
}

void npi_mutual_meet(const npi_search *s, npi_searcher *d, int32_t begin, int32_t end)
{
    _Atomic(double) *wanted = s->mutual->least;
    npi_block *block = &d->block;
    s->scorer.kind->approximate(block, d->workspace, &s->scorer, begin, end);
    for (int r = 0; r < block->count; r++) {
        int32_t u = block->node[r], place = block->place[r];
        const real *value = block->value + (size_t)r * (size_t)s->own;
        double along = block->along[r], slack = block->slack[r];
        /* a pair of two candidates is scored by the one with the lower place */
        for (int32_t i = place < s->own ? place + 1 : begin; i < end; i++) {
            /* value - slack - along reach <= score <= value + slack, for both ends. What is wanted only rises: an old
             * value keeps a pair too many, never one too few. */
            double most = (double)value[i] + slack;
            int for_u = !(most < atomic_load_explicit(&wanted[place], memory_order_relaxed));
            int for_v = !(most < atomic_load_explicit(&wanted[i], memory_order_relaxed));
            if ((for_u || for_v) && npi_search_eligible(s, u, s->from + i)) {
                double least = (double)value[i] - slack - along * npi_scorer_reach(&s->scorer, i);
                if (for_u)
                    npi_mutual_contend(s, place, s->from + i, least, most);
                if (for_v)
                    npi_mutual_contend(s, i, u, least, most);
            }
        }
    }
}

void npi_mutual_block(const npi_search *s, npi_searcher *d, int32_t first)
{
    npi_block *block = &d->block;
    block->count = s->end - first < s->scorer.block ? s->end - first : s->scorer.block;
    for (int r = 0; r < block->count; r++) {
        block->node[r] = s->from + first + r;
        block->place[r] = first + r;
    }
    npi_mutual_meet(s, d, first, s->own); /* pairs with those before were scored by earlier blocks */
}

/* The best of the contenders of some nodes. */
static void decide(const void *arg, int64_t first, int64_t last)
{
    const npi_search *s = arg;
    npi_searcher *d = &s->searchers[npi_worker()];
    for (int32_t u = (int32_t)first; u < last; u++) {
        const npi_contenders *c = &s->mutual->of[u];
        double least = atomic_load_explicit(&s->mutual->least[u], memory_order_relaxed);
        d->list.count = 0;
        /* what was added early may be below what is sure by now */
        for (int i = 0; i < c->count; i++)
            if (!((double)c->items[i].most < least))
                npi_search_offer(s, d, (npgnn_pair){u, c->items[i].node}, (npgnn_pair){u, c->items[i].node});
        s->found[u] = npi_search_write_list(s->out + (size_t)u * (size_t)s->k, s, d);
    }
}

void npi_mutual_decide(const npi_search *s)
{
    npi_parallel(s->threads, s->n, 16, decide, s);
}
