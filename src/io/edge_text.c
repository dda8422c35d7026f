/* Lists of links as text, two node ids per line.
 *
 *   list = [header] {edge}
 *   edge = field {separator field}
 *
 * The first line determines the separator: tab, comma, semicolon or blanks. Blank lines and comments are skipped. The
 * first line is a header where
 *
 *   - its fields are well-known names, such as "source" and "target" or "user_id" and "item_id";
 *   - it has two words where the second line has two integers;
 *   - it has two words, and a word for the weight or the time where a later line has none; or
 *   - its two words are ids nowhere else, though ids recur, which is so of no other line (npi_edges_settle_header), and no
 *     number is beside them.
 *
 * All but the last of these are decided before the line is read as a link, by looking ahead at the next 64 KiB.
 *
 * The header says which columns the two ids, the weight and the time are in; without it they are the first two and the
 * third. The caller may choose columns and overrule all of this (npgnn_load_options).
 *
 * Refused: text that is no list of pairs (not_edges.c).
 *
 * Refused, or left out where the caller says so: lines without two ids, weights that are not positive and finite, times
 * that are neither a number nor a date. */
#define _POSIX_C_SOURCE 200809L
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

enum { ROLES = 4, MAX_COLUMNS = NPI_HEADER_COLUMNS }; /* columns that a header may name */

typedef struct reader {
    npi_edge_list *list;
    npi_lines lines;
    int64_t first;       /* the line of the header or the first link, 0: it has not been found */
    int header;          /* 1: it is the header */
    int column[ROLES];   /* by npi_role: source, target, weight, time; -1: there is none */
    int last;            /* the columns after this many are not read */
    int most, least;     /* columns of a row */
    int limit;           /* those of the first row, if others may have no more; 0: blanks separate, and rows differ */
    int64_t comma_line;  /* the first weight with a decimal comma, 0: none has one */
    int64_t point_line;  /* and with a decimal point */
    unsigned times;      /* TIME_*: what all times so far can be */
    double *month_first; /* (links) the times with the month first, while they can be either */
    size_t month_first_capacity;
} reader;

/* The first row, cut into its fields. */
typedef struct first_row {
    char *text;
    char *names[MAX_COLUMNS];
    int count;
} first_row;

/* Any row. */
typedef struct row {
    char *field[ROLES]; /* by npi_role, NULL where there is none */
    int columns;        /* up to the last one that is not empty */
    int has_ids;        /* 1: it has two ids */
    int is_words;       /* 1: it cannot be read because a weight or time is a word, as in a header */
    float weight;
    int decimals;   /* digits after the decimal comma of its weight, 0: it has none */
    int point;      /* 1: its weight has a decimal point */
    unsigned times; /* TIME_*: what its time can be, with its value as each: */
    double time[1 + NPI_DATE_ORDERS];
} row;

static const char *file_of(const reader *r)
{
    return npi_stream_name(r->lines.stream);
}

static int64_t line_of(const reader *r)
{
    return npi_stream_line_number(r->lines.stream);
}

/* ---- rows ---- */

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

/* Parses a weight. Between semicolons and tabs it may have a decimal comma. 1,234 alone may be a thousand: between tabs
 * it is E_FORMAT unless other weights show that commas are decimal. */
static int parse_weight(row *out, const reader *r, char *text, npgnn_error *err)
{
    char separator = r->lines.separator, given[48];
    snprintf(given, sizeof given, "%.40s", text);
    out->decimals = separator == ';' || separator == '\t' ? npi_number_take_decimal_comma(text, 1) : 0;
    if (out->decimals == 3 && separator == '\t' && !r->comma_line)
        return npi_stream_fail(r->lines.stream, err,
                               "weight '%s' may be one with a decimal comma, or a whole number with a separator of "
                               "thousands: write %s, or leave the comma out",
                               given, text);
    npi_number_result result = npi_number_parse_float(&out->weight, text);
    out->is_words = result == NPI_NUMBER_BAD && !npi_number_begins(text); /* which 1,234,567 is not */
    if (result != NPI_NUMBER_OK)
        return npi_stream_fail(r->lines.stream, err, "weight '%s' %s%s", given, npi_number_reason(result),
                               strchr(given, ',') ? ": write decimals with a point, and no separators of thousands"
                                                  : "");
    out->point = out->decimals == 0 && strchr(text, '.');
    if ((out->decimals > 0 && r->point_line) || (out->point && r->comma_line))
        return npi_stream_fail(r->lines.stream, err,
                               "weight '%s' has a decimal %s, but the one on line %lld a decimal %s", given,
                               out->point ? "point" : "comma", (long long)(out->point ? r->comma_line : r->point_line),
                               out->point ? "comma" : "point");
    return 0;
}

