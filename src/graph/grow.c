/* A graph with more nodes and edges: the rows of A are copied, and new entries are merged into them. */
#include <string.h>

#include "graph/graph.h"

/* Merges the new ends of every row, which ascend, into those that it has. next (n): where the new ends of a row begin
 * in `ends`; those of row i end where those of row i + 1 begin. */
static void merge_rows(npi_csr *out, const npi_csr *a, const int64_t *next, const int32_t *ends)
{
    int64_t to = 0;
    for (int32_t row = 0; row < out->rows; row++) {
        int64_t p = row < a->rows ? a->ptr[row] : 0, last = row < a->rows ? a->ptr[row + 1] : 0;
        out->ptr[row] = to;
        if (next[row] == next[row + 1]) { /* as nearly all rows */
            memcpy(out->col + to, a->col + p, (size_t)(last - p) * sizeof *a->col);
            if (out->val)
                memcpy(out->val + to, a->val + p, (size_t)(last - p) * sizeof *a->val);
            to += last - p;
            continue;
        }
        for (int64_t q = next[row]; q < next[row + 1] || p < last; to++) {
            int old = p < last && (q == next[row + 1] || a->col[p] < ends[q]);
            out->col[to] = old ? a->col[p] : ends[q];
            if (out->val)
                out->val[to] = old && a->val ? a->val[p] : 1;
            p += old;
            q += !old;
        }
    }
    out->ptr[out->rows] = to;
}

int npi_graph_grow(npgnn_graph **out, const npgnn_graph *graph, npi_features *x, npi_names *names,
                   const unsigned char *side, const npgnn_pair *edges, int64_t count, npgnn_error *err)
{
    const npgnn_env *env = &graph->env;
    size_t n = (size_t)x->n;
    npgnn_graph *g = npi_alloc(env, 1, sizeof *g, err);
    int64_t *next = npi_alloc(env, n + 2, sizeof *next, err);
    int32_t *ends = npi_alloc(env, 2 * (size_t)count, sizeof *ends, err);
    int code = g && next && ends ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        g->env = *env;
        code = npi_csr_new(&g->a, x->n, x->n, graph->a.ptr[graph->n] + 2 * count, graph->a.val != NULL, env, err);
    }
    if (!code && graph->label && !(g->label = npi_alloc(env, n, sizeof *g->label, err)))
        code = NPGNN_E_MEMORY;
    if (!code && graph->side && !(g->side = npi_alloc(env, n, 1, err)))
        code = NPGNN_E_MEMORY;
    if (!code) {
        /* next[i + 2] counts the new ends of row i, then next[i + 1] is where the next of them goes. Edges are ordered
         * by (u, v): the ends of a row that are smaller than the row come in order, and before those that are larger,
         * if the smaller are placed first. */
        for (int64_t i = 0; i < count; i++) {
            next[edges[i].u + 2]++;
            next[edges[i].v + 2]++;
        }
        for (size_t i = 2; i < n + 2; i++)
            next[i] += next[i - 1];
        for (int64_t i = 0; i < count; i++)
            ends[next[edges[i].v + 1]++] = edges[i].u;
        for (int64_t i = 0; i < count; i++)
            ends[next[edges[i].u + 1]++] = edges[i].v;
        merge_rows(&g->a, &graph->a, next, ends);
        g->n = x->n;
        g->m = graph->m + count;
        g->x = npi_features_share(x);
        g->names = npi_names_share(names);
        g->classes = graph->classes;
        g->input_edges = graph->input_edges + count;
        g->normalized = graph->normalized;
        g->binarized = graph->binarized;
        for (size_t i = 0; g->label && i < n; i++)
            g->label[i] = i < (size_t)graph->n ? graph->label[i] : -1;
        for (size_t i = 0; g->side && i < n; i++)
            g->side[i] = i < (size_t)graph->n ? graph->side[i] : side[i - (size_t)graph->n];
        *out = g;
    } else if (g) {
        npi_csr_free(env, &g->a);
        npi_free(env, g->label);
        npi_free(env, g->side);
        npi_free(env, g);
    }
    npi_free(env, next);
    npi_free(env, ends);
    return code;
}
