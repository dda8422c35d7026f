/* Finds out what is in a column of a table, from all of its cells, and how it becomes columns of X (features/encoding.h).
 *
 *   flag       every value is one, such as 0 and 1 or yes and no
 *   number     every value is one; digits that begin with 0, such as postcodes, are categories
 *   date       every value is one, with the same order of year, month and day
 *   text       values have three words or more on average
 *   ignored    all values differ, or there are more than 20 and three rows or fewer have each: names, addresses and other identifiers. Also columns
 *              that have the same value everywhere, which say nothing; but flags are kept.
 *   category   everything else
 *
 * Numbers are scaled such that one outlier does not matter and that they compare with flags (Gelman 2008, Statistics in
 * Medicine 27: two standard deviations are 1):
 *
 *   x' = (clip(x, m - 3 s, m + 3 s) - m) / (2 s),    m median,    s = (q90 - q10) / 2.563, which is σ of a normal distribution
 *
 * with wider quantiles where these two are the same. A column in which half of the values are 0 stays sparse: m = 0, and
 * x' = clip(x, -3 s, 3 s) / s with s the median of |x| over the others: counts of 1 stay 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "io/cells.h"

enum {
    MAX_CATEGORIES = 100, /* values of a column that get a column of their own */
    MAX_WORDS = 500,      /* words of a column that do */
    FEW_VALUES = 20,
    WORD_SIZE = 64
};

/* What the cells of a column look like. */
typedef struct census {
    int64_t missing, numbers, integers, flags, leading_zeros, dates[NPI_DATE_ORDERS], words;
    int32_t bad_number, bad_date; /* the first row that is no number, and that is no date in any order */
} census;

static int64_t count_words(const char *cell)
{
    char word[WORD_SIZE];
    int64_t count = 0;
    while (npi_cell_word(word, sizeof word, &cell) > 0)
        count++;
    return count;
}

static census take_census(const npi_cells *cells, int column, int32_t first)
{
    census c = {.bad_number = -1, .bad_date = -1};
    for (int32_t row = first; row < cells->rows; row++) {
        const char *cell = npi_cells_get(cells, row, column);
        double value;
        if (cell[0] && !cell[1] && (cell[0] == '0' || cell[0] == '1')) { /* the usual cell of a bag of words */
            c.flags++;
            c.numbers++;
            c.integers++;
            c.bad_date = c.bad_date < 0 ? row : c.bad_date;
            continue;
        }
        if (npi_cell_is_missing(cell)) {
            c.missing++;
            continue;
        }
        c.flags += npi_cell_flag(cell) >= 0;
        if (npi_number_parse_double(&value, cell) == NPI_NUMBER_OK) {
            int64_t integer;
            int whole = npi_number_parse_int(&integer, cell);
            c.numbers++;
            c.integers += whole;
            c.leading_zeros += whole && cell[0] == '0' && cell[1];
            c.bad_date = c.bad_date < 0 ? row : c.bad_date;
            continue;
        }
        c.bad_number = c.bad_number < 0 ? row : c.bad_number;
        int date = 0;
        for (int order = 0; order < NPI_DATE_ORDERS; order++) {
            int fits = npi_date_parse(&value, cell, (npi_date_order)order);
            c.dates[order] += fits;
            date |= fits;
        }
        if (!date) {
            c.bad_date = c.bad_date < 0 ? row : c.bad_date;
            c.words += count_words(cell);
        }
    }
    return c;
}

static npi_date_order most_dates(const census *c)
{
    int best = NPI_DATE_YMD;
    for (int order = 0; order < NPI_DATE_ORDERS; order++)
        if (c->dates[order] > c->dates[best])
            best = order;
    return (npi_date_order)best;
}

static void ignore(npi_encoded *out, const char *why)
{
    out->kind = NPI_KIND_IGNORED;
    out->flags_missing = 0;
    snprintf(out->why, sizeof out->why, "%s", why);
}

