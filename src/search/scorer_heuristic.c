/* Scores of a heuristic: the candidates of a node are the nodes with a score in its row. Scores are exact, and stand for
 * themselves. */
#include <assert.h>

#include "search/search.h"

static void workspace_free(void *given, const npi_scorer *s)
{
    if (given)
        npi_scratch_free(s->env, given);
    npi_free(s->env, given);
}

static int workspace_new(void **out, const npi_scorer *s, npgnn_error *err)
{
    npi_scratch *w = *out = npi_alloc(s->env, 1, sizeof *w, err);
    return w ? npi_scratch_new(w, s->heuristic, s->env, err) : NPGNN_E_MEMORY;
}

static real narrow(int32_t *count, npi_searcher *d, const npi_search *search)
{
    const npi_scorer *s = &search->scorer;
    assert(d->block.count == 1);
    d->block.slack[0] = d->block.along[0] = 0; /* values are exact */
    *count = 0;
    if (npi_env_stopped(s->env))
        return -(real)INFINITY;
    const npi_row *row = npi_heuristic_row(d->workspace, s->heuristic, d->block.node[0]);
    for (int32_t i = 0; i < row->count; i++) {
        d->candidate[*count] = row->node[i];
        d->block.value[*count] = (real)row->score[row->node[i]];
        *count += !isnan(d->block.value[*count]);
    }
    return -(real)INFINITY;
}

static npgnn_prediction judge(void *given, const npi_scorer *s, npgnn_pair pair, npgnn_pair place)
{
    (void)place;
    return npi_heuristic_prediction(npi_heuristic_row(given, s->heuristic, pair.u)->score[pair.v]);
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