/* Cuts a line into the fields that have roles, and parses these. A line may have no more fields than the first, but for
 * empty ones at its end: a comma within a name or number makes one too many, and a list of neighbours has any number. */
static int parse_row(row *out, const reader *r, char *line, npgnn_error *err)
{
    npi_stream *stream = r->lines.stream;
    char *rest = line, *text;
    *out = (row){.weight = 1};
    for (int at = 0; (text = npi_text_cut_field(&rest, r->lines.separator)); at++) {
        for (int role = 0; role < ROLES && at < r->last; role++)
            if (r->column[role] == at)
                out->field[role] = text;
        if (*text || at < r->last)
            out->columns = at + 1;
    }
    if (r->limit > 0 && out->columns > r->limit)
        return npi_stream_fail(stream, err, "%d fields, but the first line has %d", out->columns, r->limit);
    const char *from = out->field[NPI_ROLE_SOURCE], *to = out->field[NPI_ROLE_TARGET];
    if (!from || !*from || !to || !*to)
        return npi_stream_fail(stream, err, "an edge needs two node ids%s",
                               line_of(r) == r->first && !to ? ", separated by a tab, a comma, a semicolon or blanks"
                                                             : "");
    out->has_ids = 1;
    int code = 0;
    if (out->field[NPI_ROLE_WEIGHT])
        code = parse_weight(out, r, out->field[NPI_ROLE_WEIGHT], err);
    else if (r->column[NPI_ROLE_WEIGHT] >= 0 && r->list->how->weight)
        code = npi_stream_fail(stream, err, "the weight is missing");
    if (code || r->column[NPI_ROLE_TIME] < 0)
        return code;
    const char *time = out->field[NPI_ROLE_TIME] ? out->field[NPI_ROLE_TIME] : "";
    out->times = parse_time(out->time, time);
    out->is_words = !out->times && !npi_number_begins(time);
    if (!out->times)
        return npi_stream_fail(stream, err, "time '%.40s' is neither a number nor a date such as 2024-03-31", time);
    if (!(out->times & r->times))
        return npi_stream_fail(stream, err, "time '%.40s' does not fit: those before it are %s", time,
                               times_text(r->times));
    return 0;
}

/* Keeps how the first weights write decimals. */
static void note_decimals(reader *r, const row *link)
{
    if (link->decimals > 0 && !r->comma_line) {
        r->comma_line = line_of(r);
        npi_log(&r->list->env, "%s:%lld: taking commas in weights for decimal points, as in %.40s", file_of(r),
                (long long)r->comma_line, link->field[NPI_ROLE_WEIGHT]);
    }
    if (link->point && !r->point_line)
        r->point_line = line_of(r);
}

/* Keeps what the times can be now that one is added, and its value with the month first. */
static int add_time(reader *r, const row *link, npgnn_error *err)
{
    npi_edge_list *list = r->list;
    size_t count = (size_t)list->count;
    unsigned before = r->times;
    r->times &= link->times;
    if ((before & TIME_EITHER) == TIME_EITHER && r->times == TIME_MDY && count > 0)
        memcpy(list->times, r->month_first, count * sizeof *list->times);
    if ((r->times & TIME_EITHER) != TIME_EITHER)
        return 0;
    int code = npi_grow(&list->env, &r->month_first, &r->month_first_capacity, count, sizeof *r->month_first, err);
    if (!code)
        r->month_first[count] = link->time[1 + NPI_DATE_MDY];
    return code;
}

static int add_row(reader *r, const row *link, npgnn_error *err)
{
    double time = 0;
    note_decimals(r, link);
    int code = link->times && r->list->how->time ? add_time(r, link, err) : 0;
    for (int kind = NPI_DATE_ORDERS; kind >= 0; kind--)
        if (link->times & r->times & 1u << kind)
            time = link->time[kind];
    return code ? code
                : npi_edges_add_ids(r->list, link->field[NPI_ROLE_SOURCE], link->field[NPI_ROLE_TARGET], link->weight,
                                    time, r->lines.stream, err);
}

