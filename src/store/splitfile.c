/* Split files (docs/use/formats.md): lines of four fields, separated by tabs, commas, semicolons or blanks.
 *
 *   file       = {comment | line}
 *   comment    = "# protocol: " name | "#" anything       (the protocol precedes the first line)
 *   line       = "set" "u" "v" "label"                    (an optional header)
 *              | "train" node node "1"                    (transductive and temporal)
 *              | "val-node" node "-" "-"                  (split by nodes; also "test-node")
 *              | "known" node node "1"                    (production: links of new nodes, known when predicting)
 *              | "val" node node label                    (also "test"; label 1: a link, 0: a non-link)
 *
 * Without a protocol the split is transductive. In a split by nodes the training links follow from the held-out
 * nodes. Refused: nodes that the graph does not have, labels that the graph contradicts, pairs that occur twice, and
 * leaks. */
#include "store/splitfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/pair.h"
#include "io/atomic.h"
#include "io/text.h"

static const char *const protocol_names[] = {"transductive",     "inductive",      "few-shot",
                                             "inductive-hidden", "production",     "temporal",
                                             "paper-inductive",  "paper-few-shot", "random-links"};
enum { PROTOCOLS = sizeof protocol_names / sizeof protocol_names[0] };
static const char *const set_names[2] = {"val", "test"};
static const char *const node_names[2] = {"val-node", "test-node"};

static int index_of(const char *word, const char *const words[], int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return -1;
}

/* ---- reading ---- */

typedef struct pair_list {
    npgnn_pair *items;
    size_t count, capacity;
} pair_list;

/* The line of a pair, to find pairs that occur twice. */
typedef struct place {
    uint64_t key;
    int64_t line;
} place;

typedef struct reader {
    npi_stream *stream;
    const npgnn_env *env;
    const npgnn_graph *graph;
    npgnn_protocol protocol;
    int rows; /* read so far */
    pair_list listed, positive[2], negative[2];
    unsigned char *role;
    place *places;
    size_t place_count, place_capacity;
} reader;

/* E_MISMATCH for a pair at the current line. */
static int mismatch(const reader *r, npgnn_error *err, const char *u, const char *v, const char *what)
{
    return npi_fail_at(err, NPGNN_E_MISMATCH, npi_stream_name(r->stream), npi_stream_line_number(r->stream),
                       "%.60s - %.60s %s", u, v, what);
}

static int find_node(int32_t *out, const reader *r, const char *name, npgnn_error *err)
{
    *out = npgnn_graph_find(r->graph, name);
    if (*out < 0)
        return npi_fail_at(err, NPGNN_E_MISMATCH, npi_stream_name(r->stream), npi_stream_line_number(r->stream),
                           "'%.60s' is not a node of the graph", name);
    return 0;
}

static int add_pair(reader *r, pair_list *list, npgnn_pair pair, npgnn_error *err)
{
    int code = npi_grow(r->env, &list->items, &list->capacity, list->count, sizeof *list->items, err);
    if (code == 0)
        code = npi_grow(r->env, &r->places, &r->place_capacity, r->place_count, sizeof *r->places, err);
    if (code)
        return code;
    uint64_t key = npi_pair_key(pair);
    place here = {key, npi_stream_line_number(r->stream)};
    list->items[list->count++] = npi_pair_from_key(key); /* u < v */
    r->places[r->place_count++] = here;
    return 0;
}

static int need_roles(reader *r, npgnn_error *err)
{
    if (!r->role)
        r->role = npi_alloc(r->env, (size_t)r->graph->n, 1, err); /* 0: training */
    return r->role ? 0 : NPGNN_E_MEMORY;
}

/* A line "untested NAME - -". */
static int read_untested(reader *r, char *field[4], npgnn_error *err)
{
    int32_t node;
    int code = find_node(&node, r, field[1], err);
    if (!code && r->protocol != NPGNN_TRANSDUCTIVE)
        return npi_stream_fail(r->stream, err, "untested nodes are for the protocol transductive");
    if (!code)
        code = need_roles(r, err);
    if (!code)
        r->role[node] = NPI_NODE_UNTESTED;
    return code;
}

