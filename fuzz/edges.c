/* Edge lists and Matrix Market files of edges, up to the graph that they make without features. */
#include "fuzz.h"
#include "io/readers.h"

static void read_edges(fuzz_case *c, npi_stream *stream)
{
    npi_edge_list list = {0};
    npgnn_graph *graph = NULL;
    if (fuzz_code(c, npi_edges_read(&list, stream, &c->err)) != 0)
        return;
    if (fuzz_code(c, npi_tables_build(&graph, &list, "edges", NULL, NULL, &c->env, &c->err)) == 0)
        fuzz_graph(c, graph);
    npgnn_graph_free(graph);
    npi_edges_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    fuzz_begin(&c, size);
    npi_stream *stream = fuzz_stream(&c, "edges", data, size);
    if (stream)
        read_edges(&c, stream);
    npi_stream_close(stream);
    fuzz_end(&c);
    return 0;
}
