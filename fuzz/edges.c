/* Files of edges, with what else they have: edge lists, Matrix Market, npz, GraphML, JSON. Up to the graph that they
 * make. */
#include "fuzz.h"
#include "io/readers.h"

static void read_edges(fuzz_case *c, npi_stream *stream)
{
    static const npgnn_load_options how = {.size = sizeof how, .weighted = 1};
    npi_edge_list list = npi_edges_start(&c->env, &how);
    npi_table table = {0};
    npgnn_graph *graph = NULL;
    if (fuzz_code(c, npi_edges_read_any(&list, &table, stream, &c->err)) != 0)
        npi_table_free(&c->env, &table);
    else if (fuzz_code(c, npi_edges_to_graph(&graph, &list, "edges", table.x.ptr ? &table : NULL, NULL, &c->env,
                                             &c->err)) == 0)
        fuzz_graph(c, graph);
    npgnn_graph_free(graph);
    npi_edges_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    fuzz_begin(&c, data, size);
    npi_stream *stream = fuzz_stream(&c, "edges", data, size);
    if (stream)
        read_edges(&c, stream);
    npi_stream_close(stream);
    fuzz_end(&c);
    return 0;
}