/* A line "val-node NAME - -". */
static int read_node(reader *r, int set, char *field[4], npgnn_error *err)
{
    int32_t node;
    int code = find_node(&node, r, field[1], err);
    if (code)
        return code;
    if (!npi_protocol_hides_nodes(r->protocol))
        return npi_stream_fail(r->stream, err,
                               "held-out nodes need a line such as \"# protocol: inductive\" above them");
    if (r->role[node] != NPI_NODE_TRAIN)
        return npi_stream_fail(r->stream, err, "node '%.60s' is held out twice", field[1]);
    r->role[node] = set == NPGNN_SET_VAL ? NPI_NODE_VAL : NPI_NODE_TEST;
    return 0;
}

/* Whether the protocol allows lines with "train" or "known". */
static int check_listed(reader *r, int known, npgnn_error *err)
{
    if (known && r->protocol != NPGNN_PRODUCTION)
        return npi_stream_fail(r->stream, err, "known links need the line \"# protocol: production\" above them");
    if (!known && npi_protocol_hides_nodes(r->protocol))
        return npi_stream_fail(r->stream, err,
                               "a split by nodes must not list training links: they follow from the nodes");
    return 0;
}

/* A line "train U V 1", "known U V 1", "val U V LABEL" or "test U V LABEL"; set is -1 for the first two. */
static int read_pair(reader *r, int set, char *field[4], npgnn_error *err)
{
    npgnn_pair pair;
    int label = field[3][0] - '0';
    int code = find_node(&pair.u, r, field[1], err);
    if (code == 0)
        code = find_node(&pair.v, r, field[2], err);
    if (code)
        return code;
    if (strcmp(field[3], "0") != 0 && strcmp(field[3], "1") != 0)
        return npi_stream_fail(r->stream, err, "the label must be 0 or 1, got '%.20s'", field[3]);
    if (pair.u == pair.v)
        return npi_stream_fail(r->stream, err, "a node cannot be paired with itself");
    if (set < 0 && (code = check_listed(r, strcmp(field[0], "known") == 0, err)) != 0)
        return code;
    if (set < 0 && label == 0)
        return npi_stream_fail(r->stream, err, "a %s pair must have label 1",
                               r->protocol == NPGNN_PRODUCTION ? "known" : "training");
    int edge = npgnn_graph_has_edge(r->graph, pair.u, pair.v);
    if (label && !edge)
        return mismatch(r, err, field[1], field[2], "has label 1, but the graph has no such link");
    if (!label && edge)
        return mismatch(r, err, field[1], field[2], "has label 0, but it is a link of the graph");
    return add_pair(r, set < 0 ? &r->listed : label ? &r->positive[set] : &r->negative[set], pair, err);
}

static int read_row(reader *r, char *line, char separator, npgnn_error *err)
{
    char *field[4];
    for (int i = 0; i < 4; i++) {
        field[i] = npi_text_cut_field(&line, separator);
        if (!field[i])
            return npi_stream_fail(r->stream, err, "expected four fields: set, u, v, label");
    }
    if (r->rows++ == 0 && strcmp(field[0], "set") == 0)
        return 0; /* the header */
    int set = index_of(field[0], set_names, 2), nodes = index_of(field[0], node_names, 2);
    if (nodes >= 0)
        return read_node(r, nodes, field, err);
    if (strcmp(field[0], "untested") == 0)
        return read_untested(r, field, err);
    if (set < 0 && strcmp(field[0], "train") != 0 && strcmp(field[0], "known") != 0)
        return npi_stream_fail(r->stream, err,
                               "unknown set '%.40s': expected train, known, val, test, val-node, test-node or untested",
                               field[0]);
    return read_pair(r, set, field, err);
}

/* "# protocol: NAME" sets the protocol; other comments are ignored. */
static int read_comment(reader *r, char *line, npgnn_error *err)
{
    char *at = line + strspn(line, "# \t");
    if (strncmp(at, "protocol:", 9) != 0)
        return 0;
    at += 9;
    const char *name = npi_text_cut_field(&at, ' ');
    int protocol = name ? index_of(name, protocol_names, PROTOCOLS) : -1;
    if (protocol < 0)
        return npi_stream_fail(
            r->stream, err,
            "unknown protocol: expected transductive, inductive, few-shot, inductive-hidden, production, temporal, "
            "paper-inductive, paper-few-shot or random-links");
    if (r->rows > 0)
        return npi_stream_fail(r->stream, err, "the protocol must precede the first line of the split");
    r->protocol = (npgnn_protocol)protocol;
    return npi_protocol_hides_nodes(r->protocol) ? need_roles(r, err) : 0;
}

