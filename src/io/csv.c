/* Feature tables as delimited text: one node per line.
 *
 *   table  = [header] {row}
 *   row    = field {separator field}
 *
 * All rows are read before anything is decided (io/cells.h). What the columns mean is found out as follows, unless the caller
 * says it (npgnn_load_options):
 *
 *   header    the first line, where its first field is a name for ids, such as "id" or "user_id"; or where it has no number, no
 *             1,5, $5 or date above others of its kind, and none of its fields occurs again in its column
 *   label     the last column, where the header calls it "label" or "class" or, without a header, where its first field is neither a
 *             number nor a date
 *   id        a column that the header calls "id" or "node"; the first column, where its name is one for ids, where it has
 *             words that hardly recur, or where it has integers that are the ids of the edges
 *   others    features, of the kinds of features/encoding.h, found by npi_cells_infer
 *
 * Refused: ids that occur twice, rows with another number of fields, cells that are not of the kind of their column. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/date.h"
#include "base/number.h"
#include "io/cells.h"
#include "io/header.h"
#include "io/lines.h"
#include "io/text.h"

typedef struct reader {
    npi_cells cells;
    const char *file;
    const npgnn_load_options *how;
    const npi_edge_list *edges; /* NULL: not known */
    int side;
    int32_t first; /* the first row that is not the header: 0 or 1 */
    char **names;  /* (fields) the header, NULL: there is none */
    int declared; /* 1: the first row is the header unless `unnamed`, the ids are in column `id`, and there is no label */
    int unnamed;
    int row_numbers;       /* 1: the first column is pandas' index, which is left out */
    int id, label;         /* columns, -1: none */
    int *column;           /* (fields) what it is: the index of the encoding's column, or -1 */
    const npi_kind *kinds; /* (fields) chosen by the caller instead of by `how`, NPI_KINDS: not chosen; or NULL */
    const unsigned char *printed; /* (fields) 1: the cells are numbers of the caller, with decimal points; or NULL */
    int points;                   /* 1: all numbers have decimal points, whatever the encoding says */
    npi_encoding *encoding;
    int commas, thousands; /* columns whose decimal commas were read, and whose points between thousands were removed */
    npi_skipped skipped;   /* rows with another number of fields, without an id, or with one that occurs twice */
    npi_skipped missing;   /* cells that are not of the kind of their column */
} reader;

static int is_number(const char *cell)
{
    double value;
    return npi_number_parse_double(&value, cell) != NPI_NUMBER_BAD;
}

/* ---- the header ---- */

/* Whether a cell of the first row occurs again in its column. An empty one, as after a separator at the end of each
 * line, says nothing. */
static int recurs(const npi_cells *cells, int column)
{
    const char *cell = npi_cells_get(cells, 0, column);
    for (int32_t row = 1; *cell && row < cells->rows; row++)
        if (strcmp(npi_cells_get(cells, row, column), cell) == 0)
            return 1;
    return 0;
}

/* Whether all cells below the first are numbers or missing, and some is a number. */
static int numbers_follow(const npi_cells *cells, int column)
{
    int some = 0;
    for (int32_t row = 1; row < cells->rows; row++) {
        const char *cell = npi_cells_get(cells, row, column);
        if (is_number(cell))
            some = 1;
        else if (!npi_cell_is_missing(cell))
            return 0;
    }
    return some;
}

static int is_date(const char *cell)
{
    double days;
    for (int order = 0; order < NPI_DATE_ORDERS; order++)
        if (npi_date_parse(&days, cell, (npi_date_order)order))
            return 1;
    return 0;
}

/* Whether the first cell of a column is a value like one below it, although it is not a plain number: 1,5 above 2, $5
 * above $7, a date above a date, or nothing below. A name such as 10 % or 2024-01-31 above numbers is none. */
static int is_like_values(const npi_cells *cells, int column)
{
    const char *cell = npi_cells_get(cells, 0, column);
    int decorated = npi_cell_is_decorated(cell), date = is_date(cell);
    int commas = decorated && strspn(cell, "+-0123456789.,") == strlen(cell);
    for (int32_t row = 1; (decorated || date) && row < cells->rows; row++) {
        const char *other = npi_cells_get(cells, row, column);
        if ((decorated && npi_cell_is_decorated(other)) || (commas && is_number(other)) || (date && is_date(other)))
            return 1;
    }
    return (decorated || date) && cells->rows == 1;
}

