#include "graph/hold_out.h"

#include <assert.h>

void npi_count_links(int32_t *left, const npgnn_graph *graph)
{
    for (int32_t i = 0; i < graph->n; i++)
        left[i] = (int32_t)(graph->a.ptr[i + 1] - graph->a.ptr[i]);
}

int64_t npi_hold_out(npgnn_pair *edges, int64_t count, int64_t wanted, int32_t *left)
{
    int64_t held = 0;
    for (int64_t i = 0; i < count && held < wanted; i++) {
        npgnn_pair edge = edges[i];
        assert(left[edge.u] > 0 && left[edge.v] > 0);
        if (left[edge.u] < 2 || left[edge.v] < 2)
            continue;
        left[edge.u]--;
        left[edge.v]--;
        edges[i] = edges[held];
        edges[held++] = edge;
    }
    return held;
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