static int read_lines(reader *r, npgnn_error *err)
{
    char *line, separator = 0;
    int code = 0;
    while (code == 0 && (code = npi_stream_read_line(&line, r->stream, err)) > 0) {
        code = 0;
        if (line[0] == '#') {
            code = read_comment(r, line, err);
        } else if (!npi_text_is_skippable(line)) {
            separator = separator ? separator : npi_text_find_separator(line);
            code = read_row(r, line, separator, err);
        }
    }
    return code;
}

static int by_key(const void *a, const void *b)
{
    const place *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

static int check_places(reader *r, npgnn_error *err)
{
    if (r->place_count > 0)
        qsort(r->places, r->place_count, sizeof *r->places, by_key);
    for (size_t i = 1; i < r->place_count; i++)
        if (r->places[i].key == r->places[i - 1].key)
            return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(r->stream), r->places[i].line,
                               "the pair occurs twice: it is also on line %" PRId64, r->places[i - 1].line);
    return 0;
}

static int by_pair(const void *a, const void *b)
{
    uint64_t left = npi_pair_key(*(const npgnn_pair *)a), right = npi_pair_key(*(const npgnn_pair *)b);
    return (left > right) - (left < right);
}

/* Appends the non-links of each set to its links. */
static int join_sets(reader *r, npgnn_pair *pairs[2], size_t count[2], size_t positives[2], npgnn_error *err)
{
    for (int set = 0; set < 2; set++) {
        const pair_list *negative = &r->negative[set];
        positives[set] = r->positive[set].count;
        count[set] = positives[set] + negative->count;
        npgnn_pair *joined = npi_resize(r->env, r->positive[set].items, count[set], sizeof *joined, err);
        if (!joined)
            return NPGNN_E_MEMORY;
        r->positive[set].items = joined;
        if (negative->count > 0)
            memcpy(joined + positives[set], negative->items, negative->count * sizeof *joined);
    }
    for (int set = 0; set < 2; set++) {
        pairs[set] = r->positive[set].items;
        r->positive[set].items = NULL;
    }
    return 0;
}

/* Adds the name of the file to an error of npi_split_assemble. */
static int blame_file(const reader *r, int code, npgnn_error *err)
{
    npgnn_error inner;
    if (!err || code == NPGNN_E_MEMORY)
        return code;
    inner = *err;
    return npi_fail_at(err, code, npi_stream_name(r->stream), 0, "%.500s", inner.text);
}

static int assemble(npgnn_split **out, reader *r, npgnn_error *err)
{
    npgnn_pair *pairs[2];
    size_t count[2], positives[2];
    int64_t listed = (int64_t)(r->listed.count + r->positive[0].count + r->positive[1].count);
    int code = join_sets(r, pairs, count, positives, err);
    if (code)
        return code;
    if (r->listed.count > 0)
        qsort(r->listed.items, r->listed.count, sizeof *r->listed.items, by_pair);
    if (!npi_protocol_hides_nodes(r->protocol) && listed < r->graph->m)
        npi_log(r->env, "%s: links of the graph that are in no set: %" PRId64, npi_stream_name(r->stream),
                r->graph->m - listed);
    unsigned char *role = r->role;
    r->role = NULL; /* the split owns it now, as it does the pairs */
    code = npi_split_assemble(out, r->graph, r->protocol, r->listed.items, (int64_t)r->listed.count, role, pairs, count,
                              positives, r->env, err);
    return code ? blame_file(r, code, err) : 0;
}

int npi_split_read(npgnn_split **out, npi_stream *stream, const npgnn_graph *graph, npgnn_error *err)
{
    reader r = {.stream = stream, .env = npi_stream_env(stream), .graph = graph, .protocol = NPGNN_TRANSDUCTIVE};
    int code = read_lines(&r, err);
    if (code == 0)
        code = check_places(&r, err);
    if (code == 0)
        code = assemble(out, &r, err);
    npi_free(r.env, r.listed.items);
    for (int set = 0; set < 2; set++) {
        npi_free(r.env, r.positive[set].items);
        npi_free(r.env, r.negative[set].items);
    }
    npi_free(r.env, r.role);
    npi_free(r.env, r.places);
    return code;
}

