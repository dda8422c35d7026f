#include "graph/hold_out.h"

#include <assert.h>

void npi_count_links(int32_t *left, const npgnn_graph *graph)
{
    for (int32_t i = 0; i < graph->n; i++)
        left[i] = (int32_t)(graph->a.ptr[i + 1] - graph->a.ptr[i]);
}

int64_t npi_hide_links(npgnn_pair *edges, int64_t count, unsigned char *role, unsigned char bare, int32_t *left,
                       int32_t n)
{
    int64_t hidden = 0;
    for (int32_t i = 0; i < n; i++)
        left[i] = left[i] > 0 ? left[i] : -1; /* it has none to lose */
    for (int64_t i = 0; i < count; i++) {
        assert(left[edges[i].u] > 0 && left[edges[i].v] > 0);
        left[edges[i].u]--;
        left[edges[i].v]--;
    }
    for (int32_t i = 0; i < n; i++) {
        role[i] = left[i] == 0 ? bare : role[i];
        left[i] = left[i] < 0 ? 0 : left[i];
    }
    for (int64_t i = 0; i < count; i++) {
        npgnn_pair edge = edges[i];
        if (role[edge.u] == bare || role[edge.v] == bare) {
            left[edge.u]++;
            left[edge.v]++;
        } else {
            edges[i] = edges[hidden];
            edges[hidden++] = edge;
        }
    }
    return hidden;
}

int64_t npi_draw_links(int64_t *drawn, unsigned char *emptied, int32_t *left, const npgnn_graph *graph,
                       const npgnn_pair *edges, int64_t wanted)
{
    /* More links drawn empty more nodes. With a third of the others, sparse graphs are near the largest number that can
     * be held out. To stop at that number itself would depend on what is held out. */
    int64_t held = 0, at = 0, most = wanted + (graph->m - wanted) / 3;
    npi_count_links(left, graph);
    for (int32_t i = 0; i < graph->n; i++)
        emptied[i] = 0;
    for (; at < most && held < wanted; at++) {
        const int32_t ends[2] = {edges[at].u, edges[at].v};
        left[ends[0]]--;
        left[ends[1]]--;
        held++;
        for (int i = 0; i < 2; i++) {
            const int32_t *neighbors;
            if (left[ends[i]] > 0)
                continue;
            /* its links were held out, except those whose other end is emptied */
            int64_t degree = npgnn_graph_neighbors(&neighbors, graph, ends[i]);
            emptied[ends[i]] = 1;
            for (int64_t k = 0; k < degree; k++)
                held -= !emptied[neighbors[k]];
        }
    }
    *drawn = at;
    return held;
}
