/* A list of links under construction, of whatever format. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "io/readers.h"

/* ---- rows that are left out ---- */

int npi_skipped_add(npi_skipped *skipped, int code, const npgnn_load_options *how, npgnn_error *err)
{
    if (code != NPGNN_E_FORMAT || !how->skip_bad_rows)
        return code;
    if (skipped->count < NPI_SKIPPED_LINES)
        skipped->lines[skipped->count] = err ? err->line : 0;
    if (skipped->count++ == 0 && err)
        snprintf(skipped->first, sizeof skipped->first, "%.250s", npi_error_reason(err));
    return 0;
}

void npi_skipped_log(const npi_skipped *skipped, const char *one, const char *many, const char *file,
                     const npgnn_env *env)
{
    char lines[160] = "";
    int listed = skipped->count < NPI_SKIPPED_LINES ? (int)skipped->count : NPI_SKIPPED_LINES;
    if (skipped->count == 0)
        return;
    if (skipped->count == 1) {
        npi_log(env, "%s%s%.0lld: %s: %s", file, skipped->lines[0] > 0 ? ":" : "", (long long)skipped->lines[0], one,
                skipped->first);
        return;
    }
    for (int i = 0; i < listed && skipped->lines[0] > 0; i++)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s%lld", i ? ", " : " (lines ",
                 (long long)skipped->lines[i]);
    if (*lines)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), skipped->count > listed ? ", ...)" : ")");
    npi_log(env, "%s: %s: %lld%s; the first: %s", file, many, (long long)skipped->count, lines, skipped->first);
}

void npi_edges_log_rows(const npi_edge_list *list, const char *file)
{
    npi_skipped_log(&list->skipped, "skipped this row", "rows skipped", file, &list->env);
    if (list->skipped.count > list->count)
        npi_log(&list->env, "warning: %s: more rows were skipped than read; the first line decides the separator",
                file);
    if (list->missing_count > 0)
        npi_log(
            &list->env,
            "%s%s%.0lld: ids that look like missing values, such as '%s', are taken for nodes (%lld link%s); if they "
            "mean that there is no id, remove these rows",
            file, list->missing_line > 0 ? ":" : "", (long long)list->missing_line, list->missing_id,
            (long long)list->missing_count, list->missing_count == 1 ? "" : "s");
}

/* ---- the list ---- */

npi_edge_list npi_edges_start(const npgnn_env *env, const npgnn_load_options *how)
{
    static const npgnn_load_options defaults = {.size = sizeof defaults};
    how = how ? how : &defaults;
    return (npi_edge_list){.env = *env, .how = how, .weighted = how->weighted || how->weight, .largest = -1};
}

void npi_edges_describe(npi_graph_content *content, const npi_edge_list *list)
{
    content->edges = list->pairs;
    content->edge_count = list->count;
    content->weights = list->weights;
    content->times = list->times;
}

void npi_edges_free(npi_edge_list *list)
{
    npi_free(&list->env, list->pairs);
    npi_free(&list->env, list->weights);
    npi_free(&list->env, list->times);
    npi_names_free(list->names);
    npi_names_free(list->targets);
    memset(list, 0, sizeof *list);
}

/* Whether an id is a plain integer, which can be an index: no sign, no leading zeros, below INT32_MAX. */
static int is_plain_integer(int32_t *out, const char *id)
{
    int64_t value;
    if (id[0] < '0' || id[0] > '9' || (id[0] == '0' && id[1] != '\0'))
        return 0;
    if (!npi_number_parse_int(&value, id) || value >= INT32_MAX)
        return 0;
    *out = (int32_t)value;
    return 1;
}

int npi_edges_is_integer(const char *id)
{
    int32_t index;
    return is_plain_integer(&index, id);
}

int npi_edges_to_names(npi_edge_list *list, npi_names *names, npgnn_error *err)
{
    npi_names *old = list->names, *table = NULL;
    int code = names ? 0 : npi_names_new(&table, &list->env, err);
    if (names)
        table = npi_names_share(names);
    for (int64_t i = 0; code == 0 && i < 2 * list->count; i++) {
        npgnn_pair *pair = &list->pairs[i / 2];
        int32_t *id = i % 2 ? &pair->v : &pair->u;
        char number[12];
        const char *text = old ? npi_names_get(old, *id) : number;
        if (!old)
            snprintf(number, sizeof number, "%d", *id);
        code = npi_names_add(id, table, text, strlen(text), err);
    }
    if (code) {
        npi_names_free(table);
        return code;
    }
    npi_names_free(old);
    list->names = table;
    return 0;
}