static int has_header(const reader *r)
{
    const npi_cells *cells = &r->cells;
    if (r->declared)
        return !r->unnamed;
    if (r->how->header != NPGNN_HEADER_AUTO || cells->rows == 0)
        return r->how->header == NPGNN_HEADER_YES && cells->rows > 0;
    if (npi_header_has_role(npi_cells_get(cells, 0, 0), NPI_ROLE_ID))
        return 1;
    for (int i = 0; i < cells->fields; i++)
        if (is_number(npi_cells_get(cells, 0, i)) || is_like_values(cells, i))
            return 0;
    /* a word above numbers is a name, whatever is in the other columns */
    for (int i = 0; i < cells->fields; i++)
        if (numbers_follow(cells, i))
            return 1;
    for (int i = 0; i < cells->fields; i++)
        if (recurs(cells, i))
            return 0;
    return 1;
}

/* ---- the ids ---- */

/* The share of the ends of edges whose ids are in `names`; -1 where there are no edges. */
static double share_of_ids(const reader *r, const npi_names *names)
{
    const npi_edge_list *edges = r->edges;
    int64_t count = edges ? edges->count : 0, found = 0, ends = 0;
    const npi_names *own = edges && edges->how->bipartite && r->side ? edges->targets : edges ? edges->names : NULL;
    for (int64_t i = 0; i < 2 * count; i++) {
        char number[12];
        if (edges->how->bipartite && i % 2 != r->side)
            continue;
        int32_t id = i % 2 ? edges->pairs[i / 2].v : edges->pairs[i / 2].u;
        if (!own)
            snprintf(number, sizeof number, "%d", id);
        const char *text = own ? npi_names_get(own, id) : number;
        found += npi_names_find(names, text, strlen(text)) >= 0;
        ends++;
    }
    return ends > 0 ? (double)found / (double)ends : -1;
}

/* Whether the first column, of whose name nothing is known, has the ids. */
static int first_is_id(int *is_id, const reader *r, npgnn_error *err)
{
    const npi_cells *cells = &r->cells;
    npi_names *names = NULL;
    int64_t rows = cells->rows - r->first, words = 0, integers = 0;
    *is_id = 0;
    int code = npi_names_new(&names, &cells->env, err);
    for (int32_t row = r->first; code == 0 && row < cells->rows; row++) {
        const char *cell = npi_cells_get(cells, row, 0);
        int64_t integer;
        int32_t index;
        words += !is_number(cell) && !npi_cell_is_decorated(cell);
        integers += npi_number_parse_int(&integer, cell) && integer >= 0;
        code = npi_names_add(&index, names, cell, strlen(cell), err);
    }
    if (code == 0 && rows > 0) {
        int64_t repeats = rows - npi_names_count(names);
        double share = share_of_ids(r, names);
        int mostly = 20 * repeats <= rows; /* ids that occur twice are a mistake, but still ids */
        if (words > 0)
            *is_id = mostly || share >= 0.5;
        else if (integers == rows && cells->fields - (r->label >= 0) > 1)
            *is_id = r->names ? mostly && share >= 0.9 : (mostly && share >= 0.9) || (repeats == 0);
    }
    npi_names_free(names);
    return code;
}

/* The share of the ends of edges whose ids a column has; -1 where there are no edges. */
static int share_of_column(double *share, const reader *r, int column, npgnn_error *err)
{
    npi_names *names = NULL;
    int32_t index;
    int code = npi_names_new(&names, &r->cells.env, err);
    for (int32_t row = r->first; code == 0 && row < r->cells.rows; row++) {
        const char *cell = npi_cells_get(&r->cells, row, column);
        code = npi_names_add(&index, names, cell, strlen(cell), err);
    }
    if (code == 0)
        *share = share_of_ids(r, names);
    npi_names_free(names);
    return code;
}

/* The first column has no name: pandas writes its index so, but also an index that has the ids. The second column has
 * them where its name says so, or where more of the edges' ids are in it. */