int npgnn_split_load(npgnn_split **out, const npgnn_graph *graph, const char *path, const npgnn_env *env,
                     npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npi_stream *stream;
    int code = npi_stream_open(&stream, path, &resolved, err);
    if (code)
        return code;
    code = npi_split_read(out, stream, graph, err);
    npi_stream_close(stream);
    return code;
}

/* ---- writing ---- */

/* Names have no line breaks: check_names was there. */
static void write_node(FILE *file, const npgnn_graph *graph, int32_t node)
{
    char buffer[12];
    npi_text_write_field(file, npgnn_graph_name(graph, node, buffer), NULL);
}

static void write_pair(FILE *file, const npgnn_graph *graph, const char *set, npgnn_pair pair, int label)
{
    fprintf(file, "%s\t", set);
    write_node(file, graph, pair.u);
    putc('\t', file);
    write_node(file, graph, pair.v);
    fprintf(file, "\t%d\n", label);
}

/* Writes the links of a graph that has all nodes. `role` not NULL: only those with a held-out node. */
static void write_links(FILE *file, const npgnn_graph *links, const char *set, const npgnn_split *split,
                        const unsigned char *role)
{
    for (int32_t u = 0; u < links->n; u++) {
        const int32_t *neighbors;
        int64_t count = npgnn_graph_neighbors(&neighbors, links, u);
        for (int64_t i = 0; i < count; i++)
            if (neighbors[i] > u && (!role || role[u] != NPI_NODE_TRAIN || role[neighbors[i]] != NPI_NODE_TRAIN))
                write_pair(file, split->graph, set, (npgnn_pair){u, neighbors[i]}, 1);
    }
}

static void write_split(FILE *file, const npgnn_split *split)
{
    if (split->protocol != NPGNN_TRANSDUCTIVE)
        fprintf(file, "# protocol: %s\n", protocol_names[split->protocol]);
    fputs("set\tu\tv\tlabel\n", file);
    /* a split by nodes lists its held-out nodes, from which the training links follow */
    if (!split->role)
        write_links(file, split->train, "train", split, NULL);
    for (int32_t i = 0; i < split->graph->n; i++) {
        const char *set = split->role && split->role[i] != NPI_NODE_TRAIN ? node_names[split->role[i] == NPI_NODE_TEST]
                          : split->protocol == NPGNN_TRANSDUCTIVE && npi_split_is_set_aside(split, i) ? "untested"
                                                                                                      : NULL;
        if (!set)
            continue;
        fprintf(file, "%s\t", set);
        write_node(file, split->graph, i);
        fputs("\t-\t-\n", file);
    }
    /* links that are known when predicting and not in training have a held-out node */
    if (split->protocol == NPGNN_PRODUCTION)
        write_links(file, split->known, "known", split, split->role);
    for (int set = 0; set < 2; set++)
        for (size_t i = 0; i < split->count[set]; i++)
            write_pair(file, split->graph, set_names[set], split->pairs[set][i], i < split->positives[set]);
}

/* E_ARGUMENT where a name would not be read back as one field. */
static int check_names(const npgnn_graph *graph, npgnn_error *err)
{
    char buffer[12];
    for (int32_t i = 0; graph->names && i < graph->n; i++) {
        const char *name = npgnn_graph_name(graph, i, buffer);
        if (name[strcspn(name, "\n\r")] != '\0')
            return npi_fail(err, NPGNN_E_ARGUMENT,
                            "node name '%.60s' has a line break and cannot be written to a split file", name);
    }
    return 0;
}

int npgnn_split_save(const npgnn_split *split, const char *path, npgnn_error *err)
{
    npi_atomic out;
    int code = check_names(split->graph, err);
    if (code)
        return code;
    if (npi_atomic_open(&out, path))
        return npi_fail_errno(err, "write", path);
    write_split(out.file, split);
    if (ferror(out.file)) {
        code = npi_fail_errno(err, "write", path);
        npi_atomic_abort(&out);
        return code;
    }
    return npi_atomic_commit(&out) ? npi_fail_errno(err, "write", path) : 0;
}
