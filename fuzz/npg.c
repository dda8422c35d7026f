/* Graph files. The checksums, and the size that the header states, are put right first: they would stop nearly every
 * case. A case with another first byte is read as it is. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/npg.h"

/* Makes as many of the bytes as possible a file with right checksums. Returns its size. */
static size_t seal(unsigned char *bytes, size_t size)
{
    uint64_t content = size / NPI_NPG_ALIGN * NPI_NPG_ALIGN, sum;
    while (content + (npi_npg_blocks(content) + 1) * sizeof sum > size)
        content -= NPI_NPG_ALIGN;
    memcpy(bytes + offsetof(npi_npg_header, content), &content, sizeof content);
    uint64_t blocks = npi_npg_blocks(content);
    for (uint64_t b = 0; b < blocks; b++) {
        uint64_t left = content - b * NPI_NPG_BLOCK;
        sum = npi_npg_checksum(bytes + b * NPI_NPG_BLOCK, left < NPI_NPG_BLOCK ? left : NPI_NPG_BLOCK);
        memcpy(bytes + content + b * sizeof sum, &sum, sizeof sum);
    }
    sum = npi_npg_checksum(bytes + content, blocks * sizeof sum);
    memcpy(bytes + content + blocks * sizeof sum, &sum, sizeof sum);
    return content + (blocks + 1) * sizeof sum;
}

/* What was read can be divided, and written and read again. */
static void use(fuzz_case *c, const npgnn_graph *graph)
{
    char path[4096], buffer[12];
    npgnn_graph *half = NULL, *again = NULL;
    int32_t count = (graph->n + 1) / 2, *nodes = npi_alloc(&c->env, (size_t)count, sizeof *nodes, &c->err);
    fuzz_check(nodes);
    for (int32_t i = 0; i < count; i++)
        nodes[i] = 2 * i;
    fuzz_check(npgnn_graph_subgraph(&half, graph, nodes, count, &c->err) == 0);
    for (int32_t i = 0; i < count; i++)
        fuzz_check(npgnn_graph_find(half, npgnn_graph_name(half, i, buffer)) == i);
    fuzz_check(npgnn_graph_save(graph, fuzz_path(path, "again.npg"), &c->err) == 0);
    fuzz_check(npgnn_load(&again, path, &(npgnn_load_options){.size = sizeof(npgnn_load_options), .weighted = 1},
                          &c->env, &c->err) == 0);
    fuzz_check(again->n == graph->n && again->m == graph->m && again->x->f == graph->x->f &&
               again->x->nonzeros == graph->x->nonzeros && !again->names == !graph->names);
    fuzz_check(unlink(path) == 0);
    npgnn_graph_free(again);
    npgnn_graph_free(half);
    npi_free(&c->env, nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    npgnn_graph *graph = NULL;
    fuzz_begin(&c, data, size);
    /* aligned as a mapped file is, and ending where it ends: the sanitizers then see a read behind it */
    unsigned char *bytes = NULL;
    if (posix_memalign((void **)&bytes, NPI_NPG_ALIGN, size ? size : 1) != 0)
        return 0;
    if (size > 0)
        memcpy(bytes, data, size);
    if (size >= sizeof(npi_npg_header) + 16 && data[0] == (uint8_t)NPI_NPG_MAGIC[0])
        size = seal(bytes, size);
    npi_mapping file = {.env = c.env, .references = 1, .bytes = bytes, .size = size};
    if (fuzz_code(&c, npi_npg_read(&graph, &file, "case.npg", &c.env, &c.err)) == 0) {
        fuzz_graph(&c, graph);
        use(&c, graph);
    }
    npgnn_graph_free(graph);
    fuzz_check(file.references == 1);
    free(bytes);
    fuzz_end(&c);
    return 0;
}
