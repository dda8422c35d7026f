/* Files of pairs, as `npgnn predict --pairs` reads them. */
#include "../cli/message.h"
#include "../cli/pairs_file.h"
#include "fuzz.h"
#include "io/lines.h"
#include "quiet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { NODES = 4, ROOM = 3 };
    static const npgnn_pair edges[2] = {{0, 1}, {1, 2}};
    npgnn_pair pairs[ROOM];
    npgnn_graph *graph = NULL;
    size_t count = 1;
    fuzz_case c;
    if (size == 0)
        return 0;
    fuzz_begin(&c, data, size);
    fuzz_check(npgnn_graph_from_arrays(&graph, edges, NULL, NODES, 2, 0, &c.env, &c.err) == 0);
    npi_stream *stream = fuzz_stream(&c, "pairs", data, size);
    pairs_file in = {.name = "pairs"};
    fuzz_check(!stream || npi_lines_new(&in.lines, stream, 0, &c.err) == 0);
    quiet_begin();
    while (stream && count > 0 && pairs_read(pairs, &count, &in, graph, ROOM) == 0)
        for (size_t i = 0; i < count; i++)
            fuzz_check(pairs[i].u >= 0 && pairs[i].u < NODES && pairs[i].v >= 0 && pairs[i].v < NODES);
    quiet_end();
    pairs_close(&in);
    npgnn_graph_free(graph);
    fuzz_end(&c);
    return 0;
}
