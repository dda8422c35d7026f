/* Recognises text that is no list of pairs by its first 64 KiB, where a reader of pairs would see links that nobody
 * meant:
 *
 *   triples    a knows b       "knows" would be a node. Its column has few values, which are in no other column, and
 *                              those of the third are also in the first.
 *   matrix     0 1 1           would be links between two nodes. It has as many columns as lines, and is of 0 and 1, or
 *              1 0 0           symmetric, or has zeros on its diagonal, or the same names beside and above it.
 *              1 0 0
 *   METIS      3 2             would be a link from 3 to 2. Line i lists the neighbours of node i: node j is on line i
 *              2 3             where i is on line j, and no node on its own line.
 *              1
 *              1
 *   neighbours 1: 2 3          "1:" would be a node. All lines begin with a word that ends in a colon.
 *              2: 1
 *   others     by their first line
 *
 * Real lists come near: "user group user", "17 fruit 5" and "0 1 1" are links with more columns. So each rule needs
 * evidence that such lists do not have. */
#include "io/not_edges.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "io/header.h"
#include "io/text.h"

enum { PEEKED = 65536 }; /* bytes that npi_stream_peek shows of a longer file */

#define PAIRS_ANYWAY "; if its lines are links after all, choose their columns: --source 1 --target 2"

typedef struct sample_row {
    size_t first; /* its first cell */
    int count;    /* 0: a blank line */
    int64_t line;
} sample_row;

/* The first lines of the file, cut into cells. Comments are left out. */
typedef struct sample {
    const npgnn_env *env;
    const char *file;
    char *text;
    char **cells;
    sample_row *rows;
    size_t cell_count, cell_capacity, row_count, row_capacity;
    char separator;
    int whole;       /* the file has no other lines */
    int64_t heading; /* the line that another format begins with, 0: there is none */
    const char *format, *advice;
} sample;

static const char *cell(const sample *s, size_t row, int column)
{
    return s->cells[s->rows[row].first + (size_t)column];
}

static void sample_free(sample *s)
{
    npi_free(s->env, s->text);
    npi_free(s->env, s->cells);
    npi_free(s->env, s->rows);
}

/* ---- formats that their first line tells ---- */

static int ends_with(const char *line, const char *ending)
{
    size_t length = strlen(line), wanted = strlen(ending);
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    return length >= wanted && memcmp(line + length - wanted, ending, wanted) == 0;
}

/* Whether the first line with content is that of another format: sets its name and how to convert it. */
static int is_heading(sample *s, const char *line)
{
    static const struct {
        const char *begin, *end, *format, *advice;
    } headings[] = {
        {"<", ".", "a file of RDF triples (N-Triples)",
         "write the subject and the object of one relation per line: grep RELATION FILE | cut -d ' ' -f 1,3"},
        {"_:", ".", "a file of RDF triples (N-Triples)",
         "write the subject and the object of one relation per line: grep RELATION FILE | cut -d ' ' -f 1,3"},
        {"@prefix ", ".", "a file of RDF triples (Turtle)",
         "rapper -i turtle -o ntriples FILE; then write the subject and the object of one relation per line"},
        {"*vertices ", "", "a Pajek file",
         "in Python: import networkx; networkx.write_graphml(networkx.Graph(networkx.read_pajek('FILE')), "
         "'FILE.graphml')"},
        {"graph [", "", "a GML file",
         "in Python: import networkx; networkx.write_graphml(networkx.read_gml('FILE'), 'FILE.graphml')"},
        {"graph ", "{", "a file of Graphviz", "write one link per line"},
        {"digraph ", "{", "a file of Graphviz", "write one link per line"},
        {"p edge ", "", "a DIMACS file", "awk '$1 == \"e\" { print $2, $3 }' FILE"},
        {"p col ", "", "a DIMACS file", "awk '$1 == \"e\" { print $2, $3 }' FILE"},
        {"p sp ", "", "a DIMACS file", "awk '$1 == \"a\" { print $2, $3, $4 }' FILE"},
        {"dl n=", "", "a UCINET file", "write one link per line"},
        {"dl n =", "", "a UCINET file", "write one link per line"},
    };
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        if (strncasecmp(line, headings[i].begin, strlen(headings[i].begin)) == 0 && ends_with(line, headings[i].end)) {
            s->format = headings[i].format;
            s->advice = headings[i].advice;
            return 1;
        }
    return 0;
}

