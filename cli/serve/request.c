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

const char *request_methods(const char *target)
{
    int status;
    return request_route(&status, "GET", target) != REQUEST_KINDS    ? "GET, HEAD"
           : request_route(&status, "POST", target) != REQUEST_KINDS ? "POST"
                                                                     : NULL;
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

/* A body on its way into a request. All arrays have the size that a body of its length can need, so nothing grows; what is
 * not used is not touched and takes no memory. */
typedef struct body_reader {
    npi_json_reader json;
    npi_json_fault fault;
    refusal refusal;
    const char *key; /* "nodes" */
    char *free;      /* of the texts */
} body_reader;

static int refuse_syntax(const body_reader *b)
{
    if (b->json.code == NPGNN_E_MEMORY)
        return refuse(b->refusal, 500, "out of memory");
    return refuse(b->refusal, 400, "the body is not JSON: line %lld: %s", (long long)b->fault.line, b->fault.text);
}

/* Copies the text at hand to the texts. In JSON it had at least one byte more, a quote or what ends a number. */
static const char *keep(body_reader *b)
{
    size_t size = strlen(b->json.text) + 1;
    const char *copy = memcpy(b->free, b->json.text, size);
    b->free += size;
    return copy;
}

static int is_container(body_reader *b)
{
    int c = npi_json_peek(&b->json);
    return c == '[' || c == '{';
}

/* A name: a text that is not empty, or an integer. NULL with *status where it is neither. */
static const char *read_name(int *status, body_reader *b, size_t index)
{
    static const char must[] = "must be a text that is not empty, or an integer";
    npi_json_kind kind = is_container(b) ? NPI_JSON_NULL : npi_json_scalar(&b->json);
    *status = 200;
    if (kind == NPI_JSON_INTEGER || (kind == NPI_JSON_STRING && b->json.text[0]))
        return keep(b);
    if (kind == NPI_JSON_FAILED)
        *status = refuse_syntax(b);
    else if (is_container(b))
        *status = refuse(b->refusal, 400, "\"%s\"[%zu]: the name of a node %s", b->key, index, must);
    else
        *status = refuse(b->refusal, 400, "\"%s\"[%zu]: the name of a node %s, not %.40s", b->key, index, must,
                         kind == NPI_JSON_STRING ? "\"\"" : b->json.text);
    return NULL;
}

static int read_pair(request *out, body_reader *b)
{
    size_t i = out->count, ends = 0;
    int status = 200, more = 0;
    if (npi_json_peek(&b->json) == '[' && npi_json_open(&b->json))
        return refuse_syntax(b);
    while (b->json.depth == 3 && (more = npi_json_more(&b->json, &ends, ']')) > 0 && ends <= 2) {
        out->ends[2 * i + ends - 1] = read_name(&status, b, i);
        if (status != 200)
            return status;
    }
    if (b->json.code)
        return refuse_syntax(b);
    if (more > 0 || ends != 2)
        return refuse(b->refusal, 400, "\"%s\"[%zu] must be a pair of node names: [\"anna\", \"bert\"]", b->key, i);
    out->count++;
    return 200;
}

/* A cell, as a table would have it: a number as it is written, true and false as these words, null as an empty cell. */
static int read_cell(request *out, body_reader *b, npgnn_new_node *node)
{
    npgnn_cell *cell = &out->cells[node->cells - out->cells + node->cell_count];
    int status;
    if (npi_json_key(&b->json))
        return refuse_syntax(b);
    if (strcmp(b->json.text, "id") == 0) {
        if (node->name)
            return refuse(b->refusal, 400, "\"nodes\"[%zu] has two members \"id\"", out->count);
        node->name = read_name(&status, b, out->count);
        return status;
    }
    cell->column = keep(b);
    if (is_container(b))
        return refuse(b->refusal, 400, "\"nodes\"[%zu]: \"%.100s\" must be a text, a number, true, false or null",
                      out->count, cell->column);
    npi_json_kind kind = npi_json_scalar(&b->json);
    if (kind == NPI_JSON_FAILED)
        return refuse_syntax(b);
    if (node->cell_count == REQUEST_MAX_CELLS)
        return refuse(b->refusal, 413, "\"nodes\"[%zu] has more than %d members besides \"id\"", out->count,
                      REQUEST_MAX_CELLS);
    cell->text = kind == NPI_JSON_NULL ? "" : keep(b);
    node->cell_count++;
    return 200;
}

static int read_node(request *out, body_reader *b)
{
    const npgnn_new_node *before = out->count > 0 ? &out->nodes[out->count - 1] : NULL;
    npgnn_new_node *node = &out->nodes[out->count];
    size_t members = 0;
    int status = 200;
    *node = (npgnn_new_node){.size = sizeof *node, .cells = before ? before->cells + before->cell_count : out->cells};
    if (npi_json_peek(&b->json) == '{' && npi_json_open(&b->json))
        return refuse_syntax(b);
    while (b->json.depth == 3 && status == 200 && npi_json_more(&b->json, &members, '}') > 0)
        status = read_cell(out, b, node);
    if (status != 200)
        return status;
    if (b->json.code)
        return refuse_syntax(b);
    if (!node->name)
        return refuse(b->refusal, 400,
                      "\"nodes\"[%zu] must be an object with an \"id\": {\"id\": \"zoe\", \"age\": 31}", out->count);
    out->count++;
    return 200;
}

/* {KEY: [...]}, and nothing else. */
static int read_body(request *out, body_reader *b)
{
    static const char object[] = "the body must be an object with the one member \"%s\", an array";
    size_t members = 0, elements = 0;
    int first = npi_json_peek(&b->json), more = 1, status = 200;
    if (first != '{')
        return refuse(b->refusal, 400, object, b->key);
    npi_json_open(&b->json);
    if (npi_json_more(&b->json, &members, '}') == 0)
        return refuse(b->refusal, 400, object, b->key);
    if (npi_json_key(&b->json))
        return refuse_syntax(b);
    if (out->kind == REQUEST_KINDS) {
        out->kind = strcmp(b->json.text, "nodes") == 0 ? REQUEST_NODES : REQUEST_LINKS;
        b->key = out->kind == REQUEST_NODES ? "nodes" : "links";
    }
    if (strcmp(b->json.text, b->key) != 0 || npi_json_peek(&b->json) != '[')
        return refuse(b->refusal, 400, object, b->key);
    npi_json_open(&b->json);
    size_t most = out->kind == REQUEST_NODES ? REQUEST_MAX_NODES : REQUEST_MAX_PAIRS;
    while (status == 200 && (more = npi_json_more(&b->json, &elements, ']')) > 0) {
        if (elements > most)
            return refuse(b->refusal, 413, "\"%s\" has more than %zu elements, the limit per request", b->key, most);
        status = out->kind == REQUEST_NODES ? read_node(out, b) : read_pair(out, b);
    }
    if (status != 200)
        return status;
    if (more == 0 && npi_json_more(&b->json, &members, '}') > 0)
        return refuse(b->refusal, 400, object, b->key);
    if (b->json.code)
        return refuse_syntax(b);
    return npi_json_peek(&b->json) < 0 ? 200 : refuse(b->refusal, 400, "something follows the JSON of the body");
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

int request_parse_body(request *out, char *why, size_t why_size, request_kind kind, const char *body, size_t body_size)
{
    enum { PAIR = 6, NODE = 9, CELL = 5 }; /* bytes of the shortest, with what follows: [1,2], {"id":1}, "":1, */
    body_reader b = {.refusal = {why, why_size},
                     .key = kind == REQUEST_SCORE   ? "pairs"
                            : kind == REQUEST_NODES ? "nodes"
                            : kind == REQUEST_LINKS ? "links"
                                                    : "nodes\" or \"links"};
    int pairs = kind != REQUEST_NODES, nodes = kind == REQUEST_NODES || kind == REQUEST_KINDS, status;
    *out = (request){.kind = kind};
    out->texts = malloc(body_size + 1);
    if (pairs)
        out->ends = malloc((least(body_size / PAIR, REQUEST_MAX_PAIRS) + 1) * 2 * sizeof *out->ends);
    if (nodes) {
        out->nodes = malloc((least(body_size / NODE, REQUEST_MAX_NODES) + 1) * sizeof *out->nodes);
        out->cells = malloc((body_size / CELL + 1) * sizeof *out->cells);
    }
    if (!out->texts || (pairs && !out->ends) || (nodes && (!out->nodes || !out->cells)))
        return refuse(b.refusal, 500, "out of memory");
    npi_json_begin(&b.json, &b.fault, body, body_size);
    b.free = out->texts;
    status = read_body(out, &b);
    free(b.json.text);
    return status;
}

char *request_record(const char *body, size_t body_size)
{
    char *record = malloc(body_size + 1);
    if (!record)
        return NULL;
    for (size_t i = 0; i < body_size; i++) /* in JSON, line breaks are white space: a string has none */
        record[i] = body[i] == '\n' || body[i] == '\r' ? ' ' : body[i];
    record[body_size] = '\0';
    return record;
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
    free(r->nodes);
    free(r->cells);
    free(r->texts);
    memset(r, 0, sizeof *r);
}