/* E_FORMAT at a cell, unless bad rows are to be skipped. */
static int bad_cell(const npi_cells *cells, int column, int32_t row, const char *name, const char *what, int64_t fit,
                    const npgnn_load_options *how, const char *file, npgnn_error *err)
{
    char place[80];
    if (how->skip_bad_rows)
        return 0;
    if (name)
        snprintf(place, sizeof place, "column '%.60s'", name);
    else
        snprintf(place, sizeof place, "field %d", column + 1);
    return npi_fail_at(
        err, NPGNN_E_FORMAT, file, cells->line[row],
        "'%.40s' in %s is not a %s, although %lld other values are: correct it, leave it empty, or choose another kind "
        "for the column (%s:category, %s:text)",
        npi_cells_get(cells, row, column), place, what, (long long)fit, name ? name : "NUMBER", name ? name : "NUMBER");
}

/* ---- numbers and dates ---- */

/* Doubles in their order as unsigned integers: negative ones have all bits flipped, the others the sign bit. */
static uint64_t ordered_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double from_ordered_bits(uint64_t bits)
{
    double value;
    bits = bits >> 63 ? bits & ~((uint64_t)1 << 63) : ~bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The value at a share of a sorted list that is not empty. */
static double quantile(const uint64_t *sorted, size_t count, double share)
{
    return from_ordered_bits(sorted[(size_t)(share * (double)(count - 1) + 0.5)]);
}

/* Finds center, scale and the range that is kept. */
static int fit_scale(npi_encoded *out, const npi_cells *cells, int column, int32_t first, npgnn_error *err)
{
    static const double tails[][2] = {{0.1, 2.563}, {0.025, 3.920}, {0.005, 5.152}}; /* σ between the quantiles */
    size_t count = 0, nonzeros = 0, total = (size_t)(cells->rows - first);
    uint64_t *keys = npi_resize(&cells->env, NULL, 2 * total, sizeof *keys, err);
    if (!keys)
        return NPGNN_E_MEMORY;
    uint64_t *scratch = keys + total;
    for (int32_t row = first; row < cells->rows; row++) {
        const char *cell = npi_cells_get(cells, row, column);
        double value;
        if (npi_cell_is_missing(cell))
            continue;
        int fits = out->kind == NPI_KIND_DATE ? npi_date_parse(&value, cell, out->order)
                                              : npi_number_parse_double(&value, cell) == NPI_NUMBER_OK;
        if (fits) {
            keys[count++] = ordered_bits(value + 0.0); /* -0 and 0 are the same */
            nonzeros += value != 0;
        } else {
            out->missing++; /* bad cells that are to be skipped */
        }
    }
    if (count == 0) {
        ignore(out, "it has no values");
        npi_free(&cells->env, keys);
        return 0;
    }
    npi_u64_sort(keys, scratch, count);
    out->least = quantile(keys, count, 0);
    out->most = quantile(keys, count, 1);
    double spread = 0;
    if (out->kind == NPI_KIND_NUMBER && 2 * nonzeros <= count && nonzeros > 0) {
        size_t kept = 0;
        for (size_t i = 0; i < count; i++) {
            double value = from_ordered_bits(keys[i]);
            if (value != 0)
                scratch[kept++] = ordered_bits(fabs(value));
        }
        npi_u64_sort(scratch, keys, kept);
        out->center = 0;
        out->scale = spread = quantile(scratch, kept, 0.5);
    } else {
        out->center = quantile(keys, count, 0.5);
        for (size_t i = 0; i < sizeof tails / sizeof tails[0] && spread == 0; i++)
            spread =
                quantile(keys, count, 1 - tails[i][0]) / tails[i][1] - quantile(keys, count, tails[i][0]) / tails[i][1];
        if (spread == 0)
            spread = out->most / 4 - out->least / 4;
        out->scale = 2 * spread;
    }
    npi_free(&cells->env, keys);
    /* differences between numbers near the ends of the range of a double can be neither formed nor scaled */
    if (out->least == out->most)
        ignore(out, "it has the same value everywhere");
    else if (!(out->scale > 1e-300 && out->scale < 1e300))
        ignore(out, "its numbers are too small or too large");
    out->low = fmax(out->least, out->center - 3 * spread);
    out->high = fmin(out->most, out->center + 3 * spread);
    return 0;
}

/* ---- categories and texts ---- */

typedef struct tally {
    npi_names *values;
    int64_t *count;
    int32_t *last; /* texts: the last row that has the word */
    size_t count_capacity, last_capacity;
} tally;

static int tally_add(tally *t, const char *value, size_t length, int32_t row, const npgnn_env *env, npgnn_error *err)
{
    int32_t index, before = npi_names_count(t->values);
    int code = npi_names_add(&index, t->values, value, length, err);
    if (code == 0 && index == before) {
        code = npi_grow(env, &t->count, &t->count_capacity, (size_t)index, sizeof *t->count, err);
        if (code == 0)
            code = npi_grow(env, &t->last, &t->last_capacity, (size_t)index, sizeof *t->last, err);
        if (code == 0) {
            t->count[index] = 0;
            t->last[index] = -1;
        }
    }
    if (code == 0 && t->last[index] != row) {
        t->count[index]++;
        t->last[index] = row;
    }
    return code;
}

static void tally_free(tally *t, const npgnn_env *env)
{
    npi_names_free(t->values);
    npi_free(env, t->count);
    npi_free(env, t->last);
}

/* Counts the values of a column or, of texts, the rows that have each word. */
static int tally_column(tally *t, const npi_cells *cells, int column, int32_t first, int by_word, npgnn_error *err)
{
    int code = npi_names_new(&t->values, &cells->env, err);
    for (int32_t row = first; code == 0 && row < cells->rows; row++) {
        const char *cell = npi_cells_get(cells, row, column);
        char word[WORD_SIZE];
        size_t length;
        if (npi_cell_is_missing(cell))
            continue;
        if (!by_word)
            code = tally_add(t, cell, strlen(cell), row, &cells->env, err);
        while (by_word && code == 0 && (length = npi_cell_word(word, sizeof word, &cell)) > 0)
            code = tally_add(t, word, length, row, &cells->env, err);
    }
    return code;
}

typedef struct ranked {
    int64_t count;
    const char *value;
    int32_t index;
} ranked;

static int by_count(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return strcmp(left->value, right->value);
}

/* Takes the `limit` most frequent values with at least `least` and at most `most` rows. */
static int take_frequent(npi_encoded *out, const tally *t, int32_t limit, int64_t least, int64_t most,
                         const npgnn_env *env, npgnn_error *err)
{
    int32_t count = npi_names_count(t->values), kept = 0, index;
    ranked *order = npi_alloc(env, (size_t)count, sizeof *order, err);
    int code = order ? npi_names_new(&out->values, env, err) : NPGNN_E_MEMORY;
    for (int32_t i = 0; code == 0 && i < count; i++)
        if (t->count[i] >= least && t->count[i] <= most)
            order[kept++] = (ranked){t->count[i], npi_names_get(t->values, i), i};
    if (code == 0 && kept > 1)
        qsort(order, (size_t)kept, sizeof *order, by_count);
    kept = kept < limit ? kept : limit;
    if (code == 0 && !(out->count = npi_alloc(env, (size_t)kept, sizeof *out->count, err)))
        code = NPGNN_E_MEMORY;
    for (int32_t i = 0; code == 0 && i < kept; i++) {
        code = npi_names_add(&index, out->values, order[i].value, strlen(order[i].value), err);
        out->count[i] = order[i].count;
    }
    npi_free(env, order);
    return code;
}

/* A value has a column of its own where two rows, and one in a thousand, have it. */
static int fit_category(npi_encoded *out, const npi_cells *cells, int column, int32_t first, int chosen,
                        npgnn_error *err)
{
    tally t = {0};
    int64_t values = out->rows - out->missing, least = values / 1000 > 2 ? values / 1000 : 2;
    int code = tally_column(&t, cells, column, first, 0, err);
    int32_t distinct = code ? 0 : npi_names_count(t.values);
    if (code == 0 && !chosen && (distinct == values || (distinct > FEW_VALUES && 3 * (int64_t)distinct > values)) &&
        distinct > 1) {
        ignore(out, distinct == values ? "all values differ" : "most values differ");
    } else if (code == 0 && distinct <= 1 && out->missing == 0) {
        ignore(out, "it has the same value everywhere");
    } else if (code == 0) {
        out->kind = NPI_KIND_CATEGORY;
        code = take_frequent(out, &t, MAX_CATEGORIES, chosen && values < 3 ? 1 : least, INT64_MAX, &cells->env, err);
        out->other = code == 0 && npi_names_count(out->values) < distinct;
    }
    tally_free(&t, &cells->env);
    return code;
}

/* A word has a column where two rows have it, and at most half of all. Its weight is log(1 + n / rows that have it). */
static int fit_text(npi_encoded *out, const npi_cells *cells, int column, int32_t first, npgnn_error *err)
{
    tally t = {0};
    int64_t values = out->rows - out->missing;
    int code = tally_column(&t, cells, column, first, 1, err);
    out->kind = NPI_KIND_TEXT;
    out->flags_missing = 0;
    if (code == 0)
        code = take_frequent(out, &t, MAX_WORDS, 2, values / 2, &cells->env, err);
    tally_free(&t, &cells->env);
    if (code)
        return code;
    int32_t words = npi_names_count(out->values);
    out->weight = npi_alloc(&cells->env, (size_t)words, sizeof *out->weight, err);
    if (!out->weight)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < words; i++)
        out->weight[i] = (float)log1p((double)values / (double)out->count[i]);
    if (words == 0) {
        npi_names_free(out->values);
        npi_free(&cells->env, out->weight);
        npi_free(&cells->env, out->count);
        out->values = NULL;
        out->weight = NULL;
        out->count = NULL;
        ignore(out, "no word occurs twice");
    }
    return 0;
}