/* ---- the sample ---- */

static int add_row(sample *s, char *line, int64_t number, npgnn_error *err)
{
    sample_row row = {.first = s->cell_count, .line = number};
    int code = npi_grow(s->env, &s->rows, &s->row_capacity, s->row_count, sizeof *s->rows, err);
    char *rest = line[strspn(line, " \t")] ? line : NULL;
    for (char *field; code == 0 && rest && (field = npi_text_cut_field(&rest, s->separator)); row.count++) {
        code = npi_grow(s->env, &s->cells, &s->cell_capacity, s->cell_count, sizeof *s->cells, err);
        if (code == 0)
            s->cells[s->cell_count++] = field;
    }
    if (code == 0)
        s->rows[s->row_count++] = row;
    return code;
}

static int take_sample(sample *s, const npi_stream *stream, npgnn_error *err)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t size;
    const unsigned char *bytes = npi_stream_peek(&size, stream);
    *s = (sample){.env = npi_stream_env(stream), .file = npi_stream_name(stream), .whole = size < PEEKED};
    s->text = npi_alloc(s->env, size + 1, 1, err);
    if (!s->text)
        return NPGNN_E_MEMORY;
    memcpy(s->text, bytes, size);
    int code = 0, heading_may_follow = 1;
    char *line = s->text + (strncmp(s->text, mark, strlen(mark)) == 0 ? strlen(mark) : 0);
    for (int64_t number = 1; code == 0 && *line && s->heading == 0; number++) {
        size_t length = strcspn(line, "\r\n");
        char *next = line + length + (line[length] != '\0') + (line[length] == '\r' && line[length + 1] == '\n');
        if (line[length] == '\0' && !s->whole && s->row_count > 0)
            break; /* this line is cut; one that fills the sample is evidence all the same */
        line[length] = '\0';
        int blank = line[strspn(line, " \t")] == '\0', first = s->separator == 0;
        if (blank ? !first : !npi_text_is_skippable(line)) {
            if (heading_may_follow && is_heading(s, line))
                s->heading = number;
            heading_may_follow &= line[0] == 'c' && (line[1] == ' ' || line[1] == '\0'); /* a comment of DIMACS */
            if (first)
                s->separator = npi_text_find_separator(line);
            code = add_row(s, line, number, err);
            if (code == 0 && next == line + length && !s->whole)
                s->rows[0].count--; /* its last cell may be cut */
        }
        line = next;
    }
    while (code == 0 && s->row_count > 0 && s->rows[s->row_count - 1].count == 0)
        s->row_count--;
    return code;
}

static int is_number(const char *text)
{
    double value;
    return npi_number_parse_double(&value, text) == NPI_NUMBER_OK;
}

/* ---- METIS ---- */

typedef struct metis {
    int64_t nodes, edges;
    int skip, step; /* a line: numbers before the first neighbour, and from one neighbour to the next */
} metis;

/* "NODES EDGES [FORMAT [WEIGHTS]]", where FORMAT has digits for sizes of nodes, weights of nodes, weights of edges. */
static int read_metis_header(metis *m, const sample *s)
{
    int64_t weights = 1;
    int count = s->row_count > 0 ? s->rows[0].count : 0;
    if (count < 2 || count > 4 || !npi_number_parse_int(&m->nodes, cell(s, 0, 0)) ||
        !npi_number_parse_int(&m->edges, cell(s, 0, 1)) || m->nodes < 2 || m->nodes > INT32_MAX || m->edges < 1)
        return 0;
    const char *format = count > 2 ? cell(s, 0, 2) : "";
    size_t length = strlen(format);
    if (length > 3 || format[strspn(format, "01")] || (count > 3 && !npi_number_parse_int(&weights, cell(s, 0, 3))) ||
        weights < 0 || weights > 1000)
        return 0;
    m->step = length > 0 && format[length - 1] == '1' ? 2 : 1;
    m->skip = (length > 1 && format[length - 2] == '1' ? (int)weights : 0) + (length > 2 && format[0] == '1');
    return 1;
}

