/* Reads pairs of nodes, with or without labels, line by line. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include "pairs_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

#define WHITESPACE "\t, \r\n" /* that may surround a name */

int pairs_open(pairs_file *in, const char *path)
{
    int standard = strcmp(path, "-") == 0;
    memset(in, 0, sizeof *in);
    in->name = standard ? "standard input" : path;
    in->file = standard ? stdin : fopen(path, "r");
    return in->file ? 0 : print_error("cannot read %s: %s", path, strerror(errno));
}

void pairs_close(pairs_file *in)
{
    free(in->text);
    if (in->file && in->file != stdin)
        fclose(in->file);
}

/* ---- lines and fields ---- */

/* A comment begins with # and a blank, or is # alone: #cats is the name of a node. */
static int is_comment(const char *line)
{
    size_t marks = strspn(line, "#");
    return marks > 0 && (!line[marks] || strchr(WHITESPACE, line[marks]));
}

/* Reads the next line that is neither empty nor a comment. Returns 1, 0 at the end, or -1 after printing why. */
static int next_line(pairs_file *in)
{
    do {
        errno = 0;
        if (getline(&in->text, &in->size, in->file) < 0)
            /* EINTR is a signal that asks to stop: the caller looks for it */
            return feof(in->file) || errno == EINTR ? 0 : -print_error("cannot read %s: %s", in->name, strerror(errno));
        in->line++;
    } while (is_comment(in->text) || !in->text[strspn(in->text, WHITESPACE)]);
    return 1;
}

/* Cuts the next field out of *text; NULL where there is none. */
static const char *next_field(char **text, const char *separators)
{
    char *field = *text + strspn(*text, WHITESPACE);
    if (!*field)
        return NULL;
    char *end = field + strcspn(field, separators);
    *text = *end ? end + 1 : end;
    while (end > field && strchr(WHITESPACE, end[-1]))
        end--;
    *end = '\0';
    return field;
}

enum { MAX_FIELDS = 4 };

/* Splits the current line into its fields. Returns their number; more than MAX_FIELDS count as MAX_FIELDS. */
static int split_line(const char *fields[MAX_FIELDS], const pairs_file *in)
{
    char *rest = in->text;
    const char *separators = strchr(rest, '\t') ? "\t\r\n" : strchr(rest, ',') ? ",\r\n" : " \r\n";
    int count = 0;
    while (count < MAX_FIELDS && (fields[count] = next_field(&rest, separators)) != NULL)
        count++;
    return count;
}

static int find_node(int32_t *node, const pairs_file *in, const npgnn_graph *graph, const char *name)
{
    *node = npgnn_graph_find(graph, name);
    if (*node >= 0)
        return 0;
    return print_error("%s:%" PRId64 ": unknown node '%.100s'", in->name, in->line, name);
}

/* ---- pairs ---- */

int pairs_read(npgnn_pair *pairs, size_t *count, pairs_file *in, const npgnn_graph *graph, size_t limit)
{
    *count = 0;
    while (*count < limit) {
        const char *fields[MAX_FIELDS];
        npgnn_pair *pair = &pairs[*count];
        int more = next_line(in);
        if (more <= 0)
            return more ? EXIT_FAILED : 0;
        int found = split_line(fields, in);
        if (found != 2)
            return print_error("%s:%" PRId64 ": expected two node names, found %s", in->name, in->line,
                               found < 2 ? "one" : "more");
        if (find_node(&pair->u, in, graph, fields[0]) != 0 || find_node(&pair->v, in, graph, fields[1]) != 0)
            return EXIT_FAILED;
        ++*count;
    }
    return 0;
}

/* ---- labelled pairs ---- */

enum { NO_LABEL = -1 };

/* Parses the current line. *label is that of the line before, where there is one: either all lines have a label or
 * none. */
static int parse_labelled(npgnn_pair *pair, int *label, const pairs_file *in, const npgnn_graph *graph, int is_first)
{
    const char *fields[MAX_FIELDS];
    int found = split_line(fields, in), has_label = found == 3;
    if (found != 2 && found != 3)
        return print_error("%s:%" PRId64 ": expected two node names and a label, found %s", in->name, in->line,
                           found < 2 ? "one field" : "more fields");
    if (has_label && strcmp(fields[2], "0") != 0 && strcmp(fields[2], "1") != 0)
        return print_error("%s:%" PRId64 ": the label must be 0 or 1, got '%.100s'", in->name, in->line, fields[2]);
    if (!is_first && (*label != NO_LABEL) != has_label)
        return print_error("%s:%" PRId64 ": this line has %s label, but the lines before have %s", in->name, in->line,
                           has_label ? "a" : "no", has_label ? "none" : "one");
    *label = has_label ? fields[2][0] == '1' : NO_LABEL;
    int code = find_node(&pair->u, in, graph, fields[0]);
    return code ? code : find_node(&pair->v, in, graph, fields[1]);
}

static int read_all(labelled_pairs *out, pairs_file *in, const npgnn_graph *graph)
{
    size_t capacity = 0;
    int label = NO_LABEL, more;
    while ((more = next_line(in)) > 0) {
        npgnn_pair pair = {0, 0};
        if (parse_labelled(&pair, &label, in, graph, out->count == 0) != 0)
            return EXIT_FAILED;
        if (out->count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            npgnn_pair *grown = realloc(out->pairs, capacity * sizeof *grown);
            if (!grown)
                return print_error("out of memory");
            out->pairs = grown;
        }
        out->pairs[out->count++] = pair;
        if (label != 0) { /* links stay in front: the link changes places with the first non-link */
            out->pairs[out->count - 1] = out->pairs[out->positives];
            out->pairs[out->positives++] = pair;
        }
    }
    if (more < 0)
        return EXIT_FAILED;
    if (out->positives == 0)
        return print_error("%s: no pair is labelled 1; the test needs at least one link", in->name);
    if (label != NO_LABEL && out->positives == out->count)
        return print_error(
            "%s: all pairs are labelled 1; add non-links, or remove the labels to have non-links sampled", in->name);
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
