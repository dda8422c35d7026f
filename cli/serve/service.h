/* What the server does: from an operation (request.h) to the text of an answer, on a live graph with a journal. It
 * knows nothing of sockets. Any number of threads may call it at once. */
#ifndef CLI_SERVE_SERVICE_H
#define CLI_SERVE_SERVICE_H

#include "message.h"
#include "request.h"

typedef struct service service;

typedef struct service_settings {
    const char *journal;    /* path, or NULL */
    int threads;            /* predictions at once */
    double refresh_share;   /* of nodes and links that are new: then the graph is read again, */
    double refresh_seconds; /* or so long after the last addition */
    double link_rate;
    int quiet;
} service_settings;

/* Applies the model to the graph, replays the journal, and starts the thread that refreshes. Returns 0, or the exit
 * status after printing why. The model must outlive the service; the graph need not. */
int service_new(service **out, const npgnn_model *model, const npgnn_graph *graph, const service_settings *settings);

/* Waits for a refresh that is running, which is told to stop. */
void service_free(service *service);

/* An answer: the caller frees the text. Static text is not to be freed. */
typedef struct answer {
    int status;
    const char *type; /* of the content */
    char *text;
    size_t size;
    int is_static;
} answer;

/* Answers a request. `target` as in request_parse. *kind is for the metrics. */
answer service_answer(service *service, request_kind *kind, const char *method, const char *target, const char *body,
                      size_t body_size);

/* An answer that says what is wrong: {"error": "..."}. */
answer answer_error(int status, const char *format, ...) CLI_PRINTF(2, 3);

/* Counts a request that took `seconds`, for /metrics. */
void service_count(service *service, request_kind kind, int status, double seconds);

/* Requests that are being answered: +1 and -1. Returns how many there are. */
int service_active(service *service, int change);

#endif
