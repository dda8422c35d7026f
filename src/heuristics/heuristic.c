#include "heuristics/heuristic.h"

#include <string.h>

void npi_heuristic_free(const npgnn_env *env, npi_heuristic *h)
{
    if (h->free)
        h->free(env, h->learnt);
    *h = (npi_heuristic){0};
}

int npi_scratch_new(npi_scratch *w, const npi_heuristic *h, const npgnn_env *env, npgnn_error *err)
{
    size_t n = (size_t)h->graph->n;
    w->source = -1;
    w->row.score = npi_alloc(env, n, sizeof *w->row.score, err);
    w->row.node = npi_alloc(env, n, sizeof *w->row.node, err);
    int code = w->row.score && w->row.node ? 0 : NPGNN_E_MEMORY;
    for (int i = 0; !code && i < h->walks; i++)
        code = npi_accumulator_new(&w->walk[i], h->graph->n, env, err);
    if (!code && h->is_pushed)
        code = npi_pagerank_new(&w->push, h->graph->n, env, err);
    return code;
}

void npi_scratch_free(const npgnn_env *env, npi_scratch *w)
{
    npi_free(env, w->row.score);
    npi_free(env, w->row.node);
    for (int i = 0; i < NPI_HEURISTIC_WALKS; i++)
        npi_accumulator_free(env, &w->walk[i]);
    npi_pagerank_free(env, &w->push);
}

int npi_scratches_new(npi_scratch **out, const npi_heuristic *h, const npgnn_env *env, npgnn_error *err)
{
    npi_scratch *scratch = npi_alloc(env, (size_t)env->threads, sizeof *scratch, err);
    int code = scratch ? 0 : NPGNN_E_MEMORY;
    for (int t = 0; !code && t < env->threads; t++)
        code = npi_scratch_new(&scratch[t], h, env, err);
    if (code) {
        npi_scratches_free(env, scratch);
        scratch = NULL;
    }
    *out = scratch;
    return code;
}

void npi_scratches_free(const npgnn_env *env, npi_scratch *scratch)
{
    for (int t = 0; scratch && t < env->threads; t++)
        npi_scratch_free(env, &scratch[t]);
    npi_free(env, scratch);
}

/* Whether two nodes have the same neighbours. */
static int are_twins(const npi_csr *a, int32_t u, int32_t v)
{
    int64_t degree = a->ptr[u + 1] - a->ptr[u];
    return degree == a->ptr[v + 1] - a->ptr[v] &&
           memcmp(a->col + a->ptr[u], a->col + a->ptr[v], (size_t)degree * sizeof *a->col) == 0;
}

const npi_row *npi_heuristic_row(npi_scratch *w, const npi_heuristic *h, int32_t node)
{
    npi_row *row = &w->row;
    if (w->source == node || (w->source >= 0 && h->is_local && !w->is_own && are_twins(&h->graph->a, w->source, node)))
        return row;
    for (int32_t i = 0; i < row->count; i++)
        row->score[row->node[i]] = 0;
    row->count = 0;
    w->source = node;
    w->is_own = 0;
    if (h->row)
        h->row(w, h, node);
    for (int32_t v = 0; !h->row && v < h->graph->n; v++)
        npi_row_set(row, v, h->pair(w, h, (npgnn_pair){node, v}));
    return row;
}

float npi_heuristic_pair(npi_scratch *w, const npi_heuristic *h, npgnn_pair pair)
{
    return h->pair ? h->pair(w, h, pair) : npi_heuristic_row(w, h, pair.u)->score[pair.v];
}