static void fit_flag(npi_encoded *out, const npi_cells *cells, int column, int32_t first)
{
    int64_t ones = 0, values = 0;
    for (int32_t row = first; row < cells->rows; row++) {
        const char *cell = npi_cells_get(cells, row, column);
        int flag = npi_cell_is_missing(cell) ? -1 : npi_cell_flag(cell);
        values += flag >= 0;
        ones += flag > 0;
    }
    out->center = values > 0 ? (double)ones / (double)values : 0;
}

int npi_cell_is_decorated(const char *cell)
{
    char plain[64];
    size_t length = 0;
    double value;
    if (npi_number_parse_double(&value, cell) == NPI_NUMBER_OK)
        return 0;
    for (; *cell && length < sizeof plain - 1; cell++) {
        size_t sign = strspn(cell, "$%,' ");
        if (sign == 0 && strncmp(cell, "\xE2\x82\xAC", 3) == 0) /* the sign of the euro */
            sign = 3;
        if (sign == 0 && strncmp(cell, "\xC2\xA3", 2) == 0) /* of the pound */
            sign = 2;
        if (sign == 0)
            plain[length++] = *cell;
        else
            cell += sign - 1;
    }
    plain[length] = '\0';
    npi_number_take_decimal_comma(plain, 0); /* points between thousands */
    return npi_number_parse_double(&value, plain) == NPI_NUMBER_OK;
}

