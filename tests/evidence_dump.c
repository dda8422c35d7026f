/* The evidence of pairs of a graph without features, for tests/agreement.py. Standard input: numbers of nodes, links
 * and pairs, then the links and the pairs. Prints the columns of the table in src/evidence/columns.h, one line per
 * pair. */
#include <stdio.h>
#include <stdlib.h>

#include "evidence/columns.h"
#include "graph/graph.h"

static int read_pairs(npgnn_pair **out, long count)
{
    *out = calloc((size_t)count + 1, sizeof **out);
    for (long i = 0; *out && i < count; i++)
        if (scanf("%d %d", &(*out)[i].u, &(*out)[i].v) != 2)
            return 1;
    return !*out;
}

int main(void)
{
    int nodes;
    long links, count;
    npgnn_pair *edges = NULL, *pairs = NULL;
    npgnn_graph *graph = NULL;
    npi_columns columns = {0};
    npi_columns_workspace workspace = {0};
    npgnn_error err = {0};
    const npgnn_env env = npi_env_resolve(NULL);
    if (scanf("%d %ld %ld", &nodes, &links, &count) != 3 || read_pairs(&edges, links) || read_pairs(&pairs, count))
        return 1;
    if (npgnn_graph_from_arrays(&graph, edges, NULL, nodes, links, 0, NULL, &err) ||
        npi_columns_new(&columns, &graph->a, NULL, NULL, 1, &env, &err) ||
        npi_columns_workspace_new(&workspace, &columns, 0, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (long i = 0; i < count; i++) {
        float value[NPI_ALL_COLUMNS];
        npi_columns_pair(value, &workspace, &columns, pairs[i]);
        for (int c = NPI_COLUMN_DEGREE_SUM; c <= NPI_COLUMN_LIFT4; c++)
            printf("%.9g%c", (double)value[c], c == NPI_COLUMN_LIFT4 ? '\n' : ' ');
    }
    npi_columns_workspace_free(&env, &workspace);
    npi_columns_free(&columns);
    npgnn_graph_free(graph);
    free(edges);
    free(pairs);
    return 0;
}
