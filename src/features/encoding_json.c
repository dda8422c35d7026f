/* Encodings as JSON:
 *
 *   {"version": 1, "id": NAME or null, "columns": [{"name": NAME or null, "kind": KIND, "rows": N, "missing": N,
 *    "flags_missing": BOOL, "side": 0 or 1, ...}, ...]}
 *
 *   number, date    "center", "scale", "low", "high"; "least" and "most", the range of the table; date also "order"
 *   number, raw     "decimal_comma": BOOL
 *   flag            "center"
 *   category        "values": [TEXT, ...], "counts": [N, ...], "other": BOOL
 *   text            "values", "counts", "weights": [NUMBER, ...]
 *   ignored         "why"
 *
 * Writing what was read gives the same text: keys are sorted, and numbers have 17 digits. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "features/encoding.h"

enum { VERSION = 1, MAX_WIDTH = 1 << 24 }; /* columns of X */

static const char *const orders[] = {"ymd", "dmy", "mdy"};

/* ---- writing ---- */

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *column_json(const npi_encoded *column)
{
    json_t *object =
        json_pack("{s:o, s:s, s:I, s:I, s:b, s:i}", "name", text_or_null(column->name), "kind",
                  npi_kind_name(column->kind), "rows", (json_int_t)column->rows, "missing", (json_int_t)column->missing,
                  "flags_missing", column->flags_missing, "side", column->side);
    int failed = object == NULL;
    if (column->kind == NPI_KIND_NUMBER || column->kind == NPI_KIND_DATE) {
        failed |= json_object_set_new(object, "center", json_real(column->center));
        failed |= json_object_set_new(object, "scale", json_real(column->scale));
        failed |= json_object_set_new(object, "low", json_real(column->low));
        failed |= json_object_set_new(object, "high", json_real(column->high));
        failed |= json_object_set_new(object, "least", json_real(column->least));
        failed |= json_object_set_new(object, "most", json_real(column->most));
    }
    if (column->kind == NPI_KIND_NUMBER || column->kind == NPI_KIND_RAW)
        failed |= json_object_set_new(object, "decimal_comma", json_boolean(column->decimal_comma));
    if (column->kind == NPI_KIND_DATE)
        failed |= json_object_set_new(object, "order", json_string(orders[column->order]));
    if (column->kind == NPI_KIND_FLAG)
        failed |= json_object_set_new(object, "center", json_real(column->center));
    if (column->kind == NPI_KIND_IGNORED)
        failed |= json_object_set_new(object, "why", json_string(column->why));
    if (column->values) {
        json_t *values = json_array(), *counts = json_array(), *weights = column->weight ? json_array() : NULL;
        for (int32_t i = 0; i < npi_names_count(column->values); i++) {
            failed |= json_array_append_new(values, json_string(npi_names_get(column->values, i)));
            failed |= json_array_append_new(counts, json_integer(column->count[i]));
            if (weights)
                failed |= json_array_append_new(weights, json_real((double)column->weight[i]));
        }
        failed |= json_object_set_new(object, "values", values);
        failed |= json_object_set_new(object, "counts", counts);
        if (column->weight)
            failed |= json_object_set_new(object, "weights", weights);
        else
            failed |= json_object_set_new(object, "other", json_boolean(column->other));
    }
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

int npi_encoding_finish(npi_encoding *encoding, npgnn_error *err)
{
    json_t *columns = json_array();
    int failed = columns == NULL;
    encoding->width = 0;
    for (int32_t i = 0; i < encoding->count; i++) {
        npi_encoded *column = &encoding->columns[i];
        column->width = column->kind == NPI_KIND_IGNORED ? 0
                        : column->values                 ? npi_names_count(column->values) + column->other
                                                         : 1;
        column->width += column->flags_missing;
        column->first = encoding->width;
        encoding->width += column->width;
        failed |= json_array_append_new(columns, column_json(column));
    }
    json_t *object =
        json_pack("{s:i, s:o, s:o}", "version", VERSION, "id", text_or_null(encoding->id), "columns", columns);
    char *text = failed ? NULL : npi_json_print(object, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    json_decref(object);
    npi_free(&encoding->env, encoding->text);
    encoding->text = text ? npi_strdup(&encoding->env, text, err) : NULL;
    free(text);
    return encoding->text ? 0 : npi_fail(err, NPGNN_E_MEMORY, "out of memory while describing the feature columns");
}

/* ---- reading ---- */

static int refuse(const char *where, const char *what, npgnn_error *err)
{
    return npi_fail(err, NPGNN_E_FORMAT, "%s: the encoding of the feature columns is damaged: %s", where, what);
}

static int finite_member(double *out, json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    *out = json_is_number(value) ? json_number_value(value) : (double)NAN;
    return isfinite(*out);
}

/* The values or words of a column, with their counts and weights. */
static int read_values(npi_encoded *column, json_t *object, const char *where, const npgnn_env *env, npgnn_error *err)
{
    json_t *values = json_object_get(object, "values"), *counts = json_object_get(object, "counts");
    json_t *weights = json_object_get(object, "weights");
    size_t count = json_array_size(values);
    int text = column->kind == NPI_KIND_TEXT, code;
    if (!json_is_array(values) || !json_is_array(counts) || json_array_size(counts) != count || count > MAX_WIDTH ||
        (text && json_array_size(weights) != count))
        return refuse(where, "its values are not lists of the same length", err);
    code = npi_names_new(&column->values, env, err);
    column->count = npi_alloc(env, count, sizeof *column->count, err);
    if (text)
        column->weight = npi_alloc(env, count, sizeof *column->weight, err);
    if (code || !column->count || (text && !column->weight))
        return NPGNN_E_MEMORY;
    for (size_t i = 0; code == 0 && i < count; i++) {
        json_t *value = json_array_get(values, i);
        const char *name = json_string_value(value);
        int32_t index;
        if (!name || strlen(name) != json_string_length(value) || !json_is_integer(json_array_get(counts, i)))
            return refuse(where, "a value is not text", err);
        code = npi_names_add(&index, column->values, name, strlen(name), err);
        if (code == 0 && (size_t)index != i)
            return refuse(where, "a value occurs twice", err);
        column->count[i] = json_integer_value(json_array_get(counts, i));
        if (text) {
            double weight = json_number_value(json_array_get(weights, i));
            if (!(weight > 0 && weight < 1e6))
                return refuse(where, "the weight of a word is not positive", err);
            column->weight[i] = (float)weight;
        }
    }
    return code;
}

static int read_column(npi_encoded *column, json_t *object, const char *where, const npgnn_env *env, npgnn_error *err)
{
    const char *kind = json_string_value(json_object_get(object, "kind"));
    const char *why = json_string_value(json_object_get(object, "why"));
    const char *order = json_string_value(json_object_get(object, "order"));
    json_int_t side = json_integer_value(json_object_get(object, "side"));
    column->kind = kind ? npi_kind_find(kind) : NPI_KINDS;
    if (column->kind == NPI_KINDS || side < 0 || side > 1)
        return refuse(where, "a column is of no known kind", err);
    column->side = (int)side;
    column->rows = json_integer_value(json_object_get(object, "rows"));
    column->missing = json_integer_value(json_object_get(object, "missing"));
    column->flags_missing = json_is_true(json_object_get(object, "flags_missing")) && column->kind != NPI_KIND_TEXT &&
                            column->kind != NPI_KIND_RAW && column->kind != NPI_KIND_IGNORED;
    column->decimal_comma = json_is_true(json_object_get(object, "decimal_comma")) &&
                            (column->kind == NPI_KIND_NUMBER || column->kind == NPI_KIND_RAW);
    column->other = column->kind == NPI_KIND_CATEGORY && json_is_true(json_object_get(object, "other"));
    snprintf(column->why, sizeof column->why, "%.90s", why ? why : "");
    switch (column->kind) {
    case NPI_KIND_NUMBER:
    case NPI_KIND_DATE:
        if (!finite_member(&column->center, object, "center") || !finite_member(&column->scale, object, "scale") ||
            !finite_member(&column->low, object, "low") || !finite_member(&column->high, object, "high") ||
            !finite_member(&column->least, object, "least") || !finite_member(&column->most, object, "most") ||
            !(column->scale > 0 && column->low <= column->high) ||
            !isfinite((float)((column->high - column->center) / column->scale)) ||
            !isfinite((float)((column->low - column->center) / column->scale)))
            return refuse(where, "a column has no finite scale", err);
        if (column->kind == NPI_KIND_NUMBER)
            return 0;
        for (int i = 0; order && i < NPI_DATE_ORDERS; i++)
            if (strcmp(order, orders[i]) == 0) {
                column->order = (npi_date_order)i;
                return 0;
            }
        return refuse(where, "a column of dates has no order of year, month and day", err);
    case NPI_KIND_FLAG:
        return finite_member(&column->center, object, "center") && column->center >= 0 && column->center <= 1
                   ? 0
                   : refuse(where, "the share of a flag is not in 0 .. 1", err);
    case NPI_KIND_CATEGORY:
    case NPI_KIND_TEXT:
        return read_values(column, object, where, env, err);
    case NPI_KIND_RAW:
    case NPI_KIND_IGNORED:
    case NPI_KINDS:
        break;
    }
    return 0;
}

int npi_encoding_parse(npi_encoding **out, const char *text, const char *where, const npgnn_env *env, npgnn_error *err)
{
    npi_json_fault fault = {0};
    npi_encoding *encoding = NULL;
    npi_names *seen[2] = {NULL, NULL}; /* the names of each side */
    json_t *object = NULL;
    if (npi_json_parse(&object, &fault, text, strlen(text)) == NPGNN_E_MEMORY)
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory while reading %s", where);
    json_t *columns = json_object_get(object, "columns"), *version = json_object_get(object, "version");
    const char *id = json_string_value(json_object_get(object, "id"));
    int code = 0;
    if (!json_is_array(columns) || !json_is_integer(version) || json_array_size(columns) > MAX_WIDTH)
        code = refuse(where, object ? "it is not an object with version and columns" : fault.text, err);
    else if (json_integer_value(version) != VERSION)
        code = npi_fail(err, NPGNN_E_FORMAT,
                        "%s: the encoding of the feature columns has version %lld, but this library knows %d", where,
                        (long long)json_integer_value(version), VERSION);
    if (code == 0)
        code = npi_encoding_new(&encoding, env, err);
    for (int side = 0; code == 0 && side < 2; side++)
        code = npi_names_new(&seen[side], env, err);
    if (code == 0 && id && !(encoding->id = npi_strdup(env, id, err)))
        code = NPGNN_E_MEMORY;
    int64_t width = 0;
    for (size_t i = 0; code == 0 && i < json_array_size(columns); i++) {
        npi_encoded *column;
        json_t *item = json_array_get(columns, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        int side = json_integer_value(json_object_get(item, "side")) != 0;
        int32_t index, before = npi_names_count(seen[side]);
        if (name)
            code = npi_names_add(&index, seen[side], name, strlen(name), err);
        if (code == 0 && name && npi_names_count(seen[side]) == before)
            code = refuse(where, "a column occurs twice", err);
        if (code == 0)
            code = npi_encoding_add(&column, encoding, name, err);
        if (code == 0)
            code = read_column(column, item, where, env, err);
        if (code == 0)
            width += 2 + (column->values ? npi_names_count(column->values) : 0);
        if (code == 0 && width > MAX_WIDTH)
            code = refuse(where, "it has too many columns", err);
    }
    json_decref(object);
    npi_names_free(seen[0]);
    npi_names_free(seen[1]);
    if (code == 0)
        code = npi_encoding_finish(encoding, err);
    if (code)
        npi_encoding_free(encoding);
    else
        *out = encoding;
    return code;
}