int npi_edges_add(npi_edge_list *list, npgnn_pair edge, float weight, npi_stream *stream, npgnn_error *err)
{
    size_t count = (size_t)list->count;
    int code = npi_grow(&list->env, &list->pairs, &list->capacity, count, sizeof *list->pairs, err);
    if (code == 0 && list->weighted)
        code = npi_grow(&list->env, &list->weights, &list->weight_capacity, count, sizeof *list->weights, err);
    if (code)
        return code;
    if (list->weighted && !(weight > 0 && isfinite(weight)))
        return npi_stream_fail(stream, err, "weight %g must be positive and finite", (double)weight);
    if (list->weighted)
        list->weights[count] = weight;
    list->pairs[list->count++] = edge;
    list->other_weights |= weight != 1;
    return 0;
}

/* Two kinds of nodes: the same id on both sides is two nodes. */
static int add_sides(npgnn_pair *edge, npi_edge_list *list, const char *from, const char *to, npgnn_error *err)
{
    int code = list->names ? 0 : npi_names_new(&list->names, &list->env, err);
    if (code == 0 && !list->targets)
        code = npi_names_new(&list->targets, &list->env, err);
    if (code == 0)
        code = npi_names_add(&edge->u, list->names, from, strlen(from), err);
    if (code == 0)
        code = npi_names_add(&edge->v, list->targets, to, strlen(to), err);
    return code;
}

int npi_edges_add_indices(npi_edge_list *list, npgnn_pair edge, float weight, npi_stream *stream, npgnn_error *err)
{
    char from[12], to[12];
    int code = 0;
    if (list->how->bipartite) { /* row 7 and column 7 are two nodes */
        snprintf(from, sizeof from, "%d", edge.u);
        snprintf(to, sizeof to, "%d", edge.v);
        code = add_sides(&edge, list, from, to, err);
    }
    return code ? code : npi_edges_add(list, edge, weight, stream, err);
}

/* One kind of nodes. The first id that is not a plain integer turns all ids into names. */
static int add_ends(npgnn_pair *edge, npi_edge_list *list, const char *from, const char *to, npi_stream *stream,
                    npgnn_error *err)
{
    int code = 0;
    if (!list->names && is_plain_integer(&edge->u, from) && is_plain_integer(&edge->v, to)) {
        int32_t larger = edge->u > edge->v ? edge->u : edge->v;
        if (larger > list->largest) {
            list->largest = larger;
            list->largest_line = npi_stream_line_number(stream);
        }
        return 0;
    }
    if (!list->names) {
        list->name_line = npi_stream_line_number(stream);
        code = npi_edges_to_names(list, NULL, err);
    }
    if (code == 0)
        code = npi_names_add(&edge->u, list->names, from, strlen(from), err);
    return code ? code : npi_names_add(&edge->v, list->names, to, strlen(to), err);
}

int npi_edges_add_ids(npi_edge_list *list, const char *from, const char *to, float weight, double time,
                      npi_stream *stream, npgnn_error *err)
{
    npgnn_pair edge = {0, 0};
    if (list->weighted && !(weight > 0 && isfinite(weight))) /* before the ids of this row become nodes */
        return npi_stream_fail(stream, err, "weight %g must be positive and finite", (double)weight);
    int code =
        list->how->bipartite ? add_sides(&edge, list, from, to, err) : add_ends(&edge, list, from, to, stream, err);
    const char *missing = npi_cell_is_missing(from) ? from : npi_cell_is_missing(to) ? to : NULL;
    if (code == 0 && missing && list->missing_count++ == 0) {
        snprintf(list->missing_id, sizeof list->missing_id, "%s", missing);
        list->missing_line = npi_stream_line_number(stream);
    }
    if (code == 0 && list->how->time)
        code = npi_grow(&list->env, &list->times, &list->time_capacity, (size_t)list->count, sizeof *list->times, err);
    if (code == 0 && list->how->time)
        list->times[list->count] = time + 0.0; /* -0 is 0: the earliest of two times has one form */
    return code ? code : npi_edges_add(list, edge, weight, stream, err);
}

