/* Reads the nodes that an option names, directly or in files. */
#define _POSIX_C_SOURCE 200809L
#include "node_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"

static void add(node_list *list, int32_t node)
{
    if (list->listed[node])
        return;
    list->listed[node] = 1;
    list->nodes[list->count++] = node;
}

static int read_lines(node_list *list, const npgnn_graph *graph, npgnn_lines *lines, const char *name)
{
    npgnn_error err;
    const char *const *field;
    int count, code, status = 0;
    while (status == 0 && (code = npgnn_lines_next(&field, &count, lines, 1, &err)) != 0) {
        int32_t node = code < 0 ? -1 : npgnn_graph_find(graph, *field);
        if (node >= 0)
            add(list, node);
        else
            status = code < 0 ? print_error("%s", err.text)
                              : print_error("%s:%" PRId64 ": unknown node '%.100s'", name, npgnn_lines_number(lines),
                                            *field);
    }
    return status;
}

/* One value of the option: a node, or a file of nodes. A node name wins over a file of the same name. */
static int add_value(node_list *list, const npgnn_graph *graph, const char *value)
{
    int32_t node = npgnn_graph_find(graph, value);
    npgnn_lines *lines;
    npgnn_error err;
    int standard = strcmp(value, "-") == 0;
    if (node >= 0) {
        add(list, node);
        return 0;
    }
    if (!standard && access(value, F_OK) != 0 && errno == ENOENT)
        return print_error("'%.100s' is neither a node of the graph nor a file", value);
    if (npgnn_lines_open(&lines, value, '\n', NULL, &err) != 0)
        return print_error("%s", err.text);
    int status = read_lines(list, graph, lines, standard ? "standard input" : value);
    npgnn_lines_free(lines);
    return status;
}

int node_list_read(node_list *list, const npgnn_graph *graph, const arg_pairs *values)
{
    size_t nodes = (size_t)npgnn_graph_nodes(graph);
    int status = 0;
    memset(list, 0, sizeof *list);
    if (values->count == 0)
        return 0;
    list->nodes = malloc((nodes + 1) * sizeof *list->nodes);
    list->listed = calloc(nodes + 1, 1);
    if (!list->nodes || !list->listed)
        status = print_error("out of memory");
    for (int i = 0; status == 0 && i < values->count; i++)
        status = add_value(list, graph, values->item[i].value);
    return status;
}

int node_list_all(node_list *list, const npgnn_graph *graph)
{
    int32_t nodes = npgnn_graph_nodes(graph);
    list->nodes = malloc(((size_t)nodes + 1) * sizeof *list->nodes);
    if (!list->nodes)
        return print_error("out of memory");
    for (list->count = 0; list->count < nodes; list->count++)
        list->nodes[list->count] = list->count;
    return 0;
}

void node_list_free(node_list *list)
{
    free(list->nodes);
    free(list->listed);
}