static int choose_beside_index(reader *r, npgnn_error *err)
{
    const char *second = r->cells.fields > 1 ? r->names[1] : "";
    int named = npi_header_has_role(second, NPI_ROLE_SOURCE) || npi_header_has_role(second, NPI_ROLE_TARGET);
    double share[2] = {0, 0};
    r->row_numbers = *second && npi_header_has_role(second, NPI_ROLE_ID);
    for (int column = 0; column < 2 && *second && !r->row_numbers; column++) {
        int code = share_of_column(&share[column], r, column, err);
        if (code)
            return code;
    }
    r->row_numbers |= share[1] > share[0] || (named && share[1] == share[0]);
    r->id = r->row_numbers;
    int64_t number; /* words in the index are ids, numbers may count the rows */
    if (r->id == 0 && r->cells.rows > r->first && npi_number_parse_int(&number, npi_cells_get(&r->cells, r->first, 0)))
        npi_log(&r->cells.env, "%s: taking the first column, which has no name, for the ids of the nodes", r->file);
    else if (r->id > 0 && !npi_header_has_role(second, NPI_ROLE_ID))
        npi_log(&r->cells.env, "%s: taking column '%.60s' for the ids of the nodes", r->file, second);
    return 0;
}

static int choose_id(reader *r, npgnn_error *err)
{
    static const char *const exact[] = {"id", "node", "node_id", "nodeid"};
    const npi_cells *cells = &r->cells;
    const char *wanted = r->how->id;
    if (wanted && (r->id = npi_header_find(wanted, r->names, cells->fields)) < 0) {
        char list[400] = "";
        if (r->names)
            npi_header_list(list, sizeof list, r->names, NULL, cells->fields, 8);
        return npi_fail_at(err, NPGNN_E_ARGUMENT, r->file, 0, "no column '%.60s' to take the ids from%s%s", wanted,
                           *list ? "; the header has " : "", list);
    }
    if (r->id >= 0 || cells->fields == 0)
        return 0;
    for (int i = 0; r->names && i < cells->fields; i++) {
        if (r->encoding && r->encoding->id && strcmp(r->names[i], r->encoding->id) == 0 && r->id < 0)
            r->id = i;
        for (size_t k = 0; r->id < 0 && k < sizeof exact / sizeof exact[0]; k++)
            if (strcasecmp(r->names[i], exact[k]) == 0)
                r->id = i;
    }
    if (r->id >= 0) {
        r->row_numbers = r->id > 0 && !*r->names[0];
        return 0;
    }
    if (r->names && !*r->names[0])
        return choose_beside_index(r, err);
    if (r->names && npi_header_has_role(r->names[0], NPI_ROLE_ID)) {
        r->id = 0;
        return 0;
    }
    int is_id;
    int code = first_is_id(&is_id, r, err);
    r->id = code == 0 && is_id ? 0 : -1;
    if (r->id == 0 && r->names)
        npi_log(&cells->env, "%s: taking column '%.60s' for the ids of the nodes", r->file, r->names[0]);
    return code;
}

/* The label: the last column, by its name or, without a header, because it has words. */
static int find_label(const reader *r)
{
    int last = r->cells.fields - 1;
    if (last < 1 || r->cells.rows == r->first)
        return -1;
    if (r->names)
        return strcasecmp(r->names[last], "label") == 0 || strcasecmp(r->names[last], "class") == 0 ? last : -1;
    const char *cell = npi_cells_get(&r->cells, 0, last);
    return is_number(cell) || npi_cell_is_decorated(cell) || is_date(cell) || npi_cell_is_missing(cell) ? -1 : last;
}

/* ---- the kinds ---- */

/* The kind that the caller chose for a column, NPI_KINDS: none. */
static int chosen_kind(npi_kind *kind, const reader *r, int column, npgnn_error *err)
{
    *kind = NPI_KINDS;
    for (int32_t i = 0; i < r->how->kind_count; i++) {
        const char *text = r->how->kinds[i], *colon = strrchr(text, ':');
        char name[256];
        if (!colon || colon - text >= (ptrdiff_t)sizeof name || npi_kind_find(colon + 1) >= NPI_KIND_IGNORED)
            return npi_fail(err, NPGNN_E_ARGUMENT,
                            "'%.100s' is not COLUMN:KIND with a kind of number, category, flag, date, text or raw",
                            text);
        snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
        int at = npi_header_find(name, r->names, r->cells.fields);
        if (strcmp(name, "*") == 0 || at == column)
            *kind = npi_kind_find(colon + 1);
        else if (at < 0 && !r->how->bipartite)
            return npi_fail_at(err, NPGNN_E_ARGUMENT, r->file, 0, "no column '%.100s' to read as %s", name, colon + 1);
    }
    for (int32_t i = 0; i < r->how->ignored_count; i++) {
        int at = npi_header_find(r->how->ignored[i], r->names, r->cells.fields);
        if (at == column)
            *kind = NPI_KIND_IGNORED;
        else if (at < 0 && !r->how->bipartite)
            return npi_fail_at(err, NPGNN_E_ARGUMENT, r->file, 0, "no column '%.100s' to ignore", r->how->ignored[i]);
    }
    return 0;
}

