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