/* Whether nine of ten values of a column are numbers with signs, such as 1.234,50 €: their digits are no words. */
static int is_mostly_decorated(const npi_cells *cells, int column, int32_t first, int64_t values)
{
    int64_t decorated = 0;
    for (int32_t row = first; row < cells->rows; row++)
        decorated += npi_cell_is_decorated(npi_cells_get(cells, row, column));
    return 10 * decorated >= 9 * values;
}

/* Says more of a column that is ignored because its values differ, where they seem to be numbers or dates that could
 * not be read. */
static void explain_ignored(npi_encoded *out, const npi_cells *cells, int column, int32_t first, const census *c)
{
    int64_t values = out->rows - out->missing, decorated = 0, dates = 0;
    const char *example = NULL;
    for (int order = 0; order < NPI_DATE_ORDERS; order++)
        dates += c->dates[order];
    for (int32_t row = first; row < cells->rows; row++) {
        const char *cell = npi_cells_get(cells, row, column);
        double value;
        int number = npi_number_parse_double(&value, cell) == NPI_NUMBER_OK, with_signs = npi_cell_is_decorated(cell);
        if (npi_cell_is_missing(cell) || !(number || with_signs))
            continue;
        decorated++;
        if (!example && with_signs)
            example = cell;
    }
    if (example && 10 * decorated >= 9 * values)
        snprintf(out->why, sizeof out->why,
                 "values such as %.20s are not numbers: remove units and separators of thousands", example);
    else if (2 * dates >= values)
        snprintf(out->why, sizeof out->why, "its dates have several formats");
}

