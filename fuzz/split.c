/* Split files of a ring with chords. Whatever was read, written again, reads as the same split. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "store/splitfile.h"

enum { NODES = 12 };

static npgnn_graph *make_graph(fuzz_case *c)
{
    npgnn_graph *graph = NULL;
    npgnn_pair edges[2 * NODES];
    for (int i = 0; i < NODES; i++) {
        edges[2 * i] = (npgnn_pair){i, (i + 1) % NODES};
        edges[2 * i + 1] = (npgnn_pair){i, (i + 5) % NODES};
    }
    fuzz_check(npgnn_graph_from_arrays(&graph, edges, NULL, NODES, 2 * NODES, 0, &c->env, &c->err) == 0);
    return graph;
}

static void check_written(fuzz_case *c, const npgnn_split *split, const npgnn_graph *graph)
{
    char path[4096];
    npgnn_split *again = NULL;
    fuzz_check(npgnn_split_check(split, &c->err) == 0);
    fuzz_check(npgnn_split_save(split, fuzz_path(path, "split"), &c->err) == 0);
    fuzz_check(npgnn_split_load(&again, graph, path, &c->env, &c->err) == 0);
    fuzz_check(unlink(path) == 0);
    fuzz_check(npgnn_split_protocol(again) == npgnn_split_protocol(split));
    fuzz_check(npgnn_split_hash(again) == npgnn_split_hash(split));
    npgnn_split_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    npgnn_split *split = NULL;
    fuzz_begin(&c, data, size);
    npgnn_graph *graph = make_graph(&c);
    npi_stream *stream = fuzz_stream(&c, "split", data, size);
    if (stream && fuzz_code(&c, npi_split_read(&split, stream, graph, &c.err)) == 0)
        check_written(&c, split, graph);
    npgnn_split_free(split);
    npi_stream_close(stream);
    npgnn_graph_free(graph);
    fuzz_end(&c);
    return 0;
}
