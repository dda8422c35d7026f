#define _POSIX_C_SOURCE 200809L /* getline */
#include "pairs_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

#define BLANKS "\t, \r\n" /* that may surround a name */

int pairs_open(pairs_file *in, const char *path)
{
    int standard = strcmp(path, "-") == 0;
    memset(in, 0, sizeof *in);
    in->name = standard ? "standard input" : path;
    in->file = standard ? stdin : fopen(path, "r");
    return in->file ? 0 : say_error("cannot read %s: %s", path, strerror(errno));
}

/* What ends a name in this line: a tab where it has one, then a comma; names may hold blanks only where one of these does. */
static const char *separators_of(const char *line)
{
    if (strchr(line, '\t'))
        return "\t\r\n";
    return strchr(line, ',') ? ",\r\n" : " \r\n";
}

/* Cuts the next name out of `*text`; NULL where there is none. */
static const char *next_name(char **text, const char *separators)
{
    char *name = *text + strspn(*text, BLANKS);
    if (!*name)
        return NULL;
    char *end = name + strcspn(name, separators);
    *text = *end ? end + 1 : end;
    while (end > name && strchr(BLANKS, end[-1]))
        end--;
    *end = '\0';
    return name;
}

static int find_node(int32_t *node, const pairs_file *in, const npgnn_graph *graph, const char *name)
{
    *node = npgnn_graph_find(graph, name);
    if (*node >= 0)
        return 0;
    return say_error("%s:%" PRId64 ": the graph has no node '%.100s'", in->name, in->line, name);
}

/* One line that has something in it. */
static int parse_pair(npgnn_pair *pair, const pairs_file *in, const npgnn_graph *graph)
{
    char *rest = in->text;
    const char *separators = separators_of(rest);
    const char *u = next_name(&rest, separators), *v = next_name(&rest, separators);
    if (!v || next_name(&rest, separators))
        return say_error("%s:%" PRId64 ": a line has two node names, this one has %s", in->name, in->line,
                         v ? "more" : "one");
    int code = find_node(&pair->u, in, graph, u);
    return code ? code : find_node(&pair->v, in, graph, v);
}

int pairs_read(npgnn_pair *pairs, size_t *count, pairs_file *in, const npgnn_graph *graph, size_t room)
{
    *count = 0;
    while (*count < room) {
        errno = 0;
        if (getline(&in->text, &in->size, in->file) < 0)
            return feof(in->file) ? 0 : say_error("cannot read %s: %s", in->name, strerror(errno));
        in->line++;
        if (in->text[0] == '#' || !in->text[strspn(in->text, BLANKS)])
            continue;
        if (parse_pair(&pairs[*count], in, graph) != 0)
            return EXIT_FAILED;
        ++*count;
    }
    return 0;
}

void pairs_close(pairs_file *in)
{
    free(in->text);
    if (in->file && in->file != stdin)
        fclose(in->file);
}
