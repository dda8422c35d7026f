#include "request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "message.h"

static const struct {
    const char *path, *method, *name;
} routes[REQUEST_KINDS] = {
    [REQUEST_PAGE] = {"/", "GET", "page"},
    [REQUEST_HEALTH] = {"/healthz", "GET", "healthz"},
    [REQUEST_METRICS] = {"/metrics", "GET", "metrics"},
    [REQUEST_OPENAPI] = {"/openapi.json", "GET", "openapi"},
    [REQUEST_TOP] = {"/top", "GET", "top"},
    [REQUEST_NODE] = {"/node", "GET", "node"},
    [REQUEST_SEARCH] = {"/search", "GET", "search"},
    [REQUEST_SCORE] = {"/score", "POST", "score"},
    [REQUEST_NODES] = {"/nodes", "POST", "nodes"},
    [REQUEST_LINKS] = {"/links", "POST", "links"},
};

const char *request_name(request_kind kind)
{
    return (unsigned)kind < REQUEST_KINDS ? routes[kind].name : "other";
}

/* Where the answer to a bad request is written. */
typedef struct refusal {
    char *text;
    size_t size;
} refusal;

static int refuse(refusal r, int status, const char *format, ...) CLI_PRINTF(3, 4);
static int refuse(refusal r, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r.text, r.size, format, args);
    va_end(args);
    return status;
}

request_kind request_route(int *status, const char *method, const char *target)
{
    size_t length = strcspn(target, "?#");
    *status = 404;
    for (int i = 0; i < REQUEST_KINDS; i++) {
        if (strlen(routes[i].path) != length || memcmp(routes[i].path, target, length) != 0)
            continue;
        if (strcmp(routes[i].method, method) == 0) {
            *status = 200;
            return (request_kind)i;
        }
        *status = 405;
    }
    return REQUEST_KINDS;
}

/* ---- the query ---- */

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes a value up to '&' or the end: %41 is 'A', '+' is a blank. Returns 0, or the status of the refusal. */
static int decode(char *out, size_t size, const char *text, size_t length, const char *key, refusal r)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        int c = (unsigned char)text[i];
        if (c == '+')
            c = ' ';
        if (c == '%') {
            int high = i + 2 < length ? hex(text[i + 1]) : -1, low = i + 2 < length ? hex(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return refuse(r, 400, "'%s' has a '%%' that two hexadecimal digits must follow", key);
            c = high * 16 + low;
            i += 2;
        }
        if (c == 0)
            return refuse(r, 400, "'%s' has a zero byte", key);
        if (used + 1 >= size)
            return refuse(r, 414, "'%s' is too long: the limit is %zu bytes", key, size - 1);
        out[used++] = (char)c;
    }
    out[used] = '\0';
    return 0;
}

/* An integer from low to high. */
static int integer(int *out, const char *text, int low, int high, const char *key, refusal r)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || strlen(text) > 9 || value < low || value > high)
        return refuse(r, 400, "'%s' must be a number from %d to %d, not '%.40s'", key, low, high, text);
    *out = (int)value;
    return 0;
}

/* The parameters that a route takes; each at most once, and no others. */
static int parse_query(request *out, const char *target, refusal r)
{
    const char *at = strchr(target, '?');
    int seen_name = 0, takes_k = out->kind == REQUEST_TOP;
    int takes_name = takes_k || out->kind == REQUEST_NODE || out->kind == REQUEST_SEARCH;
    const char *name_key = out->kind == REQUEST_SEARCH ? "q" : "node";
    int seen_k = 0, seen_explain = 0;
    for (at = at ? at + 1 : ""; *at && *at != '#';) {
        size_t length = strcspn(at, "&#"), key = strcspn(at, "=&#");
        size_t value = key < length ? key + 1 : length;
        char number[64];
        int status = 0;
        if (key == strlen(name_key) && memcmp(at, name_key, key) == 0 && takes_name && !seen_name++) {
            size_t size = length - value + 1; /* decoding makes nothing longer */
            out->name = malloc(size);
            status = out->name ? decode(out->name, size, at + value, length - value, name_key, r)
                               : refuse(r, 500, "out of memory");
        } else if (key == 1 && *at == 'k' && takes_k && !seen_k++) {
            status = decode(number, sizeof number, at + value, length - value, "k", r);
            if (!status)
                status = integer(&out->k, number, 1, REQUEST_MAX_K, "k", r);
        } else if (key == 7 && memcmp(at, "explain", 7) == 0 && takes_k && !seen_explain++) {
            status = decode(number, sizeof number, at + value, length - value, "explain", r);
            if (!status)
                status = integer(&out->explain, number, 0, 1, "explain", r);
        } else if (length > 0) {
            status = refuse(r, 400, "parameter '%.*s' is unknown here, or given twice", (int)(key < 40 ? key : 40), at);
        }
        if (status)
            return status;
        at += length + (at[length] == '&');
    }
    if (takes_name && (!seen_name || (!out->name[0] && out->kind != REQUEST_SEARCH)))
        return refuse(r, 400, "parameter '%s' is missing: %s?%s=NAME", name_key, routes[out->kind].path, name_key);
    return 200;
}

/* ---- bodies ---- */

/* A name in JSON: a text that is not empty, or an integer, whose text becomes `number`. NULL: it is neither. */
static const char *name_of(char number[REQUEST_NUMBER], const json_t *value)
{
    if (json_is_integer(value)) {
        snprintf(number, REQUEST_NUMBER, "%lld", (long long)json_integer_value(value));
        return number;
    }
    const char *text = json_string_value(value);
    return text && *text ? text : NULL;
}

