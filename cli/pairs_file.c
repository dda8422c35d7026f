/* Reads pairs of nodes, with or without labels, line by line. */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#include "pairs_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cancel.h"
#include "message.h"

#define WHITESPACE "\t, \r\n" /* that may surround a name */

int pairs_open(pairs_file *in, const char *path)
{
    int standard = strcmp(path, "-") == 0;
    memset(in, 0, sizeof *in);
    in->name = standard ? "standard input" : path;
    in->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    return in->fd >= 0 ? 0 : print_error("cannot read %s: %s", path, strerror(errno));
}

void pairs_close(pairs_file *in)
{
    free(in->buffer);
    if (in->fd > STDIN_FILENO)
        close(in->fd);
}

/* ---- lines ---- */

/* Cuts the next line out of the buffer. Returns 0 where the buffer has no whole line. */
static int take_line(pairs_file *in)
{
    size_t length = in->end - in->begin;
    char *start = in->buffer + in->begin, *newline = NULL;
    if (length > in->scanned)
        newline = memchr(start + in->scanned, '\n', length - in->scanned);
    in->scanned = length;
    if (!newline && !(in->ended && length > 0))
        return 0;
    if (newline)
        *newline = '\0';
    else
        start[length] = '\0'; /* the last line may end without one */
    in->begin = newline ? (size_t)(newline + 1 - in->buffer) : in->end;
    in->scanned = 0;
    in->text = start;
    in->line++;
    return 1;
}

/* Reads more into the buffer: what is there, waiting for at least one byte. Returns 0, -1 after printing why, or 1 where a signal
 * came, which asks to stop: the caller looks for it. */
static int read_more(pairs_file *in)
{
    enum { LEAST = 1 << 16 };
    if (in->begin > 0) {
        memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->begin = 0;
    }
    if (in->size - in->end < LEAST) { /* a long line doubles the buffer */
        size_t size = in->size < LEAST ? 2 * LEAST : 2 * in->size;
        char *grown = realloc(in->buffer, size + 1);
        if (!grown)
            return -print_error("out of memory");
        in->buffer = grown;
        in->size = size;
    }
    ssize_t got;
    do { /* a signal that does not ask to stop must not look like the end of the file */
        got = read(in->fd, in->buffer + in->end, in->size - in->end);
    } while (got < 0 && errno == EINTR && !cancel_signal());
    if (got < 0)
        return errno == EINTR ? 1 : -print_error("cannot read %s: %s", in->name, strerror(errno));
    in->end += (size_t)got;
    in->ended = got == 0;
    return 0;
}

/* Whether a read would return at once: true of files, and of pipes that have something. */
static int is_ready(const pairs_file *in)
{
    struct pollfd file = {.fd = in->fd, .events = POLLIN};
    return poll(&file, 1, 0) > 0;
}

/* A comment begins with # and a blank, or is # alone: #cats is the name of a node. */
static int is_comment(const char *line)
{
    size_t marks = strspn(line, "#");
    return marks > 0 && (!line[marks] || strchr(WHITESPACE, line[marks]));
}

/* Finds the next line that is neither empty nor a comment. With wait 0, only if that needs no waiting. Returns 1, 0 at the
 * end or where it would have to wait, or -1 after printing why. */
static int next_line(pairs_file *in, int wait)
{
    for (;;) {
        while (take_line(in))
            if (!is_comment(in->text) && in->text[strspn(in->text, WHITESPACE)])
                return 1;
        if (in->ended || (!wait && !is_ready(in)))
            return 0;
        int code = read_more(in);
        if (code)
            return code < 0 ? -1 : 0;
    }
}

/* ---- fields ---- */

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

enum { MAX_FIELDS = 5 };

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

/* The two nodes of a pair that can be a link. */
static int find_pair(npgnn_pair *pair, const pairs_file *in, const npgnn_graph *graph, const char *fields[])
{
    if (find_node(&pair->u, in, graph, fields[0]) != 0 || find_node(&pair->v, in, graph, fields[1]) != 0)
        return EXIT_FAILED;
    if (pair->u == pair->v)
        return print_error("%s:%" PRId64 ": '%.100s' is paired with itself", in->name, in->line, fields[0]);
    int side = npgnn_graph_side(graph, pair->u);
    if (side >= 0 && side == npgnn_graph_side(graph, pair->v))
        return print_error("%s:%" PRId64 ": '%.100s' and '%.100s' are on the same side of a two-sided graph", in->name,
                           in->line, fields[0], fields[1]);
    return 0;
}

/* ---- pairs ---- */

int pairs_read(npgnn_pair *pairs, size_t *count, pairs_file *in, const npgnn_graph *graph, size_t limit)
{
    *count = 0;
    while (*count < limit) {
        const char *fields[MAX_FIELDS];
        npgnn_pair *pair = &pairs[*count];
        int more = next_line(in, *count == 0);
        if (more <= 0)
            return more ? EXIT_FAILED : 0;
        int found = split_line(fields, in);
        if (found != 2)
            return print_error("%s:%" PRId64 ": expected two node names, found %s", in->name, in->line,
                               found < 2 ? "one" : "more");
        if (find_pair(pair, in, graph, fields) != 0)
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
    return find_pair(pair, in, graph, fields);
}

static int read_all(labelled_pairs *out, pairs_file *in, const npgnn_graph *graph)
{
    size_t capacity = 0;
    int label = NO_LABEL, more;
    while ((more = next_line(in, 1)) > 0) {
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

/* ---- scored pairs ---- */

static int parse_score(scored_line *line, const pairs_file *in, const npgnn_graph *graph)
{
    const char *fields[MAX_FIELDS];
    char *end;
    int found = split_line(fields, in);
    line->line = in->line;
    if (found != 4)
        return print_error("%s:%" PRId64 ": expected seed, two node names and score, found %s", in->name, in->line,
                           found < 4 ? "fewer fields" : "more fields");
    errno = 0;
    line->seed = strtoull(fields[0], &end, 10);
    if (errno != 0 || *end || fields[0][0] < '0' || fields[0][0] > '9') /* strtoull accepts a sign */
        return print_error("%s:%" PRId64 ": the seed must be a whole number, got '%.100s'", in->name, in->line,
                           fields[0]);
    if (find_node(&line->pair.u, in, graph, fields[1]) != 0 || find_node(&line->pair.v, in, graph, fields[2]) != 0)
        return EXIT_FAILED;
    line->score = strtod(fields[3], &end);
    if (*end || !isfinite(line->score))
        return print_error("%s:%" PRId64 ": the score must be a finite number, got '%.100s'", in->name, in->line,
                           fields[3]);
    return 0;
}

int pairs_read_scores(scored_line **lines, size_t *count, const char *path, const npgnn_graph *graph)
{
    pairs_file in;
    size_t capacity = 0;
    int status = 0, more = 0;
    *lines = NULL;
    *count = 0;
    if (pairs_open(&in, path) != 0)
        return EXIT_FAILED;
    while (status == 0 && (more = next_line(&in, 1)) > 0) {
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            scored_line *grown = realloc(*lines, capacity * sizeof *grown);
            if (!grown) {
                status = print_error("out of memory");
                break;
            }
            *lines = grown;
        }
        status = parse_score(&(*lines)[*count], &in, graph);
        *count += status == 0;
    }
    pairs_close(&in);
    return more < 0 ? EXIT_FAILED : status;
}
