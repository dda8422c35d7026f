/* Bundles: .npz files with one array per graph. Every graph that is read holds what graphs promise. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "fuzz.h"

static int see(void *user, const char *name, npgnn_graph *graph)
{
    (void)name;
    if (npgnn_graph_nodes(graph) < 100000) /* to check it takes memory of its own */
        fuzz_graph(user, graph);
    npgnn_graph_free(graph);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[4096];
    fuzz_case c;
    fuzz_begin(&c, data, size);
    FILE *file = fopen(fuzz_path(path, "bundle.npz"), "wb");
    fuzz_check(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    npgnn_load_each(path, see, &c, size % 2 == 0, &c.env, &c.err);
    fuzz_check(unlink(path) == 0);
    fuzz_end(&c);
    return 0;
}