/* Whether a column is a feature, apart from its kind. Without a name and without values, as after a separator at the
 * end of each line, it is none. */
static int is_feature(const reader *r, int column)
{
    if (column == r->id || column == r->label || (column == 0 && r->row_numbers))
        return 0;
    for (int32_t row = r->first; row < r->cells.rows && r->names && !*r->names[column]; row++)
        if (!npi_cell_is_missing(npi_cells_get(&r->cells, row, column)))
            return 1;
    return !r->names || *r->names[column];
}

/* Whether the header's names can identify the feature columns, also in JSON: none is empty, repeated or not UTF-8. */
static int names_are_usable(int *usable, const reader *r, npgnn_error *err)
{
    npi_column_names columns = {0};
    int code = 0;
    *usable = 0;
    if (!r->names)
        return 0;
    for (int i = 0; code == 0 && i < r->cells.fields; i++)
        if (is_feature(r, i))
            code = npi_column_names_add(&columns, r->names[i], &r->cells.env, err);
    if (code == 0 && columns.count > 0) {
        npi_names *names = npi_column_names_take(&columns, r->file, &r->cells.env); /* logs what is wrong with them */
        *usable = names != NULL;
        npi_names_free(names);
    }
    npi_column_names_free(&columns);
    return code;
}

/* Logs the columns that become something else than themselves. */
static void log_kinds(const reader *r)
{
    int count[NPI_KINDS] = {0}, logged = 0;
    for (int32_t i = 0; i < r->encoding->count; i++) {
        const npi_encoded *column = &r->encoding->columns[i];
        count[column->kind]++;
        int asked = strcmp(column->why, "as you asked") == 0;
        if (column->kind == NPI_KIND_IGNORED && !asked && column->name && logged++ < 5)
            npi_log(&r->cells.env, "%s: ignoring column '%.60s': %s", r->file, column->name, column->why);
        else if (column->kind == NPI_KIND_IGNORED && !asked && !column->name && logged++ < 5) {
            int field = 0;
            while (field < r->cells.fields - 1 && r->column[field] != i)
                field++;
            npi_log(&r->cells.env, "%s: ignoring the column in field %d: %s", r->file, field + 1, column->why);
        }
        int constant =
            column->kind == NPI_KIND_FLAG && column->missing == 0 && (column->center == 0 || column->center == 1);
        if (constant && column->name && logged++ < 5)
            npi_log(&r->cells.env, "%s: column '%.60s' is %g everywhere", r->file, column->name, column->center);
    }
    if (count[NPI_KIND_NUMBER] + count[NPI_KIND_CATEGORY] + count[NPI_KIND_DATE] + count[NPI_KIND_TEXT] == 0)
        return;
    char text[256] = "";
    for (int kind = 0; kind < NPI_KIND_IGNORED; kind++)
        if (count[kind] > 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %d", *text ? ", " : "",
                     npi_kind_name((npi_kind)kind), count[kind]);
    int used = r->encoding->count - count[NPI_KIND_IGNORED];
    npi_log(&r->cells.env, "%s: %d column%s became %d feature%s (%s); 'npgnn info' lists them", r->file, used,
            used == 1 ? "" : "s", r->encoding->width, r->encoding->width == 1 ? "" : "s", text);
}

/* Reads the numbers of a column with decimal commas and points between thousands, and logs the first such column. With
 * a given encoding, 1.5 is E_FORMAT, since 1.234 beside it would be something else than a thousand. */
