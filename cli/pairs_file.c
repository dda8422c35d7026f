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

static int find_pair(npgnn_pair *pair, const pairs_file *in, const npgnn_graph *graph, const char *u, const char *v)
{
    int code = find_node(&pair->u, in, graph, u);
    return code ? code : find_node(&pair->v, in, graph, v);
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
    return find_pair(pair, in, graph, u, v);
}

/* The next line that has something in it: 1, 0 at the end, or -1 after having said why. */
static int next_line(pairs_file *in)
{
    do {
        errno = 0;
        if (getline(&in->text, &in->size, in->file) < 0)
            /* a signal that asked to stop is no error of the file: whoever reads it looks for one */
            return feof(in->file) || errno == EINTR ? 0 : -say_error("cannot read %s: %s", in->name, strerror(errno));
        in->line++;
    } while (in->text[0] == '#' || !in->text[strspn(in->text, BLANKS)]);
    return 1;
}

int pairs_read(npgnn_pair *pairs, size_t *count, pairs_file *in, const npgnn_graph *graph, size_t room)
{
    *count = 0;
    while (*count < room) {
        int more = next_line(in);
        if (more <= 0)
            return more ? EXIT_FAILED : 0;
        if (parse_pair(&pairs[*count], in, graph) != 0)
            return EXIT_FAILED;
        ++*count;
    }
    return 0;
}

/* ---- with labels ---- */

/* Two names and a label; without one the pair is a link, and so must all others be. */
static int parse_labelled(npgnn_pair *pair, int *label, const pairs_file *in, const npgnn_graph *graph, int first)
{
    char *rest = in->text;
    const char *separators = separators_of(rest);
    const char *u = next_name(&rest, separators), *v = next_name(&rest, separators),
               *word = next_name(&rest, separators);
    if (!v || next_name(&rest, separators))
        return say_error("%s:%" PRId64 ": a line has two node names and 1 or 0, this one has %s", in->name, in->line,
                         v ? "more" : "less");
    if (word && strcmp(word, "0") != 0 && strcmp(word, "1") != 0)
        return say_error("%s:%" PRId64 ": a label is 1 or 0, not '%.100s'", in->name, in->line, word);
    if (!first && (*label >= 0) != (word != NULL))
        return say_error("%s:%" PRId64 ": this line has %s label, the lines before it %s", in->name, in->line,
                         word ? "a" : "no", word ? "have none" : "have one");
    *label = word ? word[0] == '1' : -1;
    return find_pair(pair, in, graph, u, v);
}

/* Links are kept in front: a link changes places with the first pair that is none. */
static void put_pair(labelled_pairs *out, npgnn_pair pair, int label)
{
    out->pairs[out->count++] = pair;
    if (label == 0)
        return;
    out->pairs[out->count - 1] = out->pairs[out->positives];
    out->pairs[out->positives++] = pair;
}

static int read_all(labelled_pairs *out, pairs_file *in, const npgnn_graph *graph)
{
    size_t room = 0;
    int label = -1, more;
    while ((more = next_line(in)) > 0) {
        npgnn_pair pair = {0, 0};
        if (parse_labelled(&pair, &label, in, graph, out->count == 0) != 0)
            return EXIT_FAILED;
        if (out->count == room) {
            room = room ? 2 * room : 1024;
            npgnn_pair *grown = realloc(out->pairs, room * sizeof *grown);
            if (!grown)
                return say_error("out of memory");
            out->pairs = grown;
        }
        put_pair(out, pair, label);
    }
    if (more < 0)
        return EXIT_FAILED;
    if (out->positives == 0)
        return say_error("%s: there is no link among the pairs", in->name);
    if (label >= 0 && out->positives == out->count)
        return say_error("%s: all pairs are labelled 1: without labels, non-links are drawn", in->name);
    return 0;
}

int pairs_read_labelled(labelled_pairs *out, const char *path, const npgnn_graph *graph)
{
    pairs_file in;
    if (pairs_open(&in, path) != 0)
        return EXIT_FAILED;
    int status = read_all(out, &in, graph);
    pairs_close(&in);
    return status;
}

void pairs_close(pairs_file *in)
{
    free(in->text);
    if (in->file && in->file != stdin)
        fclose(in->file);
}