static int has_neighbour(const sample *s, const metis *m, int64_t node, int64_t neighbour)
{
    int64_t id;
    for (int i = m->skip; i < s->rows[node].count; i += m->step)
        if (npi_number_parse_int(&id, cell(s, (size_t)node, i)) && id == neighbour)
            return 1;
    return 0;
}

/* Row i has the neighbours of node i, from 1 on. */
static int is_metis(metis *m, const sample *s)
{
    int64_t total = 0, mutual = 0, last = (int64_t)s->row_count - 1, id;
    if (!read_metis_header(m, s) || last > m->nodes || last < 1)
        return 0;
    for (int64_t node = 1; node <= last; node++)
        for (int i = m->skip; i < s->rows[node].count; i += m->step, total++) {
            if (!npi_number_parse_int(&id, cell(s, (size_t)node, i)) || id < 1 || id > m->nodes || id == node)
                return 0;
            if (id <= last && !has_neighbour(s, m, id, node))
                return 0;
            mutual += id <= last;
        }
    return s->whole ? total == 2 * m->edges : mutual >= 8;
}

/* ---- neighbours after a colon ---- */

static int is_neighbours(const sample *s)
{
    size_t lines = 0;
    for (size_t row = 0; row < s->row_count; row++) {
        const char *first = s->rows[row].count > 0 ? cell(s, row, 0) : "a:";
        size_t length = strlen(first);
        lines += s->rows[row].count > 0;
        if (length < 2 || first[length - 1] != ':')
            return 0;
    }
    return lines > 1;
}

/* ---- matrices ---- */

static int is_zero_or_one(const char *text)
{
    return (text[0] == '0' || text[0] == '1') && text[1] == '\0';
}

/* Whether the rows are a matrix, after a row and beside a column of names where it has them. */
static int is_matrix(const sample *s)
{
    if (s->row_count == 0)
        return 0;
    size_t top = 0, rows = s->row_count;
    int columns = s->rows[rows - 1].count, above = s->rows[0].count, left = 0;
    for (int i = 1; i < above && top == 0; i++)
        top = !is_number(cell(s, 0, i));
    left = above == columns - 1 || (above == columns && rows > 1 && !*cell(s, 0, 0));
    top |= (size_t)left;
    if (!left && rows > top && columns > 0)
        left = !is_number(cell(s, rows - 1, 0));
    int size = columns - left, same_names = top && left && rows > 2, binary = 1, symmetric = 1, empty = 1;
    rows -= top;
    if (size < 2 || (above != columns && above != size) || rows < 1)
        return 0;
    size_t square = rows < (size_t)size ? rows : (size_t)size;
    for (size_t i = 0; i < rows; i++) {
        if (s->rows[top + i].count != columns)
            return 0;
        for (int j = 0; j < size; j++) {
            const char *value = cell(s, top + i, left + j);
            if (!is_number(value))
                return 0;
            binary &= is_zero_or_one(value);
            if (i < square && (size_t)j < i)
                symmetric &= strcmp(value, cell(s, top + (size_t)j, left + (int)i)) == 0;
        }
        if (i < square) {
            empty &= strcmp(cell(s, top + i, left + (int)i), "0") == 0;
            same_names &= top && strcmp(cell(s, top + i, 0), cell(s, 0, above - size + (int)i)) == 0;
        }
    }
    int complete = rows == (size_t)size, cut = !s->whole && rows <= (size_t)size;
    if (same_names && (complete || cut))
        return 1;
    if (binary && (!left || symmetric || empty))
        return size >= 3 && (complete || !s->whole || (rows >= 4 && size >= 4));
    return size >= 4 && (complete || cut) && square >= 2 && (symmetric || empty);
}

/* ---- triples ---- */

/* The distinct values of a column. */
static int collect(npi_names **out, const sample *s, int column, npgnn_error *err)
{
    int32_t ignored;
    int code = npi_names_new(out, s->env, err);
    for (size_t row = 0; code == 0 && row < s->row_count; row++)
        if (s->rows[row].count > 0)
            code = npi_names_add(&ignored, *out, cell(s, row, column), strlen(cell(s, row, column)), err);
    return code;
}

static int in_set(const npi_names *set, const char *text)
{
    return npi_names_find(set, text, strlen(text)) >= 0;
}