static int take_commas(reader *r, int column, int given, npgnn_error *err)
{
    int first_comma = 1, first_thousand = 1, code = 0;
    for (int32_t row = r->first; code == 0 && row < r->cells.rows; row++) {
        char *cell = r->cells.text + (npi_cells_get(&r->cells, row, column) - r->cells.text), before[48];
        int comma = strchr(cell, ',') != NULL, point = strchr(cell, '.') != NULL;
        double number;
        if (!comma && !point)
            continue;
        snprintf(before, sizeof before, "%.40s", cell);
        if (npi_cells_take_decimal_comma(&r->cells, row, column)) {
            if (comma && first_comma && r->commas++ == 0)
                npi_log(&r->cells.env, "%s:%lld: taking commas in numbers for decimal points, as in %.40s (field %d)",
                        r->file, (long long)r->cells.line[row], cell, column + 1);
            if (!comma && first_thousand && r->thousands++ == 0)
                npi_log(&r->cells.env,
                        "%s:%lld: taking points in numbers for separators of thousands, because %s decimal commas: %s "
                        "is %.40s (field %d)",
                        r->file, (long long)r->cells.line[row],
                        given ? "the table of the training had" : "other numbers have", before, cell, column + 1);
            first_comma &= !comma;
            first_thousand &= comma;
        } else if (given && point && npi_number_parse_double(&number, cell) == NPI_NUMBER_OK) {
            code = npi_fail_at(err, NPGNN_E_FORMAT, r->file, r->cells.line[row],
                               "feature '%.40s' in field %d has a decimal point, but the table of the training had "
                               "decimal commas in this column: write a comma",
                               cell, column + 1);
            code = npi_skipped_add(&r->missing, code, r->how, err);
            *cell = '\0';
        }
    }
    return code;
}

/* comma[i] = 1 where the numbers of column i have decimal commas. Nothing may tell for some columns, such as one of
 * 1.234 and 12: they have them where others do, and none has decimal points. */
static void find_commas(unsigned char *comma, const reader *r)
{
    int points = 0, commas = 0;
    for (int i = 0; i < r->cells.fields; i++) {
        npi_decimal decimal = is_feature(r, i) ? npi_cells_decimal(&r->cells, i, r->first) : NPI_DECIMAL_NONE;
        comma[i] = decimal == NPI_DECIMAL_COMMA ? 1 : decimal == NPI_DECIMAL_EITHER ? 2 : 0;
        points |= decimal == NPI_DECIMAL_POINT;
        commas |= decimal == NPI_DECIMAL_COMMA;
    }
    for (int i = 0; i < r->cells.fields; i++)
        comma[i] = comma[i] == 1 || (comma[i] == 2 && commas && !points);
}

/* Finds the encoding of the table. */
static int infer_all(reader *r, int raw, npgnn_error *err)
{
    int usable, code = npi_encoding_new(&r->encoding, &r->cells.env, err);
    unsigned char *comma = npi_alloc(&r->cells.env, (size_t)r->cells.fields, 1, err);
    if (!comma)
        code = NPGNN_E_MEMORY;
    if (code == 0 && (r->cells.separator == ';' || r->cells.separator == '\t'))
        find_commas(comma, r);
    if (code == 0)
        code = names_are_usable(&usable, r, err);
    if (code == 0 && r->names && r->id >= 0 && *r->names[r->id] && npi_text_is_utf8(r->names[r->id]) &&
        !(r->encoding->id = npi_strdup(&r->cells.env, r->names[r->id], err)))
        code = NPGNN_E_MEMORY;
    for (int i = 0; code == 0 && i < r->cells.fields; i++) {
        npi_encoded *column;
        npi_kind kind = NPI_KIND_RAW;
        r->column[i] = -1;
        if (!is_feature(r, i))
            continue;
        if (!raw && r->kinds)
            kind = r->kinds[i];
        else if (!raw)
            code = chosen_kind(&kind, r, i, err);
        if (code == 0)
            code = npi_encoding_add(&column, r->encoding, usable ? r->names[i] : NULL, err);
        if (code)
            break;
        r->column[i] = r->encoding->count - 1;
        column->side = r->side;
        npi_cells_clean(&r->cells, i);
        if (comma[i] && (kind == NPI_KINDS || kind == NPI_KIND_NUMBER || kind == NPI_KIND_RAW))
            code = take_commas(r, i, 0, err);
        if (code == 0)
            code = npi_cells_infer(column, &r->cells, i, r->first, kind, r->how, r->file, err);
        if (code == 0)
            column->decimal_comma = comma[i] && (column->kind == NPI_KIND_NUMBER || column->kind == NPI_KIND_RAW);
    }
    npi_free(&r->cells.env, comma);
    if (code == 0)
        code = npi_encoding_finish(r->encoding, err);
    if (code == 0 && !raw)
        log_kinds(r);
    return code;
}

