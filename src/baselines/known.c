#include "baselines/known.h"

int npi_known_graph(npgnn_graph **out, const npi_task *task, npgnn_error *err)
{
    const npgnn_split *split = task->split;
    const npgnn_graph *train = split->train;
    if (train->m == 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no edge to learn from");
    npgnn_pair *edges = npi_alloc(task->env, (size_t)train->m, sizeof *edges, err);
    if (!edges)
        return NPGNN_E_MEMORY;
    npi_graph_edge_list(edges, train);
    /* the map ascends, so u < v stays true */
    for (int64_t e = 0; split->map && e < train->m; e++)
        edges[e] = (npgnn_pair){split->map[edges[e].u], split->map[edges[e].v]};
    int code = npi_graph_with_edges(out, task->graph, edges, train->m, err);
    npi_free(task->env, edges);
    return code;
}
