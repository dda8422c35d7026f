/* Encodings: the columns of X that a column of a table becomes. encoding.h has the formulas. */
#define _POSIX_C_SOURCE 200809L
#include "features/encoding.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

enum { WORD_SIZE = 64 }; /* bytes of a word of a text, with the terminator */

static const char *const kind_names[] = {"number", "category", "flag", "date", "text", "raw", "ignored"};

const char *npi_kind_name(npi_kind kind)
{
    return kind_names[kind];
}

npi_kind npi_kind_find(const char *name)
{
    int kind = 0;
    while (kind < NPI_KINDS && strcmp(name, kind_names[kind]) != 0)
        kind++;
    return (npi_kind)kind;
}

/* ---- the encoding ---- */

int npi_encoding_new(npi_encoding **out, const npgnn_env *env, npgnn_error *err)
{
    npi_encoding *encoding = npi_alloc(env, 1, sizeof *encoding, err);
    if (!encoding)
        return NPGNN_E_MEMORY;
    encoding->env = *env;
    encoding->references = 1;
    *out = encoding;
    return 0;
}

npi_encoding *npi_encoding_share(npi_encoding *encoding)
{
    if (encoding)
        __atomic_add_fetch(&encoding->references, 1, __ATOMIC_RELAXED);
    return encoding;
}

