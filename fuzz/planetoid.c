/* A set of Planetoid's files: five pickles and a list of nodes in one case. */
#include "io/planetoid.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    fuzz_part parts[NPI_PLANETOID_FILES];
    npi_stream *files[NPI_PLANETOID_FILES];
    npgnn_graph *graph = NULL;
    int opened = 1;
    fuzz_begin(&c, data, size);
    fuzz_parts(parts, NPI_PLANETOID_FILES, data, size);
    for (int i = 0; i < NPI_PLANETOID_FILES; i++) {
        files[i] = fuzz_stream(&c, npi_planetoid_suffix((npi_planetoid_file)i), parts[i].data, parts[i].size);
        opened = opened && files[i];
    }
    if (opened && fuzz_code(&c, npi_planetoid_read(&graph, files, &c.env, &c.err)) == 0)
        fuzz_graph(&c, graph);
    npgnn_graph_free(graph);
    for (int i = 0; i < NPI_PLANETOID_FILES; i++)
        npi_stream_close(files[i]);
    fuzz_end(&c);
    return 0;
}
