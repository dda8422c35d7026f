#define _GNU_SOURCE /* strcasestr, pthread_condattr_setclock */
#include "service.h"

#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "journal.h"
#include "json_text.h"
#include "message.h"

extern const unsigned char serve_page[], serve_openapi[];
extern const size_t serve_page_size, serve_openapi_size;

enum { SHOWN_LINKS = 40, SHOWN_NAMES = 20 };

/* Upper ends of the latency classes, in seconds. */
static const double classes[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5};
enum { CLASSES = sizeof classes / sizeof classes[0] };

typedef struct route_counts {
    atomic_llong by_status[6]; /* by the first digit of the status */
    atomic_llong by_class[CLASSES + 1];
    atomic_llong microseconds;
} route_counts;

struct service {
    service_settings settings;
    npgnn_live *live;
    journal *journal; /* NULL: none */
    int can_explain;
    sem_t predictions;          /* how many more may be computed now: those that come later wait, in order */
    pthread_mutex_t explaining; /* explanations are for one thread at a time */
    pthread_mutex_t adding;     /* the journal has the additions in the order in which the graph got them */
    route_counts counts[REQUEST_KINDS + 1];
    atomic_int active;
    /* the thread that refreshes */
    pthread_t refresher;
    int has_refresher;
    pthread_mutex_t waiting;
    pthread_cond_t woken;
    double last_addition; /* on the monotonic clock */
    volatile int stop;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- answers ---- */

answer answer_error(int status, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < 0x20)
            *at = '?';
    json_t *sentence = json_string(text);
    if (!sentence) { /* a message may be cut within a character, or quote bytes that are none */
        for (char *at = text; *at; at++)
            if ((unsigned char)*at >= 0x80)
                *at = '?';
        sentence = json_string(text);
    }
    json_text_forget(); /* this answer is complete by itself */
    json_t *object = json_pack("{s:o}", "error", sentence);
    char *json = object ? json_text(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return (answer){.status = status, .type = "application/json", .text = json, .size = json ? strlen(json) : 0};
}

/* Takes ownership of the object; NULL: memory was out while it was made. */
static answer answer_json(json_t *object)
{
    char *json = object ? json_text(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(object);
    if (!json)
        return answer_error(500, "out of memory");
    return (answer){.status = 200, .type = "application/json", .text = json, .size = strlen(json)};
}

static answer answer_static(const unsigned char *text, size_t size, const char *type)
{
    /* MHD does not write to it */
    return (answer){.status = 200, .type = type, .text = (char *)(uintptr_t)text, .size = size, .is_static = 1};
}

/* A name as JSON: bytes that are not UTF-8 become '?'. */
static json_t *json_name(const char *name)
{
    json_t *json = json_string(name);
    if (json)
        return json;
    char *copy = strdup(name);
    for (char *at = copy; at && *at; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    json = copy ? json_string(copy) : NULL;
    free(copy);
    return json;
}

static json_t *json_node(const npgnn_graph *graph, int32_t node)
{
    char buffer[12];
    return json_name(npgnn_graph_name(graph, node, buffer));
}

/* ---- reading ---- */

/* Adds the reasons of a suggestion. */
static int add_reasons(json_t *suggestion, service *s, npgnn_pair pair, npgnn_error *err)
{
    npgnn_explanation why = {.size = sizeof why};
    pthread_mutex_lock(&s->explaining);
    int code = npgnn_live_explain(&why, s->live, pair, err);
    if (!code) {
        json_t *reasons = json_object();
        for (int32_t r = 0; r < why.reason_count; r++)
            json_object_set_new(reasons, npgnn_reason_name((npgnn_reason)r), json_real(why.reasons[r]));
        json_object_set_new(suggestion, "reason", json_name(why.text));
        json_object_set_new(suggestion, "log_odds", json_real(why.log_odds));
        json_object_set_new(suggestion, "baseline", json_real(why.baseline));
        json_object_set_new(suggestion, "reasons", reasons);
    }
    pthread_mutex_unlock(&s->explaining);
    return code;
}

static answer unknown_node(const char *name)
{
    return answer_error(404, "there is no node '%.200s'", name);
}

static answer answer_top(service *s, const request *r)
{
    npgnn_error err = {0};
    npgnn_link *links = calloc((size_t)r->k, sizeof *links);
    int32_t found = 0;
    json_t *list = json_array();
    answer out;
    const npgnn_graph *graph = npgnn_live_begin(s->live);
    int32_t node = npgnn_graph_find(graph, r->name);
    int code = links && list ? 0 : NPGNN_E_MEMORY;
    if (!code && node >= 0)
        code = npgnn_live_top(links, &found, s->live, node, r->k, &err);
    for (int32_t i = 0; !code && i < found; i++) {
        json_t *item = json_pack("{s:o, s:f, s:f}", "node", json_node(graph, links[i].pair.v), "probability",
                                 (double)links[i].prediction.probability, "score", (double)links[i].prediction.score);
        if (r->explain && item)
            code = add_reasons(item, s, links[i].pair, &err);
        if (json_array_append_new(list, item) != 0)
            code = NPGNN_E_MEMORY;
    }
    npgnn_live_end(s->live);
    if (node < 0 && !code)
        out = unknown_node(r->name);
    else if (code)
        out = answer_error(500, "%s", err.text[0] ? err.text : "out of memory");
    else
        out = answer_json(json_pack("{s:o, s:O}", "node", json_name(r->name), "suggestions", list));
    json_decref(list);
    free(links);
    return out;
}

/* pairs (count) of names; an unknown name is in *unknown. */
static int find_pairs(npgnn_pair *pairs, const char **unknown, const npgnn_graph *graph, const char *const *ends,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pairs[i].u = npgnn_graph_find(graph, ends[2 * i]);
        pairs[i].v = npgnn_graph_find(graph, ends[2 * i + 1]);
        if (pairs[i].u < 0 || pairs[i].v < 0) {
            *unknown = ends[2 * i + (pairs[i].u >= 0)];
            return -1;
        }
    }
    return 0;
}

/* The first of pairs (count) that cannot be a link: a node with itself, or two on one side of a two-sided graph.
 * Returns `count` where there is none. */
static size_t find_impossible(const npgnn_pair *pairs, size_t count, const npgnn_graph *graph)
{
    size_t i = 0;
    for (; i < count; i++) {
        int side = npgnn_graph_side(graph, pairs[i].u);
        if (pairs[i].u == pairs[i].v || (side >= 0 && side == npgnn_graph_side(graph, pairs[i].v)))
            break;
    }
    return i;
}

/* Copies a text without its terminator. Returns the end of the copy. */
static char *put(char *to, const char *text)
{
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

/* The answer to a request for scores, written rather than built as an object of Jansson, which costs more than the
 * scores. */
static answer scores_json(const npgnn_graph *graph, const npgnn_pair *pairs, const npgnn_prediction *predictions,
                          size_t count)
{
    enum { FIXED = 64 + 2 * JSON_TEXT_NUMBER }; /* bytes per pair, and of the whole, besides the names */
    char buffer[12];
    size_t most = FIXED;
    for (size_t i = 0; i < count; i++)
        most += FIXED + JSON_TEXT_STRING(strlen(npgnn_graph_name(graph, pairs[i].u, buffer))) +
                JSON_TEXT_STRING(strlen(npgnn_graph_name(graph, pairs[i].v, buffer)));
    char *text = malloc(most);
    if (!text)
        return answer_error(500, "out of memory");
    char *at = put(text, "{\"pairs\":[");
    for (size_t i = 0; i < count; i++) {
        at = put(at, i > 0 ? ",{\"u\":" : "{\"u\":");
        at = json_text_put(at, npgnn_graph_name(graph, pairs[i].u, buffer));
        at = put(at, ",\"v\":");
        at = json_text_put(at, npgnn_graph_name(graph, pairs[i].v, buffer));
        at = put(at, ",\"probability\":");
        at = json_text_put_number(at, predictions[i].probability);
        at = put(at, ",\"score\":");
        at = json_text_put_number(at, predictions[i].score);
        at = put(at, npgnn_graph_has_edge(graph, pairs[i].u, pairs[i].v) ? ",\"known\":true}" : ",\"known\":false}");
    }
    at = put(at, "]}");
    return (answer){.status = 200, .type = "application/json", .text = text, .size = (size_t)(at - text)};
}

static answer answer_score(service *s, const request *r)
{
    npgnn_error err = {0};
    npgnn_pair *pairs = calloc(r->count + 1, sizeof *pairs);
    npgnn_prediction *predictions = calloc(r->count + 1, sizeof *predictions);
    const char *unknown = NULL;
    answer out = {0};
    int code = pairs && predictions ? 0 : NPGNN_E_MEMORY;
    const npgnn_graph *graph = npgnn_live_begin(s->live);
    int found = !code && find_pairs(pairs, &unknown, graph, r->ends, r->count) == 0;
    size_t impossible = found ? find_impossible(pairs, r->count, graph) : r->count;
    int possible = found && impossible == r->count;
    if (possible)
        code = npgnn_live_score(predictions, s->live, pairs, r->count, &err);
    if (possible && !code)
        out = scores_json(graph, pairs, predictions, r->count);
    npgnn_live_end(s->live);
    if (code)
        out = answer_error(500, "%s", err.text[0] ? err.text : "out of memory");
    else if (!found)
        out = unknown_node(unknown);
    else if (!possible)
        out = answer_error(400, "'%.100s' and '%.100s' cannot be linked: %s", r->ends[2 * impossible],
                           r->ends[2 * impossible + 1],
                           pairs[impossible].u == pairs[impossible].v ? "they are one node"
                                                                      : "they are on the same side of the graph");
    free(pairs);
    free(predictions);
    return out;
}

/* Links of a node that are shown: those to nodes with few links say most. */
static answer answer_node(service *s, const request *r)
{
    json_t *list = json_array();
    const int32_t *neighbors, *none;
    int64_t count = 0;
    const npgnn_graph *graph = npgnn_live_begin(s->live);
    int32_t node = npgnn_graph_find(graph, r->name);
    if (node >= 0) {
        unsigned char *taken = calloc((size_t)(count = npgnn_graph_neighbors(&neighbors, graph, node)) + 1, 1);
        for (int shown = 0; taken && shown < SHOWN_LINKS && shown < count; shown++) {
            int64_t best = -1, least = INT64_MAX;
            for (int64_t i = 0; i < count; i++) {
                int64_t degree = taken[i] ? INT64_MAX : npgnn_graph_neighbors(&none, graph, neighbors[i]);
                if (degree < least) {
                    best = i;
                    least = degree;
                }
            }
            taken[best] = 1;
            json_array_append_new(list, json_node(graph, neighbors[best]));
        }
        free(taken);
    }
    npgnn_live_end(s->live);
    if (node < 0) {
        json_decref(list);
        return unknown_node(r->name);
    }
    return answer_json(
        json_pack("{s:o, s:I, s:o}", "node", json_name(r->name), "link_count", (json_int_t)count, "links", list));
}

/* Names that begin with the text come first, then those that contain it. */
static answer answer_search(service *s, const request *r)
{
    json_t *list = json_array();
    char buffer[12];
    const npgnn_graph *graph = npgnn_live_begin(s->live);
    int32_t n = npgnn_graph_nodes(graph);
    for (int inside = 0; inside < 2; inside++)
        for (int32_t i = 0; i < n && json_array_size(list) < SHOWN_NAMES; i++) {
            const char *name = npgnn_graph_name(graph, i, buffer), *at = strcasestr(name, r->name);
            if (at && (at != name) == inside)
                json_array_append_new(list, json_name(name));
        }
    npgnn_live_end(s->live);
    return answer_json(json_pack("{s:o}", "nodes", list));
}

static answer answer_health(service *s)
{
    npgnn_live_info info = {.size = sizeof info};
    int writable = !s->journal || journal_is_writable(s->journal);
    npgnn_live_describe(&info, s->live, NULL);
    const npgnn_graph *graph = npgnn_live_begin(s->live);
    json_t *object = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:b}", "status", writable ? "ok" : "the journal cannot be written", "nodes",
        (json_int_t)npgnn_graph_nodes(graph), "links", (json_int_t)npgnn_graph_edges(graph), "new_nodes",
        (json_int_t)info.new_nodes, "new_links", (json_int_t)info.new_links, "explains", s->can_explain);
    npgnn_live_end(s->live);
    answer out = answer_json(object);
    if (!writable)
        out.status = 503;
    return out;
}

/* ---- metrics ---- */

void service_count(service *s, request_kind kind, int status, double seconds)
{
    route_counts *counts = &s->counts[(unsigned)kind < REQUEST_KINDS ? kind : REQUEST_KINDS];
    int c = 0;
    while (c < CLASSES && seconds > classes[c])
        c++;
    atomic_fetch_add(&counts->by_status[status / 100 % 6], 1);
    atomic_fetch_add(&counts->by_class[c], 1);
    atomic_fetch_add(&counts->microseconds, (long long)(seconds * 1e6));
}

int service_active(service *s, int change)
{
    return atomic_fetch_add(&s->active, change) + change;
}

static int64_t resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Prometheus text, version 0.0.4. */
static answer answer_metrics(service *s)
{
    char *text = NULL;
    size_t size = 0;
    npgnn_live_info info = {.size = sizeof info};
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return answer_error(500, "out of memory");
    npgnn_live_describe(&info, s->live, NULL);
    const npgnn_graph *graph = npgnn_live_begin(s->live);
    fprintf(out, "# HELP npgnn_nodes Nodes of the graph.\n# TYPE npgnn_nodes gauge\nnpgnn_nodes %d\n",
            (int)npgnn_graph_nodes(graph));
    fprintf(out, "# HELP npgnn_links Links of the graph.\n# TYPE npgnn_links gauge\nnpgnn_links %" PRId64 "\n",
            npgnn_graph_edges(graph));
    npgnn_live_end(s->live);
    fprintf(out,
            "# HELP npgnn_new_nodes Nodes that the last refresh did not know.\n# TYPE npgnn_new_nodes gauge\n"
            "npgnn_new_nodes %" PRId64 "\n"
            "# HELP npgnn_new_links Links that the last refresh did not know.\n# TYPE npgnn_new_links gauge\n"
            "npgnn_new_links %" PRId64 "\n"
            "# HELP npgnn_refreshes_total Times that the whole graph was read again.\n"
            "# TYPE npgnn_refreshes_total counter\nnpgnn_refreshes_total %" PRId64 "\n",
            info.new_nodes, info.new_links, info.refreshes);
    if (s->journal) {
        int64_t records, bytes;
        journal_counts(&records, &bytes, s->journal);
        fprintf(out,
                "# HELP npgnn_journal_records Records in the journal.\n# TYPE npgnn_journal_records gauge\n"
                "npgnn_journal_records %" PRId64 "\n"
                "# HELP npgnn_journal_bytes Size of the journal.\n# TYPE npgnn_journal_bytes gauge\n"
                "npgnn_journal_bytes %" PRId64 "\n"
                "# HELP npgnn_journal_writable 1 if the journal can be written.\n# TYPE npgnn_journal_writable gauge\n"
                "npgnn_journal_writable %d\n",
                records, bytes, journal_is_writable(s->journal));
    }
    fprintf(out,
            "# HELP process_resident_memory_bytes Resident memory.\n# TYPE process_resident_memory_bytes gauge\n"
            "process_resident_memory_bytes %" PRId64 "\n"
            "# HELP process_cpu_seconds_total Processor time.\n# TYPE process_cpu_seconds_total counter\n"
            "process_cpu_seconds_total %.6f\n",
            resident_bytes(), processor_seconds());
    fprintf(out,
            "# HELP npgnn_requests_active Requests that are being answered.\n# TYPE npgnn_requests_active gauge\n"
            "npgnn_requests_active %d\n",
            atomic_load(&s->active));
    fputs("# HELP npgnn_requests_total Requests, by route and first digit of the status.\n"
          "# TYPE npgnn_requests_total counter\n",
          out);
    for (int k = 0; k <= REQUEST_KINDS; k++)
        for (int status = 2; status <= 5; status++) {
            long long count = atomic_load(&s->counts[k].by_status[status]);
            if (count > 0)
                fprintf(out, "npgnn_requests_total{route=\"%s\",status=\"%dxx\"} %lld\n", request_name((request_kind)k),
                        status, count);
        }
    fputs("# HELP npgnn_request_seconds Time to answer, without the network.\n# TYPE npgnn_request_seconds histogram\n",
          out);
    for (int k = 0; k <= REQUEST_KINDS; k++) {
        long long sum = 0;
        for (int c = 0; c <= CLASSES; c++)
            sum += atomic_load(&s->counts[k].by_class[c]);
        if (sum == 0)
            continue;
        const char *route = request_name((request_kind)k);
        long long below = 0;
        for (int c = 0; c < CLASSES; c++) {
            below += atomic_load(&s->counts[k].by_class[c]);
            fprintf(out, "npgnn_request_seconds_bucket{route=\"%s\",le=\"%g\"} %lld\n", route, classes[c], below);
        }
        fprintf(out, "npgnn_request_seconds_bucket{route=\"%s\",le=\"+Inf\"} %lld\n", route, sum);
        fprintf(out, "npgnn_request_seconds_sum{route=\"%s\"} %.6f\n", route,
                1e-6 * (double)atomic_load(&s->counts[k].microseconds));
        fprintf(out, "npgnn_request_seconds_count{route=\"%s\"} %lld\n", route, sum);
    }
    if (fclose(out) != 0) {
        free(text);
        return answer_error(500, "out of memory");
    }
    return (answer){.status = 200, .type = "text/plain; version=0.0.4", .text = text, .size = size};
}

/* ---- additions ---- */

/* In a two-sided graph the member "side" of a node is not a column: "source" or "target". Returns 0, or -1 where it is
 * neither. */
static int choose_side(npgnn_new_node *node, npgnn_cell *cells)
{
    int kept = 0;
    node->side = -1;
    for (int i = 0; i < node->cell_count; i++) {
        if (strcmp(cells[i].column, "side") == 0)
            node->side = strcmp(cells[i].text, "source") == 0 ? 0 : strcmp(cells[i].text, "target") == 0 ? 1 : -1;
        else
            cells[kept++] = cells[i];
    }
    node->cell_count = kept;
    return node->side < 0 ? -1 : 0;
}

static int is_two_sided(service *s)
{
    int sided = npgnn_graph_side(npgnn_live_begin(s->live), 0) >= 0;
    npgnn_live_end(s->live);
    return sided;
}

/* Adds to the graph. Returns 200, or the status of the refusal with a sentence in `why`. *added: how many were new. */
static int add(service *s, request *r, int64_t *added, char *why, size_t why_size)
{
    npgnn_error err = {0};
    int code = 0;
    if (r->kind == REQUEST_NODES) {
        int two_sided = is_two_sided(s);
        for (size_t i = 0; two_sided && i < r->count; i++)
            if (choose_side(&r->nodes[i], r->cells + (r->nodes[i].cells - r->cells)) != 0) {
                snprintf(why, why_size, "node '%.100s' needs a \"side\" in a two-sided graph: \"source\" or \"target\"",
                         r->nodes[i].name);
                return 400;
            }
        code = npgnn_live_add_nodes(s->live, r->nodes, r->count, &err);
        *added = (int64_t)r->count;
    } else {
        npgnn_pair *links = calloc(r->count + 1, sizeof *links);
        const char *unknown = NULL;
        const npgnn_graph *graph = npgnn_live_begin(s->live);
        int found = links && find_pairs(links, &unknown, graph, r->ends, r->count) == 0;
        npgnn_live_end(s->live);
        code = links ? 0 : NPGNN_E_MEMORY;
        if (links && !found) {
            snprintf(why, why_size, "there is no node '%.200s'", unknown);
            free(links);
            return 404;
        }
        if (!code)
            code = npgnn_live_add_links(added, s->live, links, r->count, &err);
        free(links);
    }
    if (code)
        snprintf(why, why_size, "%s", err.text[0] ? err.text : "out of memory");
    return code == 0 ? 200 : code == NPGNN_E_ARGUMENT ? 400 : 500;
}

/* *number becomes that of the record in the journal, which is not on disk yet. */
static answer answer_addition(int64_t *number, service *s, request *r, const char *body, size_t body_size)
{
    char why[1024];
    int64_t added = 0;
    char *record = s->journal ? request_record(body, body_size) : NULL;
    if (s->journal && !record)
        return answer_error(500, "out of memory");
    int status = add(s, r, &added, why, sizeof why);
    if (status == 200 && record)
        *number = journal_append(s->journal, record, body_size);
    free(record);
    if (status != 200)
        return answer_error(status, "%s", why);
    pthread_mutex_lock(&s->waiting);
    s->last_addition = now();
    pthread_mutex_unlock(&s->waiting);
    return answer_json(json_pack("{s:I}", "added", (json_int_t)added));
}

answer service_answer(service *s, request_kind *kind, const char *method, const char *target, const char *body,
                      size_t body_size)
{
    request r;
    char why[512];
    answer out = {0};
    int64_t number = -1; /* of a record in the journal; -1: there is none */
    int status;
    json_text_forget();
    *kind = request_route(&status, method, target);
    int predicts = *kind == REQUEST_TOP || *kind == REQUEST_SCORE;
    int adds = *kind == REQUEST_NODES || *kind == REQUEST_LINKS;
    if (adds && s->journal && !journal_is_writable(s->journal)) /* which may wait for a sync: not within `adding` */
        return answer_error(503, "the journal cannot be written: nothing can be added until the server is restarted");
    /* bodies are parsed in here, so that few take the memory of that at a time */
    while (predicts && sem_wait(&s->predictions) != 0) { /* a signal */
    }
    if (adds)
        pthread_mutex_lock(&s->adding);
    status = request_parse(&r, why, sizeof why, method, target, body, body_size);
    if (status != 200)
        out = answer_error(status, "%s", why);
    else if (r.kind == REQUEST_TOP && r.explain && !s->can_explain)
        out = answer_error(400, "a network cannot explain its predictions: leave explain out, or serve universal");
    else
        switch (r.kind) {
        case REQUEST_PAGE:
            out = answer_static(serve_page, serve_page_size, "text/html; charset=utf-8");
            break;
        case REQUEST_OPENAPI:
            out = answer_static(serve_openapi, serve_openapi_size, "application/json");
            break;
        case REQUEST_HEALTH:
            out = answer_health(s);
            break;
        case REQUEST_METRICS:
            out = answer_metrics(s);
            break;
        case REQUEST_TOP:
            out = answer_top(s, &r);
            break;
        case REQUEST_NODE:
            out = answer_node(s, &r);
            break;
        case REQUEST_SEARCH:
            out = answer_search(s, &r);
            break;
        case REQUEST_SCORE:
            out = answer_score(s, &r);
            break;
        case REQUEST_NODES:
        case REQUEST_LINKS:
            out = answer_addition(&number, s, &r, body, body_size);
            break;
        case REQUEST_KINDS:
            break;
        }
    request_free(&r);
    if (predicts)
        sem_post(&s->predictions);
    if (adds)
        pthread_mutex_unlock(&s->adding);
    /* additions that arrive together share a sync */
    if (number >= 0 && journal_sync(s->journal, number) != 0) {
        free(out.text);
        out = answer_error(503, "the journal cannot be written: this addition may be lost when the server ends");
    }
    return out;
}

/* ---- refreshing ---- */

/* Whether so much is new, or the last addition so long ago, that the graph should be read again. */
static int is_due(service *s)
{
    npgnn_live_info info = {.size = sizeof info};
    npgnn_live_describe(&info, s->live, NULL);
    const npgnn_graph *graph = npgnn_live_begin(s->live);
    double size = (double)npgnn_graph_nodes(graph) + (double)npgnn_graph_edges(graph);
    npgnn_live_end(s->live);
    double added = (double)(info.new_nodes + info.new_links);
    pthread_mutex_lock(&s->waiting);
    double rest = now() - s->last_addition;
    pthread_mutex_unlock(&s->waiting);
    return added > 0 && (added > s->settings.refresh_share * size || rest > s->settings.refresh_seconds);
}

static void *refresh_on(void *arg)
{
    service *s = arg;
    npgnn_error err = {0};
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10); /* after the predictions */
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 250000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_mutex_lock(&s->waiting);
        if (!s->stop)
            pthread_cond_timedwait(&s->woken, &s->waiting, &until);
        int stop = s->stop;
        pthread_mutex_unlock(&s->waiting);
        if (stop)
            return NULL;
        if (is_due(s) && npgnn_live_refresh(s->live, &err) != 0 && !__atomic_load_n(&s->stop, __ATOMIC_RELAXED))
            print_warning("the graph could not be read again: %s", err.text);
    }
}

