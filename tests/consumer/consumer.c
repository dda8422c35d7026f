/* A program of somebody else: built against the installed library, in a few lines. */
#include <npgnn/npgnn.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    npgnn_pair edges[] = {{0, 1}, {1, 2}, {2, 0}, {1, 0}};
    npgnn_graph *graph = NULL;
    npgnn_graph_info info = {.size = sizeof info};
    npgnn_error err = {0};
    if (strcmp(npgnn_version(), NPGNN_VERSION) != 0) {
        fprintf(stderr, "header %s, library %s\n", NPGNN_VERSION, npgnn_version());
        return 1;
    }
    if (npgnn_graph_from_arrays(&graph, edges, NULL, 4, 4, 0, NULL, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    npgnn_graph_describe(&info, graph, NULL);
    npgnn_graph_free(graph);
    printf("%d nodes, %d edges\n", (int)info.nodes, (int)info.edges);
    return info.edges == 3 ? 0 : 1;
}