/* Finds the columns of a given encoding in the table: by name or, where it has none, in their order. */
static int match_all(reader *r, npgnn_error *err)
{
    const npi_encoding *encoding = r->encoding;
    int32_t next = 0, named = 0, found = 0;
    unsigned char *unknown = npi_alloc(&r->cells.env, (size_t)r->cells.fields + 1, 1, err);
    unsigned char *seen = npi_alloc(&r->cells.env, (size_t)encoding->count + 1, 1, err);
    npi_names *columns = NULL; /* of the encoding */
    int code = unknown && seen ? npi_names_new(&columns, &r->cells.env, err) : NPGNN_E_MEMORY;
    for (int32_t i = 0; code == 0 && i < encoding->count; i++) {
        char number[24];
        int32_t index;
        const char *name = encoding->columns[i].name;
        int own = encoding->columns[i].side == r->side;
        named += own && name;
        snprintf(number, sizeof number, "\n%d", i); /* no name of a column has a line break at its beginning */
        code = npi_names_add(&index, columns, own && name ? name : number, strlen(own && name ? name : number), err);
    }
    while (code == 0 && next < encoding->count && encoding->columns[next].side != r->side)
        next++;
    for (int i = 0; code == 0 && i < r->cells.fields; i++) {
        r->column[i] = -1;
        if (!is_feature(r, i))
            continue;
        if (named > 0 && r->names)
            r->column[i] = npi_names_find(columns, r->names[i], strlen(r->names[i]));
        else if (next < encoding->count && encoding->columns[next].side == r->side)
            r->column[i] = next++;
        if (r->column[i] >= 0) {
            found++;
            seen[r->column[i]] = 1;
            npi_cells_clean(&r->cells, i);
            if (encoding->columns[r->column[i]].decimal_comma && !r->points && !(r->printed && r->printed[i]))
                code = take_commas(r, i, 1, err);
        } else {
            unknown[i] = 1;
        }
    }
    if (code == 0 && named > 0 && !r->names)
        code = npi_fail_at(err, NPGNN_E_MISMATCH, r->file, 0,
                           "the table needs a header: its columns are matched by name with those of the training");
    for (int32_t i = 0; code == 0 && i < encoding->count; i++) {
        const npi_encoded *column = &encoding->columns[i];
        if (column->side != r->side || column->kind == NPI_KIND_IGNORED || seen[i])
            continue;
        code = column->name ? npi_fail_at(err, NPGNN_E_MISMATCH, r->file, 0,
                                          "column '%.100s' of the training is missing", column->name)
                            : npi_fail_at(err, NPGNN_E_MISMATCH, r->file, 0,
                                          "the table has %d feature columns, but the training had more", found);
    }
    char list[400];
    int extra = code == 0 && r->names ? npi_header_list(list, sizeof list, r->names, unknown, r->cells.fields, 5) : 0;
    if (extra > 0)
        npi_log(&r->cells.env, "%s: ignoring %s that the training did not have: %s", r->file,
                extra == 1 ? "a column" : "columns", list);
    else if (code == 0 && !r->names && r->cells.fields - (r->id >= 0) - (r->label >= 0) > found)
        code =
            npi_fail_at(err, NPGNN_E_MISMATCH, r->file, 0, "the table has %d feature columns, but the training had %d",
                        r->cells.fields - (r->id >= 0) - (r->label >= 0), found);
    npi_names_free(columns);
    npi_free(&r->cells.env, unknown);
    npi_free(&r->cells.env, seen);
    return code;
}

/* ---- the table ---- */

static int see_element(void *user, int32_t column, float value, npgnn_error *err)
{
    return npi_rows_add(user, column, value, err);
}