/* ---- beginning and end ---- */

/* The records of a journal, to be added all at once. */
typedef struct replayed {
    request *requests;
    size_t count, capacity, nodes, links;
} replayed;

static int replay_record(void *user, const char *json, size_t size, char *why, size_t why_size)
{
    replayed *all = user;
    if (all->count == all->capacity) {
        request *larger = realloc(all->requests, (2 * all->capacity + 16) * sizeof *larger);
        if (!larger) {
            snprintf(why, why_size, "out of memory");
            return -1;
        }
        all->requests = larger;
        all->capacity = 2 * all->capacity + 16;
    }
    request *r = &all->requests[all->count++];
    int status = request_parse_body(r, why, why_size, REQUEST_KINDS, json, size);
    if (status == 200)
        *(r->kind == REQUEST_NODES ? &all->nodes : &all->links) += r->count;
    return status == 200 ? 0 : -1;
}

/* All nodes, then all links: links join nodes of earlier records, so the result is the same as one by one. */
static int add_replayed(service *s, replayed *all)
{
    char why[1024] = "out of memory";
    int64_t added;
    request nodes = {.kind = REQUEST_NODES, .count = all->nodes}, links = {.kind = REQUEST_LINKS, .count = all->links};
    size_t cells = 0, node = 0, cell = 0, end = 0;
    for (size_t i = 0; i < all->count; i++)
        for (size_t j = 0; all->requests[i].kind == REQUEST_NODES && j < all->requests[i].count; j++)
            cells += (size_t)all->requests[i].nodes[j].cell_count;
    nodes.nodes = calloc(all->nodes + 1, sizeof *nodes.nodes);
    nodes.cells = calloc(cells + 1, sizeof *nodes.cells);
    links.ends = calloc(2 * all->links + 1, sizeof *links.ends);
    int status = nodes.nodes && nodes.cells && links.ends ? 200 : 500;
    for (size_t i = 0; status == 200 && i < all->count; i++) {
        const request *r = &all->requests[i];
        for (size_t j = 0; r->kind == REQUEST_NODES && j < r->count; j++) {
            nodes.nodes[node] = r->nodes[j];
            nodes.nodes[node++].cells = nodes.cells + cell;
            memcpy(nodes.cells + cell, r->nodes[j].cells, (size_t)r->nodes[j].cell_count * sizeof *nodes.cells);
            cell += (size_t)r->nodes[j].cell_count;
        }
        for (size_t j = 0; r->kind == REQUEST_LINKS && j < 2 * r->count; j++)
            links.ends[end++] = r->ends[j];
    }
    if (status == 200 && all->nodes > 0)
        status = add(s, &nodes, &added, why, sizeof why);
    if (status == 200 && all->links > 0)
        status = add(s, &links, &added, why, sizeof why);
    request_free(&nodes);
    request_free(&links);
    return status == 200 ? 0 : print_error("%s: %s", s->settings.journal, why);
}

