/* Edges, features and labels together: three files in one case. */
#include "fuzz.h"
#include "io/readers.h"

enum { EDGES, FEATURES, LABELS, FILES };

static void build(fuzz_case *c, npi_stream *files[FILES])
{
    npi_edge_list list = npi_edges_start(&c->env, NULL);
    npi_table table = {0};
    npgnn_graph *graph = NULL;
    if (fuzz_code(c, npi_edges_read_text(&list, files[EDGES], &c->err)) == 0 &&
        fuzz_code(c, npi_table_read(&table, files[FEATURES], NULL, &list, 0, &c->err)) == 0 &&
        fuzz_code(c, npi_edges_to_graph(&graph, &list, "edges", &table, files[LABELS], &c->env, &c->err)) == 0)
        fuzz_graph(c, graph);
    npgnn_graph_free(graph);
    npi_edges_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[FILES] = {"edges", "features", "labels"};
    fuzz_case c;
    fuzz_part parts[FILES];
    npi_stream *files[FILES];
    int opened = 1;
    fuzz_begin(&c, data, size);
    fuzz_parts(parts, FILES, data, size);
    for (int i = 0; i < FILES; i++) {
        files[i] = fuzz_stream(&c, names[i], parts[i].data, parts[i].size);
        opened = opened && files[i];
    }
    if (opened)
        build(&c, files);
    for (int i = 0; i < FILES; i++)
        npi_stream_close(files[i]);
    fuzz_end(&c);
    return 0;
}