/* ---- the column ---- */

int npi_cells_infer(npi_encoded *out, const npi_cells *cells, int column, int32_t first, npi_kind kind,
                    const npgnn_load_options *how, const char *file, npgnn_error *err)
{
    census c = take_census(cells, column, first);
    int64_t rows = cells->rows - first, values = rows - c.missing;
    int chosen = kind != NPI_KINDS, code = 0;
    out->rows = rows;
    out->missing = c.missing;
    out->flags_missing = c.missing > 0;
    out->order = most_dates(&c);
    int64_t dates = c.dates[out->order];
    if (kind == NPI_KIND_IGNORED || kind == NPI_KIND_RAW) {
        out->kind = kind;
        out->flags_missing = 0;
        if (kind == NPI_KIND_IGNORED)
            ignore(out, "as you asked");
        return 0;
    }
    if (!chosen) {
        int number = c.numbers > 0 && 10 * c.numbers >= 9 * values && c.leading_zeros == 0;
        int date = dates > 0 && 10 * dates >= 9 * values;
        if (values == 0) {
            ignore(out, "it has no values");
            return 0;
        }
        kind = c.flags == values                             ? NPI_KIND_FLAG
               : number                                      ? NPI_KIND_NUMBER
               : date                                        ? NPI_KIND_DATE
               : c.words >= 3 * values && c.numbers < values ? NPI_KIND_TEXT
                                                             : NPI_KIND_CATEGORY;
        if (kind == NPI_KIND_TEXT && is_mostly_decorated(cells, column, first, values))
            kind = NPI_KIND_CATEGORY;
    }
    out->kind = kind;
    switch (kind) {
    case NPI_KIND_NUMBER:
        out->flags_missing |= c.numbers < values; /* bad cells that are to be skipped */
        if (c.numbers < values)
            code = bad_cell(cells, column, c.bad_number, out->name, "number", c.numbers, how, file, err);
        return code ? code : fit_scale(out, cells, column, first, err);
    case NPI_KIND_DATE:
        out->flags_missing |= dates < values;
        if (dates < values)
            code =
                bad_cell(cells, column, c.bad_date >= 0 ? c.bad_date : first, out->name, "date", dates, how, file, err);
        if (code == 0 && out->order != NPI_DATE_YMD && c.dates[NPI_DATE_DMY] == c.dates[NPI_DATE_MDY])
            npi_log(&cells->env,
                    "%s: the dates of column '%.60s' could have the day or the month first; taking the day", file,
                    out->name ? out->name : "");
        return code ? code : fit_scale(out, cells, column, first, err);
    case NPI_KIND_FLAG:
        fit_flag(out, cells, column, first);
        return 0;
    case NPI_KIND_TEXT:
        return fit_text(out, cells, column, first, err);
    case NPI_KIND_CATEGORY:
    case NPI_KIND_RAW:
    case NPI_KIND_IGNORED:
    case NPI_KINDS:
        break;
    }
    code = fit_category(out, cells, column, first, chosen, err);
    if (code == 0 && out->kind == NPI_KIND_IGNORED && values > 1)
        explain_ignored(out, cells, column, first, &c);
    return code;
}
