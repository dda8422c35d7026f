/* Reads the nodes that an option names, directly or in files. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include "node_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

static void add(node_list *list, int32_t node)
{
    if (list->listed[node])
        return;
    list->listed[node] = 1;
    list->nodes[list->count++] = node;
}

/* The line without leading and trailing whitespace. */
static char *trim(char *line)
{
    static const char whitespace[] = " \t\r\n";
    line += strspn(line, whitespace);
    size_t length = strlen(line);
    while (length > 0 && strchr(whitespace, line[length - 1]))
        line[--length] = '\0';
    return line;
}

static int read_lines(node_list *list, const npgnn_graph *graph, FILE *file, const char *name)
{
    char *line = NULL;
    size_t size = 0;
    int status = 0;
    errno = 0;
    for (int64_t number = 1; status == 0 && getline(&line, &size, file) >= 0; number++) {
        const char *text = trim(line);
        int32_t node = npgnn_graph_find(graph, text);
        if (node >= 0)
            add(list, node);
        else if (*text && !(text[0] == '#' && (!text[1] || text[1] == ' ' || text[1] == '#'))) /* not a comment */
            status = print_error("%s:%" PRId64 ": unknown node '%.100s'", name, number, text);
    }
    if (status == 0 && !feof(file))
        status = print_error("cannot read %s: %s", name, strerror(errno));
    free(line);
    return status;
}

/* One value of the option: a node, or a file of nodes. A node name wins over a file of the same name. */
static int add_value(node_list *list, const npgnn_graph *graph, const char *value)
{
    int32_t node = npgnn_graph_find(graph, value);
    if (node >= 0) {
        add(list, node);
        return 0;
    }
    if (strcmp(value, "-") == 0)
        return read_lines(list, graph, stdin, "standard input");
    FILE *file = fopen(value, "r");
    if (!file && errno == ENOENT)
        return print_error("'%.100s' is neither a node of the graph nor a file", value);
    if (!file)
        return print_error("cannot read %s: %s", value, strerror(errno));
    int status = read_lines(list, graph, file, value);
    fclose(file);
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