/* The length of what is before the first digit, where all values of a column share it; 0 where they do not, or have no
 * digit. */
static size_t shared_prefix(const npi_names *values, int32_t from)
{
    const char *first = npi_names_get(values, from);
    size_t length = strcspn(first, "0123456789");
    for (int32_t i = from; i < npi_names_count(values); i++) {
        const char *value = npi_names_get(values, i);
        if (strcspn(value, "0123456789") != length || !value[length] || memcmp(value, first, length) != 0)
            return 0;
    }
    return length;
}

/* Whether the first and the third column have ids of one kind, such as Q42, and the second has none. */
static int have_one_prefix(npi_names *const values[3])
{
    int32_t from = npi_names_count(values[0]) > 1 && npi_names_count(values[2]) > 1; /* the first may be a header */
    const char *a = npi_names_get(values[0], from), *b = npi_names_get(values[1], npi_names_count(values[1]) - 1);
    size_t length = shared_prefix(values[0], from);
    return length > 0 && shared_prefix(values[2], from) == length &&
           memcmp(a, npi_names_get(values[2], from), length) == 0 && strncmp(a, b, length) != 0;
}

typedef enum { NO_TRIPLES, MAYBE_TRIPLES, TRIPLES } triples_verdict;

/* `begin` is the column of the subject. */
static triples_verdict judge_triples(const sample *s, npi_names *const values[3], int begin)
{
    enum { LONG_NUMBER = 5 }; /* digits: a shorter number may be a weight */
    int64_t rows = 0, recurring = 0, iri = 0;
    int words = 1; /* objects that are no numbers */
    for (size_t row = 0; row < s->row_count; row++) {
        if (s->rows[row].count == 0)
            continue;
        const char *subject = cell(s, row, begin), *relation = cell(s, row, begin + 1),
                   *object = cell(s, row, begin + 2);
        int number = npi_number_begins(object);
        if (npi_number_begins(relation) || !*relation || in_set(values[0], relation) || in_set(values[2], relation))
            return NO_TRIPLES;
        words &= !number || row == 0;
        recurring +=
            (!number || strlen(object) >= LONG_NUMBER) && (in_set(values[0], object) || in_set(values[2], subject));
        iri += strstr(relation, "://") != NULL;
        rows++;
    }
    int64_t subjects = npi_names_count(values[0]), relations = npi_names_count(values[1]),
            objects = npi_names_count(values[2]);
    if (rows < 2 || relations > objects || relations >= subjects + objects - recurring)
        return NO_TRIPLES;
    if (100 * recurring >= rows || iri == rows || have_one_prefix(values) || (relations == 1 && words && rows > 2))
        return TRIPLES;
    return words && rows >= 10 && 5 * relations <= objects ? MAYBE_TRIPLES : NO_TRIPLES;
}

static int check_triples(const sample *s, npgnn_error *err)
{
    npi_names *values[3] = {NULL, NULL, NULL};
    int source, target, begin = s->row_count > 0 && s->rows[0].count == 4 && !*cell(s, 0, 0); /* pandas' index */
    if (s->row_count < 2 || npi_header_find_ends(&source, &target, s->cells, s->rows[0].count))
        return 0;
    for (size_t row = 0; row < s->row_count; row++)
        if (s->rows[row].count > 0 && s->rows[row].count < begin + 3)
            return 0;
    int code = 0;
    for (int i = 0; code == 0 && i < 3; i++)
        code = collect(&values[i], s, begin + i, err);
    triples_verdict verdict = code ? NO_TRIPLES : judge_triples(s, values, begin);
    size_t row = 1; /* the first may be a header */
    while (s->row_count > row && s->rows[row].count == 0)
        row++;
    if (verdict == TRIPLES)
        code = npi_fail_at(err, NPGNN_E_FORMAT, s->file, s->rows[row].line,
                           "this looks like a list of triples (subject, relation, object), such as '%.40s' '%.40s' "
                           "'%.40s', but a graph has links of one kind: keep the lines of one relation, or take all "
                           "relations for links: --source %d --target %d (columns 1 and 2 as links: --source %d "
                           "--target %d)",
                           cell(s, row, begin), cell(s, row, begin + 1), cell(s, row, begin + 2), begin + 1, begin + 3,
                           begin + 1, begin + 2);
    if (verdict == MAYBE_TRIPLES)
        npi_log(s->env,
                "%s: links are taken to lead from the first to the second column, which has few values, such as "
                "'%.40s'; if these are relations and the third column has the other ends: --source %d --target %d",
                s->file, cell(s, row, begin + 1), begin + 1, begin + 3);
    for (int i = 0; i < 3; i++)
        npi_names_free(values[i]);
    return code;
}

