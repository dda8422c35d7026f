/* Scores of a heuristic: the candidates of a node are the nodes with a score in its row. Scores are exact, and stand for
 * themselves. */
#include <assert.h>

#include "search/search.h"

enum { MOST_SHARED = 256 }; /* candidates that nodes with the same row share */

typedef struct workspace {
    npi_scratch scratch;
    int32_t count; /* candidates of the row */
    int is_short;  /* 1: they are its best alone */
    npi_candidate best[MOST_SHARED];
} workspace;

static void workspace_free(void *given, const npi_scorer *s)
{
    workspace *w = given;
    if (w)
        npi_scratch_free(s->env, &w->scratch);
    npi_free(s->env, w);
}

static int workspace_new(void **out, const npi_scorer *s, npgnn_error *err)
{
    workspace *w = *out = npi_alloc(s->env, 1, sizeof *w, err);
    return w ? npi_scratch_new(&w->scratch, s->heuristic, s->env, err) : NPGNN_E_MEMORY;
}

/* The candidates of a new row: the nodes with a score on the other side, where there are sides. */
static void list(workspace *w, npi_searcher *d, const npi_row *row, const npgnn_graph *graph)
{
    w->count = w->is_short = 0;
    for (int32_t i = 0; i < row->count; i++) {
        int32_t v = row->node[i];
        d->candidate[w->count] = v;
        d->block.value[w->count] = (real)row->score[v];
        w->count += !isnan(row->score[v]) && (!graph->side || graph->side[v] != graph->side[w->scratch.source]);
    }
}

/* Keeps the best candidates of a row that has turned out to be that of several nodes. Not eligible are the node itself and
 * its neighbours. */
static void shorten(workspace *w, npi_searcher *d, const npi_search *search)
{
    const npi_csr *a = &search->graph->a;
    int32_t node = d->block.node[0];
    int64_t wanted = d->list.capacity + a->ptr[node + 1] - a->ptr[node] + 1;
    if (search->links || search->options.to || wanted > MOST_SHARED || wanted >= w->count)
        return;
    npi_shortlist best = {.items = w->best, .capacity = (int)wanted};
    for (int32_t i = 0; i < w->count; i++)
        npi_shortlist_offer(&best, (npi_candidate){(double)d->block.value[i], 0, d->candidate[i]});
    w->is_short = 1;
    w->count = best.count;
    for (int32_t i = 0; i < best.count; i++) {
        d->candidate[i] = (int32_t)best.items[i].id;
        d->block.value[i] = (real)best.items[i].score;
    }
}

static real narrow(int32_t *count, npi_searcher *d, const npi_search *search)
{
    const npi_scorer *s = &search->scorer;
    workspace *w = d->workspace;
    int32_t last = w->scratch.source;
    assert(d->block.count == 1);
    d->block.slack[0] = d->block.along[0] = 0; /* values are exact */
    *count = 0;
    if (npi_env_stopped(s->env))
        return -(real)INFINITY;
    const npi_row *row = npi_heuristic_row(&w->scratch, s->heuristic, d->block.node[0]);
    if (w->scratch.source != last)
        list(w, d, row, search->graph);
    else if (!w->is_short)
        shorten(w, d, search);
    *count = w->count;
    return -(real)INFINITY;
}

static npgnn_prediction judge(void *given, const npi_scorer *s, npgnn_pair pair, npgnn_pair place)
{
    const workspace *w = given; /* its row is that of pair.u */
    (void)s;
    (void)place;
    return npi_heuristic_prediction(w->scratch.row.score[pair.v]);
}

static void scorer_free(npi_scorer *s)
{
    (void)s;
}

void npi_heuristic_scorer(npi_scorer *out, const npi_heuristic *heuristic, const npgnn_env *env)
{
    static const npi_scorer_kind kind = {.workspace_new = workspace_new,
                                         .workspace_free = workspace_free,
                                         .narrow = narrow,
                                         .judge = judge,
                                         .free = scorer_free};
    *out = (npi_scorer){.kind = &kind, .candidates = heuristic->graph->n, .block = 1, .band = 1, .env = env};
    out->heuristic = heuristic;
    out->is_exact_value = 1;
}