void npi_encoding_free(npi_encoding *encoding)
{
    if (!encoding || __atomic_sub_fetch(&encoding->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    npgnn_env env = encoding->env;
    for (int32_t i = 0; i < encoding->count; i++) {
        npi_free(&env, encoding->columns[i].name);
        npi_names_free(encoding->columns[i].values);
        npi_free(&env, encoding->columns[i].weight);
        npi_free(&env, encoding->columns[i].count);
    }
    npi_free(&env, encoding->columns);
    npi_free(&env, encoding->id);
    npi_free(&env, encoding->text);
    npi_free(&env, encoding);
}

int npi_encoding_add(npi_encoded **out, npi_encoding *encoding, const char *name, npgnn_error *err)
{
    int code = npi_grow(&encoding->env, &encoding->columns, &encoding->capacity, (size_t)encoding->count,
                        sizeof *encoding->columns, err);
    if (code)
        return code;
    npi_encoded *column = &encoding->columns[encoding->count];
    *column = (npi_encoded){.kind = NPI_KIND_IGNORED, .scale = 1};
    if (name && !(column->name = npi_strdup(&encoding->env, name, err)))
        return NPGNN_E_MEMORY;
    encoding->count++;
    *out = column;
    return 0;
}

/* Adds a copy of a column. */
static int add_copy(npi_encoding *to, const npi_encoded *column, npgnn_error *err)
{
    npi_encoded *copy;
    size_t values = column->values ? (size_t)npi_names_count(column->values) : 0;
    int code = npi_encoding_add(&copy, to, column->name, err);
    if (code)
        return code;
    char *name = copy->name;
    *copy = *column;
    copy->name = name;
    copy->values = npi_names_share(column->values);
    copy->weight = column->weight ? npi_alloc(&to->env, values, sizeof *copy->weight, err) : NULL;
    copy->count = column->count ? npi_alloc(&to->env, values, sizeof *copy->count, err) : NULL;
    if ((column->weight && !copy->weight) || (column->count && !copy->count))
        return NPGNN_E_MEMORY;
    if (column->weight)
        memcpy(copy->weight, column->weight, values * sizeof *copy->weight);
    if (column->count)
        memcpy(copy->count, column->count, values * sizeof *copy->count);
    return 0;
}

int npi_encoding_join(npi_encoding **out, const npi_encoding *first, const npi_encoding *second, npgnn_error *err)
{
    npi_encoding *joined = NULL;
    int code = npi_encoding_new(&joined, &first->env, err);
    for (int32_t i = 0; code == 0 && i < first->count; i++)
        code = add_copy(joined, &first->columns[i], err);
    for (int32_t i = 0; code == 0 && i < second->count; i++)
        code = add_copy(joined, &second->columns[i], err);
    if (code == 0)
        code = npi_encoding_finish(joined, err);
    if (code)
        npi_encoding_free(joined);
    else
        *out = joined;
    return code;
}

int32_t npi_encoding_find(const npi_encoding *encoding, const char *name, int side)
{
    for (int32_t i = 0; i < encoding->count; i++)
        if (encoding->columns[i].name && encoding->columns[i].side == side &&
            strcmp(encoding->columns[i].name, name) == 0)
            return i;
    return -1;
}

/* Whether two columns make the same numbers of a cell. */
static int same_column(const npi_encoded *a, const npi_encoded *b)
{
    int32_t values = a->values ? npi_names_count(a->values) : 0;
    if (a->kind != b->kind || a->width != b->width || a->flags_missing != b->flags_missing || a->other != b->other ||
        a->center != b->center || a->scale != b->scale || a->low != b->low || a->high != b->high ||
        a->order != b->order || a->decimal_comma != b->decimal_comma ||
        values != (b->values ? npi_names_count(b->values) : 0))
        return 0;
    for (int32_t i = 0; i < values; i++)
        if (strcmp(npi_names_get(a->values, i), npi_names_get(b->values, i)) != 0 ||
            (a->weight && b->weight && a->weight[i] != b->weight[i]))
            return 0;
    return 1;
}

int npi_encoding_same(const npi_encoding *a, const npi_encoding *b)
{
    if (a == b)
        return 1;
    if (a->width != b->width)
        return 0;
    for (int32_t i = 0; i < a->count; i++) {
        const npi_encoded *column = &a->columns[i];
        if (column->kind == NPI_KIND_IGNORED)
            continue;
        /* a column without a name is found by its place */
        int32_t at = column->name ? npi_encoding_find(b, column->name, column->side) : i;
        if (at < 0 || at >= b->count || !same_column(column, &b->columns[at]))
            return 0;
    }
    return 1;
}

/* The name of the p-th column of X that a column becomes. Names of a two-sided graph's targets must differ from those
 * of its sources. */
static void name_part(char *text, size_t size, const npi_encoded *column, int32_t p)
{
    const char *side = column->side ? "target:" : "";
    int32_t values = column->values ? npi_names_count(column->values) : 0;
    if (column->flags_missing && p == column->width - 1)
        snprintf(text, size, "%s%s=(missing)", side, column->name);
    else if (p < values)
        snprintf(text, size, "%s%s%c%s", side, column->name, column->kind == NPI_KIND_TEXT ? ':' : '=',
                 npi_names_get(column->values, p));
    else if (column->values)
        snprintf(text, size, "%s%s=(other)", side, column->name);
    else
        snprintf(text, size, "%s%s", side, column->name);
}

int npi_encoding_names(npi_names **out, const npi_encoding *encoding, npgnn_error *err)
{
    npi_names *names = NULL;
    int code = 0;
    *out = NULL;
    for (int32_t i = 0; i < encoding->count; i++)
        if (!encoding->columns[i].name && encoding->columns[i].width > 0)
            return 0;
    if (encoding->width == 0)
        return 0;
    code = npi_names_new(&names, &encoding->env, err);
    for (int32_t i = 0; code == 0 && i < encoding->count; i++) {
        const npi_encoded *column = &encoding->columns[i];
        for (int32_t p = 0; code == 0 && p < column->width; p++) {
            char text[1024];
            int32_t index;
            name_part(text, sizeof text, column, p);
            code = npi_names_add(&index, names, text, strlen(text), err);
            /* "a=b" may be a column of its own and a value of another: then numbers tell them apart */
            for (int again = 2; code == 0 && index != column->first + p; again++) {
                char other[1040];
                snprintf(other, sizeof other, "%s (%d)", text, again);
                code = npi_names_add(&index, names, other, strlen(other), err);
            }
        }
    }
    if (code)
        npi_names_free(names);
    else
        *out = names;
    return code;
}

/* ---- cells ---- */

int npi_cell_is_missing(const char *cell)
{
    static const char *const words[] = {"na", "n/a", "#n/a", "nan", "null", "nil", "?", "-"};
    if (!*cell)
        return 1;
    if (strlen(cell) > 4)
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(cell, words[i]) == 0)
            return 1;
    return strcmp(cell, "None") == 0; /* Python's; "none" may well be a value */
}

int npi_cell_flag(const char *cell)
{
    static const char *const words[2][7] = {{"0", "false", "f", "no", "n", "off", "0.0"},
                                            {"1", "true", "t", "yes", "y", "on", "1.0"}};
    if (cell[0] && !cell[1] && (cell[0] == '0' || cell[0] == '1')) /* nearly always */
        return cell[0] == '1';
    for (int value = 0; value < 2 && strlen(cell) <= 5; value++)
        for (int i = 0; i < 7; i++)
            if (strcasecmp(cell, words[value][i]) == 0)
                return value;
    return -1;
}

static int is_letter(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

size_t npi_cell_word(char *word, size_t size, const char **rest)
{
    const char *at = *rest;
    size_t length = 0;
    while (*at && !is_letter(*at))
        at++;
    for (; is_letter(*at); at++)
        if (length < size - 1)
            word[length++] = (char)((unsigned char)*at < 0x80 ? tolower((unsigned char)*at) : *at);
    /* do not cut a character of several bytes in two: give up its first bytes */
    if (length == size - 1)
        while (length > 0 && (unsigned char)word[length - 1] >= 0x80)
            length--;
    word[length] = '\0';
    *rest = at;
    return length;
}

/* The row of a text: its words' idf, scaled to length 1. */
static int apply_text(const npi_encoded *column, const char *cell, float *scratch, npi_encoded_fn *see, void *user,
                      npgnn_error *err)
{
    int32_t words = npi_names_count(column->values), low = words, high = -1;
    char word[WORD_SIZE];
    double square = 0;
    int code = 0;
    while (*cell) {
        size_t length = npi_cell_word(word, sizeof word, &cell);
        int32_t at = length > 0 ? npi_names_find(column->values, word, length) : -1;
        if (at < 0 || scratch[at] != 0)
            continue;
        scratch[at] = column->weight[at];
        square += (double)column->weight[at] * (double)column->weight[at];
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    for (int32_t i = low; i <= high; i++) {
        float value = scratch[i];
        scratch[i] = 0; /* for the next cell */
        if (value != 0 && code == 0)
            code = see(user, column->first + i, (float)((double)value / sqrt(square)), err);
    }
    return code;
}

/* A number, with a point or as the column has it. *why says what is wrong with it. */
static npi_number_result parse_number(double *value, const npi_encoded *column, const char *cell, const char **why)
{
    char copy[64];
    npi_number_result result = NPI_NUMBER_BAD;
    int comma = strchr(cell, ',') != NULL && strlen(cell) < sizeof copy;
    if (comma) {
        memcpy(copy, cell, strlen(cell) + 1);
        comma = npi_number_take_decimal_comma(copy, 1) > 0;
    }
    if (!comma || column->decimal_comma)
        result = npi_number_parse_double(value, comma ? copy : cell);
    *why = comma && !column->decimal_comma ? "is not a number: those of its column have no decimal commas"
                                           : npi_number_reason(result);
    return result;
}

int npi_encoding_apply(const npi_encoded *column, const char *cell, float *scratch, npi_encoded_fn *see, void *user,
                       const char **why, npgnn_error *err)
{
    int missing = npi_cell_is_missing(cell), code = 0;
    int32_t last = column->first + column->width - 1, at;
    double value = 0;
    npi_number_result result;
    *why = "is missing";
    switch (column->kind) {
    case NPI_KIND_NUMBER:
    case NPI_KIND_DATE:
        *why = "is not a date";
        if (!missing) {
            if (column->kind == NPI_KIND_NUMBER
                    ? parse_number(&value, column, cell, why) != NPI_NUMBER_OK
                    : !npi_date_parse(&value, cell, column->order) && !npi_date_parse(&value, cell, NPI_DATE_YMD))
                return 1;
            value = value < column->low ? column->low : value > column->high ? column->high : value;
            code = see(user, column->first, (float)((value - column->center) / column->scale), err);
        }
        break;
    case NPI_KIND_FLAG:
        *why = "is not a flag such as 0 and 1, or yes and no";
        value = missing ? column->center : npi_cell_flag(cell);
        if (value < 0)
            return 1;
        code = see(user, column->first, (float)value, err);
        break;
    case NPI_KIND_CATEGORY:
        at = missing ? -1 : npi_names_find(column->values, cell, strlen(cell));
        if (at >= 0)
            code = see(user, column->first + at, 1, err);
        else if (column->other && !(missing && column->flags_missing))
            code = see(user, column->first + npi_names_count(column->values), 1, err);
        break;
    case NPI_KIND_TEXT:
        return missing ? 0 : apply_text(column, cell, scratch, see, user, err);
    case NPI_KIND_RAW:
        result = parse_number(&value, column, cell, why);
        if (result == NPI_NUMBER_OK && !isfinite((float)value)) {
            *why = npi_number_reason(NPI_NUMBER_NOT_FINITE);
            return 1;
        }
        if (result != NPI_NUMBER_OK)
            return 1;
        return see(user, column->first, (float)value, err);
    case NPI_KIND_IGNORED:
    case NPI_KINDS:
        return 0;
    }
    if (code == 0 && missing && column->flags_missing)
        code = see(user, last, 1, err);
    return code;
}

/* ---- descriptions ---- */

/* Year, month and day of a number of days since 1970. */
static void print_date(char *text, size_t size, double days)
{
    int64_t z = (int64_t)floor(days) + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097, yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int64_t month = mp < 10 ? mp + 3 : mp - 9;
    int64_t year = yoe + era * 400 + (month <= 2), day = doy - (153 * mp + 2) / 5 + 1;
    snprintf(text, size, "%04" PRId64 "-%02d-%02d", year, (int)month, (int)day);
}

void npi_encoded_summary(char *text, size_t size, const npi_encoded *column)
{
    char low[64], high[64];
    size_t used = 0;
    text[0] = '\0';
    if (column->kind == NPI_KIND_NUMBER) {
        snprintf(text, size, "%.6g to %.6g, center %.6g", column->least, column->most, column->center);
    } else if (column->kind == NPI_KIND_DATE) {
        print_date(low, sizeof low, column->least);
        print_date(high, sizeof high, column->most);
        snprintf(text, size, "%s to %s", low, high);
    } else if (column->kind == NPI_KIND_FLAG) {
        snprintf(text, size, "%.3g %% yes", 100 * column->center);
    } else if (column->values) { /* the most frequent ones */
        int32_t count = npi_names_count(column->values);
        for (int32_t i = 0; i < count && i < 3 && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%.24s (%lld)", i ? ", " : "",
                                     npi_names_get(column->values, i), (long long)column->count[i]);
        if (count > 3 && used < size)
            snprintf(text + used, size - used, ", ...");
    }
}

void npi_encoded_outcome(char *text, size_t size, const npi_encoded *column)
{
    const char *missing = column->flags_missing ? ", 1 for missing" : "";
    int32_t values = column->values ? npi_names_count(column->values) : 0;
    switch (column->kind) {
    case NPI_KIND_NUMBER:
    case NPI_KIND_DATE:
        snprintf(text, size, "scaled%s%s", column->decimal_comma ? ", decimal comma" : "", missing);
        break;
    case NPI_KIND_FLAG:
        snprintf(text, size, "0 or 1%s", missing);
        break;
    case NPI_KIND_CATEGORY:
        snprintf(text, size, "%d column%s%s%s", values, values == 1 ? "" : "s", column->other ? ", 1 for others" : "",
                 missing);
        break;
    case NPI_KIND_TEXT:
        snprintf(text, size, "%d words", values);
        break;
    case NPI_KIND_RAW:
        snprintf(text, size, "as it is%s", column->decimal_comma ? ", decimal comma" : "");
        break;
    case NPI_KIND_IGNORED:
    case NPI_KINDS:
        snprintf(text, size, "ignored: %s", column->why);
        break;
    }
}

int npi_encoding_describe(npgnn_table_column *out, const npi_encoding *encoding, int32_t index)
{
    if (!encoding || index < 0 || index >= encoding->count)
        return 0;
    const npi_encoded *column = &encoding->columns[index];
    *out = (npgnn_table_column){.name = column->name,
                                .kind = npi_kind_name(column->kind),
                                .rows = column->rows,
                                .missing = column->missing,
                                .first = column->first,
                                .columns = column->width,
                                .side = column->side};
    npi_encoded_summary(out->summary, sizeof out->summary, column);
    npi_encoded_outcome(out->outcome, sizeof out->outcome, column);
    return 1;
}