static int read_row(reader *r, char *line, npgnn_error *err)
{
    row link;
    int code = parse_row(&link, r, line, err);
    r->most = link.columns > r->most ? link.columns : r->most;
    r->least = link.columns < r->least || r->least == 0 ? link.columns : r->least;
    return code ? code : add_row(r, &link, err);
}

/* ---- the header ---- */

/* A word alone that no id is likely to be. */
static int is_header_word(const char *field)
{
    static const char *const words[] = {"source", "src", "from", "u", "node1", "id1", "head", "citing", "target"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(field, words[i]) == 0)
            return 1;
    return 0;
}

/* The first column with a role other than the two ends, -1 where there is none. */
static int find_role(const reader *r, const first_row *first, npi_role role)
{
    for (int i = 0; i < first->count; i++)
        if (i != r->column[0] && i != r->column[1] && npi_header_has_role(first->names[i], role))
            return i;
    return -1;
}

/* Finds the columns that the caller has chosen, -1 for the others. *named is set where they are chosen by name. */
static int find_wanted(int *named, reader *r, const first_row *first, char *const *names, npgnn_error *err)
{
    static const char *const roles[ROLES] = {"source", "target", "weight", "time"};
    const npgnn_load_options *how = r->list->how;
    const char *wanted[ROLES] = {how->source, how->target, how->weight, how->time};
    for (int role = 0; role < ROLES; role++) {
        int at = r->column[role] = wanted[role] ? npi_header_find(wanted[role], names, first->count) : -1;
        if (wanted[role] && at < 0) {
            char list[400];
            npi_header_list(list, sizeof list, first->names, NULL, first->count, 8);
            return npi_fail_at(err, NPGNN_E_ARGUMENT, file_of(r), line_of(r),
                               "no column '%.60s' to take the %s from; the first line has %s", wanted[role],
                               roles[role], list);
        }
        *named |= wanted[role] && names && strcasecmp(names[at], wanted[role]) == 0;
    }
    return 0;
}

/* The column of the weights, where they are read and the caller has not chosen one: by its name or, of three columns, the
 * only one that is left. */
static int find_weight(reader *r, const first_row *first, npgnn_error *err)
{
    int *at = r->column, left = 3 - at[0] - at[1];
    if (!r->list->weighted || at[NPI_ROLE_WEIGHT] >= 0 || (!r->header && (at[0] > 1 || at[1] > 1)))
        return 0;
    if (!r->header) {
        at[NPI_ROLE_WEIGHT] = first->count > 2 ? 2 : -1;
        return 0;
    }
    at[NPI_ROLE_WEIGHT] = find_role(r, first, NPI_ROLE_WEIGHT);
    if (at[NPI_ROLE_WEIGHT] < 0 && first->count == 3 && !npi_header_has_role(first->names[left], NPI_ROLE_TIME) &&
        !npi_header_has_role(first->names[left], NPI_ROLE_ID))
        at[NPI_ROLE_WEIGHT] = left;
    if (at[NPI_ROLE_WEIGHT] >= 0 || first->count <= 2)
        return 0;
    char list[400];
    npi_header_list(list, sizeof list, first->names, NULL, first->count, 8);
    return npi_fail_at(err, NPGNN_E_ARGUMENT, file_of(r), line_of(r),
                       "no column is called weight: choose one of %s by --weight COLUMN", list);
}

/* Decides which columns are read, and whether the names in the first row show that it is a header. */
static int choose_columns(reader *r, const first_row *first, npgnn_error *err)
{
    const npgnn_load_options *how = r->list->how;
    int *at = r->column, known[2] = {0, 1}, named = 0;
    char *const *names = how->header == NPGNN_HEADER_NO ? NULL : first->names;
    int ends_found = names && npi_header_find_ends(&known[0], &known[1], names, first->count);
    /* pandas writes its index as a first column whose name is empty, which no id is */
    int has_index = names && first->count > 2 && !*first->names[0] && *first->names[1] && *first->names[2];
    if (has_index && !ends_found) {
        known[0] = 1;
        known[1] = 2;
    }
    int code = find_wanted(&named, r, first, names, err);
    if (code)
        return code;
    r->header = how->header == NPGNN_HEADER_YES ||
                (names && (named || ends_found || has_index || (first->count > 0 && is_header_word(names[0]))));
    /* an end that was not chosen is the well-known one, or else the first column that is free */
    for (int role = 0; role < 2; role++)
        if (at[role] < 0)
            at[role] = known[role] != at[1 - role] ? known[role] : known[1 - role];
    if (at[0] == at[1])
        return npi_fail_at(err, NPGNN_E_ARGUMENT, file_of(r), line_of(r),
                           "sources and targets cannot both be in column %d", at[0] + 1);
    r->limit = r->lines.separator != ' ' && first->count < MAX_COLUMNS ? first->count : 0;
    code = find_weight(r, first, err);
    for (int role = 0; role < ROLES; role++)
        r->last = at[role] >= r->last ? at[role] + 1 : r->last;
    return code;
}

