/* Reads pairs of nodes, with or without labels, line by line. */
#include "pairs_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cancel.h"
#include "message.h"

int pairs_open(pairs_file *in, const char *path)
{
    const npgnn_env env = {.size = sizeof env, .threads = 1, .stop = cancel_flag()};
    npgnn_error err;
    *in = (pairs_file){.name = strcmp(path, "-") == 0 ? "standard input" : path};
    return npgnn_lines_open(&in->lines, path, 0, &env, &err) == 0 ? 0 : print_error("%s", err.text);
}

void pairs_close(pairs_file *in)
{
    npgnn_lines_free(in->lines);
}

/* ---- lines that cannot be used ---- */

enum { LINE_SKIPPED = -1 };

/* Returns LINE_SKIPPED, or EXIT_FAILED after printing what is wrong with the current line. */
static int refuse_line(pairs_file *in, const char *format, ...) CLI_PRINTF(2, 3);
static int refuse_line(pairs_file *in, const char *format, ...)
{
    char why[sizeof in->why];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (!in->skip)
        return print_error("%s:%" PRId64 ": %s", in->name, in->line, why);
    if (in->skipped++ == 0) {
        in->first_skipped = in->line;
        memcpy(in->why, why, sizeof why);
    }
    return LINE_SKIPPED;
}

void pairs_note_skipped(const pairs_file *in)
{
    if (in->skipped == 1)
        print_note("%s:%" PRId64 ": skipped this line: %s", in->name, in->first_skipped, in->why);
    else if (in->skipped > 1)
        print_note("%s: lines skipped: %" PRId64 "; the first is line %" PRId64 ": %s", in->name, in->skipped,
                   in->first_skipped, in->why);
}

/* ---- lines ---- */

/* Reads the next line. With wait 0, only if that needs no waiting. Returns 1, 0 at the end, where it would have to wait and
 * where a signal asks to stop, for which the caller looks, or -1 after printing why. */
static int next_line(pairs_file *in, int wait)
{
    npgnn_error err;
    int code = npgnn_lines_next(&in->fields, &in->count, in->lines, wait, &err);
    in->line = npgnn_lines_number(in->lines);
    in->ended = code == 0;
    if (code < 0 && !cancel_signal())
        return -print_error("%s", err.text);
    return code == 1;
}

static int find_node(int32_t *node, pairs_file *in, const npgnn_graph *graph, const char *name)
{
    *node = npgnn_graph_find(graph, name);
    return *node >= 0 ? 0 : refuse_line(in, "unknown node '%.100s'", name);
}

/* The two nodes of a pair that can be a link. */
static int find_pair(npgnn_pair *pair, pairs_file *in, const npgnn_graph *graph)
{
    const char *const *fields = in->fields;
    if (in->line == 1 && npgnn_graph_find(graph, fields[0]) < 0 && npgnn_graph_find(graph, fields[1]) < 0)
        return refuse_line(in, "unknown nodes '%.60s' and '%.60s'; if this line is a header, remove it", fields[0],
                           fields[1]);
    int status = find_node(&pair->u, in, graph, fields[0]);
    if (status == 0)
        status = find_node(&pair->v, in, graph, fields[1]);
    if (status)
        return status;
    if (pair->u == pair->v)
        return refuse_line(in, "'%.100s' is paired with itself", fields[0]);
    int side = npgnn_graph_side(graph, pair->u);
    if (side >= 0 && side == npgnn_graph_side(graph, pair->v))
        return refuse_line(in, "'%.100s' and '%.100s' are on the same side of a two-sided graph", fields[0], fields[1]);
    return 0;
}

/* ---- pairs ---- */

int pairs_read(npgnn_pair *pairs, size_t *count, pairs_file *in, const npgnn_graph *graph, size_t limit)
{
    *count = 0;
    while (*count < limit) {
        int more = next_line(in, *count == 0);
        if (more <= 0)
            return more ? EXIT_FAILED : 0;
        int status = in->count == 2
                         ? find_pair(&pairs[*count], in, graph)
                         : refuse_line(in, "expected two node names, found %s",
                                       in->count < 2 ? "one" : "more: a name with a separator must be in quotes");
        if (status == 0)
            ++*count;
        else if (status != LINE_SKIPPED)
            return EXIT_FAILED;
    }
    return 0;
}

/* ---- labelled pairs ---- */

enum { NO_LABEL = -1 };

/* Parses the current line. *label is that of the line before, where there is one: either all lines have a label or
 * none. */
