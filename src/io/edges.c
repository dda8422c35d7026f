/* Edge lists: text with two node ids per line, or a Matrix Market file.
 *
 *   list = [header] {edge}
 *   edge = field {separator field}
 *
 * The first line determines the separator: tab, comma, semicolon or blanks. Blank lines and comments are skipped. The
 * first line is a header where
 *
 *   - its fields are well-known names, such as "source" and "target" or "user_id" and "item_id";
 *   - it has two words where the second line has two integers; or
 *   - its two words are ids nowhere else, though ids recur, which is so of no other line (npi_edges_settle_header), and no
 *     number is beside them.
 *
 * The header says which columns the two ids, the weight and the time are in; without it they are the first two and the
 * third. The caller may choose columns and overrule all of this (npgnn_load_options).
 *
 * Refused: text that is no list of pairs (not_edges.c).
 *
 * Refused, or left out where the caller says so: lines without two ids, weights that are not positive and finite, times
 * that are neither a number nor a date. Of Matrix Market, edges need a matrix in coordinate format, a square one unless
 * the graph has two sides; stored zeros are not edges. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/date.h"
#include "base/number.h"
#include "io/header.h"
#include "io/lines.h"
#include "io/not_edges.h"
#include "io/readers.h"
#include "io/text.h"

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

/* Turns one id into an index: that of its name, or the integer itself. */
static int resolve_id(int32_t *out, npi_edge_list *list, const char *id, npi_stream *stream, npgnn_error *err)
{
    if (list->names)
        return npi_names_add(out, list->names, id, strlen(id), err);
    is_plain_integer(out, id); /* npi_edges_add_ids has checked that it is one */
    if (*out > list->largest) {
        list->largest = *out;
        list->largest_line = npi_stream_line_number(stream);
    }
    return 0;
}

