/* The "key=value,..." of synthetic graphs. Memory is scarce, so that only small ones are made. */
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    char spec[256];
    npgnn_graph *graph = NULL;
    if (size >= sizeof spec)
        return 0;
    if (size > 0)
        memcpy(spec, data, size);
    spec[size] = '\0';
    fuzz_begin(&c, data, size);
    c.most = 256 << 10;
    c.refuse = 1;
    if (fuzz_code(&c, npgnn_graph_synthetic(&graph, spec, &c.env, &c.err)) == 0) {
        c.refuse = 0;
        c.most = 16 << 20;
        fuzz_graph(&c, graph);
    }
    npgnn_graph_free(graph);
    fuzz_end(&c);
    return 0;
}