/* Logs what a header says that has well-known names, or that the caller knows of. */
static int read_header(reader *r, const first_row *first, npgnn_error *err)
{
    npi_edge_list *list = r->list;
    const int *at = r->column;
    unsigned char ignored[MAX_COLUMNS];
    char text[400], more[160] = "";
    if (at[0] >= first->count || at[1] >= first->count)
        return npi_stream_fail(r->lines.stream, err, "the header has one column, but an edge needs two node ids");
    for (int role = 0; role < 2; role++)
        snprintf(list->ends[role], sizeof list->ends[role], "%s", first->names[at[role]]);
    if (at[NPI_ROLE_WEIGHT] >= 0)
        snprintf(more, sizeof more, ", weight '%.40s'", first->names[at[NPI_ROLE_WEIGHT]]);
    if (at[NPI_ROLE_TIME] >= 0)
        snprintf(more + strlen(more), sizeof more - strlen(more), ", time '%.40s'", first->names[at[NPI_ROLE_TIME]]);
    if (strcmp(first->names[at[0]], "source") != 0 || strcmp(first->names[at[1]], "target") != 0) /* which are clear */
        npi_log(&list->env, "%s: the first line is a header; links are from '%.40s' to '%.40s'%s", file_of(r),
                first->names[at[0]], first->names[at[1]], more);
    memset(ignored, 1, sizeof ignored);
    for (int role = 0; role < ROLES; role++)
        if (at[role] >= 0)
            ignored[at[role]] = 0;
    int count = npi_header_list(text, sizeof text, first->names, ignored, first->count, 5);
    if (count > 0)
        npi_log(&list->env, "%s: ignoring column%s %s", file_of(r), count == 1 ? "" : "s", text);
    return 0;
}

/* ---- the first row ---- */

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

static int count_integers(const row *link)
{
    return npi_edges_is_integer(link->field[NPI_ROLE_SOURCE]) + npi_edges_is_integer(link->field[NPI_ROLE_TARGET]);
}

/* Whether the rows that follow show that a first row of words is a header: the next two ids are integers or, where its
 * weight or time `is_words`, another row has none there. Negative: out of memory. */
static int numbers_follow(const reader *r, int is_words, npgnn_error *err)
{
    reader ahead = *r; /* at the rows that follow */
    size_t size;
    const unsigned char *bytes = npi_stream_look_ahead(&size, r->lines.stream);
    ahead.lines.stream = NULL;
    int found = 0, code = npi_stream_open_memory(&ahead.lines.stream, file_of(r), bytes, size, &r->list->env, err);
    while (code == 0) {
        row next = {.has_ids = 0};
        char *line;
        code = npi_lines_next_row(&line, &ahead.lines, err);
        if (code == 0 || ahead.lines.broken)
            break;
        code = code > 0 ? parse_row(&next, &ahead, line, NULL) : code;
        int skip = r->list->how->skip_bad_rows;
        if (next.has_ids && (!is_words || code == 0 || (!skip && !next.is_words))) {
            found = is_words || count_integers(&next) == 2;
            break;
        }
        if (code && !skip)
            break; /* the reading will end there */
        code = 0;
    }
    npi_stream_close(ahead.lines.stream);
    return code == NPGNN_E_MEMORY ? code : found;
}