static int open_journal(service *s, uint64_t fingerprint)
{
    char why[1024];
    int64_t dropped = 0;
    replayed all = {0};
    int status = 0;
    if (journal_open(&s->journal, &dropped, s->settings.journal, fingerprint, replay_record, &all, why, sizeof why) !=
        0)
        status = print_error("%s: %s", s->settings.journal, why);
    if (status == 0)
        status = add_replayed(s, &all);
    if (status == 0 && dropped > 0)
        print_warning("%s: the last record was incomplete, because a server ended while it was written; it was never "
                      "acknowledged: %" PRId64 " bytes dropped",
                      s->settings.journal, dropped);
    if (status == 0 && !s->settings.quiet && all.count > 0)
        print_note("%s: replayed %zu record%s: %zu node%s and %zu link%s", s->settings.journal, all.count,
                   PLURAL(all.count), all.nodes, PLURAL(all.nodes), all.links, PLURAL(all.links));
    for (size_t i = 0; i < all.count; i++)
        request_free(&all.requests[i]);
    free(all.requests);
    return status;
}

static void on_notice(void *user, const char *text)
{
    (void)user;
    print_warning("%s", text);
}

int service_new(service **out, const npgnn_model *model, const npgnn_graph *graph, const service_settings *settings)
{
    npgnn_error err = {0};
    npgnn_model_info about = {.size = sizeof about};
    npgnn_graph_info info = {.size = sizeof info};
    service *s = calloc(1, sizeof *s);
    if (!s)
        return print_error("out of memory");
    s->settings = *settings;
    sem_init(&s->predictions, 0, (unsigned)settings->threads);
    pthread_mutex_init(&s->explaining, NULL);
    pthread_mutex_init(&s->adding, NULL);
    pthread_mutex_init(&s->waiting, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&s->woken, &clock);
    pthread_condattr_destroy(&clock);
    npgnn_model_describe(&about, model, NULL);
    npgnn_graph_describe(&info, graph, NULL);
    s->can_explain = about.across_graphs;
    const npgnn_predict_options options = {.size = sizeof options, .seed = 1, .link_rate = settings->link_rate};
    /* a refresh takes half of the cores: predictions go on meanwhile */
    const npgnn_env env = {.size = sizeof env,
                           .threads = settings->threads > 1 ? settings->threads / 2 : 1,
                           .log = on_notice,
                           .stop = &s->stop};
    int status = 0;
    if (npgnn_live_new(&s->live, model, graph, &options, &env, &err) != 0)
        status = print_error("%s", err.text);
    if (status == 0 && settings->journal)
        status = open_journal(s, info.fingerprint);
    s->last_addition = now();
    if (status == 0 && pthread_create(&s->refresher, NULL, refresh_on, s) != 0)
        status = print_error("cannot start a thread");
    else if (status == 0)
        s->has_refresher = 1;
    if (status)
        service_free(s);
    else
        *out = s;
    return status;
}

void service_free(service *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->waiting);
    __atomic_store_n(&s->stop, 1, __ATOMIC_RELAXED);
    pthread_cond_signal(&s->woken);
    pthread_mutex_unlock(&s->waiting);
    if (s->has_refresher)
        pthread_join(s->refresher, NULL);
    journal_close(s->journal);
    npgnn_live_free(s->live);
    sem_destroy(&s->predictions);
    pthread_mutex_destroy(&s->explaining);
    pthread_mutex_destroy(&s->adding);
    pthread_mutex_destroy(&s->waiting);
    pthread_cond_destroy(&s->woken);
    free(s);
}
