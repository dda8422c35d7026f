/* What a request asks for: a pure function from the text of a request to an operation. It knows nothing of sockets or
 * graphs, so that a fuzzer can feed it (fuzz/request.c). */
#ifndef CLI_SERVE_REQUEST_H
#define CLI_SERVE_REQUEST_H

#include <npgnn/npgnn.h>

#include <stddef.h>

typedef enum {
    REQUEST_PAGE,    /* GET / */
    REQUEST_HEALTH,  /* GET /healthz */
    REQUEST_METRICS, /* GET /metrics */
    REQUEST_OPENAPI, /* GET /openapi.json */
    REQUEST_TOP,     /* GET /top?node=NAME[&k=N][&explain=1] */
    REQUEST_NODE,    /* GET /node?node=NAME */
    REQUEST_SEARCH,  /* GET /search?q=TEXT */
    REQUEST_SCORE,   /* POST /score */
    REQUEST_NODES,   /* POST /nodes */
    REQUEST_LINKS,   /* POST /links */
    REQUEST_KINDS
} request_kind;

/* "top" and so on, for metrics; "other" for REQUEST_KINDS. */
const char *request_name(request_kind kind);

enum {
    REQUEST_MAX_K = 1000,
    REQUEST_MAX_PAIRS = 10000, /* pairs or links per request */
    REQUEST_MAX_NODES = 1000,
    REQUEST_MAX_CELLS = 4096 /* members of a node */
};

typedef struct request {
    request_kind kind;
    char *name; /* node of TOP and NODE, q of SEARCH; as long as the server takes addresses */
    int k, explain;
    /* of a body: */
    const char **ends; /* (2, pairs) names, u and v of one pair after the other */
    npgnn_new_node *nodes;
    npgnn_cell *cells; /* of all nodes */
    size_t count;      /* pairs or nodes */
    char *texts;       /* what names and cells point to */
} request;

/* The kind of a path and method, without a look at the rest; REQUEST_KINDS where there is none, with *status 404 or
 * 405. */
request_kind request_route(int *status, const char *method, const char *target);

/* The methods that a target has, for the header Allow of a 405; NULL where there is no such target. */
const char *request_methods(const char *target);

/* Parses a request. `target` is path and query as they came, "/top?node=anna". Returns 200, or the status of the
 * refusal with a sentence in `why`. The caller frees the request in either case. */
int request_parse(request *out, char *why, size_t why_size, const char *method, const char *target, const char *body,
                  size_t body_size);
void request_free(request *request);

/* The same for the body of a POST alone. With REQUEST_KINDS as `kind` the body says itself whether it adds nodes or
 * links, as those in a journal do. Takes at most 8 times the size of the body in memory. */
int request_parse_body(request *out, char *why, size_t why_size, request_kind kind, const char *body, size_t body_size);

/* A body that was parsed, as one line of text for a journal. The caller frees it; NULL: memory is out. */
char *request_record(const char *body, size_t body_size);

#endif