int npi_edges_state_nodes(npi_edge_list *list, int32_t rows, int32_t columns, const npi_stream *stream,
                          npgnn_error *err)
{
    list->nodes = rows;
    if (list->how->bipartite) {
        list->target_nodes = columns;
        snprintf(list->ends[0], sizeof list->ends[0], "row");
        snprintf(list->ends[1], sizeof list->ends[1], "column");
        return 0;
    }
    if (rows != columns)
        return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), npi_stream_line_number(stream),
                           "edges need a square matrix, got %d x %d; rows and columns can be two kinds of nodes "
                           "(--bipartite)",
                           rows, columns);
    return 0;
}

/* ---- the header of a list of words ---- */

/* Numbers the names of a two-sided graph anew, without those that no edge has. */
static int renumber_sides(npi_edge_list *list, npgnn_error *err)
{
    npi_names *old[2] = {list->names, list->targets}, *fresh[2] = {NULL, NULL};
    int code = npi_names_new(&fresh[0], &list->env, err);
    if (code == 0)
        code = npi_names_new(&fresh[1], &list->env, err);
    for (int64_t i = 0; code == 0 && i < 2 * list->count; i++) {
        npgnn_pair *pair = &list->pairs[i / 2];
        int32_t *id = i % 2 ? &pair->v : &pair->u;
        const char *text = npi_names_get(old[i % 2], *id);
        code = npi_names_add(id, fresh[i % 2], text, strlen(text), err);
    }
    for (int side = 0; side < 2; side++)
        npi_names_free(code ? fresh[side] : old[side]);
    if (code == 0) {
        list->names = fresh[0];
        list->targets = fresh[1];
    }
    return code;
}

/* *count = the links whose ends are in no other link, up to 2; 0 unless the first is one of them. */
static int count_alone(int32_t *count, const npi_edge_list *list, npgnn_error *err)
{
    int sides = list->how->bipartite;
    size_t names = (size_t)npi_names_count(list->names), targets = sides ? (size_t)npi_names_count(list->targets) : 0;
    unsigned char *seen = npi_alloc(&list->env, names + targets, 1, err); /* how often each id occurs, up to 2 */
    unsigned char *other = seen + (sides ? names : 0);
    if (!seen)
        return NPGNN_E_MEMORY;
    for (int64_t i = 0; i < list->count; i++) {
        unsigned char *ends[2] = {&seen[list->pairs[i].u], &other[list->pairs[i].v]};
        for (int end = 0; end < 2; end++)
            if (*ends[end] < 2)
                ++*ends[end];
    }
    *count = 0;
    for (int64_t i = 0; i < list->count && *count < 2; i++) {
        int alone = seen[list->pairs[i].u] == 1 && other[list->pairs[i].v] == 1;
        if (i == 0 && !alone)
            break;
        *count += alone;
    }
    npi_free(&list->env, seen);
    return 0;
}

int npi_edges_settle_header(npi_edge_list *list, const char *file, const npi_names *nodes[2], npgnn_error *err)
{
    if (!list->maybe_header || !list->names)
        return 0;
    int sides = list->how->bipartite;
    npgnn_pair first = list->pairs[0];
    int64_t others = list->count - 1;
    int64_t distinct = npi_names_count(list->names) + (sides ? npi_names_count(list->targets) : 0) - 2;
    list->maybe_header = 0;
    /* where ids hardly recur, that these two do not means nothing */
    if (others < 2 || 8 * others < 5 * distinct || (!sides && first.u == first.v))
        return 0;
    int32_t alone;
    int code = count_alone(&alone, list, err);
    if (code || alone != 1)
        return code;
    const char *words[2] = {npi_names_get(list->names, first.u),
                            npi_names_get(sides ? list->targets : list->names, first.v)};
    for (int i = 0; i < 2; i++)
        if (nodes[i] && npi_names_find(nodes[i], words[i], strlen(words[i])) >= 0)
            return 0;
    npi_log(&list->env,
            "%s: taking the first line, '%.40s' and '%.40s', for a header, because these words occur nowhere else",
            file, words[0], words[1]);
    for (int i = 0; i < 2; i++)
        snprintf(list->ends[i], sizeof list->ends[i], "%s", words[i]);
    list->count--;
    memmove(list->pairs, list->pairs + 1, (size_t)list->count * sizeof *list->pairs);
    if (list->weights)
        memmove(list->weights, list->weights + 1, (size_t)list->count * sizeof *list->weights);
    if (list->times)
        memmove(list->times, list->times + 1, (size_t)list->count * sizeof *list->times);
    /* numbers the names anew, without these two */
    return sides ? renumber_sides(list, err) : npi_edges_to_names(list, NULL, err);
}
