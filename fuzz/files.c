/* Sets of files that belong together, such as OGB's: the first byte says how they are read, then come edges, features,
 * labels, names of nodes, names of columns, and the number of nodes. A part that is empty is no file. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/locate.h"
#include "io/readers.h"

enum { FILES = 6 };

static void write_part(char path[NPI_PATH_SIZE], const char *name, fuzz_part part)
{
    path[0] = '\0';
    if (part.size == 0)
        return;
    FILE *file = fopen(fuzz_path(path, name), "wb");
    fuzz_check(file && fwrite(part.data, 1, part.size, file) == part.size && fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[FILES] = {"edges", "features", "labels", "nodes", "columns", "count"};
    static npi_location where; /* six paths: too large for some stacks */
    char *const paths[FILES] = {where.edges, where.features, where.labels, where.nodes, where.columns, where.count};
    fuzz_case c;
    fuzz_part parts[FILES];
    npgnn_graph *graph = NULL;
    if (size == 0)
        return 0;
    const npgnn_load_options how = {
        .size = sizeof how, .weighted = (data[0] & 2) != 0, .skip_bad_rows = (data[0] & 4) != 0};
    fuzz_begin(&c, data, size);
    fuzz_parts(parts, FILES, data + 1, size - 1);
    where.kind = data[0] % 2 ? NPI_OGB : NPI_FILES;
    for (int i = 0; i < FILES; i++)
        write_part(paths[i], names[i], parts[i]);
    if (*where.edges && fuzz_code(&c, npi_location_load(&graph, &where, &how, &c.env, &c.err)) == 0)
        fuzz_graph(&c, graph);
    npgnn_graph_free(graph);
    for (int i = 0; i < FILES; i++)
        fuzz_check(!*paths[i] || unlink(paths[i]) == 0);
    fuzz_end(&c);
    return 0;
}
