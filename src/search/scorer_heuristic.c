/* Scores of a method without a model: a source gives the rows of several searched nodes at a time, and the search,
 * which visits them in order, asks for one after the other. A score is exact, and stands for itself. */
#include <assert.h>

#include "search/search.h"

typedef struct workspace {
    float *score; /* (count, n) of searched nodes first to first + count - 1 */
    int32_t first, count;
    int32_t next; /* searched node to be scored next */
} workspace;

static void workspace_free(void *given, const npi_scorer *s)
{
    workspace *w = given;
    if (w)
        npi_free(s->env, w->score);
    npi_free(s->env, w);
}

static int workspace_new(void **out, const npi_scorer *s, npgnn_error *err)
{
    workspace *w = *out = npi_alloc(s->env, 1, sizeof *w, err);
    if (w)
        w->score = npi_resize(s->env, NULL, (size_t)s->source->most * (size_t)s->candidates, sizeof *w->score, err);
    return w && w->score ? 0 : NPGNN_E_MEMORY;
}

/* The candidates are the nodes with a score other than 0, which is most often a small part of all. */
static real narrow(int32_t *count, npi_searcher *d, const npi_search *search)
{
    const npi_scorer *s = &search->scorer;
    workspace *w = d->workspace;
    npi_row_source *source = s->source;
    assert(d->block.count == 1 && w->next < source->count);
    if (w->next >= w->first + w->count && !source->code) { /* the next rows, up to `most` at a time */
        w->first = w->next;
        w->count = source->count - w->first < source->most ? source->count - w->first : source->most;
        source->code = source->rows(w->score, source->user, w->first, w->count, &source->why);
    }
    const float *score = w->score + (size_t)(w->next++ - w->first) * (size_t)s->candidates;
    *count = 0;
    for (int32_t v = 0; !source->code && v < s->candidates; v++)
        if (score[v] < 0 || score[v] > 0) { /* and is a number */
            d->candidate[*count] = v;
            d->block.value[(*count)++] = (real)score[v];
        }
    d->block.slack[0] = d->block.along[0] = 0; /* values are exact */
    return -(real)INFINITY;
}

static npgnn_prediction judge(void *given, const npi_scorer *s, npgnn_pair pair, npgnn_pair place)
{
    const workspace *w = given;
    const float *score = w->score + (size_t)(w->next - 1 - w->first) * (size_t)s->candidates; /* the row of pair.u */
    (void)place;
    return npi_heuristic_prediction(score[pair.v]);
}

static void scorer_free(npi_scorer *s)
{
    (void)s;
}

void npi_heuristic_scorer(npi_scorer *out, npi_row_source *source, int32_t nodes, const npgnn_env *env)
{
    static const npi_scorer_kind kind = {.workspace_new = workspace_new,
                                         .workspace_free = workspace_free,
                                         .narrow = narrow,
                                         .judge = judge,
                                         .free = scorer_free};
    *out = (npi_scorer){.kind = &kind, .candidates = nodes, .block = 1, .band = 1, .source = source, .env = env};
    out->is_exact_value = 1;
}