/* ---- the verdict ---- */

int npi_not_edges_refuse(const npi_stream *stream, const npgnn_load_options *how, npgnn_error *err)
{
    sample s;
    metis m;
    if (how->source || how->target)
        return 0;
    int code = take_sample(&s, stream, err);
    const char quoted[] = {'\'', s.separator, '\'', '\0'}; /* in Python */
    const char *delimiter = s.separator == ' ' ? "None" : s.separator == '\t' ? "'\\t'" : quoted;
    if (code == 0 && s.heading > 0)
        code = npi_fail_at(err, NPGNN_E_FORMAT, s.file, s.heading,
                           "this is %s, which cannot be read directly; convert it first: %s", s.format, s.advice);
    else if (code == 0 && is_metis(&m, &s))
        code = npi_fail_at(err, NPGNN_E_FORMAT, s.file, s.rows[0].line,
                           "this looks like a METIS file of %lld nodes, whose lines list the neighbours of one node "
                           "each; write one link per line: grep -v '^%%' FILE | awk 'NR > 1 { for (i = %d; i <= NF; i "
                           "+= %d) print NR - 1, $i }'" PAIRS_ANYWAY,
                           (long long)m.nodes, m.skip + 1, m.step);
    else if (code == 0 && is_neighbours(&s))
        code = npi_fail_at(err, NPGNN_E_FORMAT, s.file, s.rows[0].line,
                           "this looks like a list of the neighbours of each node, after a colon; write one link per "
                           "line: tr -s ':,; \\t' ' ' < FILE | awk '{ for (i = 2; i <= NF; i++) print $1, $i "
                           "}'" PAIRS_ANYWAY);
    else if (code == 0 && is_matrix(&s))
        code = npi_fail_at(err, NPGNN_E_FORMAT, s.file, s.rows[0].line,
                           "this looks like an adjacency matrix; save it as a sparse one, in Python: import numpy, "
                           "scipy.sparse as s; s.save_npz('FILE.npz', s.csr_matrix(numpy.loadtxt('FILE', "
                           "delimiter=%s))); or, with names: import pandas; m = pandas.read_csv('FILE', sep=%s, "
                           "index_col=0).stack(); m[m != 0].to_csv('LINKS.csv', header=False)",
                           delimiter, s.separator == ' ' ? "r'\\s+'" : delimiter);
    else if (code == 0)
        code = check_triples(&s, err);
    sample_free(&s);
    return code;
}

int npi_not_edges_check_counts(const npi_edge_list *list, const npi_stream *stream, int64_t line, npgnn_error *err)
{
    enum { FEWEST = 4 }; /* lines that follow: of fewer, the numbers may agree by accident */
    int64_t others = list->count - 1;
    if (list->names || list->how->source || list->how->target || list->skipped.count > 0 || others < FEWEST ||
        list->pairs[0].v != others)
        return 0;
    int32_t nodes = list->pairs[0].u, largest = 0;
    for (int64_t i = 1; i < list->count; i++) {
        npgnn_pair pair = list->pairs[i];
        largest = pair.u > largest ? pair.u : largest;
        largest = pair.v > largest ? pair.v : largest;
    }
    if (largest > nodes || largest < nodes - 1)
        return 0;
    if (others >= nodes)
        return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), line,
                           "'%d %lld' looks like the numbers of nodes and of the links that follow: remove this line "
                           "(tail -n +2 FILE); if it is a link, choose the columns: --source 1 --target 2",
                           nodes, (long long)others);
    npi_log(
        &list->env,
        "%s:%lld: '%d %lld' is taken for a link; if it is the numbers of nodes and of the links that follow, remove "
        "this line",
        npi_stream_name(stream), (long long)line, nodes, (long long)others);
    return 0;
}