int npi_edges_add_ids(npi_edge_list *list, const char *from, const char *to, float weight, double time,
                      npi_stream *stream, npgnn_error *err)
{
    npgnn_pair edge = {0, 0};
    int32_t index;
    int code = 0;
    if (list->weighted && !(weight > 0 && isfinite(weight))) /* before the ids of this row become nodes */
        return npi_stream_fail(stream, err, "weight %g must be positive and finite", (double)weight);
    if (list->how->bipartite) {
        code = add_sides(&edge, list, from, to, err);
    } else {
        if (!list->names && !(is_plain_integer(&index, from) && is_plain_integer(&index, to))) {
            /* the first id that is not a plain integer: from now on all ids are names */
            list->name_line = npi_stream_line_number(stream);
            code = npi_edges_to_names(list, NULL, err);
        }
        if (code == 0)
            code = resolve_id(&edge.u, list, from, stream, err);
        if (code == 0)
            code = resolve_id(&edge.v, list, to, stream, err);
    }
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

/* ---- the header ---- */

typedef struct layout {
    char separator;      /* 0: no line was read yet */
    int column[4];       /* by npi_role: source, target, weight, time; -1: there is none */
    int first_words;     /* the only line so far has two words: it is a header if integers follow */
    int more_columns;    /* some line has columns after those that are read, */
    int last;            /* up to this one */
    int most, least;     /* fields of a line, where columns are not read */
    int header;          /* there is one */
    int fields;          /* of the first line; 0: blanks separate, and lines differ */
    int64_t comma_line;  /* the first weight with a decimal comma, 0: none has one */
    int64_t point_line;  /* and with a decimal point */
    char words[2][64];   /* the two words of the first line, where it may be a header */
    unsigned times;      /* TIME_*: what all times so far can be */
    double *month_first; /* (count) the times with the month first, while they can be either */
    size_t month_first_capacity;
    npgnn_error
        held; /* the first line has a word for its weight: an error, unless a number follows; code 0: it has not */
} layout;

enum { MAX_COLUMNS = NPI_HEADER_COLUMNS }; /* of an edge file that has a header */

/* The first line, cut into its fields. */
typedef struct first_line {
    char *text;
    char *names[MAX_COLUMNS];
    int count;
} first_line;

/* A word alone that no id is likely to be. */
static int is_header_word(const char *field)
{
    static const char *const words[] = {"source", "src", "from", "u", "node1", "id1", "head", "citing", "target"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(field, words[i]) == 0)
            return 1;
    return 0;
}

/* The first column with a role other than `but` two, -1 where there is none. */
static int find_role(const first_line *first, npi_role role, int but, int or_but)
{
    for (int i = 0; i < first->count; i++)
        if (i != but && i != or_but && npi_header_has_role(first->names[i], role))
            return i;
    return -1;
}

static void log_header(const npi_edge_list *list, const layout *columns, const first_line *first, const char *file)
{
    char more[160] = "";
    if (columns->column[NPI_ROLE_WEIGHT] >= 0)
        snprintf(more, sizeof more, ", weight '%.40s'", first->names[columns->column[NPI_ROLE_WEIGHT]]);
    if (columns->column[NPI_ROLE_TIME] >= 0)
        snprintf(more + strlen(more), sizeof more - strlen(more), ", time '%.40s'",
                 first->names[columns->column[NPI_ROLE_TIME]]);
    if (strcmp(first->names[columns->column[NPI_ROLE_SOURCE]], "source") == 0 &&
        strcmp(first->names[columns->column[NPI_ROLE_TARGET]], "target") == 0)
        return; /* nobody means anything else */
    npi_log(&list->env, "%s: the first line is a header; links are from '%.40s' to '%.40s'%s", file,
            first->names[columns->column[NPI_ROLE_SOURCE]], first->names[columns->column[NPI_ROLE_TARGET]], more);
}

/* Decides whether the first line is a header, and which columns are read. Returns 1 where it is one. */
static int detect_layout(npi_edge_list *list, layout *columns, const first_line *first, npi_stream *stream,
                         npgnn_error *err)
{
    static const char *const roles[] = {"source", "target", "weight", "time"};
    const npgnn_load_options *how = list->how;
    const char *wanted[] = {how->source, how->target, how->weight, how->time};
    int *at = columns->column, known[2] = {0, 1}, named = 0;
    char *const *names = how->header == NPGNN_HEADER_NO ? NULL : first->names;
    int ends_found = names && npi_header_find_ends(&known[0], &known[1], names, first->count);
    /* pandas writes its index as a first column whose name is empty, which no id is */
    int has_index = names && first->count > 2 && !*first->names[0] && *first->names[1] && *first->names[2];
    if (has_index && !ends_found) {
        known[0] = 1;
        known[1] = 2;
    }
    for (int role = 0; role < 4; role++) {
        at[role] = wanted[role] ? npi_header_find(wanted[role], names, first->count) : -1;
        if (wanted[role] && at[role] < 0) {
            char list_text[400];
            npi_header_list(list_text, sizeof list_text, first->names, NULL, first->count, 8);
            return npi_fail_at(err, NPGNN_E_ARGUMENT, npi_stream_name(stream), npi_stream_line_number(stream),
                               "no column '%.60s' to take the %s from; the first line has %s", wanted[role],
                               roles[role], list_text);
        }
        named |= wanted[role] && names && strcasecmp(names[at[role]], wanted[role]) == 0;
    }
    columns->header =
        how->header == NPGNN_HEADER_YES ||
        (names && (named || ends_found || has_index || (first->count > 0 && is_header_word(first->names[0]))));
    /* an end that was not chosen is the well-known one, or else the first column that is free */
    for (int role = 0; role < 2; role++)
        if (at[role] < 0)
            at[role] = known[role] != at[1 - role] ? known[role] : known[1 - role];
    if (at[0] == at[1])
        return npi_fail_at(err, NPGNN_E_ARGUMENT, npi_stream_name(stream), npi_stream_line_number(stream),
                           "sources and targets cannot both be in column %d", at[0] + 1);
    columns->fields = columns->separator != ' ' && first->count < MAX_COLUMNS ? first->count : 0;
    if (!columns->header) {
        if (list->weighted && at[NPI_ROLE_WEIGHT] < 0 && first->count > 2 && at[0] < 2 && at[1] < 2)
            at[NPI_ROLE_WEIGHT] = 2;
        return 0;
    }
    if (list->weighted && at[NPI_ROLE_WEIGHT] < 0)
        at[NPI_ROLE_WEIGHT] = find_role(first, NPI_ROLE_WEIGHT, at[0], at[1]);
    if (list->weighted && at[NPI_ROLE_WEIGHT] < 0 && first->count == 3) { /* the only column that is left */
        int left = 3 - at[0] - at[1];
        at[NPI_ROLE_WEIGHT] = npi_header_has_role(first->names[left], NPI_ROLE_TIME) ||
                                      npi_header_has_role(first->names[left], NPI_ROLE_ID)
                                  ? -1
                                  : left;
    }
    if (list->weighted && at[NPI_ROLE_WEIGHT] < 0 && first->count > 2) {
        char list_text[400];
        npi_header_list(list_text, sizeof list_text, first->names, NULL, first->count, 8);
        return npi_fail_at(err, NPGNN_E_ARGUMENT, npi_stream_name(stream), npi_stream_line_number(stream),
                           "no column is called weight: choose one of %s by --weight COLUMN", list_text);
    }
    for (int role = 0; role < 2 && at[role] < first->count; role++)
        snprintf(list->ends[role], sizeof list->ends[role], "%s", first->names[at[role]]);
    return 1;
}

/* Cuts a line into its fields, at most MAX_COLUMNS. */
static int cut_first_line(first_line *first, const char *line, char separator, const npgnn_env *env, npgnn_error *err)
{
    char *rest = first->text = npi_strdup(env, line, err);
    if (!first->text)
        return NPGNN_E_MEMORY;
    for (char *field; first->count < MAX_COLUMNS && (field = npi_text_cut_field(&rest, separator)); first->count++)
        first->names[first->count] = field;
    return 0;
}

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

/* ---- text ---- */

/* A time is a number, or a date as days since 1970, in one of the orders of npi_date_order. All times of a file are of
 * one kind. */
enum { TIME_NUMBER = 1, TIME_YMD = 2, TIME_DMY = 4, TIME_MDY = 8, TIME_EITHER = TIME_DMY | TIME_MDY, TIME_ANY = 15 };

/* What a text can be, with its value as each. */
static unsigned parse_time(double value[1 + NPI_DATE_ORDERS], const char *text)
{
    unsigned kinds = npi_number_parse_double(&value[0], text) == NPI_NUMBER_OK ? TIME_NUMBER : 0;
    for (int order = 0; order < NPI_DATE_ORDERS; order++)
        if (npi_date_parse(&value[1 + order], text, (npi_date_order)order))
            kinds |= (unsigned)TIME_YMD << order;
    return kinds;
}

static const char *times_text(unsigned kinds)
{
    return kinds & TIME_NUMBER                    ? "numbers"
           : kinds & TIME_YMD                     ? "dates with the year first"
           : (kinds & TIME_EITHER) == TIME_EITHER ? "dates with the year last"
           : kinds & TIME_DMY                     ? "dates with the day first"
                                                  : "dates with the month first";
}

/* Keeps what the times can be now that one of `kinds` is added, and its value with the month first. */
static int add_time(npi_edge_list *list, layout *columns, unsigned kinds, const double value[1 + NPI_DATE_ORDERS],
                    npgnn_error *err)
{
    size_t count = (size_t)list->count;
    unsigned before = columns->times;
    columns->times &= kinds;
    if ((before & TIME_EITHER) == TIME_EITHER && columns->times == TIME_MDY && count > 0)
        memcpy(list->times, columns->month_first, count * sizeof *list->times);
    if ((columns->times & TIME_EITHER) != TIME_EITHER)
        return 0;
    int code = npi_grow(&list->env, &columns->month_first, &columns->month_first_capacity, count,
                        sizeof *columns->month_first, err);
    if (!code)
        columns->month_first[count] = value[1 + NPI_DATE_MDY];
    return code;
}

/* The first line has turned out to be a header, whose names are columns->words. */
static void accept_header(npi_edge_list *list, const layout *columns, const npi_stream *stream)
{
    for (int role = 0; role < 2; role++)
        snprintf(list->ends[role], sizeof list->ends[role], "%s", columns->words[role]);
    npi_log(&list->env, "%s: the first line is a header; links are from '%.40s' to '%.40s'", npi_stream_name(stream),
            list->ends[0], list->ends[1]);
}

/* field (4) = the fields of a line by role, NULL where there is none. A line may have no more fields than the first,
 * but for empty ones at its end: a comma within a name or number makes one too many, and a list of neighbours has any
 * number. */
static int cut_row(char **field, layout *columns, char *line, npi_stream *stream, npgnn_error *err)
{
    char *rest = line, *text;
    int at = 0, wanted = 0, used;
    for (int role = 0; role < 4; role++)
        wanted = columns->column[role] >= wanted ? columns->column[role] + 1 : wanted;
    for (; at < wanted && (text = npi_text_cut_field(&rest, columns->separator)); at++)
        for (int role = 0; role < 4; role++)
            if (columns->column[role] == at)
                field[role] = text;
    for (used = at; (text = npi_text_cut_field(&rest, columns->separator)); at++) {
        columns->more_columns |= *text != '\0';
        used = *text ? at + 1 : used;
    }
    columns->last = wanted;
    columns->most = used > columns->most ? used : columns->most;
    columns->least = used < columns->least || columns->least == 0 ? used : columns->least;
    if (columns->fields == 0)
        return 0;
    return used > columns->fields
               ? npi_stream_fail(stream, err, "%d fields, but the first line has %d", used, columns->fields)
               : 0;
}

/* Parses a weight. Between semicolons and tabs it may have a decimal comma, with a note. 1,234 alone may be a thousand:
 * between tabs it is E_FORMAT unless other weights show that commas are decimal. *word is set where the text cannot be
 * meant to be a number. */
static int parse_weight(float *weight, int *word, char *text, npi_edge_list *list, layout *columns, npi_stream *stream,
                        npgnn_error *err)
{
    int64_t line = npi_stream_line_number(stream);
    char given[48];
    snprintf(given, sizeof given, "%.40s", text);
    int decimals = columns->separator == ';' || columns->separator == '\t' ? npi_number_take_decimal_comma(text, 1) : 0;
    if (decimals == 3 && columns->separator == '\t' && !columns->comma_line)
        return npi_stream_fail(stream, err,
                               "weight '%s' may be one with a decimal comma, or a whole number with a separator of "
                               "thousands: write %s, or leave the comma out",
                               given, text);
    int point = decimals == 0 && strchr(text, '.') != NULL;
    npi_number_result result = npi_number_parse_float(weight, text);
    *word = result == NPI_NUMBER_BAD && !npi_number_begins(text);
    if (result != NPI_NUMBER_OK)
        return npi_stream_fail(stream, err, "weight '%s' %s%s", given, npi_number_reason(result),
                               strchr(given, ',') ? ": write decimals with a point, and no separators of thousands"
                                                  : "");
    if ((decimals > 0 && columns->point_line) || (point && columns->comma_line))
        return npi_stream_fail(stream, err, "weight '%s' has a decimal %s, but the one on line %lld a decimal %s",
                               given, point ? "point" : "comma",
                               (long long)(point ? columns->comma_line : columns->point_line),
                               point ? "comma" : "point");
    if (decimals > 0 && !columns->comma_line) {
        columns->comma_line = line;
        npi_log(&list->env, "%s:%lld: taking commas in weights for decimal points, as in %.40s",
                npi_stream_name(stream), (long long)line, text);
    }
    if (point && !columns->point_line)
        columns->point_line = line;
    return 0;
}

/* Reads a line that is not the header. */
static int read_row(npi_edge_list *list, layout *columns, char *line, int first, npi_stream *stream, npgnn_error *err)
{
    char *field[4] = {NULL, NULL, NULL, NULL};
    float weight = 1;
    double time = 0, value[1 + NPI_DATE_ORDERS] = {0};
    unsigned kinds = 0;
    int32_t index;
    int code = cut_row(field, columns, line, stream, err), word = 0;
    if (code)
        return code;
    if (!field[0] || !*field[0] || !field[1] || !*field[1])
        return npi_stream_fail(stream, err, "an edge needs two node ids%s",
                               first && !field[1] ? ", separated by a tab, a comma, a semicolon or blanks" : "");

    int integers = is_plain_integer(&index, field[0]) + is_plain_integer(&index, field[1]);
    if (columns->first_words && integers == 2) {
        /* the first line has words and this one integers: the first line was a header, so drop what it added */
        npi_names_free(list->names);
        npi_names_free(list->targets);
        list->names = list->targets = NULL;
        list->name_line = 0;
        list->count = 0;
        list->maybe_header = 0;
        columns->times = TIME_ANY;
        accept_header(list, columns, stream);
    }
    columns->first_words = first && integers == 0 && list->how->header == NPGNN_HEADER_AUTO;
    if (columns->first_words) {
        list->maybe_header =
            columns->separator != ' '; /* blanks separate the lists of programs, which have no header */
        for (int role = 0; role < 2; role++)
            snprintf(columns->words[role], sizeof columns->words[role], "%s", field[role]);
    }

    /* a first line whose weight or time is a word, which 1,234,567 is not, is a header if numbers follow, and an error
     * if not */
    if (field[NPI_ROLE_WEIGHT]) {
        code = parse_weight(&weight, &word, field[NPI_ROLE_WEIGHT], list, columns, stream, err);
    } else if (columns->column[NPI_ROLE_WEIGHT] >= 0 && list->how->weight) {
        code = npi_stream_fail(stream, err, "the weight is missing");
    }
    if (code == 0 && columns->column[NPI_ROLE_TIME] >= 0) {
        const char *text = field[NPI_ROLE_TIME] ? field[NPI_ROLE_TIME] : "";
        kinds = parse_time(value, text);
        word = kinds == 0 && !npi_number_begins(text);
        if (kinds == 0)
            code = npi_stream_fail(stream, err, "time '%.40s' is neither a number nor a date such as 2024-03-31", text);
        else if (!(kinds & columns->times))
            code = npi_stream_fail(stream, err, "time '%.40s' does not fit: those before it are %s", text,
                                   times_text(columns->times));
        for (int kind = NPI_DATE_ORDERS; kind >= 0; kind--)
            if (kinds & columns->times & 1u << kind)
                time = value[kind];
    }
    if (code && columns->first_words && word) {
        columns->held = *err;
        columns->first_words = list->maybe_header = 0;
        return 0;
    }
    if (code)
        return code;
    if (columns->held.code) {
        columns->held.code = 0;
        accept_header(list, columns, stream);
    }
    if (kinds && list->how->time)
        code = add_time(list, columns, kinds, value, err);
    return code ? code : npi_edges_add_ids(list, field[0], field[1], weight, time, stream, err);
}

/* Whether the commas of a line, which would separate its fields, are decimal: "a b 1,5", which is three fields between
 * blanks. */
static int is_blank_separated(const char *line)
{
    int fields = 0, commas = 0;
    while (*line) {
        char field[64];
        line += strspn(line, " ");
        size_t length = strcspn(line, " ");
        snprintf(field, sizeof field, "%.*s", (int)(length < sizeof field ? length : 0), line);
        if (memchr(line, ',', length)) {
            if (fields < 2 || !npi_number_take_decimal_comma(field, 1))
                return 0;
            commas++;
        }
        fields += length > 0;
        line += length;
    }
    return commas > 0;
}

/* Reads the first line: the header, or else the first edge. */
static int read_first_line(npi_edge_list *list, layout *columns, char *line, npi_stream *stream, npgnn_error *err)
{
    first_line first = {.count = 0};
    columns->separator = npi_text_find_separator(line);
    if (columns->separator == ',' && is_blank_separated(line))
        return npi_stream_fail(
            stream, err,
            "this line has blanks between fields and a number with a comma, or commas between fields: "
            "separate fields by tabs, or write decimals with a point");
    int code = cut_first_line(&first, line, columns->separator, &list->env, err);
    if (code == 0)
        code = detect_layout(list, columns, &first, stream, err);
    if (code > 0) {
        unsigned char ignored[MAX_COLUMNS];
        char text[400];
        memset(ignored, 1, sizeof ignored);
        for (int role = 0; role < 4; role++)
            if (columns->column[role] >= 0)
                ignored[columns->column[role]] = 0;
        if (columns->column[0] >= first.count || columns->column[1] >= first.count) {
            code = npi_stream_fail(stream, err, "the header has one column, but an edge needs two node ids");
        } else {
            log_header(list, columns, &first, npi_stream_name(stream));
            int count = npi_header_list(text, sizeof text, first.names, ignored, first.count, 5);
            if (count > 0)
                npi_log(&list->env, "%s: ignoring column%s %s", npi_stream_name(stream), count == 1 ? "" : "s", text);
            code = 0;
        }
    } else if (code == 0) {
        code = read_row(list, columns, line, 1, stream, err);
        /* a number beside the two words, such as a weight, is no name of a column */
        for (int i = 0; i < first.count; i++)
            if (i != columns->column[0] && i != columns->column[1] && npi_number_begins(first.names[i]))
                list->maybe_header = 0;
    }
    npi_free(&list->env, first.text);
    return code;
}

static int read_lines(npi_edge_list *list, npi_stream *stream, npgnn_error *err)
{
    layout columns = {.times = TIME_ANY};
    npi_lines lines = {.stream = stream};
    int64_t first_number = 0;
    npgnn_error why = {0}; /* the caller may want no text, but the first bad row is logged with one */
    char *line;
    int code = npi_not_edges_refuse(stream, list->how, err);
    if (code)
        return code;
    while (code == 0 && (code = npi_lines_next_row(&line, &lines, &why)) != 0) {
        int is_first = columns.separator == 0;
        if (is_first)
            first_number = npi_stream_line_number(stream);
        if (code > 0)
            code = is_first ? read_first_line(list, &columns, line, stream, &why)
                            : read_row(list, &columns, line, 0, stream, &why);
        if (code == NPGNN_E_FORMAT && is_first) {
            lines.separator = 0;
            columns = (layout){.times = TIME_ANY, /* where it is skipped, the next line is the first */
                               .month_first = columns.month_first,
                               .month_first_capacity = columns.month_first_capacity};
        }
        if (!lines.broken)
            code = npi_skipped_add(&list->skipped, code, list->how, &why);
    }
    if (code == 0 && columns.held.code) {
        why = columns.held;
        code = why.code;
    }
    if (code && err)
        *err = why;
    if (code == 0 && columns.more_columns && !columns.header)
        npi_log(&list->env, "%s: ignoring the columns after %s%s", npi_stream_name(stream),
                columns.last == 2   ? "the second"
                : columns.last == 3 ? "the third"
                                    : "those that were chosen",
                columns.least < columns.most
                    ? "; lines have different numbers of them: if a line lists the neighbours of "
                      "its first node, write one link per line"
                    : "");
    if (code == 0 && columns.times == TIME_EITHER)
        npi_log(&list->env, "%s: the times could have the day or the month first; taking the day",
                npi_stream_name(stream));
    npi_free(&list->env, columns.month_first);
    if (code == 0)
        code = npi_not_edges_check_counts(list, stream, first_number, err);
    if (code == 0)
        npi_edges_log_rows(list, npi_stream_name(stream));
    return code;
}

/* ---- matrices ---- */

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

static int read_mtx(npi_edge_list *list, npi_stream *stream, npgnn_error *err)
{
    npi_mtx mtx;
    npi_triple entry;
    int64_t zeros = 0;
    int code = npi_mtx_read_header(&mtx, stream, err);
    if (code)
        return code;
    if (mtx.array)
        return npi_stream_fail(stream, err, "edges need a matrix in coordinate format");
    code = npi_edges_state_nodes(list, mtx.rows, mtx.cols, stream, err);
    if (code == 0 && mtx.symmetric && list->how->bipartite)
        code = npi_stream_fail(stream, err,
                               "a symmetric matrix has one kind of nodes: a two-sided graph needs a general one");
    if (code == 0)
        code = npi_table_check_size(stream, mtx.rows, list->how->bipartite ? mtx.cols : 0, mtx.entries, err);
    while (code == 0 && (code = npi_mtx_read_entry(&entry, &mtx, stream, err)) > 0) {
        npgnn_pair edge = {entry.row, entry.col};
        zeros += entry.val == 0;
        code = entry.val == 0 ? 0 : npi_edges_add_indices(list, edge, entry.val, stream, err);
    }
    if (zeros > 0)
        npi_log(&list->env, "%s: stored zeros are not links: %lld", npi_stream_name(stream), (long long)zeros);
    return code;
}

int npi_edges_read_text(npi_edge_list *list, npi_stream *stream, npgnn_error *err)
{
    return npi_mtx_detect(stream) ? read_mtx(list, stream, err) : read_lines(list, stream, err);
}