/* One row of X. Cells that are not of their column's kind are missing where bad rows are to be skipped. */
static int encode_row(npi_rows *rows, reader *r, int32_t row, float *scratch, npgnn_error *err)
{
    int code = 0;
    int32_t twice;
    for (int i = 0; code == 0 && i < r->cells.fields; i++) {
        const char *cell = npi_cells_get(&r->cells, row, i), *why;
        if (r->column[i] < 0)
            continue;
        const npi_encoded *column = &r->encoding->columns[r->column[i]];
        code = npi_encoding_apply(column, cell, scratch, see_element, rows, &why, err);
        if (code > 0) {
            code = npi_fail_at(err, NPGNN_E_FORMAT, r->file, r->cells.line[row], "feature '%.40s' in field %d %s", cell,
                               i + 1, why);
            code = npi_skipped_add(&r->missing, code, r->how, err);
            if (code == 0 && column->kind != NPI_KIND_RAW)
                code = npi_encoding_apply(column, "", scratch, see_element, rows, &why, err);
        }
    }
    /* the columns of a row ascend, unless the encoding has them in another order: npi_rows_end sorts then */
    return code < 0 ? code : npi_rows_end(&twice, rows, err);
}

/* All rows, with their ids and labels. */
static int encode_all(npi_table *table, reader *r, npgnn_error *err)
{
    const npgnn_env *env = &r->cells.env;
    npi_rows rows = {0};
    npi_labels labels = {0};
    int32_t widest = 0;
    for (int32_t i = 0; i < r->encoding->count; i++)
        if (r->encoding->columns[i].width > widest)
            widest = r->encoding->columns[i].width;
    float *scratch = npi_alloc(env, (size_t)widest, sizeof *scratch, err);
    int code = scratch ? npi_rows_start(&rows, env, err) : NPGNN_E_MEMORY;
    if (code == 0 && r->id >= 0)
        code = npi_names_new(&table->names, env, err);
    for (int32_t row = r->first; code == 0 && row < r->cells.rows; row++) {
        if (r->id >= 0) {
            const char *id = npi_cells_get(&r->cells, row, r->id);
            int32_t index, before = npi_names_count(table->names);
            if (!*id)
                code = npi_fail_at(err, NPGNN_E_FORMAT, r->file, r->cells.line[row], "the id of the node is missing");
            else
                code = npi_names_add(&index, table->names, id, strlen(id), err);
            if (code == 0 && npi_names_count(table->names) == before)
                code = npi_fail_at(err, NPGNN_E_FORMAT, r->file, r->cells.line[row], "node '%.60s' occurs twice", id);
            if (code == 0 && npi_cell_is_missing(id))
                npi_log(env, "%s:%lld: the id '%s', which looks like a missing value, is taken for a node", r->file,
                        (long long)r->cells.line[row], id);
            if (code == NPGNN_E_FORMAT) { /* the row is left out: the first one of a node counts */
                code = npi_skipped_add(&r->skipped, code, r->how, err);
                if (code == 0)
                    continue;
            }
        }
        if (code == 0 && r->label >= 0)
            code = npi_labels_add(&labels, npi_cells_get(&r->cells, row, r->label), env, err);
        if (code == 0)
            code = encode_row(&rows, r, row, scratch, err);
        if (code == 0)
            r->cells.line[rows.count - 1] = r->cells.line[row]; /* of the rows that are kept */
    }
    if (code == 0)
        code = npi_rows_take(&table->x, &rows, rows.count, r->encoding->width, err);
    if (code == 0 && r->label >= 0)
        code = npi_labels_take(&table->label, &table->classes, &labels, env, err);
    if (code == 0) {
        table->line = r->cells.line;
        r->cells.line = NULL;
    }
    npi_labels_free(&labels, env);
    npi_rows_free(&rows);
    npi_free(env, scratch);
    return code;
}

/* The table of the cells of the reader, which is freed. `code` and `why`: whether these could be read. */
static int make_table(npi_table *out, reader *r, int code, npgnn_error *why)
{
    const npgnn_env *env = &r->cells.env;
    npi_table table = {0};
    int raw = r->how->encoding && strcmp(r->how->encoding, "raw") == 0, given = r->how->encoding && !raw;
    r->skipped = r->cells.skipped;
    r->column = npi_alloc(env, (size_t)r->cells.fields, sizeof *r->column, why);
    if (code == 0 && !r->column)
        code = NPGNN_E_MEMORY;
    if (code == 0 && given)
        code = npi_encoding_parse(&r->encoding, r->how->encoding, "the options", env, why);
    if (code == 0 && has_header(r)) {
        r->first = 1;
        r->names = npi_alloc(env, (size_t)r->cells.fields, sizeof *r->names, why);
        code = r->names ? 0 : NPGNN_E_MEMORY;
        for (int i = 0; r->names && i < r->cells.fields; i++)
            r->names[i] = r->cells.text + (npi_cells_get(&r->cells, 0, i) - r->cells.text);
    }
    r->label = r->declared ? -1 : find_label(r);
    if (code == 0 && !r->declared)
        code = choose_id(r, why);
    if (code == 0 && r->label == r->id)
        r->label = -1;
    if (code == 0)
        code = given ? match_all(r, why) : infer_all(r, raw, why);
    if (code == 0)
        code = encode_all(&table, r, why);
    if (code == 0)
        code = npi_encoding_names(&table.columns, r->encoding, why);
    if (code == 0) {
        npi_skipped_log(&r->skipped, "skipped this row", "rows skipped", r->file, env);
        npi_skipped_log(&r->missing, "treated a cell as missing", "cells treated as missing", r->file, env);
    }
    if (code == 0 && !raw && r->encoding->width > 0)
        table.encoding = npi_encoding_share(r->encoding);
    npi_encoding_free(r->encoding);
    npi_free(env, r->names);
    npi_free(env, r->column);
    if (code)
        npi_table_free(env, &table);
    else
        *out = table;
    npi_cells_free(&r->cells);
    return code;
}