static int parse_labelled(npgnn_pair *pair, int *label, pairs_file *in, const npgnn_graph *graph, int is_first)
{
    int has_label = in->count == 3;
    const char *text = has_label ? in->fields[2] : "";
    if (in->count != 2 && in->count != 3)
        return refuse_line(in, "expected two node names and a label, found %s",
                           in->count < 2 ? "one field" : "more fields");
    if (has_label && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return refuse_line(in, "the label must be 0 or 1, got '%.100s'%s", text,
                           in->line == 1 ? "; if this line is a header, remove it" : "");
    if (!is_first && (*label != NO_LABEL) != has_label)
        return refuse_line(in, "this line has %s label, but the lines before have %s", has_label ? "a" : "no",
                           has_label ? "none" : "one");
    int status = find_pair(pair, in, graph);
    if (status == 0)
        *label = has_label ? *text == '1' : NO_LABEL;
    return status;
}

/* A pair, with the smaller node first, its label and its line. */
typedef struct checked_pair {
    npgnn_pair pair;
    int is_link;
    int64_t line;
} checked_pair;

static int by_pair_and_line(const void *a, const void *b)
{
    const checked_pair *p = a, *q = b;
    if (p->pair.u != q->pair.u)
        return p->pair.u < q->pair.u ? -1 : 1;
    if (p->pair.v != q->pair.v)
        return p->pair.v < q->pair.v ? -1 : 1;
    return (p->line > q->line) - (p->line < q->line);
}

/* Refuses pairs that have both labels. Warns of those that are given more than once. */
static int check_repeats(const labelled_pairs *pairs, const pairs_file *in, const npgnn_graph *graph, int quiet)
{
    checked_pair *all = calloc(pairs->count, sizeof *all);
    const checked_pair *repeated = NULL;
    int64_t repeats = 0;
    char u[12], v[12];
    int status = all ? 0 : print_error("out of memory");
    for (size_t i = 0; all && i < pairs->count; i++) {
        npgnn_pair pair = pairs->pairs[i];
        all[i] = (checked_pair){pair.u < pair.v ? pair : (npgnn_pair){pair.v, pair.u}, i < pairs->positives,
                                pairs->lines[i]};
    }
    if (all)
        qsort(all, pairs->count, sizeof *all, by_pair_and_line);
    for (size_t i = 1; status == 0 && i < pairs->count; i++) {
        const checked_pair *before = &all[i - 1], *now = &all[i];
        if (before->pair.u != now->pair.u || before->pair.v != now->pair.v)
            continue;
        if (before->is_link != now->is_link)
            status = print_error("%s:%" PRId64 ": '%.100s' and '%.100s' are labelled %d here, but %d on line %" PRId64,
                                 in->name, now->line, npgnn_graph_name(graph, now->pair.u, u),
                                 npgnn_graph_name(graph, now->pair.v, v), now->is_link, before->is_link, before->line);
        repeats++;
        if (!repeated || now->line < repeated->line)
            repeated = now;
    }
    if (status == 0 && repeats > 0 && !quiet)
        print_warning("%s:%" PRId64
                      ": '%.100s' and '%.100s' were given before; repeated pairs, which count again: %" PRId64,
                      in->name, repeated->line, npgnn_graph_name(graph, repeated->pair.u, u),
                      npgnn_graph_name(graph, repeated->pair.v, v), repeats);
    free(all);
    return status;
}

/* Makes memory for one more pair. */
static int grow_labelled(labelled_pairs *out, size_t *capacity)
{
    if (out->count < *capacity)
        return 0;
    *capacity = *capacity ? 2 * *capacity : 1024;
    npgnn_pair *pairs = realloc(out->pairs, *capacity * sizeof *pairs);
    if (pairs)
        out->pairs = pairs;
    int64_t *lines = realloc(out->lines, *capacity * sizeof *lines);
    if (lines)
        out->lines = lines;
    return pairs && lines ? 0 : print_error("out of memory");
}

static int read_all(labelled_pairs *out, pairs_file *in, const npgnn_graph *graph, int quiet)
{
    size_t capacity = 0;
    int label = NO_LABEL, more;
    while ((more = next_line(in, 1)) > 0) {
        npgnn_pair pair = {0, 0};
        int status = parse_labelled(&pair, &label, in, graph, out->count == 0);
        if (status == LINE_SKIPPED)
            continue;
        if (status != 0 || grow_labelled(out, &capacity) != 0)
            return EXIT_FAILED;
        size_t at = out->count++;
        if (label != 0) { /* links stay in front: the link changes places with the first non-link */
            out->pairs[at] = out->pairs[out->positives];
            out->lines[at] = out->lines[out->positives];
            at = out->positives++;
        }
        out->pairs[at] = pair;
        out->lines[at] = in->line;
    }
    if (more < 0)
        return EXIT_FAILED;
    if (!quiet)
        pairs_note_skipped(in);
    if (out->positives == 0)
        return print_error("%s: no pair is labelled 1; the test needs at least one link", in->name);
    if (label != NO_LABEL && out->positives == out->count)
        return print_error(
            "%s: all pairs are labelled 1; add non-links, or remove the labels to have non-links sampled", in->name);
    return check_repeats(out, in, graph, quiet);
}

int pairs_read_labelled(labelled_pairs *out, const char *path, const npgnn_graph *graph, int skip, int quiet)
{
    pairs_file in;
    if (pairs_open(&in, path) != 0)
        return EXIT_FAILED;
    in.skip = skip;
    int status = read_all(out, &in, graph, quiet);
    pairs_close(&in);
    return status;
}

/* ---- scored pairs ---- */

static int parse_score(scored_line *line, pairs_file *in, const npgnn_graph *graph)
{
    const char *const *fields = in->fields;
    char *end;
    line->line = in->line;
    if (in->count != 4)
        return print_error("%s:%" PRId64 ": expected seed, two node names and score, found %s", in->name, in->line,
                           in->count < 4 ? "fewer fields" : "more fields");
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