static int parse_pairs(request *out, json_t *list, const char *key, refusal r)
{
    out->count = json_array_size(list);
    out->ends = calloc(2 * out->count + 1, sizeof *out->ends);
    out->numbers = calloc(2 * out->count + 1, sizeof *out->numbers);
    if (!out->ends || !out->numbers)
        return refuse(r, 500, "out of memory");
    for (size_t i = 0; i < out->count; i++) {
        json_t *pair = json_array_get(list, i);
        for (size_t e = 0; e < 2; e++)
            out->ends[2 * i + e] =
                json_array_size(pair) == 2 ? name_of(out->numbers[2 * i + e], json_array_get(pair, e)) : NULL;
        if (!out->ends[2 * i] || !out->ends[2 * i + 1])
            return refuse(r, 400, "\"%s\"[%zu] must be a pair of node names: [\"anna\", \"bert\"]", key, i);
    }
    return 200;
}

/* The text of a cell: as a table would have it. Texts stay what they are; other values become texts in their object.
 * NULL: no value that a cell can have. */
static const char *cell_text(json_t *node, void *at)
{
    json_t *value = json_object_iter_value(at);
    char text[40];
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, sizeof text, "%.17g", json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(text, sizeof text, "%d", json_is_true(value));
    else if (json_is_null(value))
        text[0] = '\0'; /* a missing value */
    else
        return NULL;
    json_t *string = json_string(text);
    if (!string || json_object_iter_set_new(node, at, string) != 0)
        return NULL;
    return json_string_value(string);
}

static int parse_nodes(request *out, json_t *list, refusal r)
{
    size_t cells = 0;
    out->count = json_array_size(list);
    for (size_t i = 0; i < out->count; i++) {
        size_t members = json_object_size(json_array_get(list, i));
        if (members > REQUEST_MAX_CELLS)
            return refuse(r, 413, "\"nodes\"[%zu] has %zu members: the limit is %d", i, members, REQUEST_MAX_CELLS);
        cells += members;
    }
    out->nodes = calloc(out->count + 1, sizeof *out->nodes);
    out->cells = calloc(cells + 1, sizeof *out->cells);
    if (!out->nodes || !out->cells)
        return refuse(r, 500, "out of memory");
    npgnn_cell *cell = out->cells;
    for (size_t i = 0; i < out->count; i++) {
        json_t *object = json_array_get(list, i);
        npgnn_new_node *node = &out->nodes[i];
        *node = (npgnn_new_node){.size = sizeof *node, .cells = cell};
        for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
            const char *key = json_object_iter_key(at), *text = cell_text(object, at);
            if (!text)
                return refuse(r, 400, "\"nodes\"[%zu]: \"%.100s\" must be a text, a number, true, false or null", i,
                              key);
            if (strcmp(key, "id") == 0) {
                node->name = text;
            } else {
                *cell++ = (npgnn_cell){key, text};
                node->cell_count++;
            }
        }
        if (!node->name || !*node->name)
            return refuse(r, 400, "\"nodes\"[%zu] must be an object with an \"id\": {\"id\": \"zoe\", \"age\": 31}", i);
    }
    return 200;
}

int request_parse_body(request *out, char *why, size_t why_size, request_kind kind, const char *body, size_t body_size)
{
    refusal r = {why, why_size};
    const char *key = kind == REQUEST_SCORE ? "pairs" : kind == REQUEST_NODES ? "nodes" : "links";
    size_t most = kind == REQUEST_NODES ? REQUEST_MAX_NODES : REQUEST_MAX_PAIRS;
    npi_json_fault fault = {0};
    *out = (request){.kind = kind};
    int code = npi_json_parse(&out->body, &fault, body, body_size);
    if (code == NPGNN_E_MEMORY)
        return refuse(r, 500, "out of memory");
    if (code)
        return refuse(r, 400, "the body is not JSON: line %lld: %s", (long long)fault.line, fault.text);
    json_t *list = json_object_get(out->body, key);
    if (json_object_size(out->body) != 1 || !json_is_array(list))
        return refuse(r, 400, "the body must be an object with the one member \"%s\", an array", key);
    if (json_array_size(list) > most)
        return refuse(r, 413, "\"%s\" has %zu elements: the limit is %zu per request", key, json_array_size(list),
                      most);
    return kind == REQUEST_NODES ? parse_nodes(out, list, r) : parse_pairs(out, list, key, r);
}

int request_parse(request *out, char *why, size_t why_size, const char *method, const char *target, const char *body,
                  size_t body_size)
{
    int status;
    refusal r = {why, why_size};
    request_kind kind = request_route(&status, method, target);
    *out = (request){.kind = kind};
    if (status == 404)
        return refuse(r, 404, "there is no %.100s here; /openapi.json lists what there is", target);
    if (status == 405)
        return refuse(r, 405, "%.20s is not a method of %.100s", method, target);
    if (strcmp(routes[kind].method, "POST") == 0) {
        if (target[strlen(routes[kind].path)] == '?')
            return refuse(r, 400, "%s takes no parameters: they belong in the body", routes[kind].path);
        return request_parse_body(out, why, why_size, kind, body, body_size);
    }
    out->k = 10;
    return parse_query(out, target, r);
}

void request_free(request *r)
{
    free(r->name);
    free(r->ends);
    free(r->numbers);
    free(r->nodes);
    free(r->cells);
    json_decref(r->body);
    memset(r, 0, sizeof *r);
}