int npi_table_read_csv(npi_table *out, npi_stream *stream, const npgnn_load_options *how, const npi_edge_list *edges,
                       int side, npgnn_error *err)
{
    static const npgnn_load_options defaults = {.size = sizeof defaults};
    npgnn_error why = {0}; /* the caller may want no text, but the first bad row is logged with one */
    reader r = {.file = npi_stream_name(stream), .how = how ? how : &defaults, .edges = edges, .side = side, .id = -1};
    int code = npi_cells_read(&r.cells, stream, r.how, &why);
    code = make_table(out, &r, code, &why);
    if (code && err)
        *err = why;
    return code;
}

int npi_table_from_cells(npi_table *out, npi_cells *cells, const char *file, const npgnn_load_options *how,
                         npgnn_error *err)
{
    npgnn_error why = {0};
    reader r = {.cells = *cells, .file = file, .how = how, .declared = 1, .points = 1};
    memset(cells, 0, sizeof *cells);
    int code = make_table(out, &r, 0, &why);
    if (code && err)
        *err = why;
    return code;
}

int npi_table_from_columns(npi_table *out, npi_cells *cells, int unnamed, const npi_kind *kinds,
                           const unsigned char *printed, const npgnn_load_options *how, int side, const char *what,
                           npgnn_error *err)
{
    npgnn_error why = {0};
    reader r = {.cells = *cells,
                .file = what,
                .how = how,
                .side = side,
                .declared = 1,
                .unnamed = unnamed,
                .id = -1,
                .kinds = kinds,
                .printed = printed};
    memset(cells, 0, sizeof *cells);
    int code = make_table(out, &r, 0, &why);
    if (code && err)
        *err = why;
    return code;
}

/* ---- plain tables ---- */

/* Numbers alone, line by line: such files can be larger than memory should be. */
int npi_table_read_plain(npi_table *out, npi_stream *stream, npgnn_error *err)
{
    npi_lines lines = {.stream = stream};
    npi_rows rows;
    char *line;
    int fields = 0, code = npi_rows_start(&rows, npi_stream_env(stream), err);
    while (code == 0 && (code = npi_lines_next(&line, &lines, err)) > 0) {
        int32_t column = 0, twice;
        code = 0;
        for (char *field; code == 0 && (field = npi_text_cut_field(&line, lines.separator)); column++) {
            float value = 0;
            npi_number_result result = npi_number_parse_float(&value, field);
            if (rows.count > 0 && column >= fields)
                code = npi_stream_fail(stream, err, "too many fields: the first line has %d", fields);
            else if (result != NPI_NUMBER_OK)
                code = npi_stream_fail(stream, err, "feature '%.40s' in field %d %s", field, column + 1,
                                       npi_number_reason(result));
            else
                code = npi_rows_add(&rows, column, value, err);
        }
        if (code == 0 && rows.count > 0 && column < fields)
            code = npi_stream_fail(stream, err, "%d fields, but the first line has %d", column, fields);
        fields = column;
        if (code == 0)
            code = npi_rows_end(&twice, &rows, err);
    }
    npi_csr x = {0};
    if (code == 0)
        code = npi_rows_take(&x, &rows, rows.count, fields, err);
    npi_rows_free(&rows);
    if (code == 0)
        *out = (npi_table){.x = x};
    return code;
}