/* The first row, whose names show no header: a header of two words, or else the first link. */
static int read_first_link(reader *r, const first_row *first, char *line, npgnn_error *err)
{
    npi_edge_list *list = r->list;
    row link;
    int code = parse_row(&link, r, line, err);
    int words = link.has_ids && count_integers(&link) == 0 && list->how->header == NPGNN_HEADER_AUTO;
    if (words && (code == 0 || link.is_words)) {
        npgnn_error why;
        int found = numbers_follow(r, link.is_words, &why);
        if (found < 0 && err)
            *err = why;
        if (found < 0)
            return found;
        if (found) {
            for (int role = 0; role < 2; role++)
                snprintf(list->ends[role], sizeof list->ends[role], "%s", link.field[role]);
            npi_log(&list->env, "%s: the first line is a header; links are from '%.40s' to '%.40s'", file_of(r),
                    list->ends[0], list->ends[1]);
            return 0;
        }
    }
    r->lines.broken = words && link.is_words; /* no other row has a number there: skipping all would leave nothing */
    code = code ? code : add_row(r, &link, err);
    /* blanks separate the lists of programs, which have no header; and a number beside the two words, such as a weight, is
     * no name of a column */
    list->maybe_header = code == 0 && words && r->lines.separator != ' ';
    for (int i = 0; i < first->count; i++)
        if (i != r->column[0] && i != r->column[1] && npi_number_begins(first->names[i]))
            list->maybe_header = 0;
    if (code == 0)
        r->most = r->least = link.columns;
    return code;
}

/* Cuts a line into its fields, at most MAX_COLUMNS. */
static int cut_first_row(first_row *first, const char *line, char separator, const npgnn_env *env, npgnn_error *err)
{
    char *rest = first->text = npi_strdup(env, line, err);
    if (!first->text)
        return NPGNN_E_MEMORY;
    for (char *field; first->count < MAX_COLUMNS && (field = npi_text_cut_field(&rest, separator)); first->count++)
        first->names[first->count] = field;
    return 0;
}

static int read_first_row(reader *r, char *line, npgnn_error *err)
{
    const npgnn_env *env = &r->list->env;
    first_row first = {.count = 0};
    *r = (reader){.list = r->list,
                  .lines = r->lines,
                  .first = line_of(r),
                  .times = TIME_ANY, /* no time has been read yet */
                  .month_first = r->month_first,
                  .month_first_capacity = r->month_first_capacity};
    if (r->lines.separator == ',' && is_blank_separated(line))
        return npi_stream_fail(
            r->lines.stream, err,
            "this line has blanks between fields and a number with a comma, or commas between fields: "
            "separate fields by tabs, or write decimals with a point");
    int code = cut_first_row(&first, line, r->lines.separator, env, err);
    if (code == 0)
        code = choose_columns(r, &first, err);
    if (code == 0)
        code = r->header ? read_header(r, &first, err) : read_first_link(r, &first, line, err);
    npi_free(env, first.text);
    return code;
}

/* ---- the file ---- */

int npi_edges_read_text(npi_edge_list *list, npi_stream *stream, npgnn_error *err)
{
    reader r = {.list = list, .lines = {.stream = stream}, .times = TIME_ANY};
    npgnn_error why = {0}; /* the caller may want no text, but the first bad row is logged with one */
    char *line;
    int found = 0, code = npi_not_edges_refuse(stream, list->how, &why);
    while (code == 0 && (code = npi_lines_next_row(&line, &r.lines, &why)) != 0) {
        if (code > 0)
            code = found ? read_row(&r, line, &why) : read_first_row(&r, line, &why);
        found |= code == 0;
        if (!found)
            r.lines.separator = 0; /* where this row is skipped, the next one is the first */
        if (!r.lines.broken)
            code = npi_skipped_add(&list->skipped, code, list->how, &why);
    }
    if (code == 0 && r.most > r.last && !r.header)
        npi_log(&list->env, "%s: ignoring the columns after %s%s", npi_stream_name(stream),
                r.last == 2   ? "the second"
                : r.last == 3 ? "the third"
                              : "those that were chosen",
                r.least < r.most ? "; lines have different numbers of them: if a line lists the neighbours of "
                                   "its first node, write one link per line"
                                 : "");
    if (code == 0 && r.times == TIME_EITHER)
        npi_log(&list->env, "%s: the times could have the day or the month first; taking the day",
                npi_stream_name(stream));
    npi_free(&list->env, r.month_first);
    if (code == 0)
        code = npi_not_edges_check_counts(list, stream, r.first, &why);
    if (code == 0)
        npi_edges_log_rows(list, npi_stream_name(stream));
    if (code && err)
        *err = why;
    return code;
}
