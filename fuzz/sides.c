/* Text with edges, features and features of targets, read with the options that the first byte says: two-sided, with
 * times, with weights, bad rows skipped, with or without a header. Up to the graph and its splits. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/locate.h"
#include "io/readers.h"

enum { FILES = 3 };

/* No held-out pair of a two-sided graph is within a side. */
static void check_split(fuzz_case *c, const npgnn_graph *graph, npgnn_protocol protocol)
{
    npgnn_split_options options = {.size = sizeof options};
    npgnn_split *split = NULL;
    npgnn_split_options_default(&options, protocol, NULL);
    options.test = 0.3;
    if (graph->m > 1000 || fuzz_code(c, npgnn_split_new(&split, graph, &options, &c->env, &c->err)) != 0)
        return;
    for (int set = 0; set < 2; set++) {
        const npgnn_pair *pairs;
        size_t positives, count = npgnn_split_pairs(&pairs, &positives, split, (npgnn_set)set);
        for (size_t i = 0; i < count; i++)
            fuzz_check(!graph->side || graph->side[pairs[i].u] != graph->side[pairs[i].v]);
    }
    npgnn_split_free(split);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[FILES] = {"edges", "features", "targets"};
    static npi_location where;
    char *const paths[FILES] = {where.edges, where.features, where.target_features};
    fuzz_case c;
    fuzz_part parts[FILES];
    npgnn_graph *graph = NULL;
    if (size == 0)
        return 0;
    const npgnn_load_options how = {.size = sizeof how,
                                    .bipartite = (data[0] & 1) != 0,
                                    .time = data[0] & 2 ? "3" : NULL,
                                    .weight = data[0] & 4 ? "4" : NULL,
                                    .skip_bad_rows = (data[0] & 8) != 0,
                                    .header = (npgnn_header)((data[0] >> 4) % 3)};
    fuzz_begin(&c, data, size);
    fuzz_parts(parts, FILES, data + 1, size - 1);
    for (int i = 0; i < FILES; i++) {
        paths[i][0] = '\0';
        if (parts[i].size == 0)
            continue;
        FILE *file = fopen(fuzz_path(paths[i], names[i]), "wb");
        fuzz_check(file && fwrite(parts[i].data, 1, parts[i].size, file) == parts[i].size && fclose(file) == 0);
    }
    if (*where.edges && fuzz_code(&c, npi_location_load(&graph, &where, &how, &c.env, &c.err)) == 0) {
        fuzz_graph(&c, graph);
        check_split(&c, graph, how.time ? NPGNN_TEMPORAL : NPGNN_TRANSDUCTIVE);
        check_split(&c, graph, NPGNN_PRODUCTION);
    }
    npgnn_graph_free(graph);
    for (int i = 0; i < FILES; i++)
        fuzz_check(!*paths[i] || unlink(paths[i]) == 0);
    fuzz_end(&c);
    return 0;
}
