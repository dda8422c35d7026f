#define _POSIX_C_SOURCE 200809L /* getline */
#include "node_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

static void add(node_list *list, int32_t node)
{
    if (list->listed[node])
        return;
    list->listed[node] = 1;
    list->nodes[list->count++] = node;
}

/* The line without the blanks around it. */
static char *trim(char *line)
{
    static const char blanks[] = " \t\r\n";
    line += strspn(line, blanks);
    size_t length = strlen(line);
    while (length > 0 && strchr(blanks, line[length - 1]))
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
        else if (*text && *text != '#')
            status = say_error("%s:%" PRId64 ": the graph has no node '%.100s'", name, number, text);
    }
    if (status == 0 && !feof(file))
        status = say_error("cannot read %s: %s", name, strerror(errno));
    free(line);
    return status;
}

static int add_word(node_list *list, const npgnn_graph *graph, const char *word)
{
    int32_t node = npgnn_graph_find(graph, word);
    if (node >= 0) {
        add(list, node);
        return 0;
    }
    if (strcmp(word, "-") == 0)
        return read_lines(list, graph, stdin, "standard input");
    FILE *file = fopen(word, "r");
    if (!file && errno == ENOENT)
        return say_error("the graph has no node '%.100s', and there is no file of that name", word);
    if (!file)
        return say_error("cannot read %s: %s", word, strerror(errno));
    int status = read_lines(list, graph, file, word);
    fclose(file);
    return status;
}

int node_list_read(node_list *list, const npgnn_graph *graph, const arg_pairs *words)
{
    size_t nodes = (size_t)npgnn_graph_nodes(graph);
    int status = 0;
    memset(list, 0, sizeof *list);
    if (words->count == 0)
        return 0;
    list->nodes = malloc((nodes + 1) * sizeof *list->nodes);
    list->listed = calloc(nodes + 1, 1);
    if (!list->nodes || !list->listed)
        status = say_error("out of memory");
    for (int i = 0; status == 0 && i < words->count; i++)
        status = add_word(list, graph, words->item[i].value);
    return status;
}

void node_list_free(node_list *list)
{
    free(list->nodes);
    free(list->listed);
}
